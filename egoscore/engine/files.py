"""The files of a run, by name, and how they are written: they are either whole or not there."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from egoscore.errors import RunError

if TYPE_CHECKING:
    from torch import Tensor

CONFIG_FILE, MODEL_FILE = "config.json", "model.safetensors"
NODES_FILE, EDGES_FILE = "network/nodes.parquet", "network/edges.parquet"
UNFINISHED = ".unfinished-"
LOCK = ".lock"
_CONFIG = {
    **{"source": str, "seed": int, "preset": str, "contamination": str | float},
    **{"settings": dict, "network": dict, "fingerprint": str, "versions": dict},
}


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A name to write to; the file takes its real name when it is complete and on the disk."""
    draft = path.with_name(f"{UNFINISHED}{path.name}")
    try:
        yield draft
        with draft.open("rb") as written:
            os.fsync(written.fileno())
        draft.replace(path)
    except OSError as error:
        raise RunError(f"Cannot write {path}: {error.strerror or error}.") from error
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def lock_directory(path: Path) -> IO[str]:
    """Keep other processes out of a directory until the file that is returned is closed.

    The system releases the lock when the process ends, however it ends.
    """
    lock = (path / LOCK).open("a")
    try:
        import fcntl
    except ImportError:  # Windows
        return lock
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        raise RunError(
            f"Another process is at work in {path}; wait for it or choose another directory."
        ) from None
    return lock


def write_text(path: Path, text: str) -> None:
    """Replace the file by `text`."""
    with replacing(path) as draft:
        draft.write_text(text, encoding="utf-8")


def save_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: dict[str, Any]) -> None:
    """Write tensors and what they are as one safetensors file."""
    from safetensors.torch import save  # torch takes seconds, and not all who write need it

    with replacing(path) as draft:
        draft.write_bytes(save(dict(tensors), {"egoscore": json.dumps(metadata)}))


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Tensors and metadata of a safetensors file."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            return tensors, file.metadata() or {}
    except OSError as error:
        raise RunError(f"Cannot read {path}: {error.strerror or error}.") from error
    except SafetensorError as error:
        raise RunError(f"{path} is not a complete safetensors file ({error}).") from error


def model_path(path: Path) -> Path:
    """The model file meant by `path`: itself, or the one in a run directory."""
    file = path / MODEL_FILE if path.is_dir() else path
    if not file.exists():
        raise RunError(f"There is no model at {file}; fit a detector and save it there first.")
    return file


def read_config(run: Path) -> dict[str, Any]:
    """What a run was made with. A directory without that is no run that could be taken up."""
    file = run / CONFIG_FILE
    with suppress(AttributeError, ValueError):
        config: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        if all(isinstance(config.get(name), kind) for name, kind in _CONFIG.items()):
            return config
    raise RunError(f"{file} is damaged or not that of a run; choose another directory.")


def is_ours(path: Path) -> bool:
    """What a run killed in its very first moment may have left."""
    return path.name == LOCK or path.name.startswith(UNFINISHED)


def require_writable(path: Path) -> None:
    """Fail as making the directory would, if something is in the way or it is not allowed."""
    path = path.absolute()
    nearest = next(place for place in (path, *path.parents) if place.exists())
    if not nearest.is_dir():
        raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))


def unusable(path: Path, error: OSError) -> RunError:
    """What to say of a place that the system refuses."""
    return RunError(f"Cannot use {path} for a run: {error.strerror}.")
