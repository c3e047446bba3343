"""Writing a run directory: after a kill at any moment, the same command continues the run."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from egoscore.errors import RunError, TrainingError
from egoscore.run.files import (
    UNFINISHED,
    is_ours,
    load_tensors,
    lock_directory,
    parse_json,
    require_writable,
    save_tensors,
    write_text,
    writing,
)
from egoscore.run.graph_store import EDGES_FILE, NODES_FILE
from egoscore.run.tables import facts_of, read_table, write_table

if TYPE_CHECKING:
    from torch import Tensor

CONFIG_FILE, FINDINGS_FILE = "config.json", "findings.json"
MODEL_FILE, SCORES_FILE, REPORT_FILE = "model.safetensors", "scores.parquet", "report.html"
RESULT_FILES = (MODEL_FILE, NODES_FILE, EDGES_FILE, SCORES_FILE, "scores.csv", REPORT_FILE)
_UNFINISHED_WORK = ("training", "components")
_CONFIG = {
    **{"source": str, "seed": int, "preset": str, "contamination": str | float},
    **{"settings": dict, "network": dict, "fingerprint": str, "versions": dict},
}
_IDENTITY = ("seed", "fingerprint", "preset")


class RunDirectory:
    """The files of one run, used by one process at a time. It is the `Store` of a detector.

    config.json always belongs to the results next to it: results are written to a folder of their
    own and moved into place together, findings.json last. Without that file a run is unfinished.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._held = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None = None, *_: object) -> None:
        if kind is not None and issubclass(kind, TrainingError):
            self._discard()  # there is nothing worth continuing
        self._held.close()

    @classmethod
    def open(
        cls, path: str | Path, config: dict[str, Any], rescoring: Collection[str] = ()
    ) -> RunDirectory:
        """Start a run, or continue the one in the directory if it is the same.

        A finished run may be repeated with other values of the settings named in `rescoring`.
        """
        run = cls(Path(path))
        try:
            run._begin(config, rescoring)
        except BaseException as error:
            run.__exit__()
            if isinstance(error, OSError):
                raise _unusable(run.path, error) from error
            raise
        return run

    @staticmethod
    def require_usable(path: Path) -> None:
        """Refuse a path that cannot hold any run; nothing is written."""
        try:
            if path.exists() and not path.is_dir():
                raise RunError(f"{path} is a file; a run needs a directory of its own.")
            require_writable(path)
        except OSError as error:
            raise _unusable(path, error) from error
        is_run = (path / CONFIG_FILE).exists()
        if not is_run and path.exists() and any(not is_ours(p) for p in path.iterdir()):
            raise RunError(
                f"{path} is not empty and holds no run of egoscore; choose another directory."
            )

    def _begin(self, config: dict[str, Any], rescoring: Collection[str]) -> None:
        self.require_usable(self.path)
        self.path.mkdir(parents=True, exist_ok=True)
        self._held.enter_context(lock_directory(self.path))
        if (self.path / CONFIG_FILE).exists():
            self._require_same(config, rescoring)
        else:  # first of all, because a directory without config.json must be empty
            write_text(self.path / CONFIG_FILE, _json(config))
        for folder in ("", *_UNFINISHED_WORK):
            (self.path / folder).mkdir(exist_ok=True)
            for draft in (self.path / folder).glob(f"{UNFINISHED}*"):
                _remove(draft)

    def _discard(self) -> None:
        """Remove what this run wrote before it failed, except the lock: others may wait for it."""
        for folder in _UNFINISHED_WORK:
            shutil.rmtree(self.path / folder, ignore_errors=True)
        (self.path / CONFIG_FILE).unlink(missing_ok=True)

    def _require_same(self, config: dict[str, Any], rescoring: Collection[str]) -> None:
        found = read_config(self.path)
        now = _identity(json.loads(json.dumps(config)), rescoring)
        before = _identity(found, rescoring)
        for name in now:
            if now[name] != before.get(name):
                holds = f"a run with another {name} ({before.get(name)}, now {now[name]})"
                if name == "fingerprint":
                    holds = (
                        f"a run on other data than {config.get('source')} is now: the data have "
                        "changed or are read in another way"
                    )
                raise RunError(
                    f"{self.path} holds {holds}; choose another directory, or delete it to start "
                    "again."
                )

    @contextmanager
    def publish(self, config: dict[str, Any]) -> Iterator[Path]:
        """A folder to write results to; they replace those of the run when the block ends.

        The old results are removed before the new ones are moved into place, so that results and
        settings never mix, even if the process is killed.
        """
        drafts = self.path / f"{UNFINISHED}results-{token_hex(8)}"
        try:
            with writing(self.path):
                drafts.mkdir()
                for name in RESULT_FILES:
                    (drafts / name).parent.mkdir(exist_ok=True)
            yield drafts
            write_text(drafts / CONFIG_FILE, _json(config))
            with writing(self.path):
                self._replace_results(drafts)
        finally:
            _remove(drafts)

    def _replace_results(self, drafts: Path) -> None:
        for name in (FINDINGS_FILE, *RESULT_FILES):
            (self.path / name).unlink(missing_ok=True)
        for name in (CONFIG_FILE, *RESULT_FILES, FINDINGS_FILE):
            if (drafts / name).exists():
                (self.path / name).parent.mkdir(exist_ok=True)
                os.replace(drafts / name, self.path / name)

    def _part(self, name: str) -> Path:
        return self.path / "training" / f"{name}.safetensors"

    def save(self, name: str, tensors: Mapping[str, Tensor], facts: dict[str, Any]) -> None:
        """Keep a part of the training."""
        save_tensors(self._part(name), tensors, facts)

    def load(self, name: str) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """A part of the training that was kept earlier."""
        file = self._part(name)
        return load_tensors(file) if file.exists() else None

    def save_losses(self, names: Sequence[str], rows: Sequence[Sequence[float]]) -> None:
        """Write training/losses.csv."""
        lines = [",".join(map(repr, (step, *row))) for step, row in enumerate(rows, 1)]
        text = "\n".join([",".join(("epoch", *names)), *lines, ""])
        write_text(self.path / "training" / "losses.csv", text)

    def _shard(self, number: int) -> Path:
        return self.path / "components" / f"part-{number:05d}.parquet"

    def save_shard(
        self, number: int, columns: Mapping[str, NDArray[np.generic]], facts: dict[str, Any]
    ) -> None:
        """Keep a finished shard."""
        write_table(pa.table(dict(columns)), self._shard(number), facts)

    def load_shard(self, number: int) -> tuple[dict[str, NDArray[Any]], dict[str, Any]] | None:
        """A shard that was finished earlier; a damaged one has to be done again."""
        file = self._shard(number)
        if not file.exists():
            return None
        try:
            table = read_table(file)
        except RunError:
            return None
        columns = {name: table[name].to_numpy() for name in table.column_names}
        return columns, facts_of(table.schema)


def read_config(run: Path) -> dict[str, Any]:
    """The config.json of a run, checked for the members that every run has."""
    file = run / CONFIG_FILE
    try:
        config = parse_json(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        config = None
    if isinstance(config, dict) and all(isinstance(config.get(k), t) for k, t in _CONFIG.items()):
        return config
    raise RunError(f"{file} is damaged or not that of a run; choose another directory.")


def model_path(path: Path) -> Path:
    """The model file at `path`, which may be a run directory that holds one."""
    file = path / MODEL_FILE if path.is_dir() else path
    if not file.exists():
        raise RunError(f"There is no model at {file}; fit a detector and save it there first.")
    return file


def _json(config: dict[str, Any]) -> str:
    return json.dumps(config, indent=2) + "\n"


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _unusable(path: Path, error: OSError) -> RunError:
    return RunError(f"Cannot use {path} for a run: {error.strerror}.")


def _identity(config: dict[str, Any], rescoring: Collection[str]) -> dict[str, Any]:
    """The values that two runs must share to be the same run."""
    settings = config.get("settings", {})
    software = {"egoscore version": config.get("versions", {}).get("egoscore")}
    fixed = {name: settings[name] for name in settings if name not in rescoring}
    return {name: config.get(name) for name in _IDENTITY} | software | fixed
