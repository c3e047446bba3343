"""Tables as LaTeX, in the layout of the paper."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from egoscore.bench.methods import methods
from egoscore.bench.table import FEWER, NUMBERS, TITLES, Style, Table

PACKAGES = "% Needs \\usepackage{booktabs,graphicx}.\n"
_LABELS = {
    "roc_auc": "tab:roc_metrics",
    "average_precision": "tab:ap_metrics",
    "recall_at_k": "tab:recall_metrics",
}
_NETWORKS, _ROWS = 2, 45  # per page
# natural size, but at most as wide as the text
_FIT = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"


def latex(table: Table) -> str:
    """The tables of a metric, each two data sets wide and at most a page long."""
    parts = [
        (datasets, page)
        for datasets in _pieces(table.datasets, _NETWORKS)
        for page in _pages(table, datasets)
    ]
    floats = (
        _float(table, number, datasets, page)
        for number, (datasets, page) in enumerate(parts, start=1)
    )
    return "\n".join(floats)


def _pieces(whole: Sequence[str], length: int) -> list[Sequence[str]]:
    return [whole[start : start + length] for start in range(0, len(whole), length)]


def _pages(table: Table, datasets: Iterable[str]) -> list[list[str]]:
    """The rows of these data sets in pages; groups stay together if possible."""
    pages: list[list[str]] = [[]]
    for group in table.groups():
        run = [row for row in group if any((row, d) in table.cells for d in datasets)]
        for piece in _pieces(run, _ROWS):
            if len(pages[-1]) + len(piece) > _ROWS:
                pages.append([])
            pages[-1].extend(piece)
    return pages


def _float(table: Table, number: int, datasets: Sequence[str], page: Sequence[str]) -> str:
    label = _LABELS[table.metric]
    lines = [
        r"\begin{table*}[htp]",
        rf"\caption{{{_caption(table) if number == 1 else _continued(table)}}}",
        rf"\label{{{label if number == 1 else f'{label}_{number}'}}}",
        r"\scriptsize",
        r"\setlength\tabcolsep{4pt}",
        r"\centering",
        r"\vskip 0.1in",
        _FIT,
        *_tabular(table, datasets, page),
        r"\end{table*}",
    ]
    return "\n".join(lines) + "\n"


def _caption(table: Table) -> str:
    marks = (
        r"The best mean is \textbf{bold}, the best maximum \underline{underlined}.",
        "Below a data set: its outliers, the number of trials, the result of a random score.",
    )
    notes = (_escaped(text) for text in (FEWER, *table.legend()))
    title = _escaped(f"{TITLES[table.metric]}. {NUMBERS}")
    return " ".join([title, *marks, *notes])


def _continued(table: Table) -> str:
    title = _escaped(TITLES[table.metric])
    return rf"{title}, continued from Table~\ref{{{_LABELS[table.metric]}}}."


def _tabular(table: Table, datasets: Sequence[str], page: Sequence[str]) -> list[str]:
    heads = [table.head(name) for name in datasets]
    names = [rf"\textbf{{{_escaped(name)}}}" for name, *_ in heads]
    known = [f"{outliers}, {trials}" for _, outliers, trials, _ in heads]
    chance = ["random $" + random.replace("±", r"\pm") + "$" for *_, random in heads]
    columns = ["measured & published & size"] * len(datasets)
    under = "".join(rf"\cmidrule(lr){{{3 * i + 2}-{3 * i + 4}}}" for i in range(len(datasets)))
    lines = [
        rf"\begin{{tabular}}{{l{'ccc' * len(datasets)}}}",
        r"\toprule",
        rf"\textbf{{Algorithm}} & {_spanning(names)} \\",
        rf" & {_spanning(known)} \\",
        rf" & {_spanning(chance)} \\",
        under,
        rf" & {' & '.join(columns)} \\",
    ]
    for _, group in groupby(page, lambda row: methods()[row].group):
        lines.append(r"\midrule")
        for row in group:
            texts = [text for name in datasets for text in table.texts(row, name, _STYLE)]
            lines.append(rf"{_title(row)} & {' & '.join(texts)} \\")
    return [*lines, r"\bottomrule", r"\end{tabular}}"]


def _spanning(texts: Iterable[str]) -> str:
    """Cells over the three columns of a data set."""
    return " & ".join(rf"\multicolumn{{3}}{{c}}{{{text}}}" for text in texts)


def _title(row: str) -> str:
    title = methods()[row].title
    minus = "$-$" if title.startswith("-") else ""
    return minus + _escaped(title.removeprefix("-"))


def _escaped(text: str) -> str:
    spelled = {"\\": "/", "^": r"\^{}", "~": r"\~{}", "±": r"$\pm$"}
    spelled |= {sign: f"${sign}$" for sign in "<>|"}
    return "".join(spelled.get(c, rf"\{c}" if c in "&%$#_{}" else c) for c in text)


_STYLE = Style(
    repeated=r"${} \pm {} \, ({})$",
    single="${}$",
    best=r"\mathbf{{{}}}",
    largest=r"\underline{{{}}}",
    missing="--",
    escape=_escaped,
)
