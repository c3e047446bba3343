"""The sentences of notes on loading a graph, one entry per code, for `egoscore.report.notes`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from egoscore.notes import damage_phrase, unusable_phrase
from egoscore.text import are, counted, listed, option, quoted

_SEPARATORS = {"\t": "tabs", ";": "semicolons", "|": "vertical bars", " ": "spaces"}
_ODDITIES = {"dates": "holds dates or times", "row-numbers": "only counts the rows"}
_KINDS = {
    "number": "read as numbers",
    "yes/no": "read as yes/no (1 and 0)",
    "date": "read as dates (days since 1970)",
}
_FILLS = {
    "frequency": "treated as in a category of typical frequency",
    "median": "filled with the median",
    "mode": "filled with the more frequent value",
    "no category": "in none of its categories",
    "constant": "left out",
}
_TRAITS = {
    "decimal-point": "a decimal point",
    "decimal-comma": "a decimal comma",
    "thousands-commas": "commas between thousands",
    "thousands-dots": "dots between thousands",
    "thousands-spaces": "spaces between thousands",
    "thousands-apostrophes": "apostrophes between thousands",
    "magnitude-letters": "K for thousands, M for millions and B for billions",
    "minus-parentheses": "parentheses for negative numbers",
    "minus-behind": "the minus sign after the number",
    "year-month-day": "year, month, day",
    "day-month-year": "day, month, year",
    "month-day-year": "month, day, year",
    "day-monthname-year": "day, month name, year",
    "monthname-day-year": "month name, day, year",
    "two-digit-year": "two-digit years from 1969 to 2068",
    "month": "the first day of each month",
    "eight-digits": "year, month and day in eight digits",
    "utc": "times in UTC",
    "hours": "hours",
}


def _column(table: str, column: str) -> str:
    return f"{table}: column '{column}'"


def _format(table: str, column: str, kind: str, traits: Sequence[str]) -> str:
    words = [_trait(trait) for trait in traits if not trait.startswith("or:")]
    other = [_trait(trait.partition(":")[2]) for trait in traits if trait.startswith("or:")]
    doubt = f" ({other[0]} would fit as well)" if other else ""
    if kind == "date":
        how = f"dates, read as {', '.join(words)}{doubt}, in days since 1970"
    elif words == ["hours"]:
        how = "times, read as hours"
    else:
        how = f"numbers, read with {listed(words)}{doubt}"
    return f"{_column(table, column)} holds {how}."


def _trait(trait: str) -> str:
    code, _, value = trait.partition(":")
    return f"'{value}' removed" if code == "unit" else _TRAITS[code]


def _columns(names: Sequence[str]) -> str:
    return f"column{'s' * (len(names) > 1)} {quoted(names)} {are(len(names))} not used"


def _categories(table: str, column: str, count: int, traits: Sequence[str]) -> str:
    kept = [trait.partition(":")[2] for trait in traits]
    also = f", among them {kept[0]!r}, which is not treated as missing" if kept else ""
    values = "category" if count == 1 else "categories"
    return f"{_column(table, column)} has {count} {values}, each a feature of 0 and 1{also}."


def _unusable(table: str, column: str, reason: str, **fields: Any) -> str:
    is_usable = reason in ("index", "ids", "all-different")
    advice = f"; {option('features')} uses it" if is_usable else ""
    return (
        f"{_column(table, column)} {unusable_phrase(reason, **fields)}, so it is left out{advice}."
    )


def _missing(table: str, column: str, count: int, fill: str) -> str:
    return (
        f"{_column(table, column)} is missing for {counted(count, 'node')}: {_FILLS[fill]}, with a "
        "feature that flags them."
    )


def _ends(
    table: str, source: str, target: str, because: str, guessed: Sequence[str], nodes: str | None
) -> str:
    reason = "taken by position"
    if because == "ids":
        which = "both hold" if len(guessed) == 2 else f"'{guessed[0]}' holds"
        reason = f"as {which} ids of {nodes}"
    return (
        f"{table}: edges go from column '{source}' to column '{target}', {reason}; change this "
        f"with {option('source')} and {option('target')}."
    )


def _without_row(edges: str, nodes: str, count: int, example: Any) -> str:
    return f"{counted(count, 'node')} of {edges}, such as {example!r}, {are(count)} not in {nodes}"


def _dropped(lost_edges: int, **fields: Any) -> str:
    return (
        f"{_without_row(**fields)}: dropped with {counted(lost_edges, 'edge')}, as "
        f"{option('impute', 'none')} says."
    )


def _respelled(count: int, example: str, known: str) -> str:
    return (
        f"{counted(count, 'id')} of the edges differ{'s' * (count == 1)} from the node table in "
        f"capitals, leading zeros, spaces or accents only, such as {example!r} and {known!r}: "
        "treated as the same."
    )


def _names(table: str, column: str, missing: int) -> str:
    gaps = f"; {counted(missing, 'node')} without one {are(missing)} shown by id" if missing else ""
    advice = f"; {option('name')} names another column, {option('ignore', column)} shows ids"
    return f"{_column(table, column)} has the names under which nodes are shown{gaps}{advice}."


def _labels(table: str, column: str, known: int, count: int) -> str:
    of = "" if known == count else f"; the label of {known:,} of {counted(count, 'node')} is known"
    return f"{_column(table, column)} marks known outliers{of}."


def _isolated(table: str, count: int) -> str:
    verb, pronoun = ("has", "it is") if count == 1 else ("have", "they are")
    return f"{counted(count, 'node')} of {table} {verb} no edges; {pronoun} kept."


LOADING: dict[str, Callable[..., str]] = {
    # files
    "edge-list": lambda table: f"{table} is read as a list of edges.",
    "tables-from-pipes": lambda: (
        "Tables came through pipes, so the command alone cannot reproduce the run."
    ),
    "encoding-detected": lambda table, encoding: f"{table}: read as {encoding}.",
    "encoding-given": lambda table, encoding: f"{table}: read as {encoding}, as specified.",
    "encoding-guessed": lambda table, encoding: (
        f"{table}: not UTF-8, so read as Western European text ({encoding}); if letters look "
        f"wrong, name the encoding with {option('encoding', 'cp1251')} or another."
    ),
    "separator": lambda table, separator: (
        f"{table}: cells are separated by {_SEPARATORS.get(separator, repr(separator))}."
    ),
    "no-header": lambda table, columns, edges: (
        f"{table}: there is no header; the first line is read as data and columns are called "
        f"{quoted(columns)}; name them with {option('columns' if edges else 'node_columns')}."
    ),
    "columns-given": lambda table, columns, header: (
        f"{table}: columns are called {quoted(columns)}, as specified, and the first line is read "
        f"as {'a header' if header else 'data'}."
    ),
    "mixed-types": lambda table, column: (
        f"{_column(table, column)} mixes types and is read as text."
    ),
    "undirected-file": lambda file: (
        f"{file} declares its edges undirected, so it overrides {option('directed')}."
    ),
    "attribute-unused": lambda table, column: f"{table}: attribute '{column}' is not used.",
    # matrices
    "dgraph": lambda file: f"{file} is DGraph-Fin: class 1 are the outliers.",
    "array-features": lambda file, name: f"{file}: '{name}' provides the features.",
    "array-labels": lambda file, name: f"{file}: '{name}' marks known outliers.",
    "array-not-labels": lambda file, name: (
        f"{file}: '{name}' does not hold 0, 1 or unknown for every node, so it is not used as "
        "labels."
    ),
    "arrays-unused": lambda file, names: f"{file}: not used: {quoted(names)}.",
    "edge-values-unused": lambda file, name: f"{file}: '{name}' is not used.",
    "entries-differ": lambda file, name: (
        f"{file}: the entries of '{name}' differ; every non-zero entry is an edge, without weight."
    ),
    "not-symmetric": lambda file, name: (
        f"{file}: '{name}' is not symmetric; every entry is an undirected edge unless "
        f"{option('directed')} is given."
    ),
    # edges and ids
    "ends-guessed": _ends,
    "odd-end": lambda table, column, holds: (
        f"{_column(table, column)} {_ODDITIES[holds]} but is taken as an endpoint column; if it "
        f"is not one, name the endpoint columns with {option('source')} and {option('target')}."
    ),
    "skipped-end": lambda table, column, holds: (
        f"{_column(table, column)} {_ODDITIES[holds]}, so it is not taken as an endpoint column."
    ),
    "columns-unused": lambda table, columns: f"{table}: {_columns(columns)}.",
    "ids-guessed": lambda table, column: (
        f"{table}: {'the index' if column is None else f'column {column!r}'} is used as node ids "
        "because its values match the edge table."
    ),
    "ids-whole-decimals": lambda table, column: (
        f"The ids in column '{column}' of {table} are whole numbers stored as decimals; 12.0 is "
        "read as 12."
    ),
    "ids-point-zero": lambda table, column: (
        f"The ids in column '{column}' of {table} end in .0 and are read without it."
    ),
    "ids-trimmed": lambda: "Ids match only without the spaces around them, so these are removed.",
    "ids-respelled": _respelled,
    "nodes-without-row-kept": lambda **fields: (
        f"{_without_row(**fields)}: kept; all their features are imputed."
    ),
    "nodes-without-row-dropped": _dropped,
    "isolated-nodes": _isolated,
    # names
    "names": _names,
    "names-unused": lambda table, column: (
        f"{_column(table, column)} has names of nodes, too, and is left out; "
        f"{option('name', column)} shows them."
    ),
    "names-repeat-ids": lambda table, column: (
        f"{_column(table, column)} only repeats the ids, so it is left out."
    ),
    # labels
    "labels": _labels,
    "label-words": lambda table, column, normal, outlier: (
        f"{_column(table, column)} holds {normal} and {outlier}; {outlier} means an outlier."
    ),
    "answer-left-out": lambda table, column: (
        f"{_column(table, column)} looks like a label and is left out; "
        f"{option('label', column)} evaluates with it, {option('features')} uses it as a feature."
    ),
    "answer-not-binary": lambda table, column: (
        f"{_column(table, column)} looks like a label but holds values other than 0 and 1, so "
        f"it is left out; {option('features')} uses it as a feature."
    ),
    # features
    "columns-read": lambda table, kind, columns: f"{table}: {_KINDS[kind]}: {quoted(columns)}.",
    "column-format": _format,
    "column-categories": _categories,
    "column-frequencies": lambda table, column, count: (
        f"{_column(table, column)} has {count:,} categories, too many for a feature each; two "
        "features say how frequent the category of a node is and how many neighbours have the same."
    ),
    "column-constant": lambda table, column: (
        f"{_column(table, column)} has the same value everywhere and is left out."
    ),
    "column-unusable": _unusable,
    "column-damaged": lambda table, column, **fields: (
        f"{_column(table, column)} {damage_phrase(**fields)}: treated as missing."
    ),
    "column-missing": _missing,
    "codes-as-numbers": lambda table, columns: (
        f"{table}: read as numbers, but may be codes: {quoted(columns)}; "
        f"{option('categories')} reads every value as a category, {option('ignore')} leaves "
        "columns out."
    ),
    "placeholder": lambda table, column, value, count: (
        f"{_column(table, column)} is {value} in {counted(count, 'row')}, far from all other "
        "values; if that means unknown, leave these cells empty."
    ),
    "weights-missing": lambda table, column, count: (
        f"{_column(table, column)} is missing for {counted(count, 'edge')}: filled with the "
        "median weight."
    ),
    "edge-features": lambda columns, directed: (
        f"Columns of the edges become features of the nodes: {quoted(columns)}"
        f"{', sent and received' if directed else ''}; {option('ignore')} leaves columns out."
    ),
    "edges-counted": lambda columns, count: (
        f"{counted(count, 'repeated edge')} {are(count)} counted: the graph has each edge once, "
        f"and the number of rows is a feature ({quoted(columns)})."
    ),
    "structural-features": lambda: (
        "There are no features, so structural ones are computed: number of neighbours, "
        "clustering, shared neighbours, neighbours' degrees, return probabilities, core number."
    ),
}
