"""A comparison shows every image and every model once, scores as the metrics do, and continues where it was ended."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from components.core.errors import HearsightError
from components.hub.chosen import ChosenModel
from components.hub.model import find_model
from components.metrics.captions import score_captions
from components.metrics.ptb import ptb_tokenize
from components.tools.describe.compare import PAGE, TABLE, compare, read_references
from components.tools.describe.describer import Describer
from components.tracking.record import COMPARISONS, connect
from components.vision.image_text import load_image_text
from tests.support.command import hearsight
from tests.support.describe.world import drawn_image
from tests.support.hub import make_clip
from tests.support.model_server.chat_server import FAULTS, MODEL, ChatServer

MODELS = ["english-rnn1x1", "english-t2t8x8"]
REFERENCES = {"red.png": ["a red square", "a red thing"], "sub/blue.png": ["the blue square"], "gone.png": ["nothing"]}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEARSIGHT_TRACKING", "off")
    monkeypatch.setenv("PATH", str(tmp_path))  # without Java, since METEOR takes seconds
    images = tmp_path / "<images>"
    (images / "sub").mkdir(parents=True)
    for name in ("red.png", "green.png", "sub/blue.png"):
        (images / name).write_bytes(drawn_image(Path(name).stem))
    with (images / "captions.csv").open("w", newline="") as file:
        rows = [(name, text) for name, texts in REFERENCES.items() for text in texts]
        csv.writer(file).writerows([("file", "caption"), *rows])
    return images


def table(out: Path) -> Any:
    return json.loads((out / TABLE).read_text())


def test_the_page_has_every_image_and_model_once_and_is_escaped(project: Path, folder: Path, tmp_path: Path) -> None:
    failed: list[str] = []
    (folder / "bad.jpg").write_bytes(b"\xff\xd8\xff\xe0nothing")
    models = compare(project, folder, [*MODELS, MODELS[0]], tmp_path / "out", fail=failed.append)
    assert [model.model for model in models] == MODELS and [line.split(":")[0] for line in failed] == ["bad.jpg"]
    page = (tmp_path / "out" / PAGE).read_text()
    images = re.findall(r'<th scope="row"><img src="data:image/jpeg;base64,[^"]+" alt="">([^<]+)', page)
    assert images == ["green.png", "red.png", "sub/blue.png"] and "<images>" not in page
    for model in models:
        assert page.count(f'<th scope="row">{model.model} ') == page.count(f'<th scope="col">{model.model}<') == 1
    assert page.count("a green square") == 2 and "the blue square" in page and "nothing" not in page.replace("says nothing", "")


def test_scores_are_those_of_the_metrics_over_the_images_with_references(project: Path, folder: Path, tmp_path: Path) -> None:
    (model,) = compare(project, folder, MODELS[:1], tmp_path / "out", fail=pytest.fail)
    files = ["red.png", "sub/blue.png"]
    words = [ptb_tokenize(model.lines[file]["caption"]) for file in files]
    expected = score_captions(words, [[ptb_tokenize(text) for text in REFERENCES[file]] for file in files]).corpus
    for metric in ("cider_d", "bleu_4", "rouge_l"):
        assert model.figures[metric] == pytest.approx(expected[metric], abs=1e-6)
    (note,) = table(tmp_path / "out")["notes"]
    assert note.startswith("METEOR is left out: ") and "meteor" not in model.figures
    assert table(tmp_path / "out").items() >= {"images": 3, "scored_images": 2, "references": 3, "language": "en"}.items()


def test_a_model_that_fails_takes_no_scores_from_the_others(
    project: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    describe, failed = Describer.describe, list[str]()

    def broken(self: Describer, data: bytes, where: str = "") -> Any:
        if self.found.name == MODELS[1]:
            raise HearsightError("does not answer", where="server")
        return describe(self, data, where)

    (alone,) = compare(project, folder, MODELS[:1], tmp_path / "out", fail=pytest.fail)
    monkeypatch.setattr(Describer, "describe", broken)
    works, fails = compare(project, folder, MODELS, tmp_path / "out", fail=failed.append)
    assert (
        works.figures == alone.figures and fails.figures == {"described": 0, "sure": 0} and failed == ["server: does not answer"]
    )


def test_a_server_that_stops_midway_is_compared_on_what_it_described(project: Path, folder: Path, tmp_path: Path) -> None:
    failed: list[str] = []
    settings = (project / "params.yaml").read_text()
    with ChatServer(lambda asked: {"description": "a red square beside a wall", "sure": True}).running() as server:
        server.script = lambda number, path, body: None if number < 2 else FAULTS["500"]
        served = f"server: {{address: '{server.address}', vision: {MODEL}, retries: 0}}\n"
        try:
            (project / "params.yaml").write_text(settings + served)
            ours, theirs = compare(project, folder, [MODELS[0], "server"], tmp_path / "out", fail=failed.append)
        finally:
            (project / "params.yaml").write_text(settings)
    assert (list(ours.lines), list(theirs.lines)) == (["green.png", "red.png", "sub/blue.png"], ["green.png", "red.png"])
    assert len(failed) == 1 and "the model server" in failed[0]
    written = table(tmp_path / "out")
    assert (written["scored_images"], written["references"]) == (1, 2), "of the two described images one has references"


def test_an_interrupted_run_describes_the_rest_only(
    project: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    described: list[str] = []
    describe, out = Describer.describe, tmp_path / "out"

    def counted(self: Describer, data: bytes, where: str = "") -> Any:
        if len(described) == 4:
            raise KeyboardInterrupt
        described.append(f"{self.found.name} {where}")
        return describe(self, data, where)

    monkeypatch.setattr(Describer, "describe", counted)
    with pytest.raises(KeyboardInterrupt):
        compare(project, folder, MODELS, out, fail=pytest.fail)
    first, described[:] = list(described), []
    models = compare(project, folder, MODELS, out, fail=pytest.fail)
    assert len(first) == 4 and len(described) == 2 and not set(first) & set(described)
    seconds = [[line["seconds"] for line in model.lines.values()] for model in models]
    page = (out / PAGE).read_bytes()
    described.clear()
    models = compare(project, folder, MODELS, out, fail=pytest.fail)
    assert not described and page == (out / PAGE).read_bytes()
    assert seconds == [[line["seconds"] for line in model.lines.values()] for model in models]


def test_clip_score_is_the_weighted_cosine_and_0_for_no_caption(
    project: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clip = str(make_clip(tmp_path / "clip"))
    (folder / "black.png").write_bytes(drawn_image("black"))
    describe = Describer.describe

    def described(self: Describer, data: bytes, where: str = "") -> Any:
        found = describe(self, data, where)
        return replace(found, caption="") if where == "black.png" else found

    monkeypatch.setattr(Describer, "describe", described)
    (model,) = compare(project, folder, MODELS[:1], tmp_path / "out", clip_score=clip, fail=pytest.fail)
    fits = load_image_text(project, ChosenModel(clip, find_model(project, clip).digest))
    expected = [0.0]
    for file in ("red.png", "green.png", "sub/blue.png"):
        image, text = fits.images([(folder / file).read_bytes()]), fits.texts([f"A photo depicts {model.lines[file]['caption']}"])
        expected.append(2.5 * max(0.0, float((image * text).sum())))
    assert max(expected) > 0 and model.figures["clip_score"] == pytest.approx(sum(expected) / 4, abs=1e-3)


def test_references_of_another_form_are_one_line(tmp_path: Path) -> None:
    assert read_references(tmp_path) == {}
    (tmp_path / "captions.csv").write_text('file,caption\na.png,"one, and"\na.png,two\nb.png,  \n')
    assert read_references(tmp_path) == {"a.png": ["one, and", "two"]}
    (tmp_path / "captions.csv").write_text("file,caption\na.png,one,two\n")
    with pytest.raises(HearsightError, match=r"row 2: has 3 columns"):
        read_references(tmp_path)


@pytest.mark.long
def test_each_model_is_a_run_that_a_second_call_does_not_repeat(
    project: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "bad.jpg").write_bytes(b"\xff\xd8\xff\xe0nothing")
    store = f"sqlite:///{tmp_path / 'mlflow.db'}"
    monkeypatch.setenv("HEARSIGHT_TRACKING", "now")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", store)
    words = ["compare", str(folder), *(word for model in MODELS for word in ("--model", model)), "--outputs", "--out", "out"]
    for _ in range(2):
        done = hearsight(*words, cwd=tmp_path, HEARSIGHT_ROOT=str(project))
        assert done.returncode == 2 and done.stderr.count(b"bad.jpg: ") == 1
        assert [json.loads(line)["model"] for line in done.stdout.splitlines()] == MODELS
    client = connect(project)
    experiment = client.get_experiment_by_name(COMPARISONS)
    assert experiment is not None
    runs = client.search_runs([experiment.experiment_id])
    assert sorted(run.data.params["model"] for run in runs) == MODELS
    assert len({run.data.params["folder_sha256"] for run in runs}) == 1 and all("cider_d" in run.data.metrics for run in runs)
    assert PAGE in [Path(file.path).name for file in client.list_artifacts(runs[0].info.run_id, "files")]
    assert Image.open(folder / "red.png").size == (64, 48)
