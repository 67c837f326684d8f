"""An image that costs more than its budget is named, whatever it is, and costs no other image anything."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import zlib
from dataclasses import asdict

import pytest

from components.core.errors import HearsightError
from components.core.result_cache import ResultCache
from components.web.budget import Budget
from components.web.images import inspection, opening
from components.web.images.image import decode_image
from components.web.images.inspection import ImageLook, decode_all
from tests.support import PROJECT
from tests.support.crawl.fixture_web import drawn_image
from tests.support.web.image_bombs import BOMBS, CHANNELS, SIDE, SOUND, chunk, jpeg, png, webp

GOOD = [drawn_image((colour, "house", "on a green field")) for colour in ("red", "blue")]
MEMORY = 1 << 29
LOOK_ALL = """
import json, re, resource, sys
from pathlib import Path
from components.web.budget import Budget
from components.web.images.inspection import ImageLook
budget = Budget(image_seconds=float(sys.argv[3]), image_memory=int(sys.argv[2]))
facts = ImageLook(budget).compute_many([path.read_bytes() for path in sorted(Path(sys.argv[1]).iterdir())])
own = int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) << 10
print(json.dumps({"facts": facts, "own": own, "children": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10}))
"""


@pytest.mark.long
@pytest.mark.parametrize(
    "bombs, seconds",
    [
        # The costly one takes many times its budget on any machine, the others a small part of theirs.
        pytest.param({"scans": BOMBS["scans"]}, 1.0, id="costly"),
        pytest.param({name: bomb for name, bomb in BOMBS.items() if name != "scans"}, 100.0, id="quick"),
        pytest.param(SOUND, 100.0, id="sound", marks=pytest.mark.slow),
    ],
)
def test_bombs_are_dropped_within_memory_and_others_decoded(bombs, seconds, tmp_path):
    bodies = [data for make, _ in bombs.values() for data in (make(), GOOD[0])]
    for number, data in enumerate(bodies):
        (tmp_path / f"{number:03d}").write_bytes(data)
    command = [sys.executable, "-c", LOOK_ALL, str(tmp_path), str(MEMORY), str(seconds)]
    output = json.loads(subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True).stdout)
    for (name, (_, (rule, detail))), facts in zip(bombs.items(), output["facts"][::2], strict=True):
        assert facts["reason"] == rule and facts["detail"].startswith(detail), (name, facts)
        assert bool(facts["phash"]) is (rule == ""), name
    good = json.loads(json.dumps(asdict(decode_image(GOOD[0]))))  # tuples are lists there
    assert output["facts"][1::2] == [good] * len(bombs)
    # The children hold what the parent held when they were forked, and what their budget allows.
    assert output["children"] < output["own"] + MEMORY and output["own"] < 1 << 28


def test_a_result_over_budget_states_format_and_budget():
    data = png(9000, 9000)  # 324 MB decoded
    facts = ImageLook(Budget(image_seconds=3.0, image_memory=1 << 24)).compute(data)
    assert (facts["reason"], facts["detail"], facts["seconds"], facts["memory"]) == ("image_over_budget", "memory", 3.0, 1 << 24)
    assert (facts["format"], facts["width"], facts["height"], facts["bytes"]) == ("PNG", 9000, 9000, len(data))
    assert facts["sha256"] == decode_image(data).sha256


@pytest.mark.parametrize(
    "data", [webp(5000, 5000), jpeg(5000, 5000, progressive=True, subsampling=0)], ids=["webp", "progressive jpeg"]
)
def test_a_lack_of_memory_is_not_reported_as_bad_data(data):
    small = Budget(image_memory=60_000_000)
    assert (ImageLook(small).compute(data)["reason"], decode_image(data).reason) == ("image_over_budget", "")
    assert ImageLook(small).compute(data[: len(data) // 2])["reason"] in ("truncated_image", "image_over_budget")
    assert decode_image(data[: len(data) // 2]).reason == "truncated_image"


def test_a_crash_is_retried_once_and_then_reported(monkeypatch, tmp_path):
    tried = tmp_path / "tried"

    def abort_once(data, budget):
        if data == GOOD[0] and not tried.exists():
            tried.touch()
            os.abort()
        return decode_image(data, budget)

    def abort(data, budget):
        return os.abort() if data == GOOD[0] else decode_image(data, budget)

    monkeypatch.setattr(inspection, "decode_image", abort_once)
    assert ImageLook().compute_many(GOOD) == [asdict(decode_image(data)) for data in GOOD] and tried.exists()
    monkeypatch.setattr(inspection, "decode_image", abort)
    first, second = ImageLook().compute_many(GOOD)
    assert (first["reason"], first["detail"]) == ("image_over_budget", "crash") and second == asdict(decode_image(GOOD[1]))


class Unreadable:
    def read(self):
        raise HearsightError("is damaged", where="a segment", hint="crawl again")


def test_an_error_while_reading_an_image_is_raised():
    with pytest.raises(HearsightError, match=r"^a segment: is damaged — crawl again$"):
        ImageLook().compute_many([GOOD[0], Unreadable()])


def looked_at(folder, data, **changes):
    """The reason for ``data`` under a changed budget, and how often it was decoded for that."""
    decoded = []
    compute_many = ImageLook.compute_many

    def counting(self, payloads):
        decoded.extend(payloads)
        return compute_many(self, payloads)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ImageLook, "compute_many", counting)
        facts = decode_all(ResultCache(folder), Budget(**changes), {"a": data, "b": GOOD[0]})
    return facts["a"]["reason"], decoded.count(data)


def test_a_larger_budget_decodes_only_refused_images_again(tmp_path):
    data = png(9000, 9000)  # 324 MB decoded
    small = {"image_memory": 1 << 24, "image_seconds": 2.0}
    assert looked_at(tmp_path, data, **small) == ("image_over_budget", 1)
    assert looked_at(tmp_path, data, **small) == ("image_over_budget", 0)
    assert looked_at(tmp_path, data, **small | {"image_seconds": 3.0}) == ("image_over_budget", 0)  # it was not the time
    assert looked_at(tmp_path, data, **small | {"image_memory": 1 << 25}) == ("image_over_budget", 1)
    assert looked_at(tmp_path, data, **small) == ("image_over_budget", 0)
    assert looked_at(tmp_path, data) == ("", 1)
    assert looked_at(tmp_path, data) == ("", 0)


def test_an_image_refused_for_its_px_is_decoded_under_a_larger_limit(tmp_path):
    data = png(300, 200)
    assert looked_at(tmp_path, data, image_side=299) == ("image_too_large", 1)
    assert looked_at(tmp_path, data, image_pixels=59_999) == ("image_too_large", 0)
    assert looked_at(tmp_path, data, image_pixels=60_000, image_side=300) == ("", 1)


def test_an_image_of_more_px_than_pillow_opens_is_decoded_when_the_budget_says_so():
    data = png(14_000, 13_000, 1, 0)
    assert decode_image(data).reason == "image_too_large"
    assert ImageLook(Budget(image_pixels=200_000_000)).compute(data)["reason"] == ""


def drawn(depth: int, colour: int, extra: bytes) -> bytes:
    """A PNG whose rows differ, of a width and height that no band or square divides."""
    width, height = 601, 457
    row = (width * CHANNELS[colour] * depth + 7) // 8
    noise = bytes((7 * at * at + 13 * at) % 256 if depth > 1 or colour != 3 else at % 251 for at in range(row + height))
    pixels = zlib.compress(b"".join(b"\0" + noise[at : at + row] for at in range(height)))
    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    parts = chunk(b"IHDR", head) + extra + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


@pytest.mark.parametrize(("depth", "colour"), [(1, 0), (8, 0), (16, 0), (8, 2), (16, 2), (1, 3), (8, 3), (8, 4), (8, 6), (16, 6)])
@pytest.mark.parametrize("clear", [False, True], ids=["", "see-through"])
def test_bands_do_not_change_the_result(depth, colour, clear, monkeypatch):
    extra = chunk(b"PLTE", bytes(range(256)) * 3) if colour == 3 and depth == 8 else b""
    extra = chunk(b"PLTE", bytes(range(6))) if colour == 3 and depth == 1 else extra
    if clear and colour in (0, 2, 3):
        extra += chunk(b"tRNS", {0: b"\0\1", 2: b"\0\1" * 3, 3: b"\0\x80"}[colour])
    data = drawn(depth, colour, extra)
    whole = decode_image(data)
    monkeypatch.setattr(opening, "_BAND", 5000)
    assert whole.reason == "" and decode_image(data) == whole


def test_the_default_budget_and_the_crawls_suite_agree_and_a_larger_budget_does_not_stop_the_chain():
    suite = json.loads((PROJECT / "expectations/crawl.json").read_text())["tables"]["shards"]
    for column in ("width", "height"):
        (limit,) = [one for one in suite if one.get("column") == column and "max_value" in one]
        assert (limit["max_value"], limit["severity"]) == (Budget().image_side, "warning")
    assert SIDE * SIDE <= Budget().image_pixels < (SIDE + 40) * (SIDE + 40)
