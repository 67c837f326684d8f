"""Assignment under any sequence of events, many raters at once, and a process that is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from sqlalchemy import text

from components.ratings.assignment import HOLD
from components.ratings.store import RatingStore, RefusedRatingError
from tests.support import PROJECT

RATERS = st.integers(0, 3)
VERDICTS = st.sampled_from(["GOOD", "BAD"])


class Rating(RuleBasedStateMachine):
    """Four raters, items for one to three of them, and a clock."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.now = 1_800_000_000.0
        self.store = RatingStore(f"sqlite:///{self.folder.name}/r.sqlite", lambda: self.now)
        self.shown: dict[int, list[str]] = defaultdict(list)
        self.answers: dict[int, list[tuple[str, str]]] = defaultdict(list)

    @initialize(wanted=st.lists(st.integers(1, 3), min_size=1, max_size=4))
    def open(self, wanted: list[int]) -> None:
        self.items = {f"{number:016x}": raters for number, raters in enumerate(wanted)}
        self.store.open_campaign("english", "1", self.items)
        self.raters = self.store.invite("english", 4)

    @rule(rater=RATERS)
    def ask(self, rater: int) -> None:
        key = self.store.next_item(self.raters[rater])
        shown, answered = self.shown[rater], {item for item, _ in self.answers[rater]}
        if key is not None and key not in shown:
            shown.append(key)
        assert key is None or key not in answered, "an answered item was shown again without an undo"

    @rule(rater=RATERS, which=st.integers(0, 3), verdict=VERDICTS)
    def answer(self, rater: int, which: int, verdict: str) -> None:
        if not self.shown[rater]:
            return
        key = self.shown[rater][which % len(self.shown[rater])]
        try:
            self.store.save(self.raters[rater], key, verdict)
        except RefusedRatingError:
            assert self.places(key, rater) == self.items[key], "an answer was refused although a place was free"
            return
        old = dict(self.answers[rater]).get(key)
        if old == verdict:
            return
        self.answers[rater] = [(item, given) for item, given in self.answers[rater] if item != key] + [(key, verdict)]
        following = self.store.next_item(self.raters[rater])
        if following is not None and following not in self.shown[rater]:
            self.shown[rater].append(following)

    @rule(rater=RATERS)
    def undo(self, rater: int) -> None:
        key = self.store.undo(self.raters[rater])
        assert key == (self.answers[rater].pop()[0] if self.answers[rater] else None)
        assert key is None or self.store.next_item(self.raters[rater]) == key

    @rule(seconds=st.sampled_from([5.0, 100.0, HOLD + 1]))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    def places(self, key: str, without: int) -> int:
        """Ratings and reservations of an item by others."""
        query = text(
            "SELECT count(*) FROM places JOIN items ON items.id = item WHERE key = :key AND rater != :rater "
            "AND (state IN ('GOOD', 'BAD') OR state = 'SHOWN' AND shown > :since)"
        )
        with self.store.database.reading() as connection:
            values = {"key": key, "rater": self.raters[without], "since": self.now - HOLD}
            return int(connection.execute(query, values).scalar_one())

    @invariant()
    def overlap_is_never_exceeded_and_final_ratings_are_the_last_ones(self) -> None:
        if not hasattr(self, "items"):
            return
        final = {(r["rater"], r["item"]): r["verdict"] for r in self.store.final_ratings("english")}
        wanted = {(self.raters[who], key): verdict for who, given in self.answers.items() for key, verdict in given}
        assert final == wanted
        counts = Counter(item for _, item in final)
        assert all(count <= self.items[key] for key, count in counts.items())
        with self.store.database.reading() as connection:
            assert dict(connection.execute(text("SELECT key, answered FROM items")).all()) == {k: counts[k] for k in self.items}

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()


@pytest.mark.long
def test_no_sequence_of_events_exceeds_the_overlap_or_shows_an_item_twice():
    run_state_machine_as_test(Rating, settings=settings(stateful_step_count=30))


@pytest.mark.long
def test_twenty_raters_at_once_complete_the_items_and_never_exceed_the_overlap(database_url):
    store = RatingStore(database_url)
    store.open_campaign("english", "digest", {f"{number:016x}": 3 + 2 * (number % 2) for number in range(20)})
    raters = store.invite("english", 20)

    def rate(rater: str) -> list[str]:
        seen = []
        while (key := store.next_item(rater)) is not None:
            seen.append(key)
            store.save(rater, key, "GOOD")
            if len(seen) % 3 == 0:
                assert store.undo(rater) is not None
                store.save(rater, store.next_item(rater), "BAD")
        return seen

    with ThreadPoolExecutor(20) as threads:
        seen = list(threads.map(rate, raters))
    assert all(len(keys) == len(set(keys)) for keys in seen)
    counts = Counter(rating["item"] for rating in store.final_ratings("english"))
    (progress,) = store.campaigns()
    assert progress.finished and counts == {f"{number:016x}": 3 + 2 * (number % 2) for number in range(20)}
    store.close()


RATE = """
import sys
from components.ratings.store import RatingStore
store = RatingStore(sys.argv[1])
while (key := store.next_item(sys.argv[2])) is not None:
    store.save(sys.argv[2], key, "GOOD")
    print(key, flush=True)
"""


@pytest.mark.long
def test_a_killed_process_loses_no_rating_that_it_had_confirmed(tmp_path: Path):
    url = f"sqlite:///{tmp_path / 'ratings.sqlite'}"
    store = RatingStore(url)
    store.open_campaign("english", "digest", {f"{number:016x}": 1 for number in range(2000)})
    (rater,) = store.invite("english")
    confirmed: list[str] = []
    for count in (1, 20, 45):
        process = subprocess.Popen([sys.executable, "-c", RATE, url, rater], stdout=subprocess.PIPE, text=True, cwd=PROJECT)
        assert process.stdout is not None
        confirmed += [process.stdout.readline().strip() for _ in range(count)]
        os.kill(process.pid, signal.SIGKILL)
        confirmed += process.stdout.read().split()
        process.wait()
    final = [rating["item"] for rating in store.final_ratings("english")]
    assert len(confirmed) >= 66 and set(confirmed) <= set(final) and len(final) == len(set(final)) <= len(confirmed) + 3
    store.save(rater, store.next_item(rater), "GOOD")
    store.close()
