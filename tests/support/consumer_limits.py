"""What cannot work, with the reason and a workaround, and the table of all cells in the documentation.

Run as a script, prints the table.
"""

from dataclasses import dataclass

from support.consumers import CONSUMERS


@dataclass
class Limit:
    """What cannot work, why, and what to do instead."""

    consumer: str  # begins with this
    models: tuple
    ways: tuple
    reason: str
    workaround: str

    def covers(self, consumer, model, way):
        return consumer.startswith(self.consumer) and model in self.models and way in self.ways


EVERY_MODEL = ("Ridge", "LGBMRanker", "XGBRanker", "CatBoostRanker", "bare XGBRanker")
EVERY_WAY = ("groups=", "qid=", "index of y")
LIMITS = [
    Limit("Halving", ("Ridge",), EVERY_WAY,
          "Ridge has no n_estimators to increase on each rung, and n_samples would split queries",
          "search Ridge with GridSearchCV"),
    Limit("RFECV", EVERY_MODEL, ("index of y",),
          "RFECV turns y into an array, which drops its index", "enable metadata routing and pass groups= or qid="),
    Limit("permutation_importance", EVERY_MODEL, ("groups=", "qid="),
          "permutation_importance takes neither groups nor params",
          "pass with_qid(y, qid) to it, with routing enabled or not"),
    Limit("permutation_importance", ("bare XGBRanker",), ("index of y",),
          "A bare XGBRanker must be fitted with qid=, as it does not read the index of y",
          "fit it with qid=, then pass with_qid(y, qid) to permutation_importance; or use QueryRanker(XGBRanker())"),
    Limit("", ("bare XGBRanker",), ("groups=", "index of y"),
          "XGBRanker.fit takes only qid=, and does not read the index of y",
          "use QueryRanker(XGBRanker()), or pass qid= with set_fit_request(qid=True)"),
]  # fmt: skip


def limit(consumer, model, way):
    """The first limit that covers a cell, if any does."""
    if consumer == "TransformedTargetRegressor":  # which has a model of its own
        return None
    return next((found for found in LIMITS if found.covers(consumer, model, way)), None)


def cell(consumer, way):
    """Whether a consumer works, with the numbers of the limits of models."""
    found = {name: limit(consumer, name, way) for name in EVERY_MODEL}
    numbers = {name: LIMITS.index(one) + 1 for name, one in found.items() if one is not None}
    if len(numbers) == len(EVERY_MODEL) and len(set(numbers.values())) == 1:
        return f"no ({numbers['Ridge']})"
    exceptions = ", ".join(f"{name} ({number})" for name, number in numbers.items())
    return f"yes, except {exceptions}" if exceptions else "yes"


def table():
    """What works, as Markdown: one row per consumer, one column per way, with the numbers of the limits below."""
    lines = ["| tool | " + " | ".join(EVERY_WAY) + " |", "|---" * (len(EVERY_WAY) + 1) + "|"]
    lines += [
        "| " + " | ".join([one, *(cell(one, way) for way in EVERY_WAY)]) + " |" for one in CONSUMERS
    ]
    notes = [
        f"{n}. {one.reason}. Workaround: {one.workaround}." for n, one in enumerate(LIMITS, start=1)
    ]
    return "\n".join([*lines, "", *notes])


if __name__ == "__main__":
    print(table())
