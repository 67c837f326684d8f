"""A join loses no row of either table, joins nothing that is not clear, and lists it."""

from __future__ import annotations

import json
from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.core.errors import HearsightError
from components.tools.image_tables import read_image_table
from components.tools.join import join
from tests.support import make_output, row
from tests.support.command import hearsight

SUMS = [f"{n:064x}" for n in range(1, 5)]


def write(path, rows):
    pq.write_table(pa.Table.from_pylist(rows), path)
    return read_image_table(path)


def own(tmp_path):
    return write(
        tmp_path / "own.parquet",
        [
            {"key": "a", "image_url": "http://x.example/1.jpg", "image_sha256": SUMS[0], "phash": "1" * 16, "caption": "one"},
            {"key": "b", "image_url": "http://x.example/1.jpg", "image_sha256": SUMS[0], "phash": "1" * 16, "caption": "uno"},
            {"key": "c", "image_url": "http://x.example/2.jpg", "image_sha256": SUMS[1], "phash": "2" * 16, "caption": "two"},
            {"key": "d", "image_url": "http://x.example/3.jpg", "image_sha256": SUMS[2], "phash": "2" * 16, "caption": "three"},
        ],
    )


def joined(tmp_path, others, out="out.parquet", **more):
    done = join(own(tmp_path), write(tmp_path / "other.parquet", others), tmp_path / out, **more)
    listed = {what: read_csv(tmp_path / f"{out}.{what}.csv") for what in ("ambiguous", "unmatched")}
    return done, pq.read_table(tmp_path / out).to_pylist() if out.endswith("parquet") else [], listed


def read_csv(path):
    from pyarrow import csv

    return csv.read_csv(path).to_pylist()


def test_captions_are_joined_by_digest_address_or_hash_and_the_surest_counts(tmp_path):
    others = [
        {"url": "http://x.example/3.jpg", "sha256": SUMS[0].upper(), "phash": "", "caption": "by digest"},
        {"url": "HTTPS://X.example:443/a/../1.jpg#top", "sha256": "", "phash": "", "caption": "by address"},
        {"url": "http://mirror.example/1.jpg", "sha256": SUMS[3], "phash": "1" * 16, "caption": "by hash"},
        {"url": None, "sha256": None, "phash": "2" * 16, "caption": "of two images"},
        {"url": "http://x.example/2.jpg", "sha256": SUMS[3], "phash": "", "caption": "of another file"},
        {"url": "http://x.example/9.jpg", "sha256": "", "phash": "", "caption": "of none"},
        {"url": "http://x.example/2.jpg", "sha256": "", "phash": "", "caption": " "},
        {"url": "http://x.example/1.jpg", "sha256": "", "phash": "", "caption": "by address"},
    ]
    done, table, listed = joined(tmp_path, others)
    captions = ["by digest", "by address", "by hash"]
    assert [(line["key"], line["caption"], line["captions"]) for line in table] == [
        ("a", "one", captions), ("b", "uno", captions), ("c", "two", []), ("d", "three", []),
    ]  # fmt: skip
    assert Counter((line["reason"], line["table_row"]) for line in listed["ambiguous"]) == Counter(
        [("several_captions", n) for n in (1, 2, 3, 8)] + [("several_images", 4), ("other_digest", 5)]
    )
    assert [line["table_row"] for line in listed["unmatched"]] == [6, 7]
    assert done["by"] == ["sha256", "url", "phash"]
    counts = {name: done[name] for name in ("rows", "with_captions", "captions", "joined", "ambiguous", "unmatched")}
    assert counts == {"rows": 4, "with_captions": 2, "captions": 8, "joined": 4, "ambiguous": 2, "unmatched": 2}
    assert table[0].keys() == {"key", "image_url", "image_sha256", "caption", "captions"}


def test_only_the_named_keys_join(tmp_path):
    others = [{"url": "http://x.example/2.jpg", "sha256": SUMS[3], "phash": "1" * 16, "caption": "c"}]
    assert joined(tmp_path, others, by=("url",))[1][2]["captions"] == ["c"]
    assert joined(tmp_path, others, by=("phash",))[1][0]["captions"] == ["c"]
    assert joined(tmp_path, others, by=("sha256",))[0]["unmatched"] == 1


URLS = st.sampled_from(["", "http://x.example/1.jpg", "http://x.example/2.jpg", "http://x.example/3.jpg", "no address"])
ROWS = st.fixed_dictionaries(
    {
        "url": URLS,
        "sha256": st.sampled_from(["", *SUMS]),
        "phash": st.sampled_from(["", "1" * 16, "2" * 16, "3" * 16]),
        "caption": st.sampled_from(["", "x", "y", "z"]),
    }
)


@given(st.lists(ROWS, max_size=12), st.lists(ROWS, min_size=1, max_size=12))
@settings(max_examples=60, deadline=None)
def test_the_join_is_that_of_a_loop_over_all_pairs(tmp_path_factory, ours, theirs):
    tmp_path = tmp_path_factory.mktemp("join")
    schema = pa.schema({name: pa.string() for name in ("url", "sha256", "phash", "caption")})
    for name, lines in (("own", ours), ("other", theirs)):
        pq.write_table(pa.Table.from_pylist(lines, schema), tmp_path / f"{name}.parquet")
    tables = [read_image_table(tmp_path / f"{name}.parquet") for name in ("own", "other")]
    done = join(*tables, tmp_path / "out.parquet", column="new")

    def identity(line):
        return next(((key, line[key]) for key in ("sha256", "url", "phash") if value(line, key)), None)

    def value(line, key):
        return "" if line[key] == "no address" else line[key]

    expected, joined, ambiguous = {}, 0, 0
    for line in theirs:
        for key in ("sha256", "url", "phash") if line["caption"] else ():
            hits = [one for one in ours if value(line, key) and value(one, key) == value(line, key)]
            if not hits:
                continue
            images = {identity(one) for one in hits}
            digests = {one["sha256"] for one in ours if identity(one) in images} - {""}
            if len(images) > 1 or (key == "url" and line["sha256"] and digests and line["sha256"] not in digests):
                ambiguous += 1
            else:
                joined += 1
                texts = expected.setdefault(images.pop(), [])
                texts += [line["caption"]] if line["caption"] not in texts else []
            break
    result = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert [line["new"] for line in result] == [expected.get(identity(line), []) for line in ours]
    assert (done["rows"], done["joined"], done["ambiguous"]) == (len(ours), joined, ambiguous)
    assert done["joined"] + done["ambiguous"] + done["unmatched"] == len(theirs)


def test_the_command_joins_a_published_table_to_the_records_of_a_split(tmp_path):
    images = [{"image_url": f"http://x.example/{n}.jpg", "image_sha256": SUMS[n], "caption": f"our {n}"} for n in range(3)]
    output = make_output(tmp_path, "split", [[row("split", key=f"k{n}", **image)] for n, image in enumerate(images)])
    table = tmp_path / "Train_GCC.tsv"
    table.write_text('their "1\thttp://x.example/1.jpg\nbroken\nelsewhere\thttp://y.example/1.jpg\n', encoding="utf-8")
    words = ("join", str(table), "--layout", "cc3m", "--to", str(output.path), "--column", "cc3m")
    done = hearsight(*words, "--out", "joined.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) | {"out": ""} == {
        "rows": 3, "with_captions": 1, "captions": 3, "joined": 1, "ambiguous": 0, "unmatched": 2, "images_with_several": 0,
        "by": ["url"], "out": "",
    }  # fmt: skip
    lines = read_csv(tmp_path / "joined.csv")
    assert [line["cc3m"] for line in lines] == ["[]", '["their \\"1"]', "[]"] and lines[1]["key"] == "k1"
    assert [line["rule"] for line in read_csv(tmp_path / "joined.csv.unmatched.csv")] == ["missing_field", ""]
    again = hearsight(
        "join", str(table), "--layout", "cc3m", "--to", "joined.csv", "--out", "two.csv", "--column", "more", cwd=tmp_path
    )
    assert again.returncode == 0, again.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["no.csv", "--to", "own.parquet", "--out", "o.csv"], b"there is no such file"),
        (["own.parquet", "--to", "own.parquet", "--out", "o.txt"], b"is no .parquet or .csv"),
        (["own.parquet", "--to", "own.parquet", "--out", "o.csv", "--by", "name"], b"nothing to join by"),
        (["own.parquet", "--out", "o.csv"], b"needs one table"),
        (["own.parquet", "--to", "own.parquet", "--out", "o.csv", "--column", "caption"], b"is a column already"),
        (["plain.csv", "--to", "own.parquet", "--out", "o.csv"], b"names no images"),
        (["torn.parquet", "--to", "own.parquet", "--out", "o.csv"], b"is no table"),
        (["own.parquet", "--to", "own.parquet", "--out", "o.csv", "--columns", "url=link"], b"names no column"),
        (["twice.csv", "--to", "own.parquet", "--out", "o.csv"], b"has the column 'url' twice"),
        (["twice.parquet", "--to", "own.parquet", "--out", "o.csv"], b"has the column 'url' twice"),
        (["own.parquet", "--to", "twice.csv", "--out", "o.csv"], b"has the column 'url' twice"),
        (["binary.parquet", "--to", "own.parquet", "--out", "o.csv"], b"column 'caption': is no text in UTF-8"),
        (["own.parquet", "--to", "own.parquet", "--out", "own.parquet"], b"is there already"),
        (["own.parquet", "--to", "own.parquet", "--out", "./plain.csv"], b"is there already"),
        (["own.parquet", "--to", "own.parquet", "--out", "kept.csv"], b"is there already"),
        (["own.parquet", "--to", "own.parquet", "--out", "o.csv", "--column", ""], b"is empty"),
    ],
)
def test_errors_are_one_line(tmp_path, words, says):
    own(tmp_path)
    (tmp_path / "plain.csv").write_text("a,b\n1,2\n")
    (tmp_path / "kept.csv.ambiguous.csv").touch()
    (tmp_path / "torn.parquet").write_bytes(b"PAR1")
    (tmp_path / "twice.csv").write_text("url,url,caption\nhttp://x.example/1.jpg,b,c\n")
    twice = pa.table([["http://x.example/1.jpg"], ["b"], ["c"]], names=["url", "url", "caption"])
    pq.write_table(twice, tmp_path / "twice.parquet")
    write(tmp_path / "binary.parquet", [{"url": "http://x.example/1.jpg", "caption": b"\xff"}])
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    done = hearsight("join", *words, cwd=tmp_path)
    assert done.returncode == 2 and done.stderr.count(b"\n") == 1 and says in done.stderr, done.stderr
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_what_was_ambiguous_is_joined_again(tmp_path):
    others = [{"url": None, "phash": "2" * 16, "caption": "of two images", "reason": "mine"}]
    joined(tmp_path, others)
    captions = read_image_table(tmp_path / "out.parquet.ambiguous.csv")
    assert join(own(tmp_path), captions, tmp_path / "more.parquet")["ambiguous"] == 1
    (line,) = read_csv(tmp_path / "more.parquet.ambiguous.csv")
    assert (line["reason"], line["table_row"]) == ("several_images", 1)


def test_an_empty_table_joins_nothing(tmp_path):
    empty = pa.table({"url": pa.array([], pa.string()), "caption": pa.array([], pa.string())})
    pq.write_table(empty, tmp_path / "none.parquet")
    none = read_image_table(tmp_path / "none.parquet")
    assert join(own(tmp_path), none, tmp_path / "a.parquet")["rows"] == 4
    assert join(none, own(tmp_path), tmp_path / "b.parquet")["unmatched"] == 4


def test_a_wrong_layout_is_an_error(tmp_path):
    (tmp_path / "t.tsv").write_text("x\n")
    with pytest.raises(HearsightError, match="is not of the layout"):
        read_image_table(tmp_path / "t.tsv", "cc3m")


LINES = ["url{0}caption", 'http://x.example/1.jpg{0}"a{0}café"']


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_a_table_is_read_with_the_separator_of_its_header_and_in_its_encoding(tmp_path, mark, encoding):
    (tmp_path / "t.csv").write_bytes("\n".join(LINES).format(mark).encode(encoding))
    table = read_image_table(tmp_path / "t.csv")
    assert table.table.to_pylist() == [{"url": "http://x.example/1.jpg", "caption": f"a{mark}café"}]


def test_a_cell_may_be_large(tmp_path):
    (tmp_path / "t.csv").write_text("url,caption\nhttp://x.example/1.jpg," + "x" * 5_000_000 + "\nhttp://x.example/2.jpg,b\n")
    assert [len(caption) for caption in read_image_table(tmp_path / "t.csv").strings("caption").to_pylist()] == [5_000_000, 1]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"url;caption\na;b\na;b;c\n", r"utf-8 table with ';' in its header .*Row #3: Expected 2 columns, got 3: a;b;c"),
        ("url,caption\na,café\n".encode("latin-1"), r"utf-8 table with ',' in its header .*Row #2: .*UTF8.*save it in UTF-8"),
        ("url,légende\na,b\n".encode("latin-1"), r"utf-8 table with ',' in its header .*utf-8.*save it in UTF-8"),
    ],
)  # fmt: skip
def test_an_error_in_a_table_names_its_row_separator_and_encoding(tmp_path, content, says):
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(HearsightError, match=says):
        read_image_table(tmp_path / "t.csv")
