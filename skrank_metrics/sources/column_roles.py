"""Which column of a frame or a file holds queries, documents, labels, scores or ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from skrank_metrics._input.interface import on_command_line, setting
from skrank_metrics._input.parameters import check_choice
from skrank_metrics.sources.columns import check_column_name

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
    value: str | None  # of labels or scores
    rank: str | None = None


def columns_by_argument(columns: Any) -> dict[str, ColumnNames]:
    """The names that ``columns`` gives to the frames of each argument."""
    given = {} if columns is None else columns
    if not isinstance(given, Mapping):
        raise TypeError(
            f"columns must be a dict such as {{'query': 'customer_id'}}; got {columns!r}."
        )
    for key in given:
        check_choice(key, "a key of columns", (*USUAL, *_OF_ARGUMENT))
    found: dict[str, ColumnNames] = {}
    for argument, roles in _OF_ARGUMENT.items():
        own = given.get(argument, {})
        if not isinstance(own, Mapping):
            raise TypeError(f"columns[{argument!r}] must be a dict of names by role; got {own!r}.")
        for role in own:
            check_choice(role, f"a key of columns[{argument!r}]", roles)
        shared = {role: name for role, name in given.items() if role in roles}
        found[argument] = {**shared, **own}
    return found


def find_roles(names: Sequence[Any], argument: str, given: ColumnNames, holder: str) -> Roles:
    """The columns of judgments, of a run or of exclusions, as named or by their usual names."""
    query, document = (_needed(role, names, given, holder) for role in _IDS)
    if argument == "exclude":
        return Roles(query, document, None)
    if argument == "qrels":
        label = find_column("label", names, given, holder)
        if on_command_line() and "label" not in given:
            _refuse_rows(label, find_column("score", names, given, holder), holder)
        if label is None and document == "corpus-id":
            # BEIR's judgments have scores.
            label = find_column("score", names, {}, holder)
        # Two columns hold relevant documents.
        if label is None and len(names) > 2:
            label = _needed("label", names, given, holder)
        return Roles(query, document, label)
    # Of two columns, the one that is named orders the documents.
    named = {role for role in ("score", "rank") if role in given}
    score, rank = (
        find_column(role, names, given, holder) if role in named or not named else None
        for role in ("score", "rank")
    )
    if score is None and rank is None:
        _needed("score", names, given, holder)
    return Roles(query, document, score, rank)


def _refuse_rows(label: Any, score: Any, holder: str) -> None:
    """Refuse judgments with scores: the first of several tables of rows is not a file of judgments."""
    if label is not None and score is not None:
        raise ValueError(
            f"The first file must hold judgments; {holder} also has scores, {score!r}. If each file has the labels "
            f"and the scores of one ranking, pass --label {label}, --score and --qid. If it holds judgments, pass "
            f"{setting('columns', {'label': label})}."
        )


def find_column(role: str, names: Sequence[Any], given: ColumnNames, holder: str) -> Any:
    """The column with a role; None if there is none."""
    if role in given:
        check_column_name(given[role], names, holder)
        return given[role]
    candidates = [name for name in names if role_of(name) == role]
    if len(candidates) > 1:
        raise ValueError(
            f"{holder} has several columns that could be the {role}: {', '.join(map(repr, candidates))}. "
            f"Choose one with {setting('columns', {role: candidates[0]})}."
        )
    return candidates[0] if candidates else None


def _needed(role: str, names: Sequence[Any], given: ColumnNames, holder: str) -> Any:
    found = find_column(role, names, given, holder)
    if found is None:
        way_out = f"; name it with {setting('columns', {role: '...'})}"
        if role == "label":
            way_out += ", or pass only the queries and documents if all of them are relevant"
        check_column_name(role, names, holder, way_out)
    return found


def role_of(name: Any) -> str | None:
    """The role of a column with a usual name."""
    # userID, user_id and user-id are one name.
    plain = str(name).lower().replace("_", "").replace("-", "").replace(" ", "")
    return _ROLES.get(plain)


def has_columns(source: Any) -> bool:
    """Whether a source is a frame or a table."""
    return hasattr(source, "columns") or hasattr(source, "column_names")
