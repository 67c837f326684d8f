"""Atomic writing of files: a killed process leaves no partial file under a final name."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from components.core.errors import HearsightError


def fsync_folder(folder: Path) -> None:
    """Make renames inside ``folder`` durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def publish(path: Path, write: Callable[[Path], None]) -> None:
    """Write ``path`` atomically: ``write`` fills a temporary file beside it, which is synced and renamed.

    Raises:
        HearsightError: the disk is full or not writable; the temporary file is removed and ``path`` is unchanged.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f".{path.name}.{os.getpid()}.tmp"
    try:
        write(temporary)
        with temporary.open("rb") as handle:
            os.fsync(handle.fileno())
        temporary.replace(path)
        fsync_folder(path.parent)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise disk_error(error, path) from error
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def publish_bytes(path: Path, data: bytes) -> None:
    """Write ``data`` to ``path`` atomically and durably; errors as for :func:`publish`."""

    def write(temporary: Path) -> None:
        temporary.write_bytes(data)

    publish(path, write)


def link_or_copy(source: Path, target: Path) -> None:
    """Hard-link ``source`` to ``target``, or copy it where the file system has no hard links.

    Hearsight edits neither file in place; readers verify digests.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    publish(target, lambda temporary: _link(source, temporary))


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


_SYSTEM_FAULTS = frozenset(
    (
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EROFS,
        errno.EACCES,
        errno.EPERM,
        errno.ENOTDIR,
        errno.EIO,
        errno.EMFILE,
        errno.ENAMETOOLONG,
    )
)
"""Errors that the user fixes on the machine; no defects of Hearsight."""


def explain_os_error(error: OSError) -> HearsightError | None:
    """Return the user's message for an unhandled error of the file system; None when it may be a defect."""
    if error.errno not in _SYSTEM_FAULTS:
        return None
    where = Path(str(error.filename)) if error.filename else Path.cwd()
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return disk_error(error, where)
    return HearsightError(
        f"cannot be read or written ({error.strerror})", where=where, hint="check its permissions and the disk, and run again"
    )


def disk_error(error: OSError, path: Path) -> HearsightError:
    """Return the error for a failed write."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return HearsightError(
            "no space is left on the disk",
            where=path,
            hint="free some space and run the same command again; finished shards are kept",
        )
    return HearsightError(
        f"cannot be written ({error.strerror})", where=path, hint="fix the permissions or the disk and run again"
    )
