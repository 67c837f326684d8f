"""croissant.json: valid for the official library, which reads the records through it; provenance, RAI properties and Parquet."""

from __future__ import annotations

import io
import json
import logging
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from components.core.digests import sha256_file
from components.core.errors import HearsightError
from components.tools.release.croissant import NAME, check_croissant, describe
from components.tools.release.facts import Facts, find_missing, read_statements
from components.tools.release.inputs import find_inputs
from components.tools.release.kinds import release
from components.tools.release.publish import read_sums
from components.tools.release.questions import read_publisher
from components.tools.release.split_files import read_records
from tests.support.release.project import project
from tests.tools.release.spoken_project import VOICES, spoken_project

STATED = {
    "creators": "A Lab", "url": "https://example.org/mine", "published": "2026-11-25", "version": "1.0.0", "biases": "Few",
    "citation": "@misc{mine}", "purpose": "Captioning", "impact": "None was found", "updates": "Yearly", "restrictions": "None",
}  # fmt: skip


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of captions with speech whose publishers state everything, and its release in ``out``."""
    root = tmp_path_factory.mktemp("croissant")
    release(spoken_project(root / "p", params={"release": {"mine": STATED}}), "mine", root / "out", "CC BY-SA 4.0")
    return root


def document(out: Path) -> dict[str, Any]:
    return json.loads((out / NAME).read_text())  # type: ignore[no-any-return]


def validate(out: Path) -> str:
    command = [sys.executable, "-m", "mlcroissant.scripts.validate", "--jsonld", str(out / NAME)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_the_official_validator_has_no_errors_and_without_missing_statements_no_warnings(
    root: Path, posts_release: Path, tmp_path: Path
) -> None:
    assert "(s)" not in validate(root / "out")
    release(project(tmp_path / "p"), "english", tmp_path / "out")
    for out in (posts_release, tmp_path / "out"):
        lines = [line for line in validate(out).splitlines() if "  -  " in line]
        assert lines and all("is recommended, but does not exist" in line for line in lines), lines


def test_the_official_library_reads_the_records_of_all_splits_and_the_speech(root: Path, posts_release: Path) -> None:
    import mlcroissant

    logging.getLogger("absl").setLevel(logging.ERROR)
    for out in (root / "out", posts_release):
        rows = [
            {name.rpartition("/")[2]: value.decode() for name, value in row.items()}
            for row in mlcroissant.Dataset(str(out / NAME)).records("records")
        ]
        expected = [record for split in ("train", "validation", "test") for record in read_records(out, split)]
        assert sorted(tuple(row.values()) for row in rows) == sorted(map(tuple, expected))
        assert len(Counter(row["split"] for row in rows)) == 3
    manifests = "speech/voices_of_mine-synthetic/manifests"
    spoken = list(mlcroissant.Dataset(str(root / "out" / NAME)).records(manifests))
    assert len(spoken) == 8 and {row[f"{manifests}/voice"].decode() for row in spoken} == set(VOICES)
    assert {row[f"{manifests}/pitch"] for row in spoken} == {-0.5}
    assert len(list(mlcroissant.Dataset(str(root / "out" / NAME)).records("voices_of_mine-synthetic-voices"))) == len(VOICES)


def test_provenance_is_the_lineage_with_the_digests_of_the_outputs(root: Path) -> None:
    made = document(root / "out")
    outputs = {each["prov:label"]: each for each in made["prov:wasDerivedFrom"]}
    assert list(outputs) == ["mine/crawl", "mine/split", "voices_of_mine/synthesize"]
    for name, entity in outputs.items():
        digest = sha256_file(root / "p/data" / name / "manifest.json")
        assert entity["sha256"] == digest and entity["@id"] == f"nih:sha-256;{digest}"
    split = outputs["mine/split"]
    assert [each["prov:label"] for each in split["prov:wasDerivedFrom"]] == ["mine/crawl"]
    used = [each["@id"] for each in split["prov:wasGeneratedBy"]["prov:used"]]
    assert used == [outputs["mine/crawl"]["@id"], "settings.json"]
    # The crawl's settings may name accounts and servers, so its activity names none.
    assert outputs["mine/crawl"]["prov:wasGeneratedBy"]["prov:used"] == []
    used = [each["@id"] for each in made["prov:wasGeneratedBy"]["prov:used"]]
    assert used == [split["@id"], outputs["voices_of_mine/synthesize"]["@id"]]
    assert made["prov:wasAttributedTo"]["prov:label"] == "A Lab"
    assert made["recordSet"][-1]["prov:wasDerivedFrom"]["@id"] == outputs["voices_of_mine/synthesize"]["@id"]


def test_what_only_people_know_is_stated_or_left_out_and_named(root: Path, posts_release: Path, tmp_path: Path) -> None:
    whole, posts = document(root / "out"), document(posts_release)
    assert whole["conformsTo"] == ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"]
    assert whole["license"] == "https://spdx.org/licenses/CC-BY-SA-4.0.html" and whole["version"] == "1.0.0"
    assert whole["rai:dataBiases"] == "Few" and whole["rai:dataReleaseMaintenancePlan"] == "Yearly"
    assert whole["usageInfo"]["name"] == "None" and whole["citeAs"] == "@misc{mine}"
    assert find_missing(read_statements(whole)) == []
    assert find_missing(read_statements(posts)) == ["creators", "url", "published", "purpose", "biases", "impact", "updates"]
    assert not any(name in posts for name in ("creator", "prov:wasAttributedTo", "rai:dataUseCases", "usageInfo"))
    assert "stated: creators, url, published, purpose, biases, impact, updates." in (posts_release / "README.md").read_text()


def test_responsible_use_is_described_by_measurements(root: Path, posts_release: Path) -> None:
    whole, posts = document(root / "out"), document(posts_release)
    assert "crawl, record: 8 of 8 kept" in whole["rai:dataPreprocessingProtocol"]
    assert whole["rai:dataCollectionType"] == "Secondary Data analysis"
    assert sorted(whole["rai:machineAnnotationTools"]) == ["flite flite-2.2-slt", "nanotts py-nanotts-0.1.1"]
    assert "Records by language: en 8." in whole["rai:dataLimitations"]
    assert posts["rai:dataCollectionTimeframe"] == "2026-11-21/2026-11-21"
    assert posts["rai:dataCollectionType"] == ["Web API", "User-generated content data"]
    assert "keyed hashes" in posts["rai:personalSensitiveInformation"]
    assert "secret-folder" not in json.dumps(whole), "a folder of the crawl is nobody's business"


def test_parquet_tables_are_described_by_their_schema_and_read_by_the_official_library(root: Path, tmp_path: Path) -> None:
    import mlcroissant

    media, shown = pa.struct({"bytes": pa.binary(), "path": pa.string()}), io.BytesIO()
    Image.new("RGB", (3, 2)).save(shown, "PNG")
    schema = pa.schema(
        {
            "key": pa.string(), "split": pa.string(), "image": media, "captions": pa.list_(pa.string()), "audio": pa.list_(media),
            "utterances": pa.list_(pa.struct({"voice": pa.string()})), "width": pa.int32(),
        }
    )  # fmt: skip
    row = {"image": {"bytes": shown.getvalue(), "path": "1.png"}, "captions": ["a", "b"], "width": 3}
    rows = [{**row, "key": split, "split": split, "audio": [{"bytes": b"ab", "path": ""}]} for split in ("train", "test")]
    shutil.copytree(root / "out", tmp_path / "out")
    (tmp_path / "out/parquet").mkdir()
    for each in rows:
        pq.write_table(pa.Table.from_pylist([each], schema=schema), tmp_path / f"out/parquet/{each['key']}-00000.parquet")
    inputs = find_inputs(root / "p", "mine")
    facts = Facts(inputs, read_publisher(root / "p", "mine", ""), {}, Counter(), {}, "")
    made = describe(facts, tmp_path / "out", "Captions.")
    (tmp_path / "out" / NAME).write_text(json.dumps(made))
    (table,) = [each for each in made["recordSet"] if each["@id"] == "parquet"]
    lists = [field["name"] for field in table["field"] if field.get("isArray") and field["arrayShape"] == "-1"]
    assert lists == ["captions", "audio"]
    read = list(mlcroissant.Dataset(str(tmp_path / "out" / NAME)).records("parquet"))
    assert {each["parquet/split"] for each in read} == {b"train", b"test"}
    assert read[0]["parquet/image"].size == (3, 2) and read[0]["parquet/captions"] == [b"a", b"b"]
    assert read[0]["parquet/audio"] == [b"ab"] and read[0]["parquet/width"] == 3
    assert "parquet/utterances" not in read[0]


@pytest.mark.parametrize(
    ("spoil", "error"),
    [
        (lambda made: made.update(conformsTo="http://mlcommons.org/croissant/1.0"), "conformsTo is not"),
        (lambda made: made.update(datePublished="yesterday"), "ISO 8601"),
        (lambda made: made["distribution"][0].update(sha256="0" * 64), "README.md is not described as it is"),
        (lambda made: made["distribution"][0].update(contentSize="1 B"), "README.md is not described as it is"),
        (lambda made: made["distribution"].insert(1, made["distribution"][0]), "README.md is not described as it is"),
        (lambda made: made["recordSet"].pop(), "manifests is not described as it is"),
        (lambda made: made["recordSet"][0]["data"][0].update({"splits/url": "cr:TestSplit"}), "splits is not described as it is"),
        (lambda made: made["distribution"][0].pop("encodingFormat"), "encodingFormat"),
        (lambda made: made["distribution"].pop(0), "README.md is not described"),
        (lambda made: made["distribution"][0].update({"@id": "more", "contentUrl": "more"}), "more is not described as it is"),
        (lambda made: made["distribution"][-3]["containedIn"][0].update({"@id": "a.tar"}), '"a.tar"'),
        (lambda made: made["distribution"][-1].pop("includes"), "includes"),
        (lambda made: made["recordSet"][2]["field"][0].pop("dataType"), "dataType"),
        (lambda made: made["recordSet"][2]["field"][1]["references"]["field"].update({"@id": "sides"}), '"sides"'),
        (lambda made: made["recordSet"][0]["data"][0].pop("splits/url"), "expected columns"),
    ],
)
def test_metadata_that_break_the_specification_or_describe_other_files_are_found(
    root: Path, tmp_path: Path, spoil: Callable[[dict[str, Any]], Any], error: str
) -> None:
    shutil.copytree(root / "out", tmp_path / "out")
    changed = document(tmp_path / "out")
    sums = {name: digest for name, digest in read_sums(tmp_path / "out").items() if name != NAME}
    assert list(check_croissant(changed, tmp_path / "out", sums)) == []
    spoil(changed)
    (tmp_path / "out" / NAME).write_text(json.dumps(changed))
    errors = list(check_croissant(changed, tmp_path / "out", sums))
    assert any(error in line for line in errors) and not any("recommended" in line for line in errors), errors


@pytest.mark.parametrize(
    ("block", "error"),
    [
        ({"mine": {"published": "25.11.2026"}}, r"release\.mine\.published: .* The day it is published, as 2026-12-31"),
        ({"mine": {"url": "example.org"}}, r"release\.mine\.url: .* with http:// or https://"),
        ({"mine": {"version": "one"}}, r"release\.mine\.version: .* as 1\.0\.0"),
        ({"mien": {"licence": "CC0-1.0"}}, r"release\.mien: is not a setting — did you mean 'mine'"),
        (["mine"], r"release: should hold settings"),
    ],
)
def test_statements_that_would_be_no_metadata_are_refused_before_anything_is_written(
    tmp_path: Path, block: Any, error: str
) -> None:
    root = spoken_project(tmp_path / "p", params={"release": block})
    with pytest.raises(HearsightError, match=error) as caught:
        release(root, "mine", tmp_path / "out", "")
    assert "\n" not in str(caught.value) and not (tmp_path / "out").exists()
