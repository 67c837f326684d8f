"""The datasheet of a release of posts answers the questions of the paper from measurements and the publishers' statements."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from components.tools.release.kinds import release
from components.tools.release.questions import DATASHEET, METADATA, RAI, SUMMARY, Publisher
from tests.support.release.posts_project import project
from tests.tools.release.posts_files import refusal


def test_unknown_fields_of_the_publishers_block_are_refused(tmp_path: Path) -> None:
    root = project(tmp_path / "p", publisher={"owner": "me"})
    assert "release.posts.owner: is not a setting" in refusal(root, tmp_path / "out")


def sheet(out: Path) -> dict[str, str]:
    parts = re.split(r"^### (\S+) .*$", (out / "datasheet.md").read_text(), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_question_of_the_paper_is_answered(posts_release: Path) -> None:
    paper = {"6.1": 3, "6.2": 10, "6.3": 9, "6.4": 3, "6.5": 4, "6.6": 5, "6.7": 5}
    numbers = [f"{section}.{number}" for section, count in paper.items() for number in range(1, count + 1)]
    assert list(DATASHEET.questions) == numbers and len(numbers) == 39
    result, page = sheet(posts_release), (posts_release / "datasheet.html").read_text()
    assert list(result) == numbers and all(answer.split("## ")[0].strip() for answer in result.values())
    assert re.findall(r'<h3 id="([\d.]+)">', page) == numbers


def test_the_datasheet_states_the_measured_figures(posts_release: Path) -> None:
    results = sheet(posts_release)
    for number, result in {
        "6.2.1": "tag pracegover",
        "6.2.2": "24 instances of 4 owners. The owner with most posts has 25.0%",
        "6.2.5": "train: 12 posts (50.0%) of 2 owners",
        "6.2.6": "Of 31 posts that entered the search for duplicates 22.6% were dropped",
        "6.2.8": "| idiota, idiotas | 24 |",
        "6.2.9": "Raw captions that still mention an account: 12 (50.0%); a web address: 12 (50.0%); an e-mail "
        "address: 12 (50.0%)",
        "6.3.1": "Of 36 captions 13.9% were malformed",
        "6.3.2": "| extract_descriptions | record | 36 | 31 | 13.9% | no_hashtag 5 |",
        "6.3.4": "Posted: 2026-01-03 to 2026-12-03 (1 without a day). Collected: 2026-11-21 to 2026-11-21",
        "6.4.1": "| extract_descriptions | min_words | 3 |\n| dedup | signal.kind | phash |\n"
        "| dedup | signal.max_distance | 6 |\n| split | by | owner |",
        "6.5.4": "| mulher, mulheres | 24 |",
        "6.6.4": "CC BY 4.0",
    }.items():
        assert result in results[number], (number, results[number])
    # 2026-11-03 is 18 days before, 2026-12-03 after: all but the months of 12 and the undated first are late, of 23.
    assert "of 23 posts whose days are known 91.3% were collected more than 7 days" in results["6.3.4"]
    assert "6 instances whose image is a near-duplicate" in results["6.2.6"] and "3 images" in results["6.2.6"]
    assert "accounts" not in (posts_release / "settings.json").read_text(), "the crawl's settings may name accounts"


@pytest.mark.long
def test_missing_statements_of_the_publishers_are_marked_as_missing(tmp_path: Path) -> None:
    root = project(tmp_path / "p", publisher={"funding": "Grant 1 | <b>of</b> nobody", "contact": "desk@example.org"})
    summary = release(root, "posts", tmp_path / "out")
    empty = summary["not_stated"].split(", ")
    asked = {*DATASHEET.fields, *RAI.fields, *METADATA} - {"funding", "contact", "version", "citation"}
    assert sorted(empty) == sorted(asked)
    result = sheet(tmp_path / "out")
    assert sum("Not stated by the publishers." in answer for answer in result.values()) == len(set(empty) & set(DATASHEET.fields))
    assert "Grant 1 | <b>of</b> nobody" in result["6.1.3"]
    page = (tmp_path / "out/datasheet.html").read_text()
    assert "Grant 1 | &lt;b&gt;of&lt;/b&gt; nobody" in page
    assert "Requests go to: desk@example.org." in (tmp_path / "out/README.md").read_text()
    about = {"url": "https://a.sample", "published": "2026-11-25", "version": "1.0.0"}
    everything = project(tmp_path / "q", publisher=dict.fromkeys(Publisher.model_fields, "said") | about)
    assert release(everything, "posts", tmp_path / "all", summary=True)["not_stated"] == "nothing"
    assert Publisher.model_fields.keys() == {*DATASHEET.fields, *RAI.fields, *SUMMARY.fields, *METADATA}
    assert SUMMARY.missing not in (tmp_path / "all/summary.md").read_text()
    assert "Not stated" not in (tmp_path / "all/datasheet.md").read_text()
