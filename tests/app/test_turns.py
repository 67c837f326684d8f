"""Images and sounds of several requests: one is decoded at a time, some wait for a while, others get 503."""

from __future__ import annotations

import io
import re
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from PIL import Image

from components.app.routes import describe
from components.app.uploads import BusyError, Turns, limit_image, turns_of
from components.core.errors import HearsightError
from components.tools.describe.describer import Describer
from components.tools.describe.writers import Evidence, Writer, Written
from tests.app.server import Running, running, settings_of
from tests.support.app.project import new_project


def test_one_decodes_at_a_time_in_one_thread_and_those_beyond_the_waiting_ones_are_refused():
    turns, at_once, most, threads = Turns(waiting=3, seconds=30), [0], [0], set[int]()

    def work() -> str:
        at_once[0] += 1
        most[0] = max(most[0], at_once[0])
        threads.add(threading.get_ident())
        time.sleep(0.2)
        at_once[0] -= 1
        return "done"

    def upload(_: int) -> str:
        try:
            return turns.run_upload(work)
        except BusyError as error:
            return str(error)

    with ThreadPoolExecutor(10) as pool:
        results = list(pool.map(upload, range(10)))
        assert list(pool.map(lambda _: turns.run_image_of_address(work), range(3))) == ["done"] * 3
    assert most == [1] and results.count("done") == 4 and all("try again" in each for each in results if each != "done")
    assert len(threads) == 1, "each further thread keeps memory that it has freed"
    assert turns.run_upload(work) == "done", "nothing is left of the refused ones"


def test_who_waits_too_long_is_refused_and_a_failure_gives_the_turn_back():
    turns, done = Turns(seconds=0.05), list[str]()
    with held(turns), pytest.raises(BusyError):
        turns.run_upload(lambda: done.append("too late"))
    for run in (turns.run_upload, turns.run_image_of_address, turns.run_upload):
        with pytest.raises(ZeroDivisionError):
            run(lambda: 1 / 0)
    assert turns.run_upload(lambda: time.sleep(0.2) or "slow") == "slow", "who has begun is not refused"
    assert not done


@contextmanager
def held(turns: Turns) -> Iterator[None]:
    """Decode until the block ends."""
    begun, over = threading.Event(), threading.Event()
    holding = threading.Thread(target=turns.run_image_of_address, args=(lambda: begun.set() or over.wait(),))
    holding.start()
    begun.wait()
    try:
        yield
    finally:
        over.set()
        holding.join()


def large_image(width: int, height: int) -> bytes:
    """A PNG of few bytes and many pixels."""
    target = io.BytesIO()
    Image.new("1", (width, height)).save(target, "PNG", optimize=False)
    return target.getvalue()


@pytest.fixture
def site(tmp_path, monkeypatch) -> Any:
    """An application whose describer notes what it gets instead of decoding it."""
    got: list[bytes] = []

    def write(data: bytes, where: str) -> Written:
        got.append(data)
        return Written("a dog", Evidence(0.5, 0.5, 1))

    found = SimpleNamespace(kind="captioner", name="made", version="1", folder=tmp_path)
    described = Describer("en", found, "en", None, Writer("", write, (), "captioner"), "")  # type: ignore[arg-type]
    monkeypatch.setattr(describe.Describer, "open", lambda *words, **options: described)
    with running(settings_of(new_project(tmp_path))) as app:
        yield SimpleNamespace(running=app, got=got)


def send(site: Running, data: bytes = b"", address: str = "") -> httpx.Response:
    with httpx.Client(base_url=site.url, timeout=60) as client:
        client.get(site.start_link)
        token = re.search(r'name="csrf" value="([^"]+)"', client.get("/feedback").text)
        assert token
        files = {"file": ("image.png", data)} if data else None
        return client.post("/describe", data={"csrf": token[1], "captions": "en", "address": address}, files=files)


def test_an_upload_while_others_are_read_is_answered_with_503_and_one_after_them_with_its_description(site):
    image = large_image(100, 100)
    turns_of(site.running.app.state.services).seconds = 0.1
    with held(turns_of(site.running.app.state.services)):
        answer = send(site.running, image)
        assert answer.status_code == 503 and answer.headers["retry-after"] == "10" and "try again" in answer.text
    assert send(site.running, image).status_code == 200 and site.got == [image]


def test_an_image_of_too_many_pixels_is_refused_by_its_header_whether_uploaded_or_fetched(site, monkeypatch):
    large, small = large_image(10_000, 5_001), large_image(100, 100)
    with pytest.raises(HearsightError, match="50 million pixels"):
        limit_image(large)
    assert "50 million pixels" in send(site.running, large).text and not site.got

    def fetched(describer: Describer, address: str, **options: object) -> tuple[str, object]:
        return address, describer.describe(large if "large" in address else small, address)

    monkeypatch.setattr(describe, "describe_address", fetched)
    answer = send(site.running, address="http://a.sample/large.png")
    assert answer.status_code == 400 and "50 million pixels" in answer.text and not site.got
    assert send(site.running, address="http://a.sample/small.png").status_code == 200 and site.got == [small]
