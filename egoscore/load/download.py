"""Published files, downloaded into the user's cache."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_TIMEOUT_SECONDS = 5


class DownloadError(Exception):
    """Why a file could not be downloaded, in a few words."""


def cache_dir() -> Path:
    """Where downloads are kept."""
    import pooch

    return Path(pooch.os_cache("egoscore"))


def fetch(url: str, file_name: str, sha256: str | None) -> Path:
    """Download the zip file at `url` into the cache, where only whole, correct files stay.

    pooch writes to a temporary file with a unique name and renames it at the end.
    """
    import pooch

    checksum = None if sha256 is None else f"sha256:{sha256}"
    web = pooch.HTTPDownloader(timeout=_TIMEOUT_SECONDS)
    try:
        with _quiet_pooch():
            file = pooch.retrieve(url, checksum, file_name, cache_dir(), downloader=web)
    except OSError as error:
        raise DownloadError(_reason(error)) from error
    except ValueError as error:
        raise DownloadError("the download is not the published file") from error
    if not zipfile.is_zipfile(file):
        # without a known checksum: it may be the login page of a hotel
        Path(file).unlink()
        raise DownloadError("the download is not a zip file")
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
