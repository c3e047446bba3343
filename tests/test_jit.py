"""Compiled kernels: their cache notices changes in all sources, and is optional."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import egoscore
from egoscore import jit

PACKAGE = Path(egoscore.__file__).parent
CALLER = """
from made.jit import compiled
from made.inner import weight

@compiled
def weigh(value):
    return weight(value)

print(weigh(3.0))
"""
INNER = """
from made.jit import inlined

@inlined
def weight(value):
    return value * 2.0
"""


def imported(source):
    """The modules that a source text imports from, anywhere in it."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def test_the_list_of_sources_has_every_module_that_compiles():
    compiling = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if any(
            name == "egoscore.jit" or name.split(".")[0] in ("numba", "llvmlite")
            for name in imported(path.read_text())
        )
    }
    assert set(jit.KERNEL_SOURCES) == compiling | {"jit.py"}
    assert sorted(set(jit.KERNEL_SOURCES)) == sorted(jit.KERNEL_SOURCES)


@pytest.fixture
def fresh(monkeypatch):
    """No remembered folder or key, before and after."""
    for function in (jit._writable_folder, jit.source_key):
        function.cache_clear()
    yield monkeypatch
    for function in (jit._writable_folder, jit.source_key):
        function.cache_clear()


def test_a_change_in_any_source_changes_the_key(fresh, tmp_path):
    for name in jit.KERNEL_SOURCES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PACKAGE / name, tmp_path / name)
    before = jit.source_key()
    fresh.setattr(jit, "_PACKAGE", tmp_path)
    for name in jit.KERNEL_SOURCES:
        jit.source_key.cache_clear()
        assert jit.source_key() == before
        whole = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(whole + b"\n")
        jit.source_key.cache_clear()
        assert jit.source_key() != before, name
        (tmp_path / name).write_bytes(whole)


def test_a_change_in_an_inlined_function_of_another_module_is_compiled(tmp_path):
    package = tmp_path / "made"
    package.mkdir()
    (package / "__init__.py").write_text("")
    source = (PACKAGE / "jit.py").read_text()
    start, end = source.index("KERNEL_SOURCES = ("), source.index("_config: Any")
    sources = 'KERNEL_SOURCES = ("jit.py", "inner.py", "outer.py")\n'
    (package / "jit.py").write_text(source[:start] + sources + source[end:])
    (package / "inner.py").write_text(INNER)
    (package / "outer.py").write_text(CALLER)
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}
    environment |= {"PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}

    def run():
        command = [sys.executable, "-m", "made.outer"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return float(done.stdout), {p.name for p in (package / "__pycache__").glob("kernels-*")}

    first, folder = run()
    (package / "inner.py").write_text(INNER.replace("2.0", "5.0"))
    second, other = run()
    assert (first, second) == (6.0, 15.0)
    assert len(folder) == len(other) == 1  # the outdated one is removed
    assert folder != other


class TestFolder:
    def test_the_first_writable_place_is_taken(self, fresh, tmp_path):
        fresh.setattr(jit._config, "CACHE_DIR", str(tmp_path))
        assert jit._writable_folder() == tmp_path / f"kernels-{jit.source_key()}"

    def test_a_place_that_is_read_only_is_passed_over(self, fresh, tmp_path):
        first, second = tmp_path / "first", tmp_path / "second"
        fresh.setattr(jit._config, "CACHE_DIR", str(first))
        fresh.setattr(jit, "_PACKAGE", tmp_path / "nowhere")
        fresh.setenv("XDG_CACHE_HOME", str(second))
        key = jit.source_key()
        is_allowed = os.access
        fresh.setattr(
            os, "access", lambda p, mode: second in Path(p).parents and is_allowed(p, mode)
        )
        assert jit._writable_folder() == second / "egoscore" / f"kernels-{key}"

    def test_without_any_place_kernels_compile_all_the_same(self, fresh):
        def refuse(*_, **__):
            raise PermissionError

        fresh.setattr(Path, "mkdir", refuse)
        assert jit._writable_folder() is None
        assert jit.compiled(lambda value: value + 1)(2) == 3
