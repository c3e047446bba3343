"""Imports go one way: data, detectors, runs, reports, command line; presets stay in detectors/."""

import ast
import re
from pathlib import Path

import pytest

import egoscore

PACKAGE = Path(egoscore.__file__).parent
ROOT = {
    *("text", "errors", "progress", "progress_log", "random", "jit", "runtime", "notes"),
    *("thresholds", "metrics"),
}
# What the modules of a folder may import, by folder or module name; always their own and ROOT.
MAY_IMPORT = {
    "graph": set(),
    "load": {"graph"},
    "engine": {"graph"},
    "explain": {"graph"},
    "detectors": {"graph", "explain", "engine"},
    "review": {"graph", "explain", "detectors", "detectors.base", "detectors.settings"},
    "run": {"graph", "detectors.base"},
    "ranking": {"graph", "explain", "run"},
    "report": {"graph", "explain", "run", "ranking", "detectors", "detectors.base"},
    "detector": {
        *("graph", "explain", "review", "run", "ranking"),
        *("detectors", "detectors.base", "detectors.settings"),
    },
    "stability": {"graph", "detector", "detectors", "detectors.base"},
    "detect": {
        *("graph", "explain", "run", "ranking", "report", "detector", "detectors", "stability"),
    },
    "serve": {
        *("graph", "explain", "review", "run", "ranking", "report", "detector"),
        *("detectors", "detectors.base"),
    },
}
# Constructors of a graph from tables and networkx graphs; they import the readers when called.
READS_ON_DEMAND = {"graph.attributed_graph"}
# Top of the package: nothing but themselves may import them.
TOP = {"bench": {"cli.bench"}, "serve": {"cli.review"}, "cli": {"__main__"}}


def modules():
    return sorted(PACKAGE.rglob("*.py"))


def name_of(path):
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_type_checking(node):
    test = node.test
    return (test.id if isinstance(test, ast.Name) else getattr(test, "attr", "")) == "TYPE_CHECKING"


def imports(node, inside=False):
    """Modules of this package imported below a node, and whether inside a function."""
    if isinstance(node, ast.If) and is_type_checking(node):
        for child in node.orelse:
            yield from imports(child, inside)
        return
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports are absolute"
        base = node.module or ""
        named = [f"{base}.{alias.name}" for alias in node.names]
        names = [one if is_module(one) else base for one in named]
    else:
        names = []
    for name in names:
        if name.split(".")[0] == "egoscore":
            yield name.removeprefix("egoscore").removeprefix("."), inside
    inside = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    for child in ast.iter_child_nodes(node):
        yield from imports(child, inside)


def is_module(name):
    path = PACKAGE.parent.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").exists()


IMPORTS = [
    (name_of(path), *found)
    for path in modules()
    for found in sorted(set(imports(ast.parse(path.read_text()))))
]


def folder_of(name):
    return name.split(".")[0]


def is_allowed(importer, imported, inside):
    if folder_of(imported) in ROOT or folder_of(imported) == folder_of(importer):
        return True
    if importer in READS_ON_DEMAND and folder_of(imported) == "load":
        return inside
    allowed = MAY_IMPORT[folder_of(importer)]
    return imported in allowed or (folder_of(imported) in allowed and not is_detector(imported))


def is_detector(name):
    """Whether a module belongs to one detector."""
    return name.startswith("detectors.") and (PACKAGE / "detectors" / name.split(".")[1]).is_dir()


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_folders_import_only_what_is_below_them(folder):
    mine = [one for one in IMPORTS if folder_of(one[0]) == folder]
    assert mine
    assert [one[:2] for one in mine if not is_allowed(*one)] == []


def test_root_modules_import_only_each_other():
    mine = [one for one in IMPORTS if one[0] in ROOT]
    assert [one[:2] for one in mine if folder_of(one[1]) not in ROOT] == []


def test_every_folder_has_a_rule():
    folders = {folder_of(name_of(path)) for path in modules()}
    assert folders == {"", "__main__", *ROOT, *MAY_IMPORT, *TOP}


def test_detectors_do_not_import_each_other():
    between = [
        (importer, imported)
        for importer, imported, _ in IMPORTS
        if is_detector(importer)
        and is_detector(imported)
        and importer.split(".")[1] != imported.split(".")[1]
    ]
    assert between == []


@pytest.mark.parametrize("top", TOP)
def test_nothing_imports_the_top(top):
    importers = {
        importer
        for importer, imported, _ in IMPORTS
        if folder_of(imported) == top and folder_of(importer) != top
    }
    assert importers <= TOP[top]


def modules_named_in_text(source):
    """Modules of this package that are named in a string, as `import_module` takes them."""
    texts = (c.value for c in ast.walk(ast.parse(source)) if isinstance(c, ast.Constant))
    names = (text for text in texts if isinstance(text, str))
    return [
        name.removeprefix("egoscore.") for name in names if re.fullmatch(r"egoscore(\.\w+)+", name)
    ]


def test_modules_named_in_text_are_recognised():
    source = '"""About egoscore.cli."""\n_TOP = "egoscore.bench.draw"\nprint("egoscore")'
    assert modules_named_in_text(source) == ["bench.draw"]


def test_no_text_names_the_top_to_import_it():
    found = [
        f"{name_of(path)} names {name}"
        for path in modules()
        for name in modules_named_in_text(path.read_text())
        if folder_of(name) in TOP
        and folder_of(name_of(path)) != folder_of(name)
        and name_of(path) not in TOP[folder_of(name)]
    ]
    assert found == []


def detector_classes():
    """The names of detectors and of their settings, and the presets."""
    from egoscore.detectors import PRESETS, detector_of, settings_of

    classes = {f(preset).__name__ for preset in PRESETS for f in (detector_of, settings_of)}
    return set(PRESETS), classes


def is_about_preset(node):
    return any(
        (isinstance(c, ast.Name) and c.id == "preset")
        or (isinstance(c, ast.Attribute) and c.attr == "preset")
        or (isinstance(c, ast.Constant) and c.value == "preset")
        for c in ast.walk(node)
    )


def preset_checks(tree):
    presets, classes = detector_classes()
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            is_equality = any(
                isinstance(op, ast.Eq | ast.NotEq | ast.In | ast.NotIn) for op in node.ops
            )
            if is_equality and (
                any(is_about_preset(side) for side in sides)
                or any(isinstance(s, ast.Constant) and s.value in presets for s in sides)
            ):
                yield node.lineno
        elif (isinstance(node, ast.Match) and is_about_preset(node.subject)) or (
            isinstance(node, ast.Call) and is_type_check(node, classes)
        ):
            yield node.lineno


def is_type_check(call, classes):
    """Whether a call is `isinstance` or `issubclass` with one of some classes."""
    return ast.unparse(call.func) in ("isinstance", "issubclass") and any(
        isinstance(c, ast.Name) and c.id in classes for c in ast.walk(call.args[1])
    )


@pytest.mark.parametrize(
    "source",
    [
        'if preset == "x": pass',
        "if detector.preset != other: pass",
        'if config["preset"] == "paper": pass',
        'if "paper" == name: pass',
        'if preset in ("paper",): pass',
        "isinstance(one, PaperDetector)",
        "isinstance(one, (int, ConditionalSettings))",
        "match preset:\n    case 'paper': pass",
    ],
)
def test_preset_checks_are_recognised(source):
    assert list(preset_checks(ast.parse(source)))


def test_only_detectors_know_which_preset_there_is():
    found = [
        f"{path.relative_to(PACKAGE)}:{line}"
        for path in modules()
        if folder_of(name_of(path)) != "detectors"
        for line in preset_checks(ast.parse(path.read_text()))
    ]
    assert found == []
