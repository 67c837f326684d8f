"""Ratings are read as they were written, and a damaged file is named with a position."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import HearsightError
from components.core.records import RATING
from components.ratings.formats import csv
from components.ratings.formats.readings import BAD, GOOD, SOURCES
from tests.support.ratings.rated import rating, ratings_table

RATERS = st.text(st.characters(exclude_categories=("C", "Z"), exclude_characters="@"), min_size=1, max_size=12)
TIMES = st.datetimes().map(lambda time: time.isoformat(timespec="microseconds") + "Z")
RATINGS = st.lists(
    st.builds(
        lambda number, rater, verdict, time, seconds, source: (
            rating(number, rater, verdict) | {"time": time, "seconds": seconds, "source": source}
        ),
        st.integers(0, 5),
        RATERS,
        st.sampled_from([GOOD, BAD]),
        TIMES | st.just(""),
        st.none() | st.floats(0, 1e6, width=32),
        st.sampled_from(SOURCES),
    ),
    min_size=1,
    max_size=8,
)


def told(table: pa.Table, *names: str) -> list[tuple[Any, ...]]:
    """The values of some columns, in an order that does not depend on the file's."""
    return sorted(zip(*(table[name].to_pylist() for name in names), strict=True), key=str)


@given(RATINGS)
def test_csv_is_read_as_it_was_written(rows: list[dict[str, Any]]) -> None:
    written = ratings_table(*rows)
    read = csv.read(csv.write(written), "file")
    columns = ("item", "rater", "verdict", "time", "seconds", "source")
    assert told(read, *columns) == told(written, *columns)
    assert read["row"].to_pylist() == list(range(1, len(rows) + 1))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le"])
def test_a_file_that_a_spreadsheet_saved_is_read(encoding: str) -> None:
    data = 'item,rater,verdict\r\n"a","ána",GOOD\r\n'.encode(encoding)
    assert told(csv.read(data, "file"), "item", "rater", "verdict") == [("a", "ána", GOOD)]


@pytest.mark.parametrize("spelling", ["GOOD", "good", " Good ", "1", "true"])
def test_a_good_verdict_has_many_spellings(spelling: str) -> None:
    read = csv.read(f"item,rater,verdict\na,r,{spelling}\nb,r,0\n".encode(), "file")
    assert told(read, "verdict") == [(BAD,), (GOOD,)]


def test_times_become_utc_whatever_their_zone() -> None:
    times = ["2026-01-02T03:04:05+01:00", "2026-01-02 02:04:05", "2026-01-02T02:04:05.000000Z", "2026-01-02T02:04:05.0Z"]
    data = "item,rater,verdict,time\n" + "".join(f"a,r{n},1,{time}\n" for n, time in enumerate(times))
    assert set(csv.read(data.encode(), "file")["time"].to_pylist()) == {"2026-01-02T02:04:05.000000Z"}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "file: holds no rating — export it again"),
        (b"item,rater,verdict\n", "file: holds no rating"),
        (b"item;rater;verdict\n1;2;1\n", "has no column item"),
        (b"item,rater,rater,verdict\n1,2,3,1\n", "has the column 'rater' twice"),
        (b"item,rater,verdict\na,b,1\na,b\n", "row 2: should have 3 columns, and has 2"),
        (b"item,rater,verdict\na,b,1\na,c,perhaps\n", "row 2: verdict is 'perhaps' — write GOOD or BAD"),
        (b"item,rater,verdict\na,,1\n", "row 1: has no rater"),
        (b"item,rater,verdict,time\na,b,1,2026-02-30T00:00:00Z\n", "row 1: time is '2026-02-30T00:00:00Z'"),
        (b"item,rater,verdict,time\na,b,1,yesterday\n", "row 1: time is 'yesterday' — write it as"),
        (b"item,rater,verdict,seconds\na,b,1,-3\n", "row 1: seconds is '-3'"),
        (b"item,rater,verdict,source\na,b,1,elsewhere\n", "row 1: source is 'elsewhere'"),
        (b"\xff\xfe\x00", "is not UTF-8"),
        (b'[{"a": 1}]', "has no column item"),
    ],
)
def test_a_damaged_file_is_one_line_with_its_position_and_a_remedy(data: bytes, message: str) -> None:
    with pytest.raises(HearsightError) as caught:
        csv.read(data, "file")
    assert message in str(caught.value) and "\n" not in str(caught.value) and " — " in str(caught.value)


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_no_bytes_give_another_error(data: bytes) -> None:
    try:
        csv.read(data, "file")
    except HearsightError:
        pass


def test_written_columns_are_those_of_the_canonical_table() -> None:
    assert set(csv.COLUMNS) == set(RATING.names) - {"key"}
