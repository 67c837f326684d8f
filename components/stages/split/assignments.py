"""Sides once given are remembered: ``data/store/sides/<name>.jsonl``, outside of what a run clears.

The first line says what the sides were drawn with (seed, shares, salt); each later line is an owner, by salted sha256, and its
side. Lines are only ever added, so a set that grows or shrinks moves nobody; a withdrawn owner's line stays, for the same account
may come back. The salt keeps two projects' hashes apart; it does not hide a name from somebody who guesses it.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.core.digests import canonical_json, sha256_bytes
from components.core.errors import HearsightError
from components.core.files import publish_bytes
from components.execution.process import sole_writer

_HEX = re.compile(r"[0-9a-f]{64}")
_SALT = re.compile(r"[0-9a-f]{32}")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


@dataclass
class Sides:
    """The remembered sides, open for one run."""

    path: Path
    salt: str
    _given: dict[str, str]
    """Hash → side."""
    _bytes: bytes

    def hashed(self, owner: str) -> str:
        """What stands for an owner (in its spelling of ``core.owners``) in the file."""
        return sha256_bytes(f"{self.salt}\nowner\n{owner}".encode())

    def of(self, owners: Iterable[str]) -> dict[str, str]:
        """owner → side, for those that have one already."""
        return {owner: side for owner in owners if (side := self._given.get(self.hashed(owner)))}

    def remember(self, sides: Mapping[str, str]) -> str:
        """Add the owners that have no line yet, durably, all or none.

        Returns:
            The digest of the file as it is then.
        """
        # By hash, not by size: the order of the lines tells nothing of who is who.
        new = sorted((self.hashed(owner), side) for owner, side in sides.items())
        new = [(name, side) for name, side in new if name not in self._given]
        if new or not self.path.exists():
            self._given.update(new)
            self._bytes += "".join(canonical_json({"owner": name, "side": side}) + "\n" for name, side in new).encode()
            publish_bytes(self.path, self._bytes)
        return sha256_bytes(self._bytes)


@contextmanager
def opened(root: Path, name: str, seed: int, shares: Mapping[str, float]) -> Iterator[Sides]:
    """The sides of that name, held by this run alone; a file that is not there yet begins with a new salt.

    Args:
        root: the project's root.
        name: ``split.sides``; datasets that share a name share the sides of their common owners.

    Raises:
        HearsightError: the name is no file's name, the file was drawn with another seed or other shares, a line of it is
            damaged, or another run holds it.
    """
    if not _NAME.fullmatch(name) or name == "index":  # what the folder of a fetch store is known by
        raise HearsightError(f"'{name}' names no file of sides", where="split.sides", hint="use a-z, 0-9, - and _")
    path = root / "data" / "store" / "sides" / f"{name}.jsonl"
    with sole_writer(root / ".hearsight" / "locks" / f"sides.{name}.lock", f"the sides '{name}'"):
        drawn: dict[str, Any] = {"seed": seed, "shares": dict(shares)}
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            salt = secrets.token_hex(16)
            yield Sides(path, salt, {}, (canonical_json({**drawn, "salt": salt}) + "\n").encode())
            return
        except OSError as error:
            raise HearsightError(f"cannot be read ({error.strerror})", where=path, hint="fix its permissions") from None
        salt, given = _read(path, data, drawn)
        yield Sides(path, salt, given, data)


def _read(path: Path, data: bytes, drawn: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    damaged = "restore it from a copy; without one, name new sides in split.sides, and owners are drawn anew"
    lines = data.split(b"\n")
    if lines.pop():
        raise HearsightError(f"line {len(lines) + 1} is cut off", where=path, hint=damaged)
    given: dict[str, str] = {}
    salt = ""
    for number, line in enumerate(lines, 1):
        try:
            entry = json.loads(line)
            if number == 1:
                was, salt = {name: entry[name] for name in ("seed", "shares")}, entry["salt"]
                sound = isinstance(was["shares"], dict) and isinstance(salt, str) and _SALT.fullmatch(salt)
            else:
                name, side = entry["owner"], entry["side"]
                sound = _HEX.fullmatch(name) and side in drawn["shares"] and given.setdefault(name, side) == side
        except (ValueError, TypeError, KeyError):
            sound = None
        if not sound:
            raise HearsightError(f"line {number} is not of a file of sides", where=path, hint=damaged)
        if number == 1 and was != drawn:
            raise HearsightError(
                f"its sides were drawn with {_told(was)}, not with {_told(drawn)}",
                where=path,
                hint="set those back, or give split.sides a new name: owners are then drawn anew, and may change sides",
            )
    if not salt:
        raise HearsightError("is empty", where=path, hint=damaged)
    return salt, given


def _told(drawn: Mapping[str, Any]) -> str:
    return f"seed {drawn['seed']} and " + ", ".join(f"{name} {drawn['shares'][name]}" for name in sorted(drawn["shares"]))
