"""filter and hypernymize through Google's providers on loopback: verdicts, identifiers, cost, quotas, and what a dry run says."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from PIL import Image

from components.core.errors import HearsightError
from components.core.params import read_params_file, stage_params
from components.core.result_cache import ResultCache
from components.core.stage_output import StageOutput
from components.execution.stage import Stage
from components.providers.registry import google_params, plan_of
from components.stages import filter as filtering
from components.stages import hypernymize
from components.stages.filter.run import run as run_filter
from components.stages.hypernymize.run import run as run_hypernymize
from components.tools.cost import estimate_filter
from tests.support import PROJECT, make_output, make_stage, row
from tests.support.command import hearsight
from tests.support.google.fake_google import BAD_TEXT, DAY_USED_UP, FakeGoogle, label
from tests.support.google.google_documents import CROWD, DOG, NOUNS, WALL, WORKER
from tests.support.knowledge.dictionary import EXTRACT
from tests.support.settings_files import write_settings

ALTS = {
    "worker": WORKER,
    "crowd": CROWD,
    "dog": DOG,
    "lower": "a dog on the beach.",
    "nouns": NOUNS,
    "sad": "A horrible day on the beach.",
    "rude": "A damn dog on the beach.",
    "bad": WALL,
    "unseen": "A dog on the beach.",
}
COLOURS = {key: (20 * number, 90, 160) for number, key in enumerate(ALTS)}


def drawn_image(key: str) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (600, 500), COLOURS[key]).save(out, "JPEG")
    return out.getvalue()


def digest(key: str) -> str:
    return hashlib.sha256(drawn_image(key)).hexdigest()


@pytest.fixture
def project(tmp_path: Path, google: FakeGoogle, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with nine candidates and the paper's rules, asking Google on loopback."""
    monkeypatch.setenv("HEARSIGHT_WORDNET", str(EXTRACT))
    for name in ("components", "dvc.yaml"):
        (tmp_path / name).symlink_to(PROJECT / name)
    content = read_params_file(PROJECT / "params.yaml")
    content["english"]["filter"] = content["paper"]["filter"] | {"providers": {"language": "google", "vision": "google"}}
    content["english"]["hypernymize"]["min_concept_count"] = 1
    content["google"] = {"asking": {"at_once": 2, "timeout": 5.0, "retries": 1, "backoff": 0.01}}
    content["engine"]["workers"] = 2
    write_settings(tmp_path, content)
    rows = [
        row(
            "crawl", key=key, alt=alt, language="en", format="JPEG", width=600, height=500, image_sha256=digest(key),
            media=f"0000{number // 5}/{key}.jpg",
        )
        for number, (key, alt) in enumerate(ALTS.items())
    ]  # fmt: skip
    media = [{f"{each['key']}.jpg": drawn_image(each["key"]) for each in part} for part in (rows[:5], rows[5:])]
    make_output(tmp_path, "crawl", [rows[:5], rows[5:]], media=media)
    people = [label("Crowd", "/m/03qtwd", 0.97), label("Debris", "/m/0h8q9", 0.7), label("Dog", "/m/0bt9lr", 0.6)]
    google.labels = {digest(key): people for key in ALTS if key != "unseen"}
    google.bad = {digest("bad")}
    return tmp_path


def staged(root: Path, name: str, source: str) -> Stage:
    content = read_params_file(root / "params.yaml")
    params = stage_params(
        root / "params.yaml", content, "english", name, {"filter": filtering, "hypernymize": hypernymize}[name].Params
    )
    return make_stage(root, name, params=params, inputs={"input": StageOutput(root / "data" / "english" / source)})


def filter_output(root: Path) -> tuple[StageOutput, dict[str, float]]:
    job = staged(root, "filter", "crawl")
    run_filter(job)
    job.finish()
    return StageOutput(job.out), {name: value for name, value, _ in job.metrics}


def hypernymize_output(root: Path) -> tuple[StageOutput, dict[str, float]]:
    job = staged(root, "hypernymize", "filter")
    run_hypernymize(job)
    job.finish()
    return StageOutput(job.out), {name: value for name, value, _ in job.metrics}


@pytest.mark.long
def test_filter_and_hypernymize_run_on_googles_answers(project: Path, google: FakeGoogle) -> None:
    filtered, metrics = filter_output(project)
    rules = {entry["key"]: (entry["verdict"], entry["rule"], entry["value"]) for entry in filtered.ledger().to_pylist()}
    assert {key for key, (verdict, _, _) in rules.items() if verdict == "kept"} == {"worker", "crowd", "dog"}
    assert (rules["lower"][1], rules["nouns"][1]) == ("first_capital", "capital_ratio")
    assert (rules["sad"][1], rules["rude"][1], rules["unseen"][1]) == ("polarity_low", "profanity", "label_overlap")
    assert rules["bad"][1:] == ("unanswered", "google.vision: 3 Bad image data.")
    kept = {each["key"]: each for each in filtered.table().to_pylist()}
    assert kept["crowd"]["labels"][0] == {"label": "crowd", "confidence": pytest.approx(0.97), "identifier": "/m/03qtwd"}
    assert metrics["google_requests"] == len(google.requests) > 0
    assert metrics["google_units_syntax"] == metrics["google_units_entities"] > 0

    before = len(google.requests)
    captions, costs = hypernymize_output(project)
    assert {each["key"]: each["caption"] for each in captions.table().to_pylist()} == {
        "worker": "a worker helps to clear the debris.", "crowd": "crowd at a concert", "dog": "a dog on the beach.",
    }  # fmt: skip
    assert len(google.requests) == before and costs["google_usd"] == 0 == costs["google_requests"]


def test_a_dry_run_sends_no_request_and_a_run_costs_at_most_its_estimate(project: Path, google: FakeGoogle) -> None:
    result = estimate_filter(project, "english")
    assert not google.requests and not list((project / ".hearsight" / "annotations").glob("google*"))
    metrics = filter_output(project)[1]
    for line in result[:-1]:
        assert metrics[f"google_units_{line.feature}"] <= line.units
    assert 0 < metrics["google_usd"] <= result[-1].usd
    # Of three texts that an answer dropped, nothing more was asked: the bound is not reached.
    assert metrics["google_units_label_detection"] < next(line.units for line in result if line.feature == "label_detection")
    again = estimate_filter(project, "english")
    assert [(line.units, line.requests, line.usd) for line in again] == [(0, 0, 0.0)] * len(again)
    assert next(line for line in again if line.feature == "sentiment").cached == metrics["google_units_sentiment"]


def test_an_estimate_downloads_no_model_of_a_hub(project: Path, google: FakeGoogle) -> None:
    content = read_params_file(project / "params.yaml")
    missing = f"someone/model@{'a' * 40}"
    chosen = {"providers": {"language": "google", "vision": "hub"}, "zero_shot": {"model": missing, "vocabulary": "labels.txt"}}
    content["english"]["filter"] |= chosen | {"image_text": {"model": missing}}
    write_settings(project, content)
    features = {line.feature for line in estimate_filter(project, "english")}
    assert "sentiment" in features and "label_detection" not in features and not google.requests


def test_the_costs_are_units_times_the_prices_in_params(project: Path) -> None:
    metrics = filter_output(project)[1]
    prices = google_params(project).prices.plain()
    total = sum(metrics[f"google_units_{feature}"] * price for feature, price in prices.items()) / 1000
    assert metrics["google_usd"] == pytest.approx(total)


def test_a_quota_exhausted_during_a_run_loses_no_answer(project: Path, google: FakeGoogle, tmp_path: Path) -> None:
    google.script = lambda number, path, body: DAY_USED_UP if number >= 7 else None
    with pytest.raises(HearsightError, match=r"quota is used up.*this run made \d+ requests, for \$0\.0") as caught:
        filter_output(project)
    assert "run again later" in str(caught.value)
    asked = list(google.requests)
    answered = {json.dumps(body, sort_keys=True) for _, _, body in asked[:7]}
    google.script, google.requests = (lambda number, path, body: None), []
    finished, _ = filter_output(project)
    assert not answered & {json.dumps(body, sort_keys=True) for _, _, body in google.requests}

    shutil.rmtree(project / ".hearsight")
    fresh, _ = filter_output(project)
    assert fresh.digest == finished.digest


def test_a_text_that_google_refuses_has_a_rule_of_its_own(project: Path, google: FakeGoogle) -> None:
    google.script = lambda number, path, body: BAD_TEXT if "document" in body and body["document"]["content"] == CROWD else None
    ledger = {entry["key"]: entry for entry in filter_output(project)[0].ledger().to_pylist()}
    assert (ledger["crowd"]["rule"], ledger["crowd"]["threshold"]) == ("unanswered", "an answer")
    assert "not supported" in ledger["crowd"]["value"] and ledger["dog"]["verdict"] == "kept"


def test_hypernymize_uses_the_parser_that_the_filter_used(project: Path) -> None:
    filtered, _ = filter_output(project)
    content = read_params_file(project / "params.yaml")
    content["english"]["filter"]["providers"]["language"] = "embedded"
    write_settings(project, content)
    assert plan_of(project, filtered)["language"] == "google"
    hypernymize_output(project)
    assert not list((project / ".hearsight" / "annotations").glob("parse.en*"))


@pytest.mark.long
def test_language_and_vision_providers_are_independent_and_embedded_labels_have_identifiers(
    project: Path, google: FakeGoogle
) -> None:
    content = read_params_file(project / "params.yaml")
    content["english"]["filter"] |= {"providers": {"language": "google", "vision": "embedded"}}
    write_settings(project, content)
    filter_output(project)
    assert {path for path, _, _ in google.requests} == {"/v1/documents:annotateText", "/v1/documents:moderateText"}
    classes = ResultCache(project / ".hearsight" / "annotations")
    from components.providers.registry import EmbeddedLabels

    role = EmbeddedLabels()
    stored = classes.annotate(role.annotator, {digest("dog"): drawn_image("dog")})[digest("dog")]
    params = stage_params(project / "params.yaml", content, "english", "filter", filtering.Params)
    result = role.labels(stored, params)  # type: ignore[arg-type]
    assert len(result) >= 5 and all(len(each.identifier) == 9 and each.identifier[0] == "n" for each in result)


def test_an_unknown_provider_is_named(project: Path) -> None:
    with pytest.raises(HearsightError, match="input should be 'embedded' or 'google'"):
        estimate_filter(project, "english", language="goggle")


def command(root: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return hearsight(*words, cwd=root, HEARSIGHT_ROOT=str(root), HEARSIGHT_TRACKING="off", **environment)


def test_the_cost_command_prints_a_table_or_a_one_line_error(project: Path, google: FakeGoogle) -> None:
    done = command(project, "cost", "--dataset", "english")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0 and not google.requests
    assert {line["feature"] for line in lines[:-1]} == {
        "syntax", "entities", "sentiment", "moderation", "label_detection", "safe_search_detection",
    }  # fmt: skip
    assert lines[-1]["provider"] == "all" and lines[-1]["usd"] == pytest.approx(sum(line["usd"] for line in lines[:-1]))
    embedded = command(project, "cost", "--language", "embedded", "--vision", "embedded")
    assert json.loads(embedded.stdout)["usd"] == 0

    lacking = command(
        project, "run", "filter", GOOGLE_API_KEY="", NO_GCE_CHECK="true", CLOUDSDK_CONFIG="/nonexistent", HOME="/nonexistent"
    )
    output = [line for line in lacking.stderr.decode().splitlines() if not line.startswith("filter filter:") and line]
    assert lacking.returncode == 2 and len(output) == 1, lacking.stderr
    assert output[0].startswith("hearsight: ") and "set GOOGLE_API_KEY" in output[0]
