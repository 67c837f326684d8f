"""A rating round trip with many raters at once: ``python -m benchmarks.rating_load``.

The application runs as ``hearsight app`` does, in a process of its own, with SQLite on disk. Each rater has a session, answers
after a drawn time, follows the answer to the next page, and fetches its picture, as a browser does. A round trip is from sending
the answer (POST) until the next page is there (GET after the redirect); saving it has then been synced to disk. Raters and
application share the machine. ``--database`` takes the URL of an empty PostgreSQL database instead.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import aiohttp
import numpy as np
import psutil

from components.app.invitations import invitation, invitation_link
from components.ratings.items import RatingItems
from components.ratings.running import follow, items_folder
from components.ratings.store import RatingStore
from tests.support import until
from tests.support.ratings.made_items import make_items

SECRET = "a key of measurements with more than 32 characters"  # pragma: allowlist secret
SERVE = """
import sys
from pathlib import Path
from components.app.serve import open_socket, serve
from components.app.settings import LOOPBACK_HOSTS, AppSettings
root, secret, database = sys.argv[1:]
listening = open_socket("127.0.0.1", 0)
print(listening.getsockname()[1], flush=True)
serve(AppSettings(Path(root), secret, database, (*LOOPBACK_HOSTS, "rate.example")), listening)
"""


class Rater:
    """One person: a session, and the times of what was asked."""

    def __init__(self, link: str, think: float, seed: int) -> None:
        self.link, self.think, self.random = link, think, random.Random(seed)
        self.times: list[float] = []
        self.failures = 0

    async def rate(self, begin: float, end: float) -> None:
        """Rate until ``end`` (monotonic s); what happens before ``begin`` is not counted."""
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as client:
            page = await self._page(client.get(self.link))
            page = await self._page(client.post(f"{self._url}/rate/guidelines", data={"csrf": _csrf(page)}))
            while time.monotonic() < end and (found := re.search(r"/rate/picture/([0-9a-f]{16})", page)):
                async with client.get(f"{self._url}{found[0]}") as picture:
                    await picture.read()
                await asyncio.sleep(self.random.uniform(0.5, 1.5) * self.think)
                form = {"csrf": _csrf(page), "item": found[1], "verdict": self.random.choice(("GOOD", "BAD"))}
                start = time.monotonic()
                page = await self._page(client.post(f"{self._url}/rate/task", data=form))
                if start > begin:
                    self.times.append(time.monotonic() - start)

    @property
    def _url(self) -> str:
        return self.link.partition("/rate/")[0]

    async def _page(self, request: Any) -> str:
        async with request as answer:
            self.failures += answer.status != 200
            return str(await answer.text())


def _csrf(page: str) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', page)
    return found[1] if found else ""


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except ConnectionRefusedError:
        return False
    return True


async def _rate_all(raters: list[Rater], seconds: float) -> None:
    begin = time.monotonic() + 3  # sessions have begun
    await asyncio.gather(*(rater.rate(begin, begin + seconds) for rater in raters))


def measure(options: argparse.Namespace, think: float, root: Path) -> dict[str, Any]:
    """Return the figures of one run."""
    items = RatingItems.open(items_folder(root, "english"))
    database = options.database or f"sqlite:///{root / f'{think}.sqlite'}"
    store = RatingStore(database)
    follow(store, "english", items)
    command = [sys.executable, "-c", SERVE, str(root), SECRET, database]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            port = int(server.stdout.readline())
            until(lambda: _listens(port), within=60)
            address = f"http://127.0.0.1:{port}"
            links = [invitation_link(address, invitation(SECRET, one, 1)) for one in store.invite("english", options.raters)]
            raters = [Rater(link, think, number) for number, link in enumerate(links)]
            asyncio.run(_rate_all(raters, options.seconds))
            used = psutil.Process(server.pid).cpu_times()
        finally:
            server.terminate()
    times = sorted(1000 * one for rater in raters for one in rater.times)
    saved = len(store.final_ratings("english"))
    store.close()
    return {
        "raters": options.raters,
        "think s": think,
        "round trips": len(times),
        "a second": round(len(times) / options.seconds, 1),
        "ms": {name: round(float(np.percentile(times, part)), 1) for name, part in (("p50", 50), ("p95", 95), ("p99", 99))},
        "most ms": round(times[-1], 1),
        "mean ms": round(statistics.mean(times), 1),
        "failures": sum(rater.failures for rater in raters),
        "ratings": saved,
        "server CPU s": round(used.user + used.system, 1),
        "load": psutil.getloadavg()[0],
    }


def main() -> None:
    """Print a JSON line for each time between two answers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--raters", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--items", type=int, default=4000)
    parser.add_argument("--think", type=float, nargs="+", default=[2.0, 1.0], help="mean seconds from a page to its answer")
    parser.add_argument("--database", default="", help="URL of an empty database instead of SQLite")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        make_items(root, captions=options.items, retrieved=0, voiced=0)
        for think in options.think:
            print(json.dumps(measure(options, think, root)), flush=True)


if __name__ == "__main__":
    main()
