"""Run the cells of examples/bond.ipynb and store what they print and draw. `make notebook`.

A few lines in place of a Jupyter kernel: cells are run with exec, in order.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).resolve().parents[2] / "examples" / "bond.ipynb"
Output = dict[str, Any]


def run(notebook: dict[str, Any], parameters: dict[str, Any] | None = None) -> list[list[Output]]:
    """The outputs of every code cell; `parameters` replace values after the cell tagged so."""
    import matplotlib

    matplotlib.use("agg")
    names: dict[str, Any] = {"__name__": "notebook"}
    found = []
    for number, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] == "code":
            code = ast.parse("".join(cell["source"]))
            last = code.body.pop() if isinstance(code.body[-1], ast.Expr) else None
            printed, value = io.StringIO(), None
            with contextlib.redirect_stdout(printed):
                exec(compile(code, f"cell {number}", "exec"), names)
                if last is not None:
                    expression = ast.Expression(last.value)
                    value = eval(compile(expression, f"cell {number}", "eval"), names)
            if "parameters" in cell["metadata"].get("tags", ()):
                names |= parameters or {}
            found.append([*text(printed.getvalue()), *figures(value)])
    return found


def text(printed: str) -> list[Output]:
    """What was printed, as an output."""
    lines = printed.splitlines(keepends=True)
    return [{"output_type": "stream", "name": "stdout", "text": lines}] if lines else []


def figures(value: object) -> list[Output]:
    """The open figures, which are closed, and the value of a cell if it is one, as outputs."""
    from matplotlib import pyplot
    from matplotlib.figure import Figure

    drawn = [pyplot.figure(number) for number in pyplot.get_fignums()]
    found = []
    for figure in [*drawn, *([value] if isinstance(value, Figure) else [])]:
        picture = io.BytesIO()
        figure.savefig(picture, format="png", dpi=90)
        data = {"image/png": base64.b64encode(picture.getvalue()).decode()}
        found.append({"output_type": "display_data", "data": data, "metadata": {}})
    pyplot.close("all")
    return found


if __name__ == "__main__":
    os.chdir(NOTEBOOK.parent)
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    outputs = run(notebook)
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, (cell, output) in enumerate(zip(cells, outputs, strict=True), start=1):
        cell["outputs"], cell["execution_count"] = output, number
    NOTEBOOK.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"Written: {NOTEBOOK}", file=sys.stderr)
