"""Accounts and posts known to a snapshot, for the next one: a function of the base snapshots, kept in the shard cache.

An account that turned private is remembered by the keys of its ledger rows only. Out of scope: how the state is computed
(``survey``).
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pyarrow as pa

from components.core.shards import read_table, write_table
from components.stages.crawl.posts.post import Account, Post

_SCHEMA = pa.schema([("owner", pa.string()), ("content", pa.string())])
"""The column ``owner`` lets a takedown find the rows it must remove."""


@dataclass
class Owner:
    """One account at the end of a snapshot."""

    account: Account
    """State by its server; with the rule that excludes its posts, if any."""
    posts: list[Post] = field(default_factory=list)
    """Its tagged posts by date and identifier; empty for a withdrawn account."""
    first: dict[str, str] = field(default_factory=dict)
    """Post identifier → time at which a snapshot first held it; deleted posts are kept since they may return."""
    listed: str = ""
    """Time at which its posts were last listed completely, ISO 8601; '' for never."""
    newest: str = ""
    """Date of its newest post, tagged or not."""
    withdrawn: list[tuple[str, str]] = field(default_factory=list)
    """(kind, key) of the ledger rows of posts withdrawn with the account."""
    note: str = ""
    """Text of its listing's ledger row."""
    problem: tuple[str, str, str] = ("", "", "")
    """(rule, value, threshold) of an incomplete listing; the missing part is taken from an earlier snapshot."""


@dataclass
class State:
    """All accounts known to a snapshot."""

    owners: dict[str, Owner] = field(default_factory=dict)

    def save(self, path: Path) -> None:
        """Write one row per account, ordered by name."""
        rows = [
            {"owner": name, "content": json.dumps(asdict(owner), sort_keys=True)} for name, owner in sorted(self.owners.items())
        ]
        write_table(path, pa.Table.from_pylist(rows, schema=_SCHEMA))

    @classmethod
    def load(cls, path: Path) -> State:
        """Read a state written by :meth:`save`."""
        state = cls()
        for row in read_table(path).to_pylist():
            plain = json.loads(row["content"])
            plain["account"] = Account(**plain["account"])
            plain["posts"] = [Post.from_plain(post) for post in plain["posts"]]
            plain["withdrawn"] = [(kind, key) for kind, key in plain["withdrawn"]]
            plain["problem"] = tuple(plain["problem"])
            state.owners[row["owner"]] = Owner(**plain)
        return state
