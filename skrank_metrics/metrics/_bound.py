"""A metric bound to its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from skrank_metrics._engine.from_rows import ranking_from_rows
from skrank_metrics._engine.per_query import (
    AVERAGES,
    Computation,
    PerQuery,
    aggregate,
    per_query,
    ratio,
    ratio_terms,
)
from skrank_metrics._engine.ranked_blocks import TIE_POLICIES
from skrank_metrics._input.arrays import FloatArray, NaNScoreError
from skrank_metrics._input.parameters import check_choice, check_int, check_number
from skrank_metrics._sklearn_internals import (
    called_by_scikit_learn,
    fail_in_search,
    warn_of_cut_queries,
)
from skrank_metrics.metrics._record import (
    NEGATIVE,
    NO_GAIN,
    NO_PAIRS,
    NO_RELEVANT,
    Metric,
    MetricFunction,
)


@dataclass(frozen=True, eq=False)
class BoundMetric:
    """A metric with its parameters, as denoted by a name such as "ndcg(gain=exp2)@10".

    Called with ``y_true``, ``y_score`` and ``qid``, it returns the same value as the metric function.
    """

    function: MetricFunction
    params: Mapping[str, Any]  # explicit parameters, as given
    negative: bool = False  # negate the function to make larger values better

    def __post_init__(self) -> None:
        for name in self.params.keys() - self.record.parameters.keys():
            if name in self.record.data:
                raise TypeError(f"{name} must be passed with the data, when the metric is called.")
            # A misspelled option without an effect would be a silent wrong number.
            known = [*self.record.data, *self.record.parameters]
            raise TypeError(
                f"{self.function.__name__}() got an unexpected parameter {name!r}; it takes {', '.join(known)}."
            )
        # Invalid parameters raise before any data is seen.
        self.computation, self.average, self.replace_undefined_by  # noqa: B018
        self._check_effects()

    def __reduce__(self) -> tuple[Any, ...]:
        # A kernel cannot be pickled, since its name is that of the public function.
        return BoundMetric, (self.function, dict(self.params), self.negative)

    def _check_effects(self) -> None:
        """Refuse options without an effect."""
        gain = self.get("gain")
        for name, option in self.record.options.items():
            given = self.params.get(name)
            # Metrics without gains, such as precision, always use the threshold.
            has_effect = option.gain is None or gain in (None, option.gain)
            if given is not None and not has_effect:
                raise ValueError(
                    f"{name} must be left out unless gain={option.gain!r}, since it has no effect otherwise; got "
                    f"{name}={given!r} and gain={gain!r}."
                )
        is_of_top = self.record.name == "ndcg" and self.get("ideal") == "top"
        if is_of_top and self.computation.ties == "average":
            raise ValueError(
                "ideal='top' requires ties='stable', 'best' or 'worst', since ties may leave open which documents are "
                "the first k; got ties='average'."
            )
        if "replace_undefined_by" in self.params and self.always_defined:
            raise ValueError(
                f"replace_undefined_by must be left out of {self.function.__name__} if normalize=False: counts are "
                f"always defined; got {self.replace_undefined_by}."
            )

    @property
    def record(self) -> Metric:
        """The record of the metric."""
        return self.function.record

    @cached_property
    def values(self) -> dict[str, Any]:
        """All parameters, explicit or by default."""
        return {**self.record.parameters, **self.params}

    def get(self, name: str) -> Any:
        """Return the value of a parameter; None if the metric does not have it."""
        return self.values.get(name)

    @property
    def always_defined(self) -> bool:
        """Whether the metric has a value for every query."""
        return self.undefined is None

    @property
    def undefined(self) -> str | None:
        """For which queries the metric is undefined, "queries with ..."; None if it is always defined."""
        # Every query has at least one document.
        least = self.computation.min_documents
        too_short = f"fewer than {least} documents" if least > 1 else None
        return " or ".join(filter(None, (self.undefined_by_labels, too_short))) or None

    @property
    def undefined_by_labels(self) -> str | None:
        """For which labels the metric is undefined; None if it has a value for all."""
        # With gains of one's own, a relevant document may gain nothing.
        if self.record.undefined == NO_RELEVANT and not isinstance(self.get("gain"), str | None):
            return NO_GAIN
        # A normalized number of pairs is a share, which needs pairs.
        is_share = self._has(self.record.pooled)
        return self.record.undefined or (NO_PAIRS if is_share else None)

    def _has(self, trait: bool | str) -> bool:
        """A trait of the record, or whether the option that decides on it is set."""
        return bool(self.values[trait]) if isinstance(trait, str) else trait

    @cached_property
    def average(self) -> str | None:
        """How the values per query are combined."""
        average = check_choice(self.values["average"], "average", AVERAGES)
        is_pooled = self._has(self.record.pooled)
        # The geometric mean needs values from 0 up.
        is_impossible = {"micro": not is_pooled, "geometric": self.record.lower < 0}
        if is_impossible.get(average):
            name = self.function.__name__
            raise ValueError(f"average={average!r} is not defined for {name}; pass 'macro'.")
        return average

    def check_one_value(self) -> None:
        """Refuse a metric that gives one value per query."""
        if self.average is None:
            raise ValueError(
                f"average must not be None where a single value is needed; got {str(self)!r}. Leave it out."
            )

    @cached_property
    def replace_undefined_by(self) -> float:
        """Value of undefined queries; NaN leaves them out."""
        return check_number(
            self.values["replace_undefined_by"], "replace_undefined_by", other="nan"
        )

    @property
    def greater_is_better(self) -> bool:
        """Whether larger values are better."""
        return self.record.greater_is_better or self.negative

    @property
    def k(self) -> int | None:
        """Cutoff rank."""
        return self.computation.k

    @cached_property
    def computation(self) -> Computation:
        """The resolved kernel call."""
        return Computation(
            kernel=self.record.kernel,
            options={
                name: option.check(self.values[name], name)
                for name, option in self.record.options.items()
            },
            k=check_int(self.get("k"), "k", 1, or_none=True),
            ties=check_choice(self.values["ties"], "ties", TIE_POLICIES),
            needs_relevant=self.record.undefined == NO_RELEVANT,
            # The function of a custom metric gets whole lists, and cuts them itself.
            needs_all_ranks=self.record.transform == "orders",
            always_defined=self.undefined_by_labels is None,
            min_documents=check_int(self.values["min_documents"], "min_documents", 1) or 1,
            unjudged=self.record.unjudged,
            name=self.record.name.removeprefix(NEGATIVE),
            signed=self._has(self.record.signed),
            documents=self.record.documents,
        )

    @property
    def definition(self) -> tuple[Any, ...]:
        """Equal for metrics that give the same values, however they are spelled."""
        # The number is compared as text, since NaN does not equal NaN.
        return self.computation, str(self.replace_undefined_by), self.negative

    def replace(self, **params: Any) -> BoundMetric:
        """Bind further parameters or replace bound ones."""
        return BoundMetric(self.function, {**self.params, **params}, self.negative)

    def __str__(self) -> str:
        name = self.record.name
        # The prefix stands for the negative, which scorers use.
        if not self.greater_is_better:
            name = name.removeprefix(NEGATIVE)
        inner = ", ".join(f"{name}={value}" for name, value in self.params.items() if name != "k")
        if inner:
            name += f"({inner})"
        if self.k is not None:
            name += f"@{self.k}"
        return name

    def __call__(
        self,
        y_true: Any,
        y_score: Any,
        *misplaced: Any,
        qid: Any = None,
        sample_weight: Any = None,
        retrieved: Any = None,
        judged: Any = None,
        **params: Any,
    ) -> float | FloatArray:
        """Compute the metric; parameters passed here override bound ones."""
        # To other metrics, documents is an unknown parameter.
        documents = params.pop("documents", None) if self.record.documents else None
        if misplaced or hasattr(y_true, "predict"):
            name = self.function.__name__
            raised = TypeError(
                f"{name}() takes only labels and scores by position, and no estimator. Write qid=..., k=..., and for "
                f'searches scoring=make_ranking_scorer({name}, ...) or, by its name, make_ranking_scorer("{self}").'
            )
            return fail_in_search(raised)
        bound = self.replace(**params) if params else self
        try:
            ranking = ranking_from_rows(
                y_true,
                y_score,
                qid=qid,
                sample_weight=sample_weight,
                retrieved=retrieved,
                judged=judged,
                documents=documents,
            )
            if called_by_scikit_learn():
                warn_of_cut_queries(len(y_score), "a test set", qid)
            (result,) = per_query(ranking, [bound.computation])
        # A model that predicts NaN is one failed candidate of a search, which error_score is for.
        except NaNScoreError:
            raise
        except (TypeError, ValueError) as error:
            # Wrong ids or labels are wrong for all candidates: a search must stop, not score them NaN.
            return fail_in_search(error)
        return bound.aggregate(result, ranking.documents.weights)

    def aggregate(
        self, result: PerQuery, weights: FloatArray | None, **average: str | None
    ) -> float | FloatArray:
        """Combine the values per query by ``average``, passed here or bound."""
        # None is an average, one value per query, so it cannot mean that none was passed.
        chosen = average.get("average", self.average)
        value = aggregate(
            result, weights, average=chosen, replace_undefined_by=self.replace_undefined_by
        )
        # A difference from 0 is never -0.0, as the negative of 0 would be.
        return 0.0 - value if self.negative else value

    def terms(self, result: PerQuery, weights: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        """Terms whose sums give the average, also across several processes; not for a median."""
        return ratio_terms(result, weights, self.average or "macro", self.replace_undefined_by)

    def of_sums(self, terms: float, shares: float) -> float:
        """The average, given the sums of its terms."""
        value = ratio(terms, shares, self.average or "macro", self.replace_undefined_by)
        return 0.0 - value if self.negative else value
