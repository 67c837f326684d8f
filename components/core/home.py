"""A home for what libraries store (numba, matplotlib, DVC, git), where the user has none or may not write there.

A container that runs with another user has often no home, no entry in the list of users, and a read-only installation.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from pathlib import Path


def use_writable_home() -> None:
    """Let the environment name a home that can be read and a cache that can be written; both stay where they can be used.

    Otherwise they are in a temporary folder of the user's own. Without any folder to write, nothing changes.
    """
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - does not raise without a home
    named = os.environ.get("HOME") != "" and home.is_absolute()
    usable = named and os.access(home, os.R_OK | os.X_OK) and home.is_dir()
    cache = os.environ.get("XDG_CACHE_HOME") or home / ".cache"
    stored = usable and _is_writable(cache if os.access(cache, os.F_OK) else home)
    if stored:
        return
    try:
        folder = private_folder()
    except OSError:
        return
    if not usable:
        os.environ["HOME"] = str(folder)
        os.environ.setdefault("LOGNAME", str(os.getuid()))
    if not stored:
        os.environ |= {"XDG_CACHE_HOME": str(folder / ".cache"), "MPLCONFIGDIR": str(folder / ".cache" / "matplotlib")}


def private_folder() -> Path:
    """Return a temporary folder that only this user can use: the same for all processes, whatever others made in its place.

    Raises:
        OSError: no folder can be written.
    """
    base = Path(tempfile.gettempdir())
    for number in range(100):
        path = base / f"hearsight-home-{os.getuid()}{f'-{number}' if number else ''}"
        try:
            path.mkdir(mode=0o700)
        except FileExistsError:
            found = path.lstat()
            if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
                continue
        return path
    raise FileExistsError(errno.EEXIST, "others use the names of temporary folders", str(base))


def _is_writable(folder: str | Path) -> bool:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
