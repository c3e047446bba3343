"""Published files, fetched into the user's cache."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_TIMEOUT_SECONDS = 5


class DownloadError(Exception):
    """Why a file could not be had, in a few words."""


def cache_dir() -> Path:
    """Where downloads are kept."""
    import pooch

    return Path(pooch.os_cache("egoscore"))


def fetch(url: str, file_name: str, sha256: str | None) -> Path:
    """Put the zip file at `url` into the cache; what is not whole and right never stays there."""
    import pooch

    checksum = None if sha256 is None else f"sha256:{sha256}"
    web = pooch.HTTPDownloader(timeout=_TIMEOUT_SECONDS)
    try:
        with _quiet_pooch():
            file = pooch.retrieve(url, checksum, file_name, cache_dir(), downloader=web)
    except OSError as error:
        raise DownloadError(_reason(error)) from error
    except ValueError as error:
        raise DownloadError("what came is not the published file") from error
    if not zipfile.is_zipfile(file):
        # Where no checksum is known: the login page of a hotel, say.
        Path(file).unlink()
        raise DownloadError("what came is not a zip file")
    return Path(file)


@contextmanager
def _quiet_pooch() -> Iterator[None]:
    import pooch

    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel("CRITICAL")
    try:
        yield
    finally:
        logger.setLevel(level)


def _reason(error: OSError) -> str:
    response = getattr(error, "response", None)
    if response is not None:
        return f"the server answered {response.status_code}"
    if "Timeout" in type(error).__name__:
        return f"no answer within {_TIMEOUT_SECONDS} seconds"
    if isinstance(error, PermissionError):
        return "the cache cannot be written to"
    return error.strerror or "the connection failed"
