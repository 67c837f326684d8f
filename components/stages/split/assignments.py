"""Stored split assignments of owners: ``data/store/sides/<name>.jsonl``, which no run clears.

The first line holds the draw's seed, shares and salt; each later line an owner, by salted sha256, and its split. Lines are only
added, so owners keep their split when a set grows or shrinks; a withdrawn owner's line stays, because the account may return. The
salt separates the hashes of two projects; it does not protect a name that can be guessed.
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


@dataclass
class Assignments:
    """The stored split assignments, open for one run."""

    path: Path
    salt: str
    _splits: dict[str, str]
    """Hash of an owner → split."""
    _bytes: bytes

    def hash_owner(self, owner: str) -> str:
        """Return the hash of an owner (in the spelling of ``core.hashtags.normalise_account``) as stored in the file."""
        return sha256_bytes(f"{self.salt}\nowner\n{owner}".encode())

    def lookup(self, owners: Iterable[str]) -> dict[str, str]:
        """Return owner → split for the owners with an assignment."""
        return {owner: split for owner in owners if (split := self._splits.get(self.hash_owner(owner)))}

    def add(self, splits: Mapping[str, str]) -> str:
        """Append the owners without an assignment, durably, all or none.

        Returns:
            The digest of the resulting file.
        """
        # Sorted by hash, so that the order of lines reveals nothing about owners.
        new = sorted((self.hash_owner(owner), split) for owner, split in splits.items())
        new = [(name, split) for name, split in new if name not in self._splits]
        if new or not self.path.exists():
            self._splits.update(new)
            self._bytes += "".join(canonical_json({"owner": name, "side": split}) + "\n" for name, split in new).encode()
            publish_bytes(self.path, self._bytes)
        return sha256_bytes(self._bytes)


@contextmanager
def open_assignments(root: Path, name: str, seed: int, shares: Mapping[str, float]) -> Iterator[Assignments]:
    """Open the named assignments for this run alone; a new file starts with a new salt.

    Args:
        root: the project's root.
        name: ``split.sides``; datasets with the same name share the assignments of their common owners.

    Raises:
        HearsightError: the file has another seed or other shares, a line is damaged,
            or another run holds the file.
    """
    path = root / "data" / "store" / "sides" / f"{name}.jsonl"
    with sole_writer(root / ".hearsight" / "locks" / f"sides.{name}.lock", f"the file of split assignments '{name}'"):
        draw: dict[str, Any] = {"seed": seed, "shares": dict(shares)}
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            salt = secrets.token_hex(16)
            yield Assignments(path, salt, {}, (canonical_json({**draw, "salt": salt}) + "\n").encode())
            return
        except OSError as error:
            raise HearsightError(f"cannot be read ({error.strerror})", where=path, hint="fix its permissions") from None
        salt, splits = _read(path, data, draw)
        yield Assignments(path, salt, splits, data)


def _read(path: Path, data: bytes, drawn: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    hint = "restore the file from a copy; without one, give split.sides a new name, and owners are drawn again"
    lines = data.split(b"\n")
    if lines.pop():
        raise HearsightError(f"line {len(lines) + 1} is cut off", where=path, hint=hint)
    splits: dict[str, str] = {}
    salt = ""
    for number, line in enumerate(lines, 1):
        try:
            entry = json.loads(line)
            if number == 1:
                stored, salt = {name: entry[name] for name in ("seed", "shares")}, entry["salt"]
                valid = isinstance(stored["shares"], dict) and isinstance(salt, str) and _SALT.fullmatch(salt)
            else:
                name, split = entry["owner"], entry["side"]
                valid = _HEX.fullmatch(name) and split in drawn["shares"] and splits.setdefault(name, split) == split
        except (ValueError, TypeError, KeyError):
            valid = None
        if not valid:
            raise HearsightError(f"line {number} is not a split assignment", where=path, hint=hint)
        if number == 1 and stored != drawn:
            raise HearsightError(
                f"its assignments were drawn with {_describe_draw(stored)}, not with {_describe_draw(drawn)}",
                where=path,
                hint="restore those settings, or give split.sides a new name: owners are then drawn again and may change splits",
            )
    if not salt:
        raise HearsightError("is empty", where=path, hint=hint)
    return salt, splits


def _describe_draw(draw: Mapping[str, Any]) -> str:
    return f"seed {draw['seed']} and " + ", ".join(f"{name} {draw['shares'][name]}" for name in sorted(draw["shares"]))
