"""The ledger of healing: a CSV file with a row for every try, of all calls."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from components.core.files import publish_bytes
from components.tools.release.records import read_csv
from components.web.redaction import redact
from components.web.takedown_list import Takedown


class Try(NamedTuple):
    """A row of the ledger."""

    address: str
    where: str
    """live, or the archive: its kind and host."""
    asked: str
    outcome: str
    """accepted | differs | failed | refused | listed (an index's answer) | read (what a host stated)."""
    rule: str = ""
    """What was equal (sha256, phash), or why it was not accepted."""
    value: str = ""
    digest: str = ""
    """sha256 of what came."""
    time: str = ""
    """When the answer came, UTC."""

    def mask(self, taken: Takedown) -> Try:
        """Return it without what is listed."""
        row = self._replace(value=redact(self.value, taken))
        if taken.url(self.address) or taken.url(self.asked) or taken.within(self.asked):
            return row._replace(address=taken.mask(self.address), asked=taken.mask(self.asked), digest="")
        return row


def write_tries(ledger: Path, tries: Iterable[Try], taken: Takedown) -> None:
    """Write ``tries`` below those of earlier calls, from which is taken out what was listed since.

    Raises:
        HearsightError: the file is another's.
    """
    earlier = [Try(**row).mask(taken) for row in read_csv(ledger, Try._fields)] if ledger.exists() else []
    text = StringIO(newline="")
    csv.writer(text).writerows([Try._fields, *dict.fromkeys([*earlier, *tries])])
    publish_bytes(ledger, text.getvalue().encode())
