"""Errors of a database that its user can correct, as one line: a full disk, damage, missing rights, a lock, a lost server."""

from __future__ import annotations

from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, NotSupportedError, ProgrammingError

from components.core.errors import HearsightError


class DatabaseError(HearsightError):
    """The ratings' database cannot be used; what the failed command should have saved is not saved."""


class DatabaseFullError(DatabaseError):
    """There is no space left for the ratings' database."""


_HINT = "check HEARSIGHT_RATINGS_DB, and that the server runs or the file can be written"
_RIGHTS = "make the file and its folder writable for this user"
_WAIT = "another process holds it: try again in a minute"
_DAMAGED = "stop what uses it, and restore the file from a backup"
_SQLITE = {
    "SQLITE_CORRUPT": _DAMAGED,
    "SQLITE_NOTADB": _DAMAGED,
    "SQLITE_READONLY": _RIGHTS,
    "SQLITE_PERM": _RIGHTS,
    "SQLITE_CANTOPEN": _RIGHTS,
    "SQLITE_BUSY": _WAIT,
    "SQLITE_LOCKED": _WAIT,
}
"""Name of an error, without what SQLite adds to it → what to do."""
_FULL = ("SQLITE_FULL", "53100")
"""No space left, in SQLite and as an SQLSTATE of PostgreSQL."""
_DEFECTS = (IntegrityError, ProgrammingError, DataError, NotSupportedError)
"""Wrong statements of ours, which keep their traceback, but for those that another state of the database makes wrong."""
_STATES = ("42P01", "42501", "3F000")
"""SQLSTATE: no such table, no right to it, no such schema."""
_RAISED = "P0001"
"""SQLSTATE of a trigger's refusal, which is a defect of ours."""


def explain(error: Exception, where: str) -> DatabaseError | None:
    """Return a database's error as one that the user can correct; None for a defect of ours."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig else error
    state = str(getattr(cause, "sqlstate", None) or "")
    if state == _RAISED or (isinstance(error, _DEFECTS) and state not in _STATES):
        return None
    name = str(getattr(cause, "sqlite_errorname", None) or state)
    reason = (str(cause).strip().splitlines() or [type(cause).__name__])[0]
    if name in _FULL:
        hint = "free some space on its disk, and do it again"
        what = f"no space is left for the ratings' database: nothing was saved ({reason})"
        return DatabaseFullError(what, where=where, hint=hint)
    hint = _SQLITE.get("_".join(name.split("_")[:2]), _HINT)
    return DatabaseError(f"the ratings' database cannot be used: {reason}", where=where, hint=hint)
