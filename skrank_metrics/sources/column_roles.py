"""Which column of a frame or a file holds queries, documents, labels, scores or ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from skrank_metrics._input.arrays import nearest
from skrank_metrics._input.interface import setting

# Names that are recognized, in any case and without regard to "_", "-" and blanks.
USUAL = {
    "query": ("query", "qid", "query_id", "topic", "user", "user_id"),
    "document": ("document", "docno", "docid", "item", "item_id", "passage_id", "corpus_id"),
    "label": ("label", "relevance", "rel", "rating", "grade"),
    "score": ("score", "prediction"),
    "rank": ("rank",),
}
_ROLES = {name.replace("_", ""): role for role, names in USUAL.items() for name in names}
_IDS = ("query", "document")
_OF_ARGUMENT = {
    "qrels": (*_IDS, "label"),
    "run": (*_IDS, "score", "rank"),
    "exclude": _IDS,
    "documents": ("document",),
}
ColumnNames: TypeAlias = Mapping[str, str]  # by role


class Roles(NamedTuple):
    """Names of columns."""

    query: str
    document: str
    value: str | None  # of labels, scores or ranks
    ranked: bool = False  # whether the values are ranks


def columns_by_argument(columns: Any) -> dict[str, ColumnNames]:
    """The names that ``columns`` gives to the frames of each argument."""
    if columns is None:
        return {argument: {} for argument in _OF_ARGUMENT}
    if not isinstance(columns, Mapping):
        raise TypeError(
            f"columns must be a dict such as {{'query': 'customer_id'}}; got {columns!r}."
        )
    shared = {
        key: name
        for key, name in columns.items()
        if key not in _OF_ARGUMENT or isinstance(name, str)
    }
    own = {key: names for key, names in columns.items() if key not in shared}
    found: dict[str, ColumnNames] = {}
    for argument, roles in _OF_ARGUMENT.items():
        given = own.get(argument, {})
        if not isinstance(given, Mapping):
            raise TypeError(
                f"columns[{argument!r}] must be a dict of names by role; got {given!r}."
            )
        _check_roles(given, roles, f"columns[{argument!r}]")
        found[argument] = {**{r: n for r, n in shared.items() if r in roles}, **given}
    _check_roles(shared, tuple(USUAL), "columns")
    return found


def _check_roles(names: Mapping[Any, Any], roles: Sequence[str], holder: str) -> None:
    for role, name in names.items():
        if role not in roles:
            raise ValueError(
                f"{holder} must name {', '.join(map(repr, roles))}; got {role!r}.{nearest(role, roles)}"
            )
        if not isinstance(name, str):
            raise TypeError(f"{holder}[{role!r}] must be the name of a column; got {name!r}.")


def find_roles(names: Sequence[Any], argument: str, given: ColumnNames, holder: str) -> Roles:
    """The columns of judgments, of a run or of exclusions, as named or by their usual names."""
    query, document = (_find(role, names, given, holder, needed=True) for role in _IDS)
    if argument == "exclude":
        return Roles(query, document, None)
    if argument == "qrels":
        return Roles(query, document, _find_labels(names, given, holder, document))
    if "score" in given and "rank" in given:
        raise ValueError(
            f"columns must name the scores or the ranks of {holder}, since one of them orders the documents; got both."
        )
    rank = None
    if "score" not in given:
        rank = _find("rank", names, given, holder)
    # As in files of TREC, scores come before ranks.
    score = None if "rank" in given else _find("score", names, given, holder, needed=rank is None)
    if score is None:
        return Roles(query, document, rank, ranked=True)
    return Roles(query, document, score)


def _find_labels(
    names: Sequence[Any], given: ColumnNames, holder: str, document: str
) -> str | None:
    """The column of labels; None if there are only two columns, of relevant documents."""
    label = _find("label", names, given, holder)
    if label is None and document == "corpus-id":  # BEIR's judgments have scores
        label = _find("score", names, {}, holder)
    if label is None and len(names) > 2:
        _find("label", names, given, holder, needed=True)
    return label


def _find(
    role: str, names: Sequence[Any], given: ColumnNames, holder: str, *, needed: bool = False
) -> Any:
    """The column with a role; None if there is none and it is not needed."""
    listed = ", ".join(map(repr, names[:20]))
    if role in given:
        times = list(names).count(given[role])
        if times == 1:
            return given[role]
        found = f"{times} columns" if times else "no column"
        hint = "" if times else nearest(given[role], names)
        raise ValueError(f"{holder} has {found} {given[role]!r}. Columns: {listed}.{hint}")
    candidates = [name for name in names if role_of(name) == role]
    if len(candidates) > 1:
        raise ValueError(
            f"{holder} has several columns that could be the {role}: {', '.join(map(repr, candidates))}. "
            f"Choose one with {setting('columns', {role: candidates[0]})}."
        )
    if candidates:
        return candidates[0]
    if needed:
        raise ValueError(
            f"{holder} has no column {role!r}; name it with {setting('columns', {role: '...'})}. Columns: {listed}."
        )
    return None


def role_of(name: Any) -> str | None:
    """The role of a column with a usual name."""
    plain = str(name).lower().replace("_", "").replace("-", "").replace(" ", "")
    return _ROLES.get(plain)
