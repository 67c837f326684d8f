"""Readers of statements take any bytes: none raise, hang or grow; what is meant but broken is a refusal."""

from __future__ import annotations

import json
import struct
import time
import tracemalloc
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.web.consent.cbor import decode_cbor
from components.web.consent.image_metadata import read_image_statements
from components.web.consent.policy import RULES, Policy
from components.web.consent.readings import read_statement
from components.web.consent.rsl import read_licence
from components.web.consent.statements import C2PA, PLUS, ROBOTS, RSL, SIGNAL, TDMREP, USAGE, Statement, parse_header_statements
from components.web.consent.uses import ALL, NONE
from components.web.html.page import read_page
from components.web.html.pairs import read_fast
from components.web.robots import Rules
from tests.support.web.consent_files import box, drawn, encode_cbor, manifest_store, superbox, write_image

URL = "http://a.sample/art/a.jpg"
ENTRIES = {"cawg.ai_training": {"use": "notAllowed", "constraint_info": "x" * 300}}
XMP = '<x:xmpmeta><rdf:Description plus:DataMining="http://ns.useplus.org/ldf/vocab/DMI-PROHIBITED"/></x:xmpmeta>'
FILES = {
    kind: write_image(drawn(kind), kind, xmp=XMP, store=manifest_store("cawg.training-mining", ENTRIES))
    for kind in ("jpeg", "png", "webp")
}
PERMITTED = '<rsl xmlns="https://rslstandard.org/rsl"><content url="/"><license>{}</license></content></rsl>'.format(
    '<permits type="usage">all</permits>'
)
PLAIN = st.recursive(
    st.booleans() | st.integers(-(2**64), 2**64 - 1) | st.binary(max_size=300) | st.text(max_size=300),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=40), inner, max_size=4),
    max_leaves=20,
)


def judged(statements) -> tuple[str, str] | None:
    return Policy().find_refusal(statements, URL, lambda address: None)


@given(st.sampled_from(sorted(FILES)), st.integers(0, 2000), st.binary(max_size=30), st.integers(0, 60))
def test_no_bytes_of_an_image_make_the_reader_raise(kind, at, noise, cut):
    data = FILES[kind]
    for spoiled in (data[:at] + noise + data[at + cut :], data[:at], noise, data[:12] + noise):
        statements = read_image_statements(spoiled)
        assert json.dumps([statement.text for statement in statements]) and (judged(statements) or True)


@given(st.binary(max_size=200))
def test_no_bytes_make_the_reader_of_cbor_raise_anything_else(data):
    try:
        decode_cbor(data)
    except ValueError:
        pass


@pytest.mark.parametrize(
    "data", [b"\x81" * 100_000, b"\x9a\x00\x01\x00\x00" + b"\x01" * (1 << 16), b"\x9f\x01\xff", b"\x1c", b"\x62a", b""]
)
def test_cbor_that_is_deep_long_or_broken_is_an_error(data):
    with pytest.raises(ValueError):
        decode_cbor(data)


@given(PLAIN)
def test_cbor_is_read_as_it_was_written(value):
    assert decode_cbor(encode_cbor(value)) == value


@given(st.sampled_from([ROBOTS, TDMREP, USAGE, SIGNAL, RSL, PLUS, C2PA]), st.text(max_size=200))
def test_no_text_of_a_statement_makes_the_policy_raise(signal, text):
    for reading in read_statement(Statement(signal, "X-Robots-Tag", text), URL, "hearsight", lambda address: text):
        assert reading.rule in RULES and reading.no <= ALL and reading.yes <= ALL and not reading.no & reading.yes


@given(st.binary(max_size=400), st.sampled_from([b"Content-Signal:", b"License:", b"Content-Usage: /a", b"User-agent:"]))
def test_no_robots_txt_makes_its_statements_raise(noise, name):
    rules = Rules.of(200, b"User-agent: *\n" + name + noise + b"\n" + noise, "hearsight")
    judged(rules.statements(URL))


@given(st.text(max_size=300), st.integers(0, 200))
def test_no_licence_makes_its_reader_raise(text, at):
    for content in (text, PERMITTED[:at] + text + PERMITTED[at:], PERMITTED[:at]):
        no, yes = read_licence(content, URL)
        assert no <= ALL and not no & yes


@given(st.text(max_size=200), st.text(max_size=200))
def test_no_header_makes_the_reader_raise(robots, signals):
    judged(parse_header_statements(robots, robots, f"link: {signals}\ncontent-usage: {signals}\n{signals}"))


@settings(max_examples=50)
@given(st.text(max_size=100))
def test_both_page_readers_find_the_same_licences(text):
    head = f'<link rel="license" type="application/rsl+xml" href="/l.xml"><script type="application/RSL+xml">{text}</script>'
    page = f"<!doctype html><html lang=en><head>{head}</head><body><img src=a.jpg alt=A></body></html>"
    assert read_fast(page, "http://a.sample/").statements == read_page(page, "http://a.sample/").statements


HOSTILE = {
    "fill bytes": b"\xff\xd8" + b"\xff" * 20_000_000,
    "empty segments": b"\xff\xd8" + b"\xff\xe1\x00\x02" * 2_000_000,
    "boxes inside each other": write_image(b"", "jpeg", store=b"\x00\x00\x00\x00jumb" * 6000),
    "boxes without a size": drawn("webp")[:12] + b"C2PA" + struct.pack("<I", 1 << 22) + b"\x00\x00\x00\x08free" * (1 << 19),
    "values without end": drawn("webp")[:12] + b"XMP " + struct.pack("<I", 1 << 22) + b"a:DataMining " * 300_000,
    "a long word": drawn("webp")[:12] + b"XMP " + struct.pack("<I", 1 << 22) + b"a" * (1 << 22),
    "deep cbor": drawn("webp")[:12] + b"C2PA" + struct.pack("<I", 3 << 20) + superbox(
        "c2pa", superbox("c2pa.training-mining", box(b"cbor", b"\x81" * (1 << 20)))
    ),
    "a long array": drawn("webp")[:12] + b"C2PA" + struct.pack("<I", 200) + superbox(
        "c2pa.training-mining", box(b"cbor", b"\x9b" + b"\x7f" * 8 + b"\x01" * 40)
    ),
    "compressed zeros": write_image(drawn("png"), "png")[:33] + (
        lambda data: struct.pack(">I", len(data)) + b"iTXt" + data + bytes(4)
    )(b"XML:com.adobe.xmp\x00\x01\x00\x00\x00" + zlib.compress(bytes(200_000_000), 9)),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_image_takes_little_time_and_memory(name):
    tracemalloc.start()
    begun = time.process_time()
    read_image_statements(HOSTILE[name])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert time.process_time() - begun < 20.0 and peak < 100_000_000


BOMB = (
    "<!DOCTYPE r [<!ENTITY a '"
    + "a" * 100
    + "'>"
    + "".join(f"<!ENTITY {b} '{f'&{a};' * 50}'>" for a, b in zip("abcdef", "bcdefg", strict=True))
)
LICENCES = {
    "entities": BOMB + "]><rsl xmlns='https://rslstandard.org/rsl'>&g;</rsl>",
    "depth": "<rsl>" + "<content>" * 100_000,
    "elements": "<rsl xmlns='https://rslstandard.org/rsl'>" + "<content url='/'/>" * 200_000 + "</rsl>",
    "attributes": "<rsl " + " ".join(f"a{number}='x'" for number in range(200_000)) + "/>",
    "patterns": PERMITTED.replace('url="/"', f'url="/{"*a" * 50_000}$"'),
}


@pytest.mark.parametrize("name", LICENCES)
def test_a_hostile_licence_permits_nothing_and_takes_little_time(name):
    begun = time.process_time()
    no, yes = read_licence(LICENCES[name], "http://a.sample/" + "a" * 2000 + "b")
    assert yes == NONE and (no == ALL or name == "patterns") and time.process_time() - begun < 20.0


@pytest.mark.parametrize("piece", ['a= "', ", ", "train-ai=" + " " * 50, '<a>; rel="', "rel=", "noai, x: ", "\t"])
def test_a_hostile_header_takes_little_time(piece):
    text = (piece * 200_000)[:200_000]
    begun = time.process_time()
    judged(parse_header_statements(text, text, f"link: {text}rsl+xml\ncontent-usage: {text}\ncontent-signal: {text}"))
    judged(Rules.of(200, f"User-agent: *\nContent-Signal: {text}\nContent-Usage: /{text}".encode(), "hearsight").statements(URL))
    assert time.process_time() - begun < 20.0


def test_statements_are_read_from_every_form_of_their_containers():
    store = manifest_store("c2pa.training-mining", {"c2pa.ai_training": {"use": "notAllowed"}})
    said = [Statement(C2PA, "C2PA c2pa.training-mining", '{"c2pa.ai_training": {"use": "notAllowed"}}')]
    assert read_image_statements(write_image(drawn("jpeg"), "jpeg", store=store, packet=40)) == said  # many packets
    as_json = manifest_store("c2pa.training-mining", {"c2pa.ai_training": {"use": "notAllowed"}}, as_json=True)
    assert read_image_statements(write_image(drawn("png"), "png", store=as_json)) == said
    mined = [Statement(PLUS, "XMP plus:DataMining", "http://ns.useplus.org/ldf/vocab/DMI-PROHIBITED")]
    packed = b"XML:com.adobe.xmp\x00\x01\x00\x00\x00" + zlib.compress(XMP.encode())
    chunk = struct.pack(">I", len(packed)) + b"iTXt" + packed + bytes(4)
    png = drawn("png")
    assert read_image_statements(png[:33] + chunk + png[33:]) == mined
    far = b"http://ns.adobe.com/xmp/extension/\x00" + b"0" * 32 + bytes(8) + XMP.encode()
    jpeg = drawn("jpeg")
    assert read_image_statements(jpeg[:2] + b"\xff\xe1" + struct.pack(">H", 2 + len(far)) + far + jpeg[2:]) == mined
    assert all(read_image_statements(drawn(kind)) == [] for kind in FILES)


def test_an_assertion_or_a_property_that_cannot_be_read_refuses():
    broken = write_image(drawn("jpeg"), "jpeg", store=manifest_store("cawg.training-mining", "\xff\xff"))
    assert judged(read_image_statements(broken)) == ("training_mining", "C2PA cawg.training-mining: unreadable")
    cut = manifest_store("cawg.training-mining", ENTRIES)[: -len(encode_cbor({"entries": ENTRIES})) - 4]
    assert judged(read_image_statements(write_image(drawn("png"), "png", store=cut))) == ("training_mining", "C2PA: unreadable")
    torn = write_image(drawn("jpeg"), "jpeg", xmp='<rdf:Description plus:DataMining="http')
    assert judged(read_image_statements(torn))[0] == "data_mining"


@pytest.mark.parametrize("name", ["user-agent", "content-signal", "license", "allow"])
def test_white_space_in_robots_txt_takes_linear_time(name):
    start = time.process_time()
    rules = Rules.of(200, name.encode() + b" " * 200_000 + b"\n" + name.encode() + b": a" + b" " * 200_000, "hearsight")
    rules.statements(URL)
    # Quadratic, it took 40 seconds for a fifth of this.
    assert time.process_time() - start < 20.0


@pytest.mark.parametrize(
    "lines",
    [
        "User-agent: foo\nDisallow:\nUser-agent *\nContent-Signal: ai-train=no",
        "User agent *\nContent-Signal ai-train=no",
        "User-agent: *\nContent-Signal = ai-train=no",
        "User-agent: *\n\u00a0Content-Signal: ai-train=no",
        "User-agent: *\nContent-Usage\ttrain-ai=n",
        "User-agent: *\nLicense https://a.sample/l.xml",
    ],
)
def test_lines_without_a_colon_and_with_any_indent_are_read(lines):
    assert judged(Rules.of(200, lines.encode(), "hearsight").statements(URL))


@pytest.mark.parametrize("line", ["Content usage is explained at our page", "License information for readers", "content-signals"])
def test_a_sentence_without_a_colon_states_nothing(line):
    assert not Rules.of(200, f"User-agent: *\n{line}\nAllow: /\n".encode(), "hearsight").statements(URL)


def test_a_licence_is_parsed_once_however_many_records_it_is_read_for():
    licence = PERMITTED.replace("<content", f"<!--{'x' * 200_000}--><content")
    times = []
    for number in range(20):
        start = time.perf_counter()
        assert read_licence(licence, f"{URL}?{number}")[1] == ALL
        times.append(time.perf_counter() - start)
    assert times[0] > 3 * sorted(times)[10]


@pytest.mark.parametrize(("number", "refused"), [(10, ""), (11, "content_signal"), (300, "content_signal")])
def test_a_robots_txt_names_few_licences_or_refuses_without_one_request(number, refused):
    lines = "".join(f"License: http://v{each}.sample/l.xml\n" for each in range(number))
    statements = Rules.of(200, f"{lines}User-agent: *\nAllow: /\n".encode(), "hearsight").statements(URL)
    asked = []
    refusal = Policy().find_refusal(statements, URL, lambda address: asked.append(address) or PERMITTED)
    assert (refusal[0] if refusal else "") == refused and len(asked) == (0 if refused else number)


def test_a_refusal_beyond_the_limit_of_lines_is_not_lost():
    lines = "User-agent: *\n" + "Content-Signal: search=yes\n" * 1000
    assert not judged(Rules.of(200, lines.encode(), "hearsight").statements(URL))
    assert judged(Rules.of(200, f"{lines}Content-Signal: ai-train=no\n".encode(), "hearsight").statements(URL))


def beyond_the_limit(kind):
    filler = b"\xff\xeb\xff\xffJP" + bytes(65_531) if kind == "packets" else b"\xff\xe1\xff\xff" + XMP_HEAD + bytes(65_504)
    return b"\xff\xd8" + filler * 257 + FILES["jpeg"][2:]


XMP_HEAD = b"http://ns.adobe.com/xap/1.0/\x00"


@pytest.mark.parametrize("kind", ["packets", "xmp"])
def test_metadata_beyond_the_limit_of_an_image_refuses(kind):
    assert judged(read_image_statements(beyond_the_limit(kind)))


def test_boxes_and_values_beyond_their_limits_refuse():
    boxes = write_image(b"", "jpeg", store=superbox("c2pa", b"".join([box(b"free", b"")] * 11_000)))
    allowed = 'a plus:DataMining="http://ns.useplus.org/ldf/vocab/DMI-ALLOWED" '
    assert judged(read_image_statements(boxes)) and judged(read_image_statements(write_image(b"", "jpeg", xmp=allowed * 101)))
    assert not judged(read_image_statements(write_image(b"", "jpeg", xmp=allowed * 100)))


def test_a_segment_without_a_length_hides_no_statement():
    assert judged(read_image_statements(b"\xff\xd8\xff\x01" + FILES["jpeg"][2:]))
