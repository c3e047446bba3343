"""`egoscore bench`: run a benchmark, write its tables and figures."""

from __future__ import annotations

from egoscore.bench.display import ShowProgress
from egoscore.bench.draw import draw_figures
from egoscore.bench.figures import require_drawing
from egoscore.bench.latex import PACKAGES, latex
from egoscore.bench.markdown import (
    cost_markdown,
    defects_markdown,
    legend_markdown,
    markdown,
    versions_markdown,
    write_csv,
)
from egoscore.bench.methods import methods
from egoscore.bench.results import Results
from egoscore.bench.runner import Benchmark, run_benchmark
from egoscore.bench.table import FEWER, TITLES, Style, Table
from egoscore.run.files import write_text
from egoscore.text import printable


def run_and_report(plan: Benchmark, figures: bool) -> None:
    """Run the benchmark, write its tables, print the first one, draw figures if requested."""
    if figures:
        require_drawing()
    with ShowProgress() as progress:
        results = run_benchmark(plan, progress)
    write_tables(results)
    for dataset in plan.datasets:
        show_table(Table.of(results, "roc_auc"), dataset)
    show_legend(Table.of(results, "roc_auc"))
    print(f"Written to {plan.out}: results.jsonl, tables.md, tables.tex, tables.csv.")
    if figures:
        draw_figures(plan.out, plan.datasets, plan.data_dir, print)


def show_table(table: Table, dataset: str) -> None:
    """Print the rows of one data set."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table as Grid
    from rich.text import Text

    style = Style(best="[bold]{}[/]", escape=escape)
    title = Text(printable(table.heading(dataset)), "table.title")
    grid = Grid("method", title=title, title_justify="left")
    for name in ("ROC-AUC (%)", "published", "size"):
        grid.add_column(name, justify="right")
    for row in table.rows:
        if (row, dataset) in table.cells:
            grid.add_row(methods()[row].title, *table.texts(row, dataset, style))
    Console().print(grid)


def show_legend(table: Table) -> None:
    """Print how to read the tables."""
    from rich.console import Console
    from rich.text import Text

    console = Console()
    for sentence in (FEWER, *table.legend()):
        console.print(Text(printable(sentence)), soft_wrap=not console.is_terminal)


def write_tables(results: Results) -> None:
    """Write all metrics and the cost as Markdown, LaTeX and CSV."""
    tables = [Table.of(results, metric) for metric in TITLES]
    parts = [
        legend_markdown(results),
        *map(markdown, tables),
        cost_markdown(results),
        defects_markdown(results),
        versions_markdown(results),
    ]
    write_text(results.path / "tables.md", "\n".join(filter(None, parts)))
    write_text(results.path / "tables.tex", "\n".join([PACKAGES, *map(latex, tables)]))
    write_text(results.path / "tables.csv", write_csv(results))


def print_methods() -> None:
    """Print the methods by group, with name and title."""
    width = max(map(len, methods()))
    groups = dict.fromkeys(row.group for row in methods().values())
    for group in groups:
        print(group)
        for name, row in methods().items():
            if row.group == group:
                print(f"  {name:{width}}  {row.title}")
