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


BARE = "bare XGBRanker"
EVERY_MODEL = ("Ridge", "LGBMRanker", "XGBRanker", "CatBoostRanker", BARE)
EVERY_WAY = ("groups=", "qid=", "index of y")
LIMITS = [
    Limit("Halving", ("Ridge",), EVERY_WAY,
          "Ridge has no `n_estimators` to increase on each rung, and `n_samples` would split queries",
          "Search Ridge with GridSearchCV"),
    Limit("RFECV", EVERY_MODEL, ("index of y",),
          "RFECV turns `y` into an array, which drops its index",
          "Enable metadata routing and pass `groups=` or `qid=`"),
    Limit("permutation_importance", EVERY_MODEL, ("groups=", "qid="),
          "`permutation_importance` takes neither `groups` nor `params`",
          "Pass `with_qid(y, qid)` to it, with routing enabled or not"),
    # Those of one model come last.
    Limit("permutation_importance", (BARE,), ("index of y",),
          "For `permutation_importance`, fit it with `qid=`",
          "Then pass `with_qid(y, qid)`"),
    Limit("", (BARE,), ("groups=", "index of y"),
          "A bare XGBRanker takes only `qid=`, after `set_fit_request(qid=True)`",
          "The other two ways need `QueryRanker(XGBRanker())`"),
]  # fmt: skip


def limit(consumer, model, way):
    """The first limit that covers a cell, if any does."""
    if consumer == "TransformedTargetRegressor":  # which has a model of its own
        return None
    return next((found for found in LIMITS if found.covers(consumer, model, way)), None)


def cell(consumer, way):
    """Whether a consumer works with models in QueryRanker, with the numbers of their limits."""
    found = {name: limit(consumer, name, way) for name in EVERY_MODEL if name != BARE}
    numbers = {name: LIMITS.index(one) + 1 for name, one in found.items() if one is not None}
    if len(numbers) == len(found):
        return f"no ({numbers['Ridge']})"
    exceptions = ", ".join(f"{name} ({number})" for name, number in numbers.items())
    return f"yes, except {exceptions}" if exceptions else "yes"


def table():
    """What works, as Markdown: one row per kind of consumer, one column per way, and the limits below."""
    alike = {}
    for one in CONSUMERS:
        alike.setdefault(tuple(cell(one, way) for way in EVERY_WAY), []).append(one)
    lines = ["| tool | " + " | ".join(EVERY_WAY) + " |", "|---" * (len(EVERY_WAY) + 1) + "|"]
    for cells, names in alike.items():
        lines.append("| " + " | ".join([", ".join(names), *cells]) + " |")
    of_all = [one for one in LIMITS if one.models != (BARE,)]
    notes = [f"{n}. {one.reason}. {one.workaround}." for n, one in enumerate(of_all, start=1)]
    of_bare = [f"{one.reason}. {one.workaround}." for one in reversed(LIMITS[len(of_all) :])]
    return "\n".join([*lines, "", *notes, "", *of_bare])


if __name__ == "__main__":
    print(table())
