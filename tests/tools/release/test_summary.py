"""The summary of training data: the sections of the AI Act's template, filled from ledgers and files; counted again by verify."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from components.tools.release import summary
from components.tools.release.facts import SOFTWARE
from components.tools.release.kinds import release
from components.tools.release.publish import SUMS, checksums
from components.tools.release.questions import SUMMARY
from components.tools.release.verify import verify_release
from components.web.consent.policy import RULES
from tests.support.command import hearsight
from tests.support.release.posts_project import SETTINGS as posts_settings
from tests.support.release.posts_project import project as posts_project
from tests.support.release.project import project as captions_project
from tests.tools.release import spoken_project
from tests.tools.release.posts_files import files, refusal
from tests.tools.release.spoken_project import Caption

TEMPLATE = ["1.1", "1.2", "1.3", "2.1", "2.2", "2.3", "2.4", "2.5", "2.6", "3.1", "3.2", "3.3"]
"""The template's sections with questions (C(2025) 5235, annex)."""
MISSING = "To be stated by the provider."
HOSTS = [*["large.example"] * 4, *["second.example:8080"] * 2, *[f"h{number}.example" for number in range(9)]]
SPLITS = ("train", "train", "train", "validation", "test")
CAPTIONS = [
    Caption(f"{number:016x}", f"http://{host}/{number}.png", f"A dog number {number}", SPLITS[number % 5])
    for number, host in enumerate(HOSTS)
]
GONE = [("a", "robots"), ("b", "robots"), ("c", "takedown"), ("d", "new_signal"), ("e", "http_status")]
CRAWL = {
    "source": {"kind": "site", "seeds": ["http://secret.example/"]}, "web": {"kind": "open"}, "snapshot": "s", "tdmrep": True,
    "user_agent": "my-robot", "consent": "opt_in", "uses": ["train", "search"], "per_host": 2, "delay": 1.5,
    "contact": "me@example.org",
}  # fmt: skip


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of captions of images on the web with speech, and its release with a summary in ``out``."""
    root = tmp_path_factory.mktemp("summary")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(spoken_project.SETTINGS, "crawl", CRAWL)
        patch.setattr(summary, "RULES", (*RULES, "new_signal"))
        stated = {"release": {"mine": {"models": "mine-1", "user_data": "None"}}}
        spoken_project.spoken_project(root / "p", CAPTIONS, gone=GONE, params=stated)
        (root / "p/data/store/s").mkdir(parents=True)
        lines = [{"fetched": f"2026-11-{day}T10:00:00Z"} for day in (20, 18, 23)]
        (root / "p/data/store/s/index.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        done = release(root / "p", "mine", root / "out", "CC BY 4.0", summary=True)
    assert "representative" in done["not_stated"] and "crawl" not in done
    assert not {"models", "crawlers", "collected"} & set(done["not_stated"].split(", "))
    return root


def answers(out: Path) -> dict[str, str]:
    parts = re.split(r"^#{2,3} ([\d.]+) .*$", (out / "summary.md").read_text(), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_the_summary_has_every_section_of_the_template_and_says_that_it_is_no_advice(root: Path) -> None:
    found = answers(root / "out")
    assert [number for number in found if number.count(".") == 1] == TEMPLATE
    assert all(text.strip() for number, text in found.items() if number.count(".") == 2)
    for name in ("summary.md", "summary.html"):
        text = (root / "out" / name).read_text()
        assert "no legal advice" in text and "{" not in text.partition("<h1>")[2]
    assert re.findall(r'<h3 id="([\d.]+)">', (root / "out/summary.html").read_text()) == list(SUMMARY.questions)


def test_sizes_domains_days_and_opt_outs_are_those_of_files_ledgers_and_snapshot(root: Path) -> None:
    found = answers(root / "out")
    for number, text in {
        "1.2.1": "mine-1",
        # Each caption is "A dog number N".
        "1.3.1": f"| text | {4 * len(CAPTIONS)} | words of captions | less than 1,000,000,000 |\n| image | 15 | images |",
        "1.3.3": "2026-11-23",
        "1.3.5": "en 15",
        "2.3.1": "`my-robot`",
        "2.3.3": "At most 2 requests at a time to a host, 1.5 s or more apart",
        "2.3.4": "2026-11-18 to 2026-11-23",
        "2.3.5": "source site, web open",
        # A tenth of 11 domains, rounded up.
        "2.3.6": "| large.example | 4 | 26.7% |\n| second.example:8080 | 2 | 13.3% |\n\n",
        "2.4.1": "None",
        "2.5.1": "flite flite-2.2-slt",
        "3.1.2": "| robots | robots.txt forbids the address | 0 | 2 |",
        "3.3.1": "Taken down on request: 1 items.",
        "3.3.2": "| crawl | record | 20 | 15 | 25.0% | robots 2, http_status 1, new_signal 1, takedown 1 |",
    }.items():
        assert text in found[number], (number, found[number])
    assert "Content is taken only if its owner agreed (opt-in); a host's tdmrep.json is read" in found["2.3.3"]
    assert "of these uses count: train, search." in found["3.1.2"] and "| pages | images |" in found["3.1.2"]
    assert "| new_signal | new_signal | 0 | 1 |" in found["3.1.2"] and "http_status" not in found["3.1.2"]
    everything = (root / "out/summary.json").read_text()
    assert "secret" not in everything and "me@example.org" not in everything


def test_what_protects_people_is_said_alike_in_the_summary_and_the_metadata(root: Path) -> None:
    said = json.loads((root / "out/croissant.json").read_text())["rai:personalSensitiveInformation"]
    assert said == "Taken down on request: 1 items." and said in answers(root / "out")["3.3.1"]


def test_an_image_at_two_addresses_is_one_image(tmp_path: Path) -> None:
    captions = [each._replace(image=f"http://{host}/1.png") for host, each in zip("ab", CAPTIONS[2:4], strict=True)]
    release(spoken_project.spoken_project(tmp_path / "p", captions), "mine", tmp_path / "out", summary=True)
    values = json.loads((tmp_path / "out/summary.json").read_text())["release"]
    assert (values["images"], values["domains"]) == (1, 2)


def test_what_nobody_stated_or_knows_is_marked_for_a_person(root: Path, tmp_path: Path) -> None:
    found = answers(root / "out")
    unknown = {number for number, entry in SUMMARY.questions.items() if "stated" in entry} - {"1.2.1", "2.4.1"}
    assert {number for number, text in found.items() if MISSING in text} == unknown
    shutil.copytree(root / "p", tmp_path / "p")
    shutil.rmtree(tmp_path / "p/data/store")
    release(tmp_path / "p", "mine", tmp_path / "out", summary=True)
    assert MISSING in answers(tmp_path / "out")["2.3.4"], "the days of a snapshot that is not here are unknown"
    params = (tmp_path / "p/params.yaml").read_text().replace("models: mine-1", "collected: Spring 2026")
    (tmp_path / "p/params.yaml").write_text(params)
    release(tmp_path / "p", "mine", tmp_path / "stated", summary=True)
    assert answers(tmp_path / "stated")["2.3.4"].strip() == "Spring 2026"
    assert f"<strong>{MISSING}</strong>" in (tmp_path / "out/summary.html").read_text()


def test_a_table_of_files_is_not_described_as_if_it_had_been_crawled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(spoken_project.SETTINGS, "crawl", {**CRAWL, "source": {"kind": "table", "layout": "tsv"}})
    (spoken_project.spoken_project(tmp_path / "p") / "data/store/s").mkdir(parents=True)
    line = {"fetched": "2026-11-20T10:00:00Z"}
    (tmp_path / "p/data/store/s/index.jsonl").write_text(json.dumps(line))
    release(tmp_path / "p", "mine", tmp_path / "out", summary=True)
    found = answers(tmp_path / "out")
    assert {found[number].strip() for number in ("1.3.3", "2.3.1", "2.3.3", "2.3.4", "2.3.5", "3.1.2")} == {MISSING}
    assert "Records were read from files: source table, layout tsv." in found["2.1.1"]
    assert "rai:dataCollectionTimeframe" not in json.loads((tmp_path / "out/croissant.json").read_text())


@pytest.mark.parametrize("gone", [True, False])
def test_a_crawl_that_is_not_the_splits_is_named_and_refused_where_it_is_needed(root: Path, tmp_path: Path, gone: bool) -> None:
    shutil.copytree(root / "p", tmp_path / "p")
    shutil.rmtree(tmp_path / "p/data/mine/crawl")
    if not gone:
        crawl = spoken_project.spoken_project(tmp_path / "other", CAPTIONS[:5]) / "data/mine/crawl"
        shutil.copytree(crawl, tmp_path / "p/data/mine/crawl")
    asked: list[dict[str, Any]] = [{"summary": True}, {"images_licence": "CC0", "formats": ["parquet"]}]
    for options in asked:
        told = refusal(tmp_path / "p", tmp_path / "no", dataset="mine", **options)
        assert "mine/crawl: is not the output that mine/split was made from" in told and "dvc repro split@mine" in told
    done = release(tmp_path / "p", "mine", tmp_path / "out")
    assert done["crawl"] == "left out: not the split's, run `dvc repro split@mine`"


def test_a_release_without_its_crawl_has_a_summary_that_says_so(tmp_path: Path) -> None:
    done = release(captions_project(tmp_path / "p"), "english", tmp_path / "out", summary=True)
    assert {"crawlers", "crawler_behaviour", "collected", "reservations"} <= set(done["not_stated"].split(", "))
    found = answers(tmp_path / "out")
    assert all(found[number].strip() == MISSING for number in ("2.3.1", "2.3.3", "2.3.4", "2.3.5", "3.1.2"))
    assert "meadow.sample" in found["2.3.6"] and verify_release(tmp_path / "out").errors == []


def test_a_summary_of_posts_names_no_server_that_may_be_a_persons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = {**posts_settings["crawl"]["source"], "server": "https://maria.example"}
    monkeypatch.setitem(posts_settings, "crawl", {"source": source})
    release(posts_project(tmp_path / "p"), "posts", tmp_path / "out", summary=True)
    found = answers(tmp_path / "out")
    assert not [name for name, content in files(tmp_path / "out").items() if b"maria.example" in content]
    assert "Addresses of posts are not published" in found["2.3.6"] and "Accounts are keyed hashes" in found["3.3.1"]
    assert verify_release(tmp_path / "out").errors == []


def change(out: Path, edit: Callable[[dict[str, Any]], Any]) -> None:
    values = json.loads((out / "summary.json").read_text())
    edit(values)
    (out / "summary.json").write_text(json.dumps(values))


def rewrite(out: Path, edit: Callable[[dict[str, Any]], Any]) -> None:
    """Change the values, and write the texts anew from them."""
    change(out, edit)
    summary.write_summary(json.loads((out / "summary.json").read_text()), out)


def replace(path: Path, old: str, new: str) -> None:
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


@pytest.mark.parametrize(
    ("spoil", "error"),
    [
        (lambda out: change(out, lambda values: values["release"].update(words=61)), "words is not what the files have"),
        (lambda out: change(out, lambda values: values["release"]["most_records"].popitem()), "most_records is not what"),
        (lambda out: change(out, lambda values: values["release"]["voices"].pop()), "voices is not what"),
        (
            lambda out: change(out, lambda values: values["project"]["outputs"].popitem()),
            "outputs is not as croissant",
        ),
        (lambda out: change(out, lambda values: values["project"]["losses"].pop()), "summary.md does not state the values"),
        (lambda out: replace(out / "summary.md", "26.7%", "6.7%"), "summary.md does not state the values"),
        (lambda out: replace(out / "summary.html", "26.7%", "6.7%"), "summary.html does not state the values"),
        (lambda out: (out / "summary.json").write_text("{"), "cannot be read"),
        (lambda out: (out / "summary.json").unlink(), "summary.json is missing"),
        (lambda out: (out / "summary.html").unlink(), "summary.html is missing"),
        (lambda out: rewrite(out, lambda values: values["release"].update(people=9)), "people is not what the files have"),
        (lambda out: rewrite(out, lambda values: values.update(description="All is free.")), "description is not as croissant"),
        (lambda out: rewrite(out, lambda values: values["project"]["collected"].pop()), "collected is not as croissant"),
        (
            lambda out: rewrite(out, lambda values: values["project"].update(software="Hearsight 9")),
            "software is not as croissant",
        ),
        (lambda out: replace(out / "croissant.json", "record: 15 of 20 kept", "record: 20 of 20 kept"), "rai:dataPreprocessing"),
        (lambda out: replace(out / "croissant.json", "2026-11-18/", "2025-11-18/"), "collected is not as croissant"),
    ],
)
def test_verify_counts_again_and_finds_another_number(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spoil: Callable[[Path], None], error: str
) -> None:
    monkeypatch.setattr(summary, "RULES", (*RULES, "new_signal"))
    shutil.copytree(root / "out", tmp_path / "out")
    assert verify_release(tmp_path / "out").errors == []
    spoil(tmp_path / "out")
    (tmp_path / "out" / SUMS).write_text(checksums(tmp_path / "out"))
    errors = verify_release(tmp_path / "out").errors
    assert any(error in line for line in errors), errors


def test_texts_that_another_version_wrote_are_not_compared_and_this_is_said(root: Path, tmp_path: Path) -> None:
    shutil.copytree(root / "out", tmp_path / "out")
    for name in ("summary.json", "croissant.json"):
        replace(tmp_path / "out" / name, SOFTWARE, "Hearsight 0.0.1")
    (tmp_path / "out" / SUMS).write_text(checksums(tmp_path / "out"))
    document = json.loads((tmp_path / "out/croissant.json").read_text())
    counts: dict[str, Any] = {}
    assert list(summary.check_summary(tmp_path / "out", document, counts)) == []
    assert counts == {"not_compared": "texts of the summary, by Hearsight 0.0.1"}


def test_the_command_writes_the_summary_only_when_asked(root: Path, tmp_path: Path) -> None:
    for name, options in (("with", ["--summary"]), ("without", [])):
        out = tmp_path / name
        done = hearsight("release", "--dataset", "mine", "--out", str(out), *options, HEARSIGHT_ROOT=str(root / "p"))
        assert done.returncode == 0, done.stderr
        assert (out / "summary.md").is_file() == bool(options)
