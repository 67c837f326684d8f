"""The flow that waits for people: it builds items, waits for real ratings, exports them, and evaluates."""

from __future__ import annotations

import csv
import shlex
import sys
import threading
import time
from pathlib import Path

import pytest
import yaml

from components.core.errors import HearsightError
from components.ratings.items import RatingItems
from components.ratings.running import follow
from components.ratings.store import RatingStore
from tests.support import until
from tests.support.pipeline.harness import init_repository
from tests.support.ratings.made_items import make_items

pytestmark = pytest.mark.long


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A DVC project whose stages on either side of the raters copy files; its items are real."""
    monkeypatch.setenv("HEARSIGHT_ROOT", str(tmp_path))
    monkeypatch.setenv("HEARSIGHT_RATINGS_DB", f"sqlite:///{tmp_path / 'ratings.sqlite'}")
    monkeypatch.setenv("HEARSIGHT_TRACKING", "off")
    init_repository(tmp_path)
    copy = f'{shlex.quote(sys.executable)} -c "import shutil, sys; shutil.copy(*sys.argv[1:])"'
    stages = {
        "build_rating_items": {
            "foreach": ["english"],
            "do": {"cmd": f"{copy} data/english/build_rating_items/manifest.json built", "outs": ["built"]},
        },
        "evaluate_ratings": {
            "foreach": ["english"],
            "do": {"cmd": f"{copy} ratings/english/hearsight.csv evaluated", "deps": ["ratings/english"], "outs": ["evaluated"]},
        },
        "after": {"cmd": f"{copy} evaluated cleaned", "deps": ["evaluated"], "outs": ["cleaned"]},
    }
    (tmp_path / "dvc.yaml").write_text(yaml.safe_dump({"stages": stages}))
    (tmp_path / "params.yaml").write_text("{}\n")
    make_items(tmp_path, "english")
    return tmp_path


def rate_everything(root: Path, items: RatingItems) -> int:
    """Rate as people would, one after the other, until nothing is left; return the number of ratings."""
    store = RatingStore(f"sqlite:///{root / 'ratings.sqlite'}")
    number = 0
    for rater in store.invite("english", max(items.column("raters"))):
        while (item := store.next_item(rater)) is not None:
            store.save(rater, item, "GOOD" if number % 3 else "BAD")
            number += 1
    store.close()
    return number


@pytest.mark.usefixtures("prefect_server")
def test_the_flow_waits_for_the_last_rating_exports_and_goes_on(project: Path) -> None:
    from flows.rating import rate

    items, failures = RatingItems.open(project / "data" / "english" / "build_rating_items"), []

    def run() -> None:
        try:
            rate("english", target="after", poll=0.2)
        except BaseException as error:
            failures.append(error)

    flow = threading.Thread(target=run)
    flow.start()
    until(lambda: (project / "built").is_file() or failures)
    store = RatingStore(f"sqlite:///{project / 'ratings.sqlite'}")
    until(lambda: any(each.dataset == "english" for each in store.campaigns()) or failures)
    time.sleep(1)
    assert not failures and not (project / "evaluated").exists(), "it does not go on before the ratings are there"
    number = rate_everything(project, items)
    flow.join()
    assert not failures, failures
    rows = list(csv.DictReader((project / "cleaned").open()))
    assert len(rows) == number == sum(items.column("raters"))
    assert {row["item"] for row in rows} == set(items.keys)


@pytest.mark.usefixtures("prefect_server")
def test_a_flow_whose_time_is_over_says_what_is_missing_and_keeps_the_ratings(project: Path) -> None:
    from flows.rating import rate

    items = RatingItems.open(project / "data" / "english" / "build_rating_items")
    store = RatingStore(f"sqlite:///{project / 'ratings.sqlite'}")
    follow(store, "english", items)
    (rater,) = store.invite("english")
    item = store.next_item(rater)
    assert item is not None
    store.save(rater, item, "GOOD")
    wanted = sum(items.column("raters"))
    with pytest.raises(HearsightError, match=f"{wanted - 1} of {wanted} ratings are missing"):
        rate("english", poll=0.1, days=0.0)
    assert len(store.final_ratings("english")) == 1
