"""Writing files atomically, with checksums, and locking a directory."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout

from egoscore.errors import RunError

if TYPE_CHECKING:
    from torch import Tensor

UNFINISHED = ".unfinished-"
LOCK = ".lock"


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Report what the system refuses to write, and where.

    Only calls that write belong inside: a missing template is an OSError, too, but our defect.
    """
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        if not path.parent.exists():
            reason = f"the folder {path.parent} does not exist; create it first"
        raise RunError(f"Cannot write {path}: {reason}.") from error


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file to write to; it is renamed to `path` once it is complete and on disk.

    It has a unique name and must not exist before, so that no symlink is followed. What the block
    itself writes belongs inside `writing`.
    """
    draft = path.with_name(f"{UNFINISHED}{token_hex(8)}-{path.name[-100:]}")
    try:
        with writing(path):
            os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        yield draft
        with writing(path):
            with draft.open("rb") as written:
                os.fsync(written.fileno())
            draft.replace(path)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def checksum(parts: Iterable[bytes | memoryview]) -> str:
    """What a file of a run carries of its contents, so that damage is noticed; 32 letters."""
    digest = blake2b(digest_size=16)
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def require_intact(path: Path, found: str, written: Any) -> None:
    """Refuse a file with another checksum than was written into it."""
    if found != written:
        raise RunError(f"{path} is damaged: its contents do not match their checksum.")


def write_text(path: Path, text: str) -> None:
    """Replace the file by `text`."""
    with replacing(path) as draft, writing(path):
        draft.write_text(text, encoding="utf-8")


def save_tensors(path: Path, tensors: Mapping[str, Tensor], facts: dict[str, Any]) -> None:
    """Write tensors and JSON facts, with a checksum of both, as one safetensors file."""
    from safetensors.torch import save  # importing torch takes seconds

    text = json.dumps(facts)
    about = {"egoscore": text, "checksum": checksum(_checked(tensors, text))}
    data = save(dict(tensors), about)
    size = int.from_bytes(data[:8], "little")
    # safetensors writes metadata in random order; sorted, equal contents are equal files
    header = json.dumps(_sorted(json.loads(data[8 : 8 + size])), separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    with replacing(path) as draft, writing(path), draft.open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        file.write(memoryview(data)[8 + size :])


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Tensors and facts of a file that `save_tensors` wrote; anything changed since is refused."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            about = file.metadata() or {}
    except OSError as error:
        raise RunError(f"Cannot read {path}: {error.strerror or error}.") from error
    except SafetensorError as error:
        raise RunError(f"{path} is not a complete safetensors file ({error}).") from error
    if "egoscore" not in about:
        raise RunError(f"{path} is a safetensors file, but egoscore did not write it.")
    facts = parse_json(about["egoscore"])
    if not isinstance(facts, dict):
        raise RunError(f"{path} is damaged: its description is not JSON.")
    # older formats have no checksum; the caller refuses them by their version
    found = checksum(_checked(tensors, about["egoscore"]))
    require_intact(path, found, about.get("checksum", found))
    return tensors, facts


def _sorted(header: dict[str, Any]) -> dict[str, Any]:
    return header | {"__metadata__": dict(sorted(header["__metadata__"].items()))}


def _checked(tensors: Mapping[str, Tensor], text: str) -> Iterator[bytes]:
    """What the checksum of tensors and facts is computed from."""
    yield text.encode()
    for name in sorted(tensors):
        tensor = tensors[name].detach().cpu().contiguous()
        yield f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode()
        yield tensor.numpy().tobytes()


def parse_json(text: str) -> Any:
    """The value of a JSON text; None if it is not JSON or nested too deeply."""
    try:
        return json.loads(text)
    except (RecursionError, ValueError):
        return None


def save_json(path: Path, text: str) -> None:
    """Write a JSON object, given as text, with a checksum of it among its members."""
    write_text(path, f'{{"checksum": "{checksum([text.encode()])}", {text[1:]}')


def load_json(path: Path) -> dict[str, Any]:
    """The object that `save_json` wrote, without the checksum; a changed one is refused."""
    record = parse_json(path.read_text(encoding="utf-8", errors="replace"))
    if not isinstance(record, dict):
        raise RunError(f"{path} is not a JSON object.")
    written = record.pop("checksum", None)
    require_intact(path, checksum([json.dumps(record).encode()]), written)
    return record


@contextmanager
def lock_directory(path: Path, patience: float = 0.0) -> Iterator[None]:
    """Keep other processes out of a directory.

    The system releases the lock when the process ends, however it ends.
    """
    try:
        with FileLock(path / LOCK, timeout=patience):
            yield
    except Timeout:
        raise RunError(
            f"Another process is using {path}; wait for it or choose another directory."
        ) from None


def is_ours(path: Path) -> bool:
    """Whether a run that was killed at its start may have left this file."""
    return path.name == LOCK or path.name.startswith(UNFINISHED)


def require_writable(path: Path) -> None:
    """Raise the OSError that creating the directory, or a file in it, would raise."""
    path = path.absolute()
    nearest = next(place for place in (path, *path.parents) if place.exists())
    if not nearest.is_dir():
        raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))
