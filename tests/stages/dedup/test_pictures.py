"""One image signal: crops, turns, mirrorings, colours, marks and recompression of a picture are it; other pictures are not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as trying
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from components.stages.dedup.pictures import verify_pairs
from components.stages.dedup.sketches import ANGLES, correlation, make_parts, make_sketch
from components.vision.features import ImageFeatures
from tests.stages.dedup.support import ALIGNED, POSTS, dedup, drawing, encoded, key, picture, post, settings, verdicts

FLIP, QUARTER = Image.Transpose.FLIP_LEFT_RIGHT, Image.Transpose.ROTATE_90


@pytest.fixture(scope="module", autouse=True)
def network() -> None:
    """Loaded once, before the workers are forked."""
    ImageFeatures().compute((encoded(drawing(0)), "", 0))


def marked(image: Image.Image) -> Image.Image:
    changed = image.copy()
    ImageDraw.Draw(changed).text((10, 40), "@author", fill="white")
    return changed


CHANGES = {
    "crop": lambda p: p.crop((5, 2, 91, 88)),
    "crop at every edge": lambda p: p.crop((9, 9, 87, 87)),
    "mirror": lambda p: p.transpose(FLIP),
    "quarter turn": lambda p: p.transpose(QUARTER),
    "mirrored and turned": lambda p: p.transpose(FLIP).transpose(QUARTER),
    "askew": lambda p: p.rotate(4, Image.Resampling.BICUBIC, fillcolor="white"),
    "grey": lambda p: p.convert("L").convert("RGB"),
    "mark": marked,
    "half size": lambda p: p.resize((48, 48), Image.Resampling.BICUBIC),
    "other shape": lambda p: p.resize((96, 70), Image.Resampling.BICUBIC),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_picture_correlates_with_its_original_and_with_no_other(change):
    originals = make_parts(np.stack([make_sketch(encoded(picture(seed))) for seed in range(6)]))
    changed = make_parts(np.stack([make_sketch(encoded(CHANGES[change](picture(0)), "JPEG"))]))
    result = [correlation(originals, n, changed, 0)[1] for n in range(6)]
    assert result[0] > 0.9 and max(result[1:]) < 0.75
    assert result == pytest.approx([correlation(changed, 0, originals, n)[1] for n in range(6)])


@trying(deadline=None, max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(0, 7))
def test_a_rotated_or_mirrored_picture_has_similarity_1(seed, symmetry):
    original = picture(seed)
    turned = original.rotate(90 * (symmetry % 4))
    both = make_parts(np.stack([make_sketch(encoded(p)) for p in (original, turned.transpose(FLIP) if symmetry > 3 else turned)]))
    assert correlation(both, 0, both, 1)[0] > 0.999


def test_a_uniform_picture_correlates_with_none_and_transparency_is_white():
    plain = Image.new("RGB", (96, 96), "white")
    clear = Image.new("RGBA", (96, 96), (0, 0, 0, 0))
    both = make_parts(np.stack([make_sketch(encoded(plain)), make_sketch(encoded(clear))]))
    assert correlation(both, 0, both, 1) == (0.0, 0.0)
    assert (make_sketch(encoded(clear)) == make_sketch(encoded(plain))).all()


def test_rotations_are_undone_in_both_directions():
    assert sorted(ANGLES) == sorted(-angle for angle in ANGLES)


def test_verified_pairs_do_not_depend_on_the_batch_size(monkeypatch):
    sketches = np.stack([make_sketch(encoded(picture(seed % 5).crop((0, 0, 90 + seed % 3, 92)))) for seed in range(15)])
    i, j = np.nonzero(np.triu(np.ones((15, 15)), 1))
    cosines = np.full(len(i), 0.9, np.float32)
    whole = verify_pairs(sketches, sketches, i, j, cosines, ALIGNED.plain())
    monkeypatch.setattr("components.stages.dedup.pictures.BATCH", 4)
    assert (verify_pairs(sketches, sketches, i, j, cosines, ALIGNED.plain()) == whole).all()
    assert (whole == (i % 5 == j % 5)).all()


WORDS = ("Foto de um gato preto sobre o muro azul", "Um homem de chapéu toca violão na praça")


def test_a_repeated_post_is_dropped_and_another_caption_of_its_picture_is_a_reference(tmp_path):
    image, early, late = drawing(0), {"collected": "2026-02-01"}, {"collected": "2026-02-02"}
    again, flip = encoded(image, "JPEG"), encoded(image.transpose(FLIP))
    shards = [
        [post("late", encoded(image), WORDS[0], **late), post("other", encoded(drawing(1)), WORDS[0], **late)],
        [post("first", again, WORDS[0].upper() + "!", 1, **early), post("words", flip, WORDS[1], 1, **early)],
    ]
    done, _ = dedup(tmp_path, shards, settings(posts=POSTS.model_copy(update={"image_distance": 0.2})))
    assert {r["key"]: r["group"] for r in done.table().to_pylist()} == {"other": "other", "first": "first", "words": "first"}
    rule, value, threshold, detail = verdicts(done)["late"]
    assert (rule, threshold, detail) == ("duplicate_post", "image 0.2, caption 0.1", "same as first; group first")
    assert value.startswith("image 0.") and value.endswith(", caption 0")


def test_an_undecodable_picture_has_its_own_verdict_and_supports_no_noun(tmp_path):
    good = encoded(drawing(1))
    shard = [post("b", good[:60], WORDS[0]), post("a", good, WORDS[0]), post("c", good[:60], WORDS[0])]
    done, _ = dedup(tmp_path, [shard], settings())
    assert [r["key"] for r in done.table().to_pylist()] == ["a"]
    assert {verdicts(done)[name][0] for name in "bc"} == {"unreadable_picture"} and verdicts(done)["b"][1]


def posts(count: int, shard: int, day: str, first: int = 0) -> list[dict]:
    made = []
    for n in range(first, first + count):
        image = drawing(n % 7)
        image = image.transpose(FLIP) if n % 3 == 1 else image.crop((0, 0, 214 - n % 4, 224))
        made.append(post(key(f"{shard}-{n}"), encoded(image), WORDS[n % 7 % 2] + "!" * (n // 7), shard, collected=day))
    return made


def test_added_posts_give_what_a_rebuild_gives_byte_for_byte_and_only_new_pairs_are_looked_at(tmp_path):
    old = [posts(6, 0, "2026-01-01"), posts(6, 1, "2026-01-01", 6)]
    new = posts(3, 2, "2026-01-02", 12)
    before, _ = dedup(tmp_path / "before", old, settings(), tmp_path / "state")
    added, stage = dedup(tmp_path / "added", [*old, new], settings(), tmp_path / "state")
    rebuilt, _ = dedup(tmp_path / "rebuilt", [*old, new], settings(), tmp_path / "fresh")
    assert added.manifest.digest == rebuilt.manifest.digest
    assert stage.cache_summary() == {"pictures": "2 of 3", "repeats": "2 of 3"}
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
