"""The rows that an entry covers: the test of bytes loses none that the exact comparison finds."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from components.core.errors import HearsightError
from components.tools.takedown.covered import count_naming, find_covered
from components.tools.takedown.file_search import ADDRESS_COLUMNS, Matcher

HOSTS = [
    "gone.sample", "GONE.sample", "gone.sample.", "www.gone.sample", "gon\u00e9.sample", "xn--gon-dma.sample", "127.0.0.1",
    "127.1", "[::1]", "[0::1]", "localhost", "1.gone", "\uff47one.sample", "\u212aone.sample", "kone.sample", "gone_sample.org",
    "a@gone.sample",
]  # fmt: skip
PATHS = [
    "", "/", "/a", "/a/", "//a", "/./a", "/b/../a", "/b/..", "/b/../", "/%61", "/A", "/a?x=1", "/a?x=1&y=2", "?x=1", "/?x=1",
    "/a?", "/a#top", "/a,b", "/\u212a", "/K", "/%E2%84%AA", "/a%2Cb", "/a b", "/a\\b", "/a.jpg", "/.a", "/a?x=%31", "/a;b",
    "/a//gone.sample/a", "/~a", "/%7Ea",
]  # fmt: skip
FILES = [
    "file:a", "FILE:a", "file:./a", "file:a?b", "file:a%3Fb", "file:a#b", "file: a", "file:b/a.png", "file:b//a.png", "file:/a",
    "file:%61",
]  # fmt: skip
OWNERS = [
    "ann", "Ann", "@Ann@example.social", "https://example.social/@ann", "https://EXAMPLE.social/users/%61nn", " ann ", "joann",
    "ann_e", "acct:ann@example.social", "https://www.instagram.com/ann", "\uff41nn", "//example.social/ann", "an\u017f", "ans",
]  # fmt: skip
addresses = st.one_of(
    st.builds("".join, st.tuples(st.sampled_from(["http://", "HTTPS://", "//", "", " http://", "http:/"]), st.sampled_from(HOSTS),
              st.sampled_from(["", ":80", ":8080", ":"]), st.sampled_from(PATHS))),
    st.sampled_from(FILES),
    st.text(max_size=12),
)  # fmt: skip


def exact(row: dict[str, str | None], matcher: Matcher) -> bool:
    """What the columns say, each by itself."""
    found = {name: value for name in ADDRESS_COLUMNS if (value := row.get(name))}
    return any(
        bool(matcher.listed.owner(value)) if name == "owner" else matcher.is_listed(value) for name, value in found.items()
    )


def found(rows: list[dict[str, str | None]], matcher: Matcher) -> list[bool]:
    table = pa.table({name: pa.array([row.get(name) for row in rows], pa.string()) for name in ADDRESS_COLUMNS})
    return list(find_covered(table, matcher).to_pylist())


@settings(deadline=None, max_examples=300)
@given(kind=st.sampled_from(["url", "host"]), value=addresses, others=st.lists(addresses, min_size=1, max_size=20))
@example(kind="url", value="http://h.org/\u212a", others=["http://h.org/\u212a", "http://h.org/K"])
@example(kind="url", value="http://h.org/?x=1", others=["http://h.org?x=1"])
@example(kind="url", value="file:a?b", others=["file:a?b", "file:a%3Fb"])
def test_the_test_of_bytes_finds_exactly_what_the_comparison_of_every_address_finds(
    kind: str, value: str, others: list[str]
) -> None:
    try:
        matcher = Matcher.from_plain([(kind, value)])
    except HearsightError:
        return  # it is no address of its kind
    rows: list[dict[str, str | None]] = [{"page_url": each} for each in (value, *others)]
    rows += [{"image_url": each, "host": each.partition("/")[0]} for each in others]
    assert found(rows, matcher) == [exact(row, matcher) for row in rows]


@pytest.mark.parametrize("path", [path for path in PATHS if path not in ("", "?x=1")])
def test_each_spelling_of_a_path_is_found_by_each_other(path: str) -> None:
    matcher = Matcher.from_plain([("url", f"http://gone.sample{path}")])
    rows: list[dict[str, str | None]] = [
        {"page_url": f"{start}gone.sample{each}"} for each in PATHS for start in ("http://", "HTTPS://user@")
    ]
    assert found(rows, matcher) == [exact(row, matcher) for row in rows] and any(found(rows, matcher))


@pytest.mark.parametrize("host", HOSTS)
def test_each_spelling_of_a_host_is_found_by_each_other(host: str) -> None:
    spelled = [
        f"{start}{each}{end}"
        for each in HOSTS
        for start in ("http://", "HTTPS://", "//", "file://")
        for end in ("", ":80/a", "/a?x#y")
    ]
    rows: list[dict[str, str | None]] = [{"page_url": each} for each in spelled]
    rows += [{"host": each} for each in HOSTS]
    for kind, value in (("host", host), ("url", f"http://{host}/a"), ("url", f"http://{host}/")):
        try:
            matcher = Matcher.from_plain([(kind, value)])
        except HearsightError:
            continue  # it is no name of a host
        assert found(rows, matcher) == [exact(row, matcher) for row in rows], kind


@settings(deadline=None)
@given(value=st.sampled_from(OWNERS), owner=st.text(max_size=8))
def test_an_owner_is_found_in_the_column_of_owners_alone(value: str, owner: str) -> None:
    matcher = Matcher.from_plain([("owner", value)])
    rows: list[dict[str, str | None]] = [{"owner": each} for each in (*OWNERS, owner, None)] + [
        {"page_url": value, "host": "ann"}
    ]
    assert found(rows, matcher) == [exact(row, matcher) for row in rows] and any(found(rows, matcher))


@settings(deadline=None, max_examples=200)
@given(
    kind=st.sampled_from(["url", "host", "owner"]),
    value=st.one_of(addresses, st.sampled_from(OWNERS)),
    others=st.lists(st.one_of(addresses, st.sampled_from(OWNERS)), min_size=1, max_size=8),
)
@example(kind="url", value="http://gone.sample/", others=["http://a.sample/x", "http://gone.sample"])
@example(kind="owner", value=",", others=["file:a"])
@example(kind="url", value="http://gone.sample/x, longer on y", others=["http://gone.sample/x, longer on y"])
@example(kind="url", value="file: a", others=["file:a", "http://a.sample/x"])
@example(kind="host", value="gon\u00e9.sample", others=["http://a.sample/x", "http://gon\u00e9.sample/x"])
def test_texts_of_a_ledger_are_found_exactly_as_by_a_search_of_each(
    tmp_path_factory: pytest.TempPathFactory, kind: str, value: str, others: list[str]
) -> None:
    try:
        matcher = Matcher.from_plain([(kind, value)])
    except HearsightError:
        return  # it is no address of its kind
    pairs = [f"{one} on {other}" for one in (value, others[0]) for other in others]
    texts = ["", "0123456789abcdef", f"to {value}", f"{value}: not read completely", *pairs, *others]
    path: Path = tmp_path_factory.mktemp("ledger") / "0.parquet"
    pq.write_table(pa.table({"detail": texts, "key": [*texts[1:], ""]}), path)
    naming = [matcher.is_listed(text) or bool(matcher.find_in_text(text)) for text in texts]
    naming = [one or other for one, other in zip(naming, [*naming[1:], naming[0]], strict=True)]
    assert count_naming([path], ["key", "detail"], matcher) == sum(naming)
