"""The profiles' networks are the papers' at full size, and learn some steps with the profiles' settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from components.core.graph import Graph
from components.core.stage_output import StageOutput
from components.models.captioners import build
from components.models.captioners.interface import CaptionerConfig
from components.models.dual_encoder import DualEncoder, DualEncoderConfig
from components.models.encoders import ImageEncoder, encoder_kind
from components.models.inception_resnet_v2 import InceptionResnetV2
from components.models.mobilenet_v2 import MobileNetV2
from components.speech.voices.catalogue import voice_named
from components.stages.finetune_retrieval.run import run as finetune
from components.stages.pretrain_retrieval.run import run as pretrain
from components.stages.train_captioner.jobs import train_captioner
from components.training.settings import REFERENCE
from components.vision.classifier import load_backbone
from tests.support import make_stage
from tests.support.profiles import settings_of, with_profile
from tests.support.retrieval.world import spoken_set
from tests.support.train_captioner.project import FROZEN, prepared, task_of

CONCEPTUAL_WORDS, FLICKR_WORDS, PRACEGOVER_WORDS = 25_000, 8_000, 20_000
"""CC §5.2: about 25,000; the others are estimates, which only set the size of the word matrix."""
CAPTIONERS = {
    "conceptual_captions": (
        CONCEPTUAL_WORDS,
        {"rnn1x1": 17_789_440, "rnn8x8": 17_789_440, "t2t1x1": 57_688_576, "t2t8x8": 57_688_576, "aoanet": 29_607_936},
    ),
    "coco": (9_000, {"t2t8x8": 57_688_576 - 16_000 * 512}),
    "flickr8k": (FLICKR_WORDS, {}),
    "pracegover_63k": (PRACEGOVER_WORDS, {}),
}
"""Set → words and, where known (docs/captioners.md), parameters of networks without the image encoder."""
ADDED = {"coco": "conceptual_captions", "pracegover_63k": "pracegover"}
INCEPTION = 54_306_464
"""Parameters of Inception-ResNet-v2 without its classifier (timm; with it 55.8 M)."""


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Any:
    made: dict[str, Graph] = {}

    def graph(profile: str) -> Graph:
        if profile not in made:
            made[profile] = with_profile(tmp_path_factory.mktemp("root") / profile, profile)
        return made[profile]

    return graph


def cells(graph: Graph, dataset: str) -> dict[str, Any]:
    """Network → settings of its cell."""
    found = [cell for cell in graph.cells.values() if cell.set == dataset]
    return {cell.network: settings_of(graph, "train_captioner", cell.dataset) for cell in found}


def size(network: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in network.parameters())


@pytest.mark.parametrize("dataset", CAPTIONERS)
def test_every_captioner_is_built_at_full_size(graphs: Any, dataset: str) -> None:
    graph = graphs(ADDED.get(dataset, dataset))
    encoder = settings_of(graph, "extract_features", dataset).encoder
    words, known = CAPTIONERS[dataset]
    names = ("width", "heads", "layers", "feedforward", "pre_norm", "dropout")
    for name, cell in cells(graph, dataset).items():
        chosen = {key: getattr(cell.network, key) for key in names}
        config = CaptionerConfig(
            name, words, image_features=encoder_kind(encoder.name).features, longest=cell.training.longest, **chosen
        )
        with torch.device("meta"):
            parameters = size(build(config))
        assert parameters == known.get(name, parameters) and parameters > 1_000_000, name
    with torch.device("meta"):
        if encoder.name == "inception_resnet_v2":
            assert size(ImageEncoder(encoder.name, side=encoder.side)) == INCEPTION


def test_encoders_with_their_classifiers_are_as_large_as_published() -> None:
    with torch.device("meta"):
        counts = size(InceptionResnetV2()), size(MobileNetV2())
    assert [round(count / 1e6, 1) for count in counts] == [55.8, 3.5]  # Sandler et al. 2018 print 3.4 M
    assert round(size(load_backbone()) / 1e6, 1) == 4.7


def dual_encoder(graph: Graph, dataset: str, features: int = 0) -> DualEncoder:
    towers = settings_of(graph, "pretrain_retrieval", dataset).towers.of_row("")
    del towers["weights"]
    with torch.device("meta"):
        return DualEncoder(DualEncoderConfig(**towers, **({"image_features": features} if features else {})))


def test_the_papers_dual_encoder_has_two_whole_towers(graphs: Any) -> None:
    model = dual_encoder(graphs("conceptual_spoken_captions"), "csc")
    assert size(model.speech) == size(model.image) == INCEPTION


def test_the_dual_encoder_of_flickr8k_is_built(graphs: Any) -> None:
    for dataset in ("flickr8k", "flickr8k_without_rms", "flickr8k_without_slt", "flickr8k_without_gb"):
        assert 500_000 < size(dual_encoder(graphs("flickr8k"), dataset, 1280)) < 10_000_000


@pytest.mark.parametrize(("dataset", "captions"), [("conceptual_captions", 3_318_333), ("coco", 566_747)])
def test_conceptual_captions_is_trained_as_published(graphs: Any, dataset: str, captions: int) -> None:
    graph = graphs("conceptual_captions")
    trained = cells(graph, dataset)
    assert sorted(trained) == ["aoanet", "rnn1x1", "rnn8x8", "t2t1x1", "t2t8x8"]
    for cell in trained.values():
        assert (cell.training.min_count, cell.training.longest, cell.training.seeds) == (4, 15, [0, 1, 2])
        network = cell.network
        assert (network.optimiser, network.learning_rate, network.batch) == ("adagrad", 0.01, 25)
        assert abs(network.epochs * captions / network.batch - 5_000_000) < captions / network.batch  # whole passes
        assert network.self_critical.epochs == 0
    assert settings_of(graph, "evaluate_captioners", "conceptual_captions").beam == 4
    encoder = settings_of(graph, "extract_features", "conceptual_captions").encoder
    assert (encoder.name, encoder.side, encoder.frozen) == ("inception_resnet_v2", 299, False)


def test_conceptual_spoken_captions_is_trained_as_published(graphs: Any) -> None:
    graph = graphs("conceptual_spoken_captions")
    first, second = settings_of(graph, "pretrain_retrieval", "csc"), settings_of(graph, "finetune_retrieval", "facc")
    assert first.rows == ["triplet-48", "mms-12", "mms-24", "mms-48"]
    assert {"none-100", "audio-100", "image-100", "both-100", "both-10"} <= set(second.rows)
    how, clips = first.model.optimisation, first.model.clips
    assert (how.optimiser, how.learning_rate, how.batch, how.decay_per_1000) == ("adam", 0.001, 48, 0.999)
    assert how.weight_decay == 4e-5 and round(how.epochs * 3_318_333 / how.batch, -6) == 3_000_000
    assert (clips.frames, clips.mask_coefficients, clips.mask_frames) == (350, 20, 40)
    assert second.model.clips.frames == 800
    assert settings_of(graph, "evaluate_retrieval", "csc").split == "validation"


def test_pracegover_is_clustered_and_trained_as_published(graphs: Any) -> None:
    graph = graphs("pracegover")
    cluster, posts = (
        settings_of(graph, "cluster", "pracegover"),
        settings_of(graph, "dedup", "pracegover").posts,
    )
    assert (cluster.embedding.neighbours, cluster.embedding.variance, cluster.embedding.metric) == (80, 0.95, "correlation")
    assert cluster.mobilenet_v2 and cluster.mobilenet_v2 == settings_of(graph, "dedup", "pracegover").mobilenet_v2
    assert (posts.image_distance, posts.caption_distance) == (0.1, 0.1)
    split = settings_of(graph, "split", "pracegover")
    assert (split.by, split.validation, split.test) == ("owner", 0.2, 0.2)
    for dataset in ("pracegover_63k", "pracegover_173k"):
        (cell,) = cells(graph, dataset).values()
        assert cell.name == "aoanet" and cell.training.seeds == [0, 1, 2] and cell.network.self_critical.epochs > 0


def test_no_voice_that_is_tested_as_unseen_was_trained_on(graphs: Any) -> None:
    graph = graphs("flickr8k")
    spoken = [name for name in settings_of(graph, "synthesize", "flickr8k").voices if voice_named(name).language == "en"]
    for name in ("rms", "slt", "gb"):
        trained_on = settings_of(graph, "pretrain_retrieval", f"flickr8k_without_{name}").voices
        (unseen,) = settings_of(graph, "finetune_retrieval", f"flickr8k_{name}").voices
        assert sorted([*trained_on, unseen]) == sorted(spoken)
        for tested in (f"flickr8k_{name}", f"flickr8k_without_{name}"):
            assert settings_of(graph, "evaluate_retrieval", tested).voices == [unseen]


def some_steps(tmp_path: Path, cell: Any, *, trained: bool) -> None:
    """Train one epoch of each phase over a dozen images, in batches of four."""
    second = cell.network.self_critical.plain()
    small = {"epochs": min(1, second["epochs"]), "batch": 4}
    settings = cell.network.plain() | {"longest": cell.training.longest, "min_count": 1, "epochs": 1, "batch": 4}
    settings["self_critical"] = second | small
    encoder = {"name": "inception_resnet_v2", "weights": "", "weights_sha256": "", "side": 75, "trained": True}
    spec = {"network": cell.name, "seed": 0, "settings": settings, "encoder": encoder if trained else FROZEN}
    (tmp_path / "out").mkdir()
    train_captioner(spec, task_of(tmp_path, prepared(tmp_path, images=trained)), tmp_path / "out")
    assert (tmp_path / "out" / "weights.safetensors").stat().st_size > 0


@pytest.mark.long
@pytest.mark.parametrize(
    "network",
    ["t2t8x8", *(pytest.param(name, marks=pytest.mark.slow) for name in ("rnn1x1", "rnn8x8", "t2t1x1", "aoanet"))],
)
def test_the_captioners_of_flickr8k_learn_some_steps(graphs: Any, tmp_path: Path, network: str) -> None:
    some_steps(tmp_path, cells(graphs("flickr8k"), "flickr8k")[network], trained=False)


@pytest.mark.slow
def test_the_captioner_of_pracegover_learns_some_steps(graphs: Any, tmp_path: Path) -> None:
    some_steps(tmp_path, cells(graphs("pracegover"), "pracegover_63k")["aoanet"], trained=False)


@pytest.mark.slow
@pytest.mark.parametrize("network", ["rnn1x1", "rnn8x8", "t2t8x8", "aoanet"])
def test_the_captioners_of_conceptual_captions_learn_some_steps_with_their_encoder(
    graphs: Any, tmp_path: Path, network: str
) -> None:
    some_steps(tmp_path, cells(graphs("conceptual_captions"), "conceptual_captions")[network], trained=True)


def shrunk(params: Any, *, side: int = 0, **changed: Any) -> Any:
    """The settings for one model, one epoch and short clips on this machine's processor."""
    model = params.model.model_dump()
    model["optimisation"] |= {"epochs": 1, "batch": 4}
    model["clips"] |= {"frames": 100, "held": 10}
    plain = params.model_dump() | {"model": model, "seeds": [0], "voices": [], "hardware": REFERENCE.model_dump()} | changed
    if side:
        plain["towers"] |= {"side": side}
    return type(params).model_validate(plain)


@pytest.mark.parametrize(
    ("profile", "first", "second", "side"),
    [
        ("flickr8k", "flickr8k", "flickr8k_rms", 0),
        pytest.param("flickr8k_facc", "flickr8k", "flickr8k_facc", 0, marks=pytest.mark.slow),
        pytest.param("conceptual_spoken_captions", "csc", "facc", 75, marks=pytest.mark.slow),
    ],
)
def test_dual_encoders_learn_some_steps_and_are_fine_tuned(
    graphs: Any, tmp_path: Path, profile: str, first: str, second: str, side: int
) -> None:
    graph, spoken = graphs(profile), spoken_set(tmp_path, frozen=not side)
    inputs = {"input": spoken.speech, "images": spoken.images}
    before = shrunk(settings_of(graph, "pretrain_retrieval", first), side=side, rows=["mms-4"])
    stage = make_stage(tmp_path, "pretrain_retrieval", first, before, inputs)
    pretrain(stage)
    stage.finish()
    start = StageOutput(stage.out)
    after = shrunk(settings_of(graph, "finetune_retrieval", second), rows=["both-100"], pretrained="mms-4")
    stage = make_stage(tmp_path, "finetune_retrieval", second, after, inputs | {"start": start})
    finetune(stage)
    stage.finish()
    assert StageOutput(stage.out).table(["key"])["key"].to_pylist() == ["both-100-0"]
