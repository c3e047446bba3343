"""Tables in the paper's layout, for a paper."""

from __future__ import annotations

from egoscore.benchmark.cells import Table, note, shown
from egoscore.benchmark.methods import rows


def latex(table: Table) -> str:
    r"""The table for a paper: needs booktabs; best mean in bold, best maximum underlined."""
    names = [
        rf"\multicolumn{{3}}{{c}}{{\textbf{{{_escaped(shown(name))}}}}}" for name in table.datasets
    ]
    known = [
        rf"\multicolumn{{3}}{{c}}{{{facts.outliers} of {facts.nodes} outliers, "
        rf"random $\pm {facts.random_spread:.1f}$}}"
        for facts in (table.results.facts[name] for name in table.datasets)
    ]
    columns = ["measured & published & size"] * len(table.datasets)
    lines = [
        rf"\begin{{tabular}}{{l|{'ccc' * len(table.datasets)}}}",
        r"\toprule",
        rf"\textbf{{Algorithm}} & {' & '.join(names)} \\",
        rf" & {' & '.join(known)} \\",
        rf" & {' & '.join(columns)} \\",
    ]
    for group in table.groups():
        lines.append(r"\midrule")
        for row in group:
            cells = [_latex_cells(table, row, dataset) for dataset in table.datasets]
            lines.append(rf"{_escaped(rows()[row].title)} & {' & '.join(cells)} \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _latex_cells(table: Table, row: str, dataset: str) -> str:
    cell, known = table.cells.get((row, dataset)), table.published(row, dataset)
    beside = "--"
    if known is not None:
        numbers = rf"${known.mean:.1f} \pm {known.std:.1f} \, ({known.largest:.1f})$"
        beside = known.failure or numbers
    if cell is None:
        return f"-- & {beside} & --"
    if not cell.known:
        return f"{_escaped(cell.failed)} & {beside} & --"
    mean, largest = f"{cell.mean:.1f}", f"{cell.largest:.1f}"
    if round(cell.mean, 1) == table.best(dataset, lambda c: c.mean):
        mean = rf"\mathbf{{{mean}}}"
    if cell.repeated and round(cell.largest, 1) == table.best(
        dataset, lambda c: c.largest if c.repeated else 0.0
    ):
        largest = rf"\underline{{{largest}}}"
    remark = f" [{_escaped(n)}]" if (n := note(table, cell, dataset)) else ""
    spread = rf" \pm {cell.std:.1f} \, ({largest})" if cell.repeated else ""
    measured = f"${mean}{spread}${remark}"
    return f"{measured} & {beside} & ${cell.size_correlation:+.2f}$"


def _escaped(text: str) -> str:
    spelled = {"\\": "/", "^": r"\^{}", "~": r"\~{}"}
    return "".join(spelled.get(c, rf"\{c}" if c in "&%$#_{}" else c) for c in text)
