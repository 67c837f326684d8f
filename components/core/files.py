"""Writing files so that a killed process never leaves half of one under its final name."""

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
    """Let ``write`` fill a temporary file beside ``path``, then sync it and rename it into place.

    Raises:
        HearsightError: the disk is full or not writable; the temporary file is removed, ``path`` is as it was.
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
    publish(path, lambda temporary: _write_all(temporary, data))


def _write_all(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def link_or_copy(source: Path, target: Path) -> None:
    """Give ``source`` a second name, or a second copy where the file system cannot.

    The bytes under either name are never edited in place by Hearsight; a reader verifies digests all the same.
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
"""What the machine or its owner is to fix: no defect of Hearsight."""


def explain_os_error(error: OSError) -> HearsightError | None:
    """What to tell a person about an error of the file system that no code foresaw; None when it may be a defect."""
    if error.errno not in _SYSTEM_FAULTS:
        return None
    where = Path(str(error.filename)) if error.filename else Path.cwd()
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return disk_error(error, where)
    return HearsightError(
        f"cannot be read or written ({error.strerror})", where=where, hint="check its permissions and the disk, and run again"
    )


def disk_error(error: OSError, path: Path) -> HearsightError:
    """What to tell a person about a failed write."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return HearsightError(
            "no space is left on the disk", where=path, hint="free some and run the same command again; finished shards are kept"
        )
    return HearsightError(
        f"cannot be written ({error.strerror})", where=path, hint="fix the permissions or the disk and run again"
    )
