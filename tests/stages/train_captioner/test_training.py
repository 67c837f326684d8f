"""Training of a captioner: learning, exact resumption after a kill, and error messages."""

from __future__ import annotations

import csv
import json
import multiprocessing
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from components.core.errors import HearsightError
from components.core.params import parse_settings
from components.models.trained_captioner import load_trained
from components.stages.train_captioner import Params
from components.stages.train_captioner.jobs import train, train_captioner
from components.stages.train_captioner.recipe import CaptionerTraining
from components.training.checkpoints import CHECKPOINT
from components.training.settings import REFERENCE, Hardware
from tests.support.train_captioner.project import (
    SETTINGS,
    SmallEncoder,
    SmallNetwork,
    no_second_phase,
    prepared,
    spec_of,
    task_of,
)

EVERY_STEP = REFERENCE.model_copy(update={"checkpoint_steps": 1})


def outcome(root: Path, source: Any, spec: dict[str, Any], hardware: Hardware = REFERENCE) -> dict[str, bytes]:
    """The files of a finished job."""
    folder = root / "out"
    folder.mkdir(parents=True, exist_ok=True)
    train_captioner(spec, task_of(root, source, hardware), folder)
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def killed(root: Path, source: Any, spec: dict[str, Any], hardware: Hardware, arrange: Callable[[], None]) -> None:
    """Run a job in a process of its own that ``arrange`` prepares to kill itself."""

    def work() -> None:
        torch.set_num_threads(1)
        arrange()
        outcome(root, source, spec, hardware)

    victim = multiprocessing.get_context("fork").Process(target=work)
    victim.start()
    victim.join(timeout=900)
    assert victim.exitcode == -signal.SIGKILL


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def in_step(phase: str, epoch: int, step: int) -> Callable[[], None]:
    def arrange() -> None:
        taken = CaptionerTraining.training_step

        def deadly(self: CaptionerTraining, batch: Any, batch_idx: int) -> Tensor:
            if (self.phase, self.current_epoch, batch_idx) == (phase, epoch, step):
                die()
            return taken(self, batch, batch_idx)

        CaptionerTraining.training_step = deadly  # type: ignore[method-assign]

    return arrange


def between_phases() -> None:
    CaptionerTraining.continue_from = lambda self, earlier: die()  # type: ignore[method-assign]


def in_the_save(number: int) -> Callable[[], None]:
    """Die with half of the ``number``-th checkpoint written."""

    def arrange() -> None:
        synced, count = os.fsync, [0]

        def deadly(handle: int) -> None:
            half = Path(f"/proc/self/fd/{handle}").readlink()
            if half.suffix == ".tmp":
                count[0] += 1
                if count[0] == number:
                    os.truncate(half, half.stat().st_size // 2)
                    die()
            synced(handle)

        os.fsync = deadly

    return arrange


KILLS = {
    "before the first checkpoint": (REFERENCE, in_step("cross_entropy", 0, 1)),
    "inside an epoch": (REFERENCE, in_step("cross_entropy", 2, 1)),
    "inside an epoch, with checkpoints of steps": (EVERY_STEP, in_step("cross_entropy", 1, 2)),
    "inside the first epoch, with checkpoints of steps": (EVERY_STEP, in_step("cross_entropy", 0, 2)),
    "between the phases": (REFERENCE, between_phases),
    "inside the second phase": (EVERY_STEP, in_step("self_critical", 1, 1)),
    "in a save": (EVERY_STEP, in_the_save(4)),
}


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, dict[str, bytes]]:
    root = tmp_path_factory.mktemp("straight")
    source = prepared(root)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("components.stages.train_captioner.jobs.build", SmallNetwork)
        return source, outcome(root, source, spec_of(ema=0.5))


QUICK = ("inside an epoch", "in a save")


@pytest.mark.long
@pytest.mark.parametrize("moment", [pytest.param(name, marks=[] if name in QUICK else [pytest.mark.slow]) for name in KILLS])
def test_a_killed_training_ends_with_the_same_bytes(tmp_path: Path, straight: Any, moment: str) -> None:
    source, whole = straight
    hardware, arrange = KILLS[moment]
    killed(tmp_path, source, spec_of(ema=0.5), hardware, arrange)
    torch.manual_seed(999)  # Whatever this process drew before must not matter.
    assert not (tmp_path / "out" / "weights.safetensors").exists()
    if moment == "in a save":
        (half,) = (tmp_path / "work").rglob("*.tmp")
        assert (half.parent / CHECKPOINT).exists()
    assert outcome(tmp_path, source, spec_of(ema=0.5), hardware) == whole
    assert not list((tmp_path / "work").rglob("*.tmp"))


def test_both_phases_are_in_the_history_and_the_best_epoch_is_kept(straight: Any) -> None:
    _, files = straight
    config, rows = json.loads(files["config.json"]), list(csv.DictReader(files["history.csv"].decode().splitlines()))
    assert [row["phase"] for row in rows] == ["cross_entropy"] * 3 + ["self_critical"] * 2
    assert [int(row["epoch"]) for row in rows] == list(range(5))
    assert all((row["reward"] != "") == (row["phase"] == "self_critical") for row in rows)
    best = max(rows, key=lambda row: (float(row["validation"]), -int(row["epoch"])))
    assert config["best_epoch"] == int(best["epoch"]) and config["best_phase"] == best["phase"]
    assert config["validation"] == pytest.approx(float(best["validation"]), abs=1e-6)
    assert config["steps"] == 3 * 3 + 2 * 4
    assert config["set"]["digest"] == straight[0].digest


def test_a_captioner_learns_captions_from_its_images(tmp_path: Path) -> None:
    source = prepared(tmp_path, training=24, validation=8)
    spec = spec_of(epochs=25, batch=8, dropout=0.0, label_smoothing=0.0, learning_rate=0.05, decay_per_1000=1.0)
    files = outcome(tmp_path, source, spec | {"settings": spec["settings"] | no_second_phase()})
    config = json.loads(files["config.json"])
    loaded = load_trained(tmp_path / "out")
    # Five kinds of references among eight images: a caption with the right noun scores far above one with a wrong one.
    assert config["validation"] > 5.0 and loaded.config["best_phase"] == "cross_entropy"


def test_other_settings_of_the_second_phase_train_that_phase_only(tmp_path: Path, straight: Any) -> None:
    source, _ = straight
    other = spec_of(self_critical=SETTINGS["self_critical"] | {"learning_rate": 0.001})
    outcome(tmp_path / "kept", source, spec_of())

    def first_phases() -> dict[Path, int]:
        found = (tmp_path / "kept").rglob(f"cross_entropy/{CHECKPOINT}")
        return {path: path.stat().st_mtime_ns for path in found}

    before = first_phases()
    assert outcome(tmp_path / "kept", source, other) == outcome(tmp_path / "anew", source, other)
    assert len(before) == 1 and first_phases() == before


@pytest.mark.long
@pytest.mark.parametrize("baseline", ["greedy", "mean"])
def test_self_critical_training_raises_the_reward(tmp_path: Path, baseline: str) -> None:
    source = prepared(tmp_path, training=16, validation=4)
    phase = {"epochs": 20, "batch": 8, "samples": 4, "baseline": baseline, "learning_rate": 0.02}
    trained = train(spec_of(epochs=2, dropout=0.0, self_critical=phase), task_of(tmp_path, source))
    rewards = [row["reward"] for row in trained.recipe.history if "reward" in row]
    assert sum(rewards[-3:]) / 3 > 1.5 * sum(rewards[:3]) / 3


def test_an_encoder_is_trained_with_its_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("components.stages.train_captioner.jobs.build_encoder", lambda encoder, project: SmallEncoder())
    encoder = {"name": "small", "weights": "", "weights_sha256": "", "trained": True, "side": 32}
    spec = spec_of("rnn1x1", encoder, epochs=1) | {"settings": SETTINGS | {"epochs": 1} | no_second_phase()}
    source = prepared(tmp_path, images=True)
    trained = train(spec, task_of(tmp_path, source))
    torch.manual_seed(0)
    weights = trained.recipe.best["weights"]
    assert int(weights["encoder.layers.1.num_batches_tracked"]) == 3
    assert weights["encoder.layers.1.running_mean"].abs().max() > 0
    assert trained.config["network"]["image_features"] == 6
    # Read by other processes, the same images come out.
    apart = tmp_path / "apart"
    apart.mkdir()
    again = train(spec, task_of(apart, source, REFERENCE.model_copy(update={"workers": 1})))
    assert all(torch.equal(again.recipe.best["weights"][name], tensor) for name, tensor in weights.items())


def test_a_nan_loss_is_an_error_with_step_records_and_rate_and_keeps_the_last_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = SmallNetwork.loss

    def bad(self: SmallNetwork, features: Tensor, words: Tensor, smoothing: float = 0.0) -> Tensor:
        calls.append(1)
        return plain(self, features, words, smoothing) * (float("nan") if len(calls) == 5 else 1.0)

    calls: list[int] = []
    monkeypatch.setattr(SmallNetwork, "loss", bad)
    source = prepared(tmp_path)
    with pytest.raises(
        HearsightError, match=r"the loss is nan in epoch 1, step 1, at learning rate 0\.0\d+; records k0"
    ) as caught:
        train(spec_of(), task_of(tmp_path, source, EVERY_STEP))
    assert "lower learning_rate" in str(caught.value) and "\n" not in str(caught.value)
    (kept,) = (tmp_path / "work").rglob(CHECKPOINT)
    state = torch.load(kept, weights_only=True)
    assert state["recipe"]["place"] == [1, 1] and all(t.isfinite().all() for t in state["state_dict"].values())


def test_too_little_memory_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def greedy(self: SmallNetwork, features: Tensor) -> Tensor:
        return torch.empty(10**15)

    monkeypatch.setattr(SmallNetwork, "encode", greedy)
    with pytest.raises(HearsightError, match=r"too little memory for a batch of 4 .*lower batch"):
        train(spec_of(), task_of(tmp_path, prepared(tmp_path)))


def test_a_damaged_checkpoint_is_refused(tmp_path: Path, straight: Any) -> None:
    source, _ = straight
    task = task_of(tmp_path, source)
    train(spec_of(**no_second_phase()), task)
    (checkpoint,) = task.work.rglob(CHECKPOINT)
    checkpoint.write_bytes(checkpoint.read_bytes()[:1000])
    with pytest.raises(HearsightError, match=r"is not a whole checkpoint .*training starts from the beginning"):
        train(spec_of(**no_second_phase()), task)


def test_sets_without_training_data_are_refused(tmp_path: Path) -> None:
    with pytest.raises(HearsightError, match="has 0 training captions"):
        train(spec_of(), task_of(tmp_path, prepared(tmp_path / "a", training=0)))
    with pytest.raises(HearsightError, match=r"11 of 11 training captions have only unknown words.*min_count"):
        train(spec_of(min_count=100), task_of(tmp_path, prepared(tmp_path / "b")))

    def forget(row: dict[str, Any]) -> None:
        if row["split"] == "validation":
            row["words"] = []

    with pytest.raises(HearsightError, match="all references of the 4 validation images are empty"):
        train(spec_of(), task_of(tmp_path, prepared(tmp_path / "c", edit=forget)))


def test_a_baseline_of_other_samples_needs_another_sample() -> None:
    phase = {"epochs": 1, "baseline": "mean", "samples": 1}
    with pytest.raises(HearsightError, match="two samples per image"):
        parse_settings(Params, {"network": {"self_critical": phase}}, "here")
    parse_settings(Params, {"network": {"self_critical": phase | {"samples": 2}}}, "here")


def test_captions_of_unknown_words_are_counted_and_left_out(tmp_path: Path) -> None:
    def odd(row: dict[str, Any]) -> None:
        if row["key"] in ("k001", "k002", "k003"):
            row["words"] = {"k001": ["qq"], "k002": [], "k003": ["zz", "a"]}[row["key"]]

    source = prepared(tmp_path, edit=odd)
    trained = train(spec_of(min_count=2, epochs=1, **no_second_phase()), task_of(tmp_path, source))
    assert trained.config["left_out"] == {"captions_of_unknown_words": 2}


def test_training_on_several_nodes_outside_of_ray_says_what_to_set(tmp_path: Path) -> None:
    task = task_of(tmp_path, prepared(tmp_path), REFERENCE.model_copy(update={"nodes": 2}))
    with pytest.raises(HearsightError, match=r"on 2 nodes.*set engine: \{kind: ray\}"):
        train(spec_of(), task)


def test_bfloat16_training_keeps_weights_in_single_precision(tmp_path: Path, straight: Any) -> None:
    spec = spec_of(epochs=1, **no_second_phase())
    result = {}
    for precision in ("32", "bf16"):
        task = task_of(tmp_path, straight[0], REFERENCE.model_copy(update={"precision": precision}))
        result[precision] = train(spec, task).recipe.best["weights"]["network.read.weight"]
        assert result[precision].dtype == torch.float32
    assert 0 < (result["32"] - result["bf16"]).abs().max() < 0.05


@pytest.mark.slow
def test_a_compiled_network_has_equal_losses(tmp_path: Path, straight: Any) -> None:
    spec = spec_of(epochs=2, dropout=0.0, **no_second_phase())
    plain, compiled = (
        train(spec, task_of(tmp_path, straight[0], REFERENCE.model_copy(update={"compile": chosen}))).recipe.history
        for chosen in (False, True)
    )
    assert [row["loss"] for row in compiled] == pytest.approx([row["loss"] for row in plain], rel=1e-4)


def test_only_settings_that_change_the_result_are_in_a_key() -> None:
    assert REFERENCE.plain() == {}
    assert REFERENCE.model_copy(update={"workers": 3, "checkpoint_steps": 9}).plain() == {}
    two = REFERENCE.model_copy(update={"devices": 2, "precision": "bf16"})
    assert two.plain() == {"world": 2, "precision": "bf16"}
    assert two.plain() == REFERENCE.model_copy(update={"nodes": 2, "precision": "bf16"}).plain()
