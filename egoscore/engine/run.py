"""A run on disk: killed at any moment, it continues when the same command is given again."""

from __future__ import annotations

import json
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from egoscore.bars import Advance
from egoscore.engine.files import (
    CONFIG_FILE,
    LOCK,
    MODEL_FILE,
    UNFINISHED,
    is_ours,
    load_tensors,
    lock_directory,
    read_config,
    replacing,
    require_writable,
    save_tensors,
    unusable,
    write_text,
)
from egoscore.engine.model import FORMAT_VERSION
from egoscore.errors import RunError, TrainingError
from egoscore.learn import TrainingState
from egoscore.score import ComponentTable
from egoscore.score.table import LEVEL_COMPONENTS
from egoscore.surprise.network import CentreNetwork

_ROWS_AT_ONCE = 1 << 20
_SECONDS_BETWEEN_CHECKPOINTS = 20.0
_IDENTITY = ("seed", "fingerprint", "preset")
# These only decide how finished components are combined, so a run may be told anew with others.
_FREE_SETTINGS = ("dissimilarity", "alpha", "weighting")


class RunDirectory:
    """The files of one run, in use by one process at a time. Layout:

    config.json, model.safetensors, training/ (checkpoint.safetensors and losses.csv, or the
    networks of the default preset), components/part-*.parquet, scores.parquet, report.html.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._last_kept = time.monotonic()
        self._lock: IO[str] | None = None
        self._was_there = path.exists()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None = None, *_: object) -> None:
        if kind is not None and issubclass(kind, TrainingError):
            self._discard()  # nothing of it is worth continuing; other settings may come
        if self._lock is not None:
            self._lock.close()

    @classmethod
    def open(cls, path: str | Path, config: dict[str, Any]) -> RunDirectory:
        """Start a run, or take up the one that is there if it is the same."""
        run = cls(Path(path))
        try:
            run._begin(config)
        except BaseException as error:
            run.__exit__()
            if isinstance(error, OSError):
                raise unusable(run.path, error) from error
            raise
        return run

    @staticmethod
    def require_usable(path: Path) -> None:
        """Refuse a place that cannot hold a run, whatever the run; nothing is written."""
        try:
            if path.exists() and not path.is_dir():
                raise RunError(f"{path} is a file; a run needs a directory of its own.")
            require_writable(path)
        except OSError as error:
            raise unusable(path, error) from error
        known = (path / CONFIG_FILE).exists()
        if not known and path.exists() and any(not is_ours(p) for p in path.iterdir()):
            raise RunError(
                f"{path} is not empty and holds no run of egoscore; choose another directory."
            )

    def _begin(self, config: dict[str, Any]) -> None:
        self.require_usable(self.path)
        known = (self.path / CONFIG_FILE).exists()
        self.path.mkdir(parents=True, exist_ok=True)
        self._lock = lock_directory(self.path)
        if known:
            self._require_same(config)
        # before the folders: what has no config.json must not look like somebody else's
        write_text(self.path / CONFIG_FILE, json.dumps(config, indent=2) + "\n")
        for folder in ("", "training", "components"):
            (self.path / folder).mkdir(exist_ok=True)
            for draft in (self.path / folder).glob(f"{UNFINISHED}*"):
                draft.unlink(missing_ok=True)

    def _discard(self) -> None:
        """Remove what this run wrote before it failed."""
        for folder in ("training", "components"):
            shutil.rmtree(self.path / folder, ignore_errors=True)
        for name in (CONFIG_FILE, LOCK):
            (self.path / name).unlink(missing_ok=True)
        if not self._was_there:
            with suppress(OSError):  # somebody else may have put something there meanwhile
                self.path.rmdir()

    def _require_same(self, config: dict[str, Any]) -> None:
        found = read_config(self.path)
        before, now = _flat(found), _flat(json.loads(json.dumps(config)))
        for name in now:
            if now[name] != before.get(name):
                holds = f"a run with another {name} ({before.get(name)}, now {now[name]})"
                if name == "fingerprint":
                    holds = (
                        f"a run of another network than {config.get('source')} is now: the data "
                        "have changed or are read in another way"
                    )
                raise RunError(
                    f"{self.path} holds {holds}; choose another directory, or delete it to start "
                    "anew."
                )

    @property
    def model_file(self) -> Path:
        """Where the fitted detector is kept."""
        return self.path / MODEL_FILE

    def resume(self, state: TrainingState) -> None:
        """Bring the state of training to the last checkpoint, if there is one."""
        file = self.path / "training" / "checkpoint.safetensors"
        if not file.exists():
            return
        try:
            tensors, text = load_tensors(file)
        except RunError as error:
            raise RunError(f"{error} Remove it to train from the start.") from error
        try:
            progress = json.loads(text["egoscore"])
            history = [(row[0], row[1]) for row in progress["history"]]
            state.restore(tensors, progress["epoch"], history)
        except (KeyError, IndexError, RuntimeError, TypeError, ValueError) as error:
            raise RunError(
                f"{file} is not a checkpoint of this run; remove it to train from the start."
            ) from error

    def keep(self, state: TrainingState, finished: bool) -> None:
        """Write a checkpoint when training is finished or the last one is long ago."""
        if not finished and time.monotonic() - self._last_kept < _SECONDS_BETWEEN_CHECKPOINTS:
            return
        progress = {"epoch": state.epoch, "history": state.history}
        file = self.path / "training" / "checkpoint.safetensors"
        save_tensors(file, state.tensors(), progress)
        rows = [f"{epoch},{x!r},{adj!r}\n" for epoch, (x, adj) in enumerate(state.history, 1)]
        write_text(file.with_name("losses.csv"), "epoch,features,adjacency\n" + "".join(rows))
        self._last_kept = time.monotonic()

    def _network_file(self, number: int) -> Path:
        return self.path / "training" / f"network-{number}.safetensors"

    def save_network(self, number: int, network: CentreNetwork, losses: list[float]) -> None:
        """Keep a finished network and its losses."""
        facts = {"losses": losses, "format_version": FORMAT_VERSION}
        save_tensors(self._network_file(number), network.state_dict(), facts)

    def load_network(self, number: int) -> tuple[CentreNetwork, list[float]] | None:
        """The network of this number and its losses; a damaged or old one is trained again."""
        file = self._network_file(number)
        if not file.exists():
            return None
        try:
            tensors, text = load_tensors(file)
            facts = json.loads(text["egoscore"])
            if facts["format_version"] != FORMAT_VERSION:  # learned from features judged otherwise
                return None
            return CentreNetwork.restored(tensors), facts["losses"]
        except (RunError, AttributeError, KeyError, RuntimeError, TypeError, ValueError):
            return None

    def _shard_file(self, number: int) -> Path:
        return self.path / "components" / f"part-{number:05d}.parquet"

    def save_shard(self, number: int, table: ComponentTable) -> None:
        """Keep a finished shard."""
        facts = {"taus": table.taus, "num_samples": table.num_samples}
        columns = pa.table(table.columns())
        write_table(
            columns.replace_schema_metadata({"egoscore": json.dumps(facts)}),
            self._shard_file(number),
        )

    def load_shard(self, number: int, nodes: NDArray[np.int64]) -> ComponentTable | None:
        """The shard of these nodes if it was finished earlier; a damaged one is done again."""
        file = self._shard_file(number)
        if not file.exists():
            return None
        try:
            table = _read_shard(file)
        except (OSError, KeyError, TypeError, ValueError, pa.ArrowException):
            return None
        return table if np.array_equal(table.node, nodes) else None


def _read_shard(file: Path) -> ComponentTable:
    columns = pq.read_table(file)
    facts = json.loads(columns.schema.metadata[b"egoscore"])
    taus = tuple(facts["taus"])
    values = [[columns[f"{name}@{tau:g}"].to_numpy() for name in LEVEL_COMPONENTS] for tau in taus]
    return ComponentTable(
        node=columns["node"].to_numpy(),
        ego_size=columns["ego_size"].to_numpy(),
        energy=columns["energy"].to_numpy(),
        values=np.transpose(np.array(values, dtype=np.float32), (2, 0, 1)).copy(),
        taus=taus,
        num_samples=facts["num_samples"],
    )


def write_table(table: pa.Table, path: Path, advance: Advance = lambda count: None) -> None:
    """Write a Parquet file, whole or not at all; `advance` hears how many rows are written."""
    with replacing(path) as draft, pq.ParquetWriter(draft, table.schema) as writer:
        for start in range(0, table.num_rows, _ROWS_AT_ONCE):
            rows = table.slice(start, _ROWS_AT_ONCE)
            writer.write_table(rows)
            advance(rows.num_rows)


def _flat(config: dict[str, Any]) -> dict[str, Any]:
    """What makes two runs the same, name by name."""
    settings = config.get("settings", {})
    software = {"egoscore version": config.get("versions", {}).get("egoscore")}
    fixed = {name: settings[name] for name in settings if name not in _FREE_SETTINGS}
    return {name: config.get(name) for name in _IDENTITY} | software | fixed
