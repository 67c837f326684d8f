"""Like images share a cluster; few, equal, missing or shapeless data end in clear verdicts, never in a crash."""

from __future__ import annotations

import hashlib
import io
import json
import multiprocessing

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from components.core.errors import HearsightError
from components.core.manifest import read_manifest
from components.core.stage_output import StageOutput
from components.models.mobilenet_v2 import MobileNetV2
from components.stages.cluster import SUMMARY, Embedding, Params
from components.stages.cluster.embedding import count_components, limit_to_posts, project
from components.stages.cluster.rounds import cluster_rounds
from components.stages.cluster.run import run
from tests.support import InlineEngine, make_output, make_stage, row
from tests.support.hub.encoders import make_dinov2

SPACE = Embedding(variance=0.95, dimensions=3, neighbours=6, min_dist=0.0, metric="correlation", seed=42)
PARAMS = Params(embedding=SPACE, min_cluster_size=4, min_samples=2, max_cluster_size=0, max_outliers=0.05, max_rounds=3)


def drawn_image(kind: int, number: int) -> bytes:
    """A drawing of one of a few plainly different kinds, each a little different from the others of its kind."""
    across, down = np.meshgrid(np.arange(64), np.arange(64))
    shift = number * 3
    grey = [across * 4, (across // 8 + down // 8) % 2 * 255, np.hypot(across - 32, down - 32) * 8][kind]
    colour = [(255, 60, 0), (0, 200, 60), (40, 60, 255)][kind]
    pixels = np.stack([(grey * part // 255 + shift) % 256 for part in colour], axis=2).astype(np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return buffer.getvalue()


def key(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()[:16]


def cluster(root, images: list[bytes | None], params: Params = PARAMS, shards: int = 2, engine=None) -> StageOutput:
    """The stage over posts with these images; None is a post whose image the crawl has not."""
    tars: list[dict[str, bytes]] = [{} for _ in range(shards)]
    rows: list[list[dict]] = [[] for _ in range(shards)]
    crawled: list[list[dict]] = [[] for _ in range(shards)]
    for number, data in enumerate(images):
        at = number % shards
        sha = hashlib.sha256(data or b"").hexdigest()
        if data is not None:
            tars[at][f"{sha}.png"] = data
        values = {"key": key(number), "image_sha256": sha, "media": f"{at:05d}/{sha}.png"}
        rows[at].append(row("hypernymize", **values))
        crawled[at].append(row("crawl", **values))
    media = make_output(root, "crawl", crawled, media=tars)
    source = make_output(root, "hypernymize", rows)
    stage = make_stage(root, "cluster", params=params, inputs={"input": source, "media": media})
    stage.engine = engine or InlineEngine()
    run(stage)
    stage.finish()
    return StageOutput(stage.out)


def rounds(space, **over):
    given = {"min_cluster_size": 4, "min_samples": 2, "max_cluster_size": 0, "max_outliers": 0.0, "max_rounds": 5} | over
    return cluster_rounds(np.asarray(space, dtype=np.float32), given)


IMAGES = [drawn_image(kind, number) for kind in range(3) for number in range(8)]


@pytest.mark.slow
def test_like_images_share_a_cluster_and_the_shards_order_changes_nothing(tmp_path):
    result = cluster(tmp_path / "two", IMAGES)
    table = {r["key"]: r for r in result.table().to_pylist()}
    kinds = [{table[key(8 * kind + n)]["cluster"] for n in range(8)} for kind in range(3)]
    assert all(len(kind) == 1 for kind in kinds) and len(set.union(*kinds)) == 3, kinds
    assert set.union(*kinds) == {0, 1, 2}
    again = cluster(tmp_path / "again", IMAGES)
    assert read_manifest(again.path).digest == read_manifest(result.path).digest
    one = cluster(tmp_path / "one", IMAGES, shards=1)
    assert {r["key"]: r for r in one.table().to_pylist()} == table
    summary = json.loads(result.file(SUMMARY).read_text())
    assert (summary["posts"], summary["clusters"], summary["outliers"]) == (24, 3, 0)
    assert [each["clusters"] for each in summary["rounds"]] == [3]


def digest_of_a_projection(_: int = 0) -> str:
    vectors = np.random.default_rng(1).normal(size=(60, 40)).astype(np.float32)
    return hashlib.sha256(project(vectors, 4, 10, 0.0, "correlation", 7).tobytes()).hexdigest()


@pytest.mark.slow
def test_fresh_processes_project_to_the_same_bytes():
    with multiprocessing.get_context("spawn").Pool(2, maxtasksperchild=1) as pool:
        assert set(pool.map(digest_of_a_projection, range(2), chunksize=1)) == {digest_of_a_projection()}


@pytest.mark.slow
def test_features_are_computed_once(tmp_path, monkeypatch):
    cluster(tmp_path, IMAGES[:6])
    monkeypatch.setattr("components.vision.features.ImageFeatures.compute", lambda *_: pytest.fail("computed again"))
    other = PARAMS.model_copy(update={"embedding": SPACE.model_copy(update={"neighbours": 3})})
    cluster(tmp_path, IMAGES[:6], other)


def test_features_of_mobilenet_v2_come_from_its_file(tmp_path):
    weights = tmp_path / "drawn.pth"
    torch.manual_seed(0)
    torch.save(MobileNetV2(classes=3).state_dict(), weights)
    cluster(tmp_path, IMAGES[:2], PARAMS.model_copy(update={"mobilenet_v2": str(weights)}))
    names = {path.name for path in (tmp_path / ".hearsight" / "annotations").glob("*.sqlite")}
    assert [name.startswith("encoded-picture-v4-mobilenet_v2-224-") for name in names] == [True], names


def test_features_of_a_hubs_model_have_its_width(tmp_path):
    make_dinov2(tmp_path / "dinov2")
    cluster(tmp_path, IMAGES[:2], PARAMS.model_copy(update={"encoder": "dinov2"}))
    names = {path.name for path in (tmp_path / ".hearsight" / "annotations").glob("*.sqlite")}
    assert [name.startswith("encoded-picture-v4-hub-32-") for name in names] == [True], names


@pytest.mark.slow
def test_missing_and_unreadable_images_are_dropped_by_name_and_others_are_read(tmp_path):
    result = cluster(tmp_path, [*IMAGES[:5], None, b"no image", b"no image"])
    rules = {r["key"]: r["rule"] for r in result.ledger().to_pylist() if r["verdict"] == "dropped"}
    assert rules == {key(5): "image_missing", key(6): "image_unreadable", key(7): "image_unreadable"}
    assert result.table().num_rows == 5


@pytest.mark.parametrize("posts", [0, 1, 4])
def test_too_few_posts_are_outliers_at_the_origin_of_the_map(tmp_path, posts):
    result = cluster(tmp_path, IMAGES[:posts], shards=1)
    assert [(r["cluster"], r["round"], r["x"], r["y"]) for r in result.table().to_pylist()] == [(-1, 0, 0.0, 0.0)] * posts
    assert json.loads(result.file(SUMMARY).read_text())["outliers"] == posts


@pytest.mark.slow
def test_fewer_posts_than_neighbours_lower_their_number_and_the_ledger_says_so(tmp_path):
    paper = PARAMS.model_copy(update={"embedding": SPACE.model_copy(update={"neighbours": 80, "dimensions": 900})})
    result = cluster(tmp_path, IMAGES[:6], paper)
    assert all(
        "only 6 posts, so 5 neighbours instead of 80, 4 dimensions instead of 900" in d
        for d in result.ledger()["detail"].to_pylist()
    )


@pytest.mark.slow
def test_one_repeated_image_gives_no_cluster(tmp_path):
    result = cluster(tmp_path, [IMAGES[0]] * 12)
    assert set(result.table()["cluster"].to_pylist()) == {-1}


def test_unusable_settings_are_named(tmp_path):
    for change, name in (({"min_cluster_size": 1}, "min_cluster_size"), ({"max_rounds": 0}, "max_rounds")):
        with pytest.raises(HearsightError, match=rf"params.yaml: english.cluster.{name}"):
            cluster(tmp_path, [], PARAMS.model_copy(update=change))


def test_outliers_are_clustered_again_until_a_round_finds_no_cluster():
    rng = np.random.default_rng(0)
    # Two dense clumps far apart, and a wide cloud with two clumps of its own, too thin to be seen beside the dense ones.
    dense = np.concatenate([rng.normal(at, 0.01, (40, 2)) for at in (0, 1)])
    thin = np.concatenate([rng.normal(at, 3.0, (12, 2)) for at in (60, 110)])
    labels, numbers, result = rounds(np.concatenate([dense, thin]), min_cluster_size=8, min_samples=6)
    assert len(result) >= 1 and result[-1]["outliers"] == (labels == -1).sum()
    assert [each["entered"] for each in result[1:]] == [each["outliers"] for each in result[:-1]]
    assert ((numbers == 0) == (labels == -1)).all()
    one, _, first = rounds(np.concatenate([dense, thin]), min_cluster_size=8, min_samples=6, max_rounds=1)
    assert len(first) == 1 and (one == -1).sum() >= (labels == -1).sum()


def test_an_unconnected_post_is_an_outlier():
    space = np.concatenate([np.zeros((6, 2)), np.ones((6, 2)), [[np.nan, np.nan]]]) + np.arange(13)[:, None] * 1e-4
    labels, _, _ = rounds(space)
    assert labels[12] == -1 and set(labels[:12]) == {0, 1}


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=30),
    st.integers(2, 6), st.integers(1, 6), st.sampled_from([0, 6, 12]), st.integers(1, 4),
)  # fmt: skip
def test_any_points_give_numbered_clusters_of_allowed_sizes(points, smallest, samples, largest, most):
    space = np.array(points, dtype=np.float32).reshape(-1, 2)
    given = {"min_cluster_size": smallest, "min_samples": samples, "max_cluster_size": largest, "max_rounds": most}
    labels, numbers, result = rounds(space, **given)
    sizes = [int((labels == n).sum()) for n in range(labels.max(initial=-1) + 1)]
    assert all(size >= smallest for size in sizes) and len(result) <= most
    assert sum(sizes) + (labels == -1).sum() == len(points)
    assert sum(each["clusters"] for each in result) == len(sizes)
    first = [numbers[labels == n][0] for n in range(len(sizes))]
    assert first == sorted(first)


@settings(deadline=None, max_examples=30)
@given(st.integers(2, 40), st.integers(1, 12), st.floats(0.05, 1.0), st.integers(0, 99))
def test_the_components_are_the_fewest_that_keep_the_variance(posts, width, variance, seed):
    vectors = np.random.default_rng(seed).normal(size=(posts, width)).astype(np.float32)
    values = np.linalg.svd(vectors - vectors.mean(0), compute_uv=False).astype(np.float64) ** 2
    kept = np.cumsum(values) / values.sum()
    count = count_components(vectors, variance)
    assert kept[count - 1] >= variance - 1e-5
    assert count == 1 or kept[count - 2] < variance + 1e-5


def test_constant_data_has_no_components_and_no_projection():
    same = np.ones((9, 5), dtype=np.float32)
    assert count_components(same, 0.95) == 0 and count_components(same[:1], 0.95) == 0
    assert project(same, 2, 3, 0.0, "correlation", 1).tolist() == [[0.0, 0.0]] * 9


@given(st.integers(0, 2000), st.integers(2, 200), st.integers(2, 1280))
def test_neighbours_and_dimensions_are_limited_by_the_number_of_posts(posts, neighbours, dimensions):
    fewer, lower = limit_to_posts(posts, neighbours, dimensions)
    assert (fewer, lower) == (0, 0) if posts < 5 else (2 <= fewer < posts and 2 <= lower <= posts - 2)
