"""What `detect` found before the code was restructured, and how to compute it again.

`python tests/golden/cases.py` writes the files next to this one; commit them only if a change of
results is intended, and say so in the changelog. Text is not recorded, only numbers and codes.

Last bits differ between processors and grow in training. For a refactoring, record the results of
the old code on the same machine (`--out FOLDER`) and compare to 1e-6 (`--compare FOLDER`): this is
what `make golden BASE=revision` does.
"""

from __future__ import annotations

import gzip
import io
import json
import sys
import tempfile
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from egoscore.cli import app

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
DATA = ROOT.parent / "shared" / "data"
PAYMENTS, ACCOUNTS = (str(ROOT / "examples" / f"{name}.csv") for name in ("payments", "accounts"))
EXAMPLES = ("--edges", PAYMENTS, "--nodes", ACCOUNTS)
SHORT = ("--preset", "paper", "--epochs", "5", "--steps", "20", "--num-samples", "2")
NETWORKS = {
    "builtin": ("builtin",),
    "examples": EXAMPLES,
    "edges-only": EXAMPLES[:2],
    "directed": ("--edges", "{made}/edges.csv", "--nodes", "{made}/nodes.csv", "--directed"),
    "disney": ("disney", "--data-dir", str(DATA)),
}
CASES = {
    f"{network}-{preset}": (*source, *options)
    for network, source in NETWORKS.items()
    for preset, options in {"default": (), "paper": SHORT}.items()
}
CASES["disney-published"] = (*NETWORKS["disney"], "--preset", "paper", "--epochs", "30")
NEEDS_DATA = tuple(name for name in CASES if name.startswith("disney"))
_TEXTS = {"notes", "remarks", "rule", "meaning", "run"}
_TEXTS |= {"summary", "reason", "compared_with", "observed", "shade"}


def compute(name: str) -> dict[str, Any]:
    """Run `egoscore detect` for a case and collect every number it wrote."""
    with tempfile.TemporaryDirectory() as folder:
        made, run = Path(folder, "made"), Path(folder, "run")
        _write_directed(made)
        options = [option.format(made=made) for option in CASES[name]]
        with redirect_stdout(io.StringIO()) as printed:
            app(["detect", *options, "--out", str(run), "--json"], standalone_mode=False)
        table = pq.read_table(run / "scores.parquet")
        found = json.loads((run / "findings.json").read_text(encoding="utf-8"))
    return {
        "columns": {column: table[column].to_pylist() for column in table.column_names},
        "explanations": [_without_text(one) for one in found["explanations"]],
        "losses": found["losses"][:10],  # last bits grow with every step
        "printed": _without_text(json.loads(printed.getvalue())),
    }


def _without_text(record: Any) -> Any:
    """A record without what is meant for people to read; names of the user's columns stay."""
    if isinstance(record, list):
        return [_without_text(one) for one in record]
    if not isinstance(record, dict):
        return record
    dropped = _TEXTS | ({"name", "unit"} if record.get("kind") == "structure" else set())
    return {
        key: _without_text(value)
        for key, value in record.items()
        if key not in dropped and not (key == "expected" and isinstance(value, str))
    }


def _write_directed(folder: Path) -> None:
    """Payments with a direction, drawn by numpy's PCG64, which is the same everywhere."""
    folder.mkdir()
    rng = np.random.default_rng(7)
    count = 300
    kind = rng.integers(0, 3, count)
    amount = np.round(np.exp(rng.normal(3.0 + kind, 0.7)), 2)
    age = rng.integers(1, 90, count)
    rows = [f"n{i},{'abc'[kind[i]]},{amount[i]},{age[i]}" for i in range(count)]
    (folder / "nodes.csv").write_text("\n".join(["id,kind,amount,age", *rows]) + "\n")
    source = rng.integers(0, count, 1500)
    near = (source + 3 * rng.integers(1, 20, 1500)) % count
    target = np.where(rng.random(1500) < 0.8, near, rng.integers(0, count, 1500))
    edges = [f"n{a},n{b}" for a, b in zip(source, target, strict=True)]
    (folder / "edges.csv").write_text("\n".join(["from,to", *edges]) + "\n")


def stored(name: str, folder: Path = HERE) -> dict[str, Any]:
    """The recorded results of a case."""
    with gzip.open(folder / f"{name}.json.gz", "rt") as file:
        record: dict[str, Any] = json.load(file)
    return record


def store(name: str, folder: Path) -> None:
    """Record the results of a case."""
    with open(folder / f"{name}.json.gz", "wb") as raw, gzip.GzipFile("", "wb", 9, raw, 0) as file:
        file.write(json.dumps(compute(name)).encode())


def differences(old: Any, new: Any, rtol: float, where: str = "") -> list[str]:
    """Where two records differ by more than `rtol`; fields only in `new` are no difference."""
    if isinstance(old, dict) and isinstance(new, dict):
        missing = [f"{where}.{key}: missing" for key in old if key not in new]
        both = ((key, old[key], new[key]) for key in old if key in new)
        return missing + [d for k, a, b in both for d in differences(a, b, rtol, f"{where}.{k}")]
    if isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            return [f"{where}: {len(old)} items, now {len(new)}"]
        pairs = enumerate(zip(old, new, strict=True))
        return [d for i, (a, b) in pairs for d in differences(a, b, rtol, f"{where}[{i}]")]
    if isinstance(old, float) and isinstance(new, int | float):
        same = bool(np.isclose(new, old, rtol=rtol, atol=rtol, equal_nan=True))
    else:
        same = old == new
    return [] if same else [f"{where}: {old!r}, now {new!r}"]


def differences_by_node(old: dict[str, Any], new: dict[str, Any], rtol: float) -> list[str]:
    """The same for results of another processor, where nodes that are nearly tied swap places.

    Scores and components are compared node by node, explanations by the name of what they list, as
    far as both list it; ranks follow from scores and are left out. Of the printed record, the codes
    of notes are compared.
    """
    first, second = _columns_by_node(old), _columns_by_node(new)
    found = differences(first, second, rtol, "columns")
    found += differences(_codes(old), _codes(new), rtol, "codes")
    reasons = [{one["node"]: one for one in record["explanations"]} for record in (old, new)]
    shared = reasons[0].keys() & reasons[1].keys()
    if len(shared) < 0.9 * len(reasons[0]):
        found.append(f"explanations: only {len(shared)} of {len(reasons[0])} nodes are the same")
    causes = [{node: record[node]["causes"][:1] for node in shared} for record in reasons]
    if sum(causes[0][node] == causes[1][node] for node in shared) < 0.9 * len(shared):
        found.append(f"explanations: other main causes: {causes[0]}, now {causes[1]}")
    for node in sorted(shared):
        ours, theirs = (record[node] for record in reasons)
        for part in ("features", "components", "structure"):
            a, b = (_by_name(record[part]) for record in (ours, theirs))
            shared_names = a.keys() & b.keys()
            a, b = ({name: one[name] for name in shared_names} for one in (a, b))
            found += differences(a, b, rtol, f"explanations.{node}.{part}")
    return found


def _codes(record: dict[str, Any]) -> list[str]:
    """The codes of all notes, but for those that tell whether the ranking is stable."""
    codes = [note["code"] for note in record["printed"]["codes"]]
    return [code for code in codes if not code.startswith("ranking-")]


def _by_name(listed: list[dict[str, Any]]) -> dict[str, Any]:
    """What an explanation lists, by name; of structure, whose names are text, all sizes."""
    sizes = sorted(one["size"] for one in listed if "name" not in one)
    return {"": sizes} | {one["name"]: one for one in listed if "name" in one}


def _columns_by_node(record: dict[str, Any]) -> dict[str, dict[str, Any]]:
    columns = record["columns"]
    kept = [name for name in columns if name not in ("node", "rank", "percentile")]
    rows = zip(*(columns[name] for name in ["node", *kept]), strict=True)
    return {str(node): dict(zip(kept, row, strict=True)) for node, *row in rows}


def main() -> None:
    """Record all cases in this folder, or compare with those recorded elsewhere."""
    if sys.argv[1:2] == ["--compare"]:
        folder, names = Path(sys.argv[2]), sys.argv[3:] or list(CASES)
        found = {name: differences(stored(name, folder), compute(name), 1e-6) for name in names}
        for name, different in found.items():
            print(name, "same" if not different else different[:5])
        sys.exit(any(found.values()))
    folder = Path(sys.argv[2]) if sys.argv[1:2] == ["--out"] else HERE
    folder.mkdir(parents=True, exist_ok=True)
    for name in CASES:
        store(name, folder)
        print(name)


if __name__ == "__main__":
    main()
