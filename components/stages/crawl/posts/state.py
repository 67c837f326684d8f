"""What a snapshot knows of accounts and posts, for the next one: a function of the snapshots below, kept in the shard cache.

An account that turned private is remembered by the keys of its ledger rows and by nothing of its posts. Not in scope: how it
comes to be known (``survey``).
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pyarrow as pa

from components.core.shards import read_table, write_table
from components.stages.crawl.posts.post import Account, Post

_SCHEMA = pa.schema([("owner", pa.string()), ("content", pa.string())])
"""A table with its owners in a column of that name, by which a takedown knows what it must remove."""


@dataclass
class Owner:
    """One account, as a snapshot leaves it."""

    account: Account
    """As its server told of it; with the rule that keeps its posts away, if any."""
    posts: list[Post] = field(default_factory=list)
    """Its tagged posts, by date and identifier; none of an account that is withdrawn."""
    first: dict[str, str] = field(default_factory=dict)
    """Post → when a snapshot first held it; posts that are gone included, since they may come back."""
    listed: str = ""
    """When its posts were last listed whole, ISO 8601; '' for never."""
    newest: str = ""
    """The date of its newest post, tagged or not."""
    withdrawn: list[tuple[str, str]] = field(default_factory=list)
    """(kind, key) of the ledger rows of posts that went with the account."""
    note: str = ""
    """What the ledger says of its listing."""
    problem: tuple[str, str, str] = ("", "", "")
    """(rule, value, threshold) of a listing that was not whole: what is missing of it is as an earlier snapshot had it."""


@dataclass
class State:
    """All accounts known to a snapshot."""

    owners: dict[str, Owner] = field(default_factory=dict)

    def save(self, path: Path) -> None:
        """Write it, a row an account, in the order of their names."""
        rows = [
            {"owner": name, "content": json.dumps(asdict(owner), sort_keys=True)} for name, owner in sorted(self.owners.items())
        ]
        write_table(path, pa.Table.from_pylist(rows, schema=_SCHEMA))

    @classmethod
    def load(cls, path: Path) -> State:
        """A state that was saved."""
        state = cls()
        for row in read_table(path).to_pylist():
            plain = json.loads(row["content"])
            plain["account"] = Account(**plain["account"])
            plain["posts"] = [Post.from_plain(one) for one in plain["posts"]]
            plain["withdrawn"] = [(kind, key) for kind, key in plain["withdrawn"]]
            plain["problem"] = tuple(plain["problem"])
            state.owners[row["owner"]] = Owner(**plain)
        return state
