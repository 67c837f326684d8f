"""One image signal: crops, turns, mirrorings, colours, marks and recompression of an image are it; other images are not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as trying
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from components.stages.dedup import PerceptualHash
from components.stages.dedup.matching import align_pairs, match_pairs
from components.stages.dedup.sketches import content_box, flatten, make_sketch
from components.vision.features import ImageFeatures
from tests.stages.dedup.support import ALIGNED, POSTS, dedup, drawing, drawn_image, encoded, key, post, settings, verdicts
from tests.support.hub.encoders import make_dinov2

FLIP, QUARTER = Image.Transpose.FLIP_LEFT_RIGHT, Image.Transpose.ROTATE_90


@pytest.fixture(scope="module", autouse=True)
def network() -> None:
    """Loaded once, before the workers are forked."""
    ImageFeatures().compute((encoded(drawing(0)), "", 0))


def marked(image: Image.Image) -> Image.Image:
    changed = image.copy()
    ImageDraw.Draw(changed).text((10, 40), "@author", fill="white")
    return changed


def framed(image: Image.Image, width: int = 20, colour: str = "white") -> Image.Image:
    frame = Image.new("RGB", (image.width + 2 * width, image.height + 5 * width), colour)
    frame.paste(image, (width, width))
    return frame


def screenshot(image: Image.Image, ground: str = "white", ink: str = "black") -> Image.Image:
    """A screen with bars, symbols and lines of words above and below an image of its full width."""
    screen = Image.new("RGB", (240, 480), ground)
    pen = ImageDraw.Draw(screen)
    pen.rectangle((0, 0, 240, 40), fill="navy")
    for y in (8, 24, 330, 346, 362, 378):
        pen.text((10, y), "aeiou nstr lmc doppo riss", fill=ink if y > 40 else "white")
    for x in range(5):
        pen.ellipse((16 + 48 * x, 450, 32 + 48 * x, 466), outline=ink)
    screen.paste(image.resize((240, 240), Image.Resampling.BICUBIC), (0, 70))
    return screen


CHANGES = {
    "crop": lambda p: p.crop((5, 2, 91, 88)),
    "crop at every edge": lambda p: p.crop((9, 9, 87, 87)),
    "crop of two thirds": lambda p: p.crop((30, 20, 94, 84)),
    "crop of the width": lambda p: p.crop((25, 0, 93, 96)),
    "mirror": lambda p: p.transpose(FLIP),
    "quarter turn": lambda p: p.transpose(QUARTER),
    "mirrored and turned": lambda p: p.transpose(FLIP).transpose(QUARTER),
    "mirrored and cropped": lambda p: p.transpose(FLIP).crop((5, 12, 91, 94)),
    "askew": lambda p: p.rotate(4, Image.Resampling.BICUBIC, fillcolor="white"),
    "grey": lambda p: p.convert("L").convert("RGB"),
    "mark": marked,
    "half size": lambda p: p.resize((48, 48), Image.Resampling.BICUBIC),
    "other shape": lambda p: p.resize((96, 70), Image.Resampling.BICUBIC),
}


def sketches(*images: Image.Image) -> np.ndarray:
    return np.stack([make_sketch(flatten(encoded(image, "JPEG"))) for image in images])


@pytest.mark.long
@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_image_correlates_with_its_original_and_with_no_other(change):
    originals, changed = sketches(*(drawn_image(seed) for seed in range(6))), sketches(CHANGES[change](drawn_image(0)))
    rows, zeros = np.arange(6), np.zeros(6, np.int64)
    result = align_pairs(originals, changed, rows, zeros, np.zeros(6))[1].tolist()
    assert result[0] > 0.9 and max(result[1:]) < 0.8
    assert result == pytest.approx(align_pairs(changed, originals, zeros, rows, np.zeros(6))[1].tolist(), abs=0.02)


def lit(seed: int, side: int = 192) -> Image.Image:
    """Small shapes of its own in the light of a sky above and a ground below, the layout of every such image."""
    light = np.linspace(220, 30, side)[:, None, None].repeat(side, 1)
    fine = np.asarray(
        Image.fromarray(np.random.default_rng(seed).integers(0, 255, (24, 24), np.uint8)).resize((side, side)), float
    )
    return Image.fromarray((light + (fine[..., None] - 128) * 0.3).clip(0, 255).repeat(3, 2).astype(np.uint8))


def test_details_match_a_crop_whose_features_are_far_and_no_other_image_of_its_layout():
    originals, crop = sketches(*(lit(seed) for seed in range(4))), sketches(lit(0).crop((30, 40, 145, 155)))
    rows, zeros, far = np.arange(4), np.zeros(4, np.int64), np.full(4, 0.56, np.float32)
    _, best, details = align_pairs(originals, crop, rows, zeros, np.zeros(4))
    assert details[0] > 0.9 and max(details[1:]) < 0.6 and max(best[1:]) > 0.8
    assert match_pairs(originals, crop, rows, zeros, far, ALIGNED.plain()).tolist() == [True, False, False, False]
    alone = ALIGNED.model_copy(update={"detail_from": 1.1}).plain()
    assert not match_pairs(originals, crop, rows, zeros, far, alone).any()


@trying(deadline=None, max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(0, 7))
def test_a_rotated_or_mirrored_image_has_similarity_1(seed, symmetry):
    original = drawn_image(seed)
    turned = original.rotate(90 * (symmetry % 4))
    other = turned.transpose(FLIP) if symmetry > 3 else turned
    one, two = (make_sketch(p)[None] for p in (original, other))
    whole, best, _ = align_pairs(one, two, np.array([0]), np.array([0]), np.zeros(1))
    assert whole[0] > 0.999 and best[0] > 0.999


def test_a_uniform_image_correlates_with_none_and_transparency_is_white():
    plain = Image.new("RGB", (96, 96), "white")
    clear = Image.new("RGBA", (96, 96), (0, 0, 0, 0))
    both = np.stack([make_sketch(flatten(encoded(image))) for image in (plain, clear)])
    assert [value.tolist() for value in align_pairs(both, both, np.array([0]), np.array([1]), np.zeros(1))] == [[0.0]] * 3
    assert (both[0] == both[1]).all()


@pytest.mark.parametrize(
    "frame", [framed, lambda p: framed(p, 30, "teal"), screenshot, lambda p: screenshot(p, "#181818", "white")]
)
def test_what_a_frame_surrounds_is_found_to_a_hundredth(frame):
    image = drawn_image(3)
    changed = frame(image)
    left, top, right, bottom = content_box(changed)
    sides = np.array([changed.width, changed.height])
    inner = changed.crop(tuple((np.array([left, top, right, bottom]) * np.tile(sides, 2)).round().astype(int).tolist()))
    expected = make_sketch(image).astype(float)
    assert np.corrcoef(expected.ravel(), make_sketch(inner).ravel().astype(float))[0, 1] > 0.9


@pytest.mark.parametrize("image", [drawn_image(1), Image.new("RGB", (50, 80), "teal"), Image.new("RGB", (1, 1))])
def test_an_image_without_a_frame_and_a_uniform_one_have_no_content_of_their_own(image):
    assert content_box(image) is None


def test_matched_pairs_do_not_depend_on_the_batch_size(monkeypatch):
    drawn = sketches(*(drawn_image(seed % 5).crop((0, 0, 90 + seed % 3, 92)) for seed in range(15)))
    i, j = np.nonzero(np.triu(np.ones((15, 15)), 1))
    cosines = np.full(len(i), 0.9, np.float32)
    whole = match_pairs(drawn, drawn, i, j, cosines, ALIGNED.plain())
    monkeypatch.setattr("components.stages.dedup.matching.BATCH", 4)
    monkeypatch.setattr("components.stages.dedup.matching.REFINED", 3)
    assert (match_pairs(drawn, drawn, i, j, cosines, ALIGNED.plain()) == whole).all()
    assert (whole == (i % 5 == j % 5)).all()


WORDS = ("Foto de um gato preto sobre o muro azul", "Um homem de chapéu toca violão na praça")


def test_a_repeated_post_is_dropped_and_another_caption_of_its_image_is_a_reference(tmp_path):
    image, early, late = drawing(0), {"collected": "2026-02-01"}, {"collected": "2026-02-02"}
    again, flip = encoded(image, "JPEG"), encoded(image.transpose(FLIP))
    shards = [
        [post("late", encoded(image), WORDS[0], **late), post("other", encoded(drawing(1)), WORDS[0], **late)],
        [post("first", again, WORDS[0].upper() + "!", 1, **early), post("words", flip, WORDS[1], 1, **early)],
    ]
    done, _ = dedup(tmp_path, shards, settings(posts=POSTS.model_copy(update={"image_distance": 0.2})))
    assert {r["key"]: r["group"] for r in done.table().to_pylist()} == {"other": "other", "first": "first", "words": "first"}
    rule, value, threshold, detail = verdicts(done)["late"]
    assert (rule, threshold, detail) == ("duplicate_post", "image 0.2, caption 0.1", "same as first by features; group first")
    assert value.startswith("image 0.") and value.endswith(", caption 0")


REPOSTS = {
    "mirrored": lambda p: p.transpose(FLIP),
    "turned": lambda p: p.transpose(QUARTER),
    "grey": lambda p: p.convert("L").convert("RGB"),
    "in a screenshot": screenshot,
}
EDITED = WORDS[0] + " Foto de um gato preto sobre o muro"
"""WORDS[0] at a caption distance between .02 and .1."""


def reposts(change) -> list[list[dict]]:
    """A post, and on the next day one of a changed image with an edited caption."""
    shards = [[post("first", encoded(drawn_image(3, 224)), WORDS[0], collected="2026-02-01")]]
    return [*shards, [post("repost", encoded(change(drawn_image(3, 224))), EDITED, 1, collected="2026-02-02")]]


@pytest.mark.long
@pytest.mark.parametrize("change", REPOSTS)
def test_a_repost_that_the_signal_recognises_is_dropped_under_signal_and_stays_under_the_papers_rule(tmp_path, change):
    far = POSTS.model_copy(update={"image_distance": 0.001})
    shards = reposts(REPOSTS[change])
    paper, _ = dedup(tmp_path / "paper", shards, settings(posts=far))
    assert {r["key"]: r["group"] for r in paper.table().to_pylist()} == {"first": "first", "repost": "first"}
    signal, _ = dedup(tmp_path / "signal", shards, settings(posts=far.model_copy(update={"same_image": "signal"})))
    assert signal.table()["key"].to_pylist() == ["first"]
    rule, _, threshold, detail = verdicts(signal)["repost"]
    assert (rule, threshold) == ("duplicate_post", "image 0.001, caption 0.1")
    assert detail == "same as first by aligned; group first"


def test_the_first_collected_stays_whichever_of_the_two_is_the_changed_one(tmp_path):
    original, mirrored = encoded(drawing(3)), encoded(drawing(3).transpose(FLIP))
    params = settings(posts=POSTS.model_copy(update={"same_image": "signal", "image_distance": 0.001}))
    for number, (early, late) in enumerate([(original, mirrored), (mirrored, original)]):
        posted = [post("a", late, WORDS[0], collected="2026-02-02"), post("z", early, EDITED, collected="2026-02-01")]
        assert dedup(tmp_path / str(number), [posted], params)[0].table()["key"].to_pylist() == ["z"]


def test_an_image_that_the_signal_matches_with_another_caption_stays_as_a_reference(tmp_path):
    shards = [[post("a", encoded(drawing(3)), WORDS[0]), post("b", encoded(drawing(3).transpose(FLIP)), WORDS[1])]]
    done, _ = dedup(tmp_path, shards, settings(posts=POSTS.model_copy(update={"same_image": "signal"})))
    assert {r["key"]: r["group"] for r in done.table().to_pylist()} == {"a": "a", "b": "a"}


@pytest.mark.long
@pytest.mark.parametrize("params", [settings(), settings(signal=PerceptualHash(max_distance=3))], ids=["aligned", "phash"])
def test_the_signal_only_adds_duplicates_and_the_list_of_thresholds_stays_the_papers(tmp_path, params):
    grid = params.model_copy(update={"posts": POSTS.model_copy(update={"grid": [0.02, 0.1], "image_distance": 0.001})})
    shards, kept, lists = [posts(16, 0, "2026-01-01")], [], []
    shards[0] = [{**posted, "phash": f"{n % 7:02x}" * 8} for n, posted in enumerate(shards[0])]
    for same in ("features", "signal"):
        root = tmp_path / same
        done, _ = dedup(root, shards, grid.model_copy(update={"posts": grid.posts.model_copy(update={"same_image": same})}))
        kept.append(set(done.table()["key"].to_pylist()))
        lists.append((root / "duplicates.csv").read_text().splitlines()[2:])
    assert kept[1] < kept[0] and lists[0] == lists[1]


def test_an_undecodable_image_has_its_own_verdict_and_supports_no_noun(tmp_path):
    good = encoded(drawing(1))
    shard = [post("b", good[:60], WORDS[0]), post("a", good, WORDS[0]), post("c", good[:60], WORDS[0])]
    done, _ = dedup(tmp_path, [shard], settings())
    assert [r["key"] for r in done.table().to_pylist()] == ["a"]
    assert {verdicts(done)[name][0] for name in "bc"} == {"unreadable_image"} and verdicts(done)["b"][1]


def posts(count: int, shard: int, day: str, first: int = 0) -> list[dict]:
    made = []
    for n in range(first, first + count):
        image = drawing(n % 7)
        image = image.transpose(FLIP) if n % 3 == 1 else image.crop((0, 0, 214 - n % 4, 224))
        made.append(post(key(f"{shard}-{n}"), encoded(image), WORDS[n % 7 % 2] + "!" * (n // 7), shard, collected=day))
    return made


@pytest.mark.long
def test_added_posts_give_what_a_rebuild_gives_byte_for_byte_and_only_new_pairs_are_looked_at(tmp_path):
    old = [posts(6, 0, "2026-01-01"), posts(6, 1, "2026-01-01", 6)]
    new = posts(3, 2, "2026-01-02", 12)
    before, _ = dedup(tmp_path / "before", old, settings(), tmp_path / "state")
    added, stage = dedup(tmp_path / "added", [*old, new], settings(), tmp_path / "state")
    rebuilt, _ = dedup(tmp_path / "rebuilt", [*old, new], settings(), tmp_path / "fresh")
    assert added.manifest.digest == rebuilt.manifest.digest
    assert stage.cache_summary() == {"images": "2 of 3", "repeats": "2 of 3"}
    assert stage.annotations.computed == {}
    # Names and representatives stay: what was kept is kept, in the group it had.
    groups = {r["key"]: r["group"] for r in added.table().to_pylist()}
    assert {r["key"]: r["group"] for r in before.table().to_pylist()}.items() <= groups.items()
    assert before.table().num_rows < 12


def test_the_export_states_what_other_thresholds_would_drop(tmp_path):
    grid = POSTS.model_copy(update={"grid": [0.02, 0.2]})
    dedup(tmp_path, [posts(16, 0, "2026-01-01")], settings(posts=grid))
    lines = (tmp_path / "duplicates.csv").read_text().splitlines()
    assert lines[0] == "thresholds,image,caption,clusters,posts,largest,dropped,share"
    assert [line.split(",")[0] for line in lines[1:]] == ["as run", "0.02 / 0.02", "0.02 / 0.2", "0.2 / 0.02", "0.2 / 0.2"]
    dropped = [int(line.split(",")[6]) for line in lines[2:]]
    assert dropped[0] <= min(dropped[1:3]) <= max(dropped[1:3]) <= dropped[3] and dropped[3] > 0


def test_posts_are_compared_by_the_features_of_a_hubs_model(tmp_path):
    make_dinov2(tmp_path / "dinov2")
    one, again = encoded(drawing(1)), encoded(drawing(1), "BMP")
    # The last shard shows no image first.
    shards = [[post("a", one, "um gato"), post("b", again, "um gato")], [post("c", one, "um gato", shard=1)]]
    done, _ = dedup(tmp_path, shards, settings(encoder="dinov2"))
    assert {name: found[0] for name, found in verdicts(done).items()} == {"a": "", "b": "duplicate_post", "c": "duplicate_post"}
    assert np.load(next((tmp_path / ".hearsight").rglob("vectors.npy"))).shape[1] == 32
