"""The pages of the documentation: links lead somewhere, the index lists every page, promises name tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support import PROJECT

PAGES = [
    PROJECT / "README.md",
    PROJECT / "CONTRIBUTING.md",
    PROJECT / "SECURITY.md",
    PROJECT / "infra" / "README.md",
    *sorted((PROJECT / "docs").glob("*.md")),
]
COMPONENTS = PROJECT / "components"
CONTRIBUTING = (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PROMISES = re.findall(r"^\| [^|]+ \| `(tests/[^`]+)` \|$", CONTRIBUTING, re.MULTILINE)
# `tests/….py::TestFlow::test_…` names a test of a class
PROMISES += re.findall(
    r"\| `(tests/[^`]+)`(?:, `[^`]+`)? \|$", (PROJECT / "SECURITY.md").read_text(encoding="utf-8"), re.MULTILINE
)


def text_of(page: Path) -> str:
    """Return a page without its code blocks."""
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub forms them."""
    headings = re.findall(r"^#+ (.*)$", text_of(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(PROJECT).as_posix())
def test_every_link_points_to_an_existing_file_and_heading(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", text_of(page)):
        if "://" not in link:
            name, _, anchor = link.partition("#")
            target = (page.parent / name) if name else page
            assert target.is_file(), link
            assert not anchor or anchor in anchors(target), link


def test_the_index_lists_every_page() -> None:
    index = (PROJECT / "docs" / "index.md").read_text(encoding="utf-8")
    assert [page.name for page in PAGES[4:] if page.name != "index.md" and f"]({page.name})" not in index] == []


def test_the_table_of_promises_is_parsed() -> None:
    assert len(PROMISES) >= 20


@pytest.mark.parametrize("promise", PROMISES)
def test_each_promise_names_a_test_that_exists(promise: str) -> None:
    file, *names = promise.split("::")
    name = names[-1] if names else ""
    assert re.search(rf"def {name or 'test_'}", (PROJECT / file).read_text(encoding="utf-8"))


def test_each_rule_that_is_explained_belongs_to_the_stage_beside_it() -> None:
    page = (PROJECT / "docs" / "change-a-rule.md").read_text(encoding="utf-8").partition("## Rules of other stages")[2]
    rows = re.findall(r"^\| ([\w, ]+) \| (`[^|]+`) \|", page, re.MULTILINE)
    assert len(rows) > 10
    for stages, rules in rows:
        # Images and ratings are judged in shared packages.
        folders = [f"stages/{stage}" for stage in stages.split(", ")] + ["web", "ratings"]
        code = "".join(path.read_text(encoding="utf-8") for name in folders for path in (COMPONENTS / name).rglob("*.py"))
        assert [rule for rule in re.findall(r"`(\w+)`", rules) if f'"{rule}"' not in code] == [], stages


def test_every_page_that_code_or_a_suite_refers_to_exists() -> None:
    folders = ("components", "flows", "expectations", "benchmarks", "infra")
    files = (path for folder in folders for path in (PROJECT / folder).rglob("*"))
    texts = {path: path.read_text(encoding="utf-8") for path in files if path.suffix in (".py", ".json", ".html", ".md", ".yaml")}
    named = {(path, page) for path, text in texts.items() for page in re.findall(r"docs/[\w-]+\.md", text)}
    assert len(named) > 20
    assert [(path, page) for path, page in named if not (PROJECT / page).is_file()] == []
