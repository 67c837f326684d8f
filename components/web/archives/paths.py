"""Read Common Crawl's lists of archives: ``*.paths`` and ``*.paths.gz``, one path per line."""

from __future__ import annotations

import zlib
from pathlib import PurePosixPath

from components.core.errors import HearsightError
from components.web.archives.opening import open_archive, read_fully

MAX_LIST = 1 << 28
"""Maximum bytes of a path list, decompressed."""


def is_path_list(path: str) -> bool:
    """Return whether ``path`` has the name of an archive list."""
    return path.endswith((".paths", ".paths.gz"))


def read_paths(path: str, prefix: str = "") -> list[str]:
    """Return the archives that a list names, in order.

    Args:
        path: local, ``s3://`` or http(s).
        prefix: put before relative paths: a folder, ``s3://commoncrawl`` or ``https://data.commoncrawl.org``; '' for the list's
            own bucket (an ``s3://`` list) or the working folder.

    Raises:
        HearsightError: the list is missing, empty, broken, or not a list of paths.
    """
    try:
        with open_archive(path) as stream:
            data = read_fully(stream, MAX_LIST + 1)
        if data[:2] == b"\x1f\x8b":
            unpacker = zlib.decompressobj(31)
            data = unpacker.decompress(data, MAX_LIST)
            if not unpacker.eof:
                raise ValueError("the gzip file is truncated or too large")
        if len(data) > MAX_LIST:
            raise ValueError(f"more than {MAX_LIST} bytes")
        lines = data.decode("utf-8").split("\n")
    except (ValueError, zlib.error) as error:
        raise HearsightError(f"is not a list of paths ({error})", where=path, hint="download it again") from None
    names = [line.strip() for line in lines if line.strip()]
    if not names or any("\x00" in name or len(name) > 4096 for name in names):
        raise HearsightError("names no archives", where=path, hint="give a list with one path per line")
    if not prefix and path.startswith("s3://"):
        prefix = "s3://" + path.removeprefix("s3://").partition("/")[0]
    return [name if "://" in name or name.startswith("/") else _join(prefix, name) for name in names]


def _join(prefix: str, name: str) -> str:
    if "://" in prefix:
        return f"{prefix.rstrip('/')}/{name}"
    return str(PurePosixPath(prefix) / name)
