"""Results of the decoding workers reach the jobs, and failures of the workers never change the output."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3

import pytest

from components.core.errors import HearsightError
from components.stages.crawl import image_decoding
from components.stages.crawl.image_decoding import DecodeAhead
from components.stages.crawl.run import run
from components.web.images.image import decode_image
from components.web.store import FetchStore
from components.web.warc import Entry
from tests.support import WORKERS
from tests.support.crawl.fixture_web import drawn_image


@pytest.fixture
def stage(stage):
    """Makes the crawl stage with decoding workers."""

    def make(**changes):
        job = stage(**changes)
        job.engine = WORKERS
        return job

    return make


IMAGES = [drawn_image((colour, "fish", "in the snow at night")) for colour in ("red", "blue")]


def seen(stage) -> dict[str, bytes]:
    """Return the cached decode results by image digest."""
    result: dict[str, bytes] = {}
    for path in (stage.state / "annotations").glob("image.look*.sqlite"):
        with sqlite3.connect(path) as base:
            result |= dict(base.execute("SELECT key, value FROM results"))
    return result


def digest(stage) -> str:
    """Run the stage from an empty output folder and return the output's digest."""
    shutil.rmtree(stage.out, ignore_errors=True)
    stage.out.mkdir(parents=True)
    run(stage)
    return stage.finish().digest


def fill(store: FetchStore) -> list[Entry]:
    """Add every image, a page, a text that is not an image, and a failure to the store."""
    store.add(Entry("http://a.sample/", 200, type="text/html"), IMAGES[0], [], "OK")
    store.add(Entry("http://a.sample/robots.txt", 200, type="text/plain"), b"User-agent: *", [], "OK")
    store.add(Entry("http://a.sample/gone.jpg", 0, "timeout"))
    return [
        store.add(Entry(f"http://a.sample/{at}.jpg", 200, type="image/jpeg"), data, [], "OK") for at, data in enumerate(IMAGES)
    ]


def test_stored_images_are_decoded_before_the_context_exits(stage, tmp_path):
    job = stage()
    with FetchStore(tmp_path / "s", writer=True) as store:
        with DecodeAhead(job, store):
            entries = fill(store)
        assert set(seen(job)) == {entry.sha256 for entry in entries} == {decode_image(data).sha256 for data in IMAGES}
        assert store.listener is None


@pytest.mark.long
def test_workers_decode_every_image_and_the_output_equals_that_of_the_jobs(stage, monkeypatch):
    annotate = image_decoding.decode_images_job

    def watched(spec, task, folder):
        annotate(spec, task, folder)
        (task.work / f"computed-{task.shard}").write_text(str(task.annotations.computed.get("image.look", 0)))

    monkeypatch.setattr(image_decoding, "decode_images_job", watched)
    first = stage()
    ahead = digest(first)
    computed = [int(path.read_text()) for path in first.work.glob("computed-*")]
    assert computed and not any(computed) and seen(first)
    shutil.rmtree(first.state)
    shutil.rmtree(first.state.parent / "data/store")
    monkeypatch.setattr(DecodeAhead, "submit", lambda *_: None)
    second = stage()
    assert digest(second) == ahead
    assert sum(int(path.read_text()) for path in second.work.glob("computed-*")) == len(seen(second)) > 0


@pytest.mark.long
def test_killed_workers_do_not_change_the_output(stage, monkeypatch):
    whole = digest(stage())
    shutil.rmtree(stage().state)
    shutil.rmtree(stage().state.parent / "data/store")
    enter = DecodeAhead.__enter__

    def short_lived(self):
        enter(self)
        for process in self._processes:
            os.kill(process.pid, signal.SIGKILL)
        return self

    monkeypatch.setattr(DecodeAhead, "__enter__", short_lived)
    assert digest(stage()) == whole


def test_workers_end_after_an_error(stage, tmp_path):
    with FetchStore(tmp_path / "s", writer=True) as store:
        ahead = DecodeAhead(stage(), store)
        with pytest.raises(HearsightError), ahead:
            raise HearsightError("the network is lost", where="here", hint="fix it")
        assert ahead._processes and not any(process.is_alive() for process in ahead._processes)


def test_full_worker_queues_do_not_block_the_store(stage, tmp_path, monkeypatch):
    monkeypatch.setattr(image_decoding, "_run_worker", lambda end, queue, *_: signal.pause())
    with FetchStore(tmp_path / "s", writer=True) as store:
        ahead = DecodeAhead(stage(), store)
        with pytest.raises(KeyboardInterrupt), ahead:
            for at in range(2000):
                store.add(Entry(f"http://a.sample/{at}.jpg", 200, type="image/jpeg"), IMAGES[0] + b"%d" % at, [], "OK")
            assert 0 < len(ahead._submitted) < 2000 == len(store)
            raise KeyboardInterrupt
