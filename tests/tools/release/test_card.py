"""The card of a release: what hubs and people need, from facts of the release only."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from components.core.params import read_params_file
from components.core.stage_output import StageOutput
from components.tools.release.facts import hub_licence, licence_address
from components.tools.release.kinds import release
from tests.support.release.posts_project import OWNERS, posts, project
from tests.support.settings_files import write_settings
from tests.tools.release.posts_files import files
from tests.tools.release.spoken_project import VOICES, Caption, spoken, spoken_project, write_stage

STATED = {"creators": "A Lab", "url": "https://example.org/mine", "published": "2026-11-25", "version": "1.0.0"}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of captions with speech whose publishers state everything."""
    root = tmp_path_factory.mktemp("card")
    release(spoken_project(root / "p", params={"release": {"mine": STATED}}), "mine", root / "out", "CC BY-SA 4.0")
    return root / "out"


def test_the_front_matter_has_licence_languages_and_the_files_of_each_split(whole: Path) -> None:
    front = yaml.safe_load((whole / "README.md").read_text().split("---\n")[1])
    assert (front["license"], front["language"]) == ("cc-by-sa-4.0", ["en"])
    records, speech = front["configs"]
    assert [(each["split"], len([*whole.glob(each["path"])]) == 1) for each in records["data_files"]] == [
        ("train", True), ("validation", True), ("test", True),
    ]  # fmt: skip
    assert [(each["split"], len([*whole.glob(each["path"])]) == 1) for each in speech["data_files"]] == [
        ("train", True), ("validation", True), ("test", True),
    ]  # fmt: skip


def test_the_card_states_voices_stages_and_limitations_as_measured(whole: Path) -> None:
    text = (whole / "README.md").read_text()
    assert "| flite-slt | synthetic | flite-2.2-slt | en | F | MIT-Festival | 4 |" in text
    assert "| voices_of_mine-synthetic | 4 | 2 | 2 |" in text and "| crawl | record | 8 | 8 |" in text
    assert "neither a caption nor an image is in two splits" in text and "synthetic, by 2 voices" in text


def test_the_card_of_a_release_with_images_states_one_licence_of_theirs(whole: Path, tmp_path: Path) -> None:
    given = {"formats": ["webdataset"], "images_licence": "CC BY-ND 4.0"}
    release(spoken_project(tmp_path / "p"), "mine", tmp_path / "out", "CC0", **given)
    text, without = (
        " ".join((out / "README.md").read_text().split("**Images.**")[1].split()) for out in (tmp_path / "out", whole)
    )
    assert "in the samples may be passed on under: CC BY-ND 4.0." in text and "stays under the terms" not in text
    assert "its sample and utterances" in text and "stays under the terms" in without and "sample" not in without


@pytest.mark.parametrize(
    ("stated", "hub", "address"),
    [
        ("CC BY 4.0", {"license": "cc-by-4.0"}, "https://spdx.org/licenses/CC-BY-4.0.html"),
        ("cc-by-nc-sa-3.0", {"license": "cc-by-nc-sa-3.0"}, "https://spdx.org/licenses/CC-BY-NC-SA-3.0.html"),
        ("CC0 1.0", {"license": "cc0-1.0"}, "https://spdx.org/licenses/CC0-1.0.html"),
        ("CC0", {"license": "cc0-1.0"}, "https://spdx.org/licenses/CC0-1.0.html"),
        ("Apache-2.0", {"license": "apache-2.0"}, "https://spdx.org/licenses/Apache-2.0.html"),
        ("LicenseRef-ours", {"license": "other", "license_name": "LicenseRef-ours"}, ""),
        ("ours alone", {"license": "other", "license_name": "ours alone"}, ""),
        ("", {"license": "unknown"}, ""),
    ],
)
def test_licences_are_named_as_hubs_and_croissant_name_them(stated: str, hub: dict[str, str], address: str) -> None:
    assert hub_licence(stated) == hub and licence_address(stated) == address


def test_speech_of_posts_has_hashed_names_and_leaves_out_captions_that_name_an_account(tmp_path: Path) -> None:
    records = posts()
    records[0]["caption"] += " Foto de @Foto_Clube."
    root = project(tmp_path / "p", records)
    params = read_params_file(root / "params.yaml")
    params["chain"]["synthesize"]["voices_of_posts"] = {"input": "posts/split"}
    write_settings(root, params)
    utterances = [spoken(Caption(r["key"], "", r["caption"], r["split"]), VOICES, "synthetic") for r in records]
    write_stage(root, "synthesize", "voices_of_posts", StageOutput(root / "data/posts/split"), utterances)
    summary = release(root, "posts", tmp_path / "out")
    assert summary["utterances"] == 23 and summary["utterances_left_out"] == {"caption_changed": 1}
    content = files(tmp_path / "out")
    manifests = b"".join(data for name, data in content.items() if name.startswith("speech/") and name.endswith(".csv"))
    assert manifests.count(b"\r\n") == 23 + 2 + 4, "utterances, voices, and the heads of three manifests and of the voices"
    assert not any(owner.encode() in manifests for owner in OWNERS)
    assert not any(record["key"].encode() in data for record in records for data in content.values())
