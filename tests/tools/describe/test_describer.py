"""A description has the stage's caption, a confidence with its evidence, and says what the model cannot do."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from components.core.errors import HearsightError
from components.core.stage_output import StageOutput
from components.stages.evaluate_captioners.writing import caption_images, read_features
from components.tools.describe.describer import Describer
from components.tools.describe.support import TrainingImages, WordWeights
from components.tools.describe.writers import SURE, Evidence
from components.vision.captioning import Captioner
from tests.support.describe.world import CELLS, COLOURS, drawn_image
from tests.support.search_index.world import drawn_image as stamp


def media(project: Path) -> tuple[StageOutput, dict[str, bytes]]:
    """The prepared test set, and its images by the members of their features."""
    prepared, crawled = StageOutput(project / "data/english/extract_features"), StageOutput(project / "data/english/crawl")
    files = {row["image_sha256"]: row["media"] for row in crawled.table(["image_sha256", "media"]).to_pylist()}
    rows = [row for row in prepared.table().to_pylist() if row["split"] == "test"]
    return prepared, {row["media"]: crawled.read_media(files[row["image_sha256"]]) for row in rows}


@pytest.mark.long
@pytest.mark.parametrize("network", CELLS)
def test_features_and_captions_of_a_file_are_those_of_the_stages(project: Path, network: str) -> None:
    prepared, images = media(project)
    folder = project / f"data/captioners/cells/english-{network}/train_captioner/models/{network}-0"
    captioner = Captioner(folder)
    seen = [captioner.see(data, name) for name, data in images.items()]
    for name, features in zip(images, seen, strict=True):
        assert np.array_equal(features, read_features(prepared, name))
    captions = caption_images([folder], lambda name: read_features(prepared, name), list(images), beam=4)
    written = [best for ((best, _),) in captions]
    assert [caption.text for caption in captioner.write(seen)] == written
    assert [captioner.write([each])[0].text for each in seen] == written


def test_a_known_image_is_described_surely_by_the_smallest_captioner(english: Describer) -> None:
    description = english.describe(drawn_image("red"))
    assert (description.caption, description.alt) == ("a red square", "a red square")
    assert (description.model, description.source, description.word) == ("english-rnn1x1", "captioner", "sure")
    assert description.version.startswith("output ") and description.sure
    assert description.evidence.images == 5 and 0 < description.evidence.support <= 1  # type: ignore[operator]
    assert description.text == () and not any("Text in the image" in line for line in description.limits)


def test_an_image_unlike_those_of_the_training_gets_no_caption_and_says_why(english: Describer) -> None:
    target = io.BytesIO()
    Image.effect_noise((96, 96), 120).convert("RGB").save(target, "PNG")
    description = english.describe(target.getvalue())
    assert description.caption == description.alt == "" and not description.sure and description.confidence == 0.0
    assert description.limits[0].startswith("This image is unlike those")
    assert description.trained_on.endswith("words. It calls everything by one of these words.")


def test_a_threshold_decides_what_is_sure_and_an_unsure_alt_text_says_so(project: Path) -> None:
    description = Describer.open(project, "en", threshold=1.0, interface="pt").describe(drawn_image("blue"))
    assert not description.sure and description.word == "sem certeza"
    assert description.alt == "Not sure: a blue square"
    assert "Um programa escreveu isto. Confira antes de publicar." in description.limits


def test_another_captioner_can_be_named(project: Path) -> None:
    assert Describer.open(project, "en", model="english-t2t8x8").describe(drawn_image("green")).model == "english-t2t8x8"


@pytest.mark.parametrize(("language", "prefix"), [("fr", "Pas sûr : "), ("es", "Sin certeza: ")])
def test_without_a_captioner_a_similar_images_caption_is_marked_as_such(project: Path, language: str, prefix: str) -> None:
    description = Describer.open(project, language).describe(stamp(3))
    assert description.source == "similar images" and description.caption == f"<{language}> & caption 3"
    assert description.evidence.likelihood is None and description.evidence.images == 4
    assert "similar image" in description.limits[0]
    assert description.sure or description.alt.startswith(prefix)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"language": "pt"}, "no captioner was trained on captions in 'pt'.*datasets/captioners.yaml"),
        ({"language": "de"}, "'de' is not a language here"),
        ({"language": "en", "model": "english-t2t8"}, "is no captioner"),
        ({"language": "fr", "model": "english-rnn1x1"}, "writes captions in en, not in 'fr'"),
        ({"language": "en", "threshold": 2.0}, "--sure: 2 is not from 0 to 1"),
    ],
)
def test_what_cannot_describe_is_one_line_with_a_way_out(project: Path, arguments: dict[str, str], message: str) -> None:
    with pytest.raises(HearsightError, match=message):
        Describer.open(project, **arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"text", "is not an image"),
        (drawn_image("red")[:100], "damaged image"),
        (drawn_image("red", size=(4, 40)), "smaller than 8 px"),
        (drawn_image("red", size=(10_001, 10)), "make it smaller"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 90 90\n", "is not an image"),
    ],
)
def test_unusable_images_are_refused_before_they_are_encoded(english: Describer, data: bytes, message: str) -> None:
    with pytest.raises(HearsightError, match=message):
        english.describe(data, "it")


def test_threads_share_a_describer(english: Describer) -> None:
    alone = {colour: english.describe(drawn_image(colour)) for colour in COLOURS}
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda colour: english.describe(drawn_image(colour)), [*COLOURS] * 4))
    assert together == list(alone.values()) * 4


def test_support_weighs_rare_words_and_is_one_where_all_images_say_the_same() -> None:  # pragma: allowlist secret
    weights = WordWeights([{"a", "dog"}, {"a", "cat"}, {"a", "dog", "ball"}])
    assert weights.support({"a", "dog"}, [{"a", "dog"}, {"dog", "ball"}]) == pytest.approx(1.0)
    assert weights.support({"a", "cat"}, [{"a", "dog"}]) == 0.0
    assert weights.support({"dog", "ball"}, [{"ball"}]) > 0.5
    assert weights.support(set(), [{"a"}]) == weights.support({"a"}, []) == 0.0


def test_a_confidence_is_the_geometric_mean_of_its_evidence() -> None:
    assert Evidence(0.81, 0.25, 5).confidence == pytest.approx(0.45)
    assert not Evidence(0.81, 0.25, 5).is_sure() and Evidence(1.0, SURE**2, 5).is_sure()
    assert not Evidence(0.5, None, 0).is_sure() and Evidence(0.6, None, 0).is_sure()


def test_of_a_large_set_evenly_spaced_images_are_kept(project: Path) -> None:
    prepared = StageOutput(project / "data/english/extract_features")
    assert len(TrainingImages(prepared, {})) == 18 and len(TrainingImages(prepared, {}, most=5)) == 5
