"""Every spelling of an address, a host or an account has one canonical form, and another item has another one."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from components.web.canonical import canonicalise_host, canonicalise_owner, canonicalise_url
from components.web.takedown_list import CANONICAL, Entry, Takedown, hash_value
from components.web.urls import normalise

LABEL = st.from_regex(r"[a-z]([a-z0-9-]{0,6}[a-z0-9])?", fullmatch=True).filter(lambda label: not label.startswith("xn--"))
TEXT = st.text(
    st.characters(blacklist_categories=["Cs", "Cc", "Zs", "Zl", "Zp"], blacklist_characters="/?#\\%&=+;"), min_size=1, max_size=6
)
SEGMENT = TEXT.filter(lambda text: text.strip() and text not in (".", ".."))
HOSTS = st.one_of(
    st.tuples(LABEL, LABEL).map(lambda labels: (".".join(labels),)),
    st.tuples(LABEL).map(lambda labels: (f"bücher.{labels[0]}", f"xn--bcher-kva.{labels[0]}", f"BÜCHER。{labels[0]}")),
    st.tuples(LABEL).map(lambda labels: (f"faß.{labels[0]}", f"xn--fa-hia.{labels[0]}", f"XN--FA-HIA.{labels[0]}")),
    st.just(("[::1]", "[0:0:0:0:0:0:0:1]", "[0::0001]")),
    st.just(("[2001:db8::a]", "[2001:DB8:0:0::000A]")),
    st.just(("127.0.0.1", "127.1", "0x7f.0.0.1", "2130706433", "[::ffff:127.0.0.1]")),
)  # fmt: skip


def lists(kind: str, value: str) -> Takedown:
    """A list with one entry, as it is written for ``value``."""
    canonical = CANONICAL[kind](value)
    assert canonical, f"{value} is no {kind}"
    return Takedown([Entry(kind, "salt", hash_value("salt", kind, canonical), "")])


@st.composite
def encoded(draw: st.DrawFn, text: str) -> str:
    """The text with some of its characters percent-encoded, with hexadecimal digits of either case."""

    def escape(char: str) -> str:
        return "".join(f"%{byte:02{draw(st.sampled_from('xX'))}}" for byte in char.encode())

    return "".join(escape(char) if draw(st.booleans()) else char for char in text)


@st.composite
def spellings(draw: st.DrawFn) -> tuple[str, str]:
    """Two spellings of one address."""
    hosts, segments, query = draw(HOSTS), draw(st.lists(SEGMENT, max_size=3)), draw(st.lists(st.tuples(TEXT, TEXT), max_size=2))
    closing = draw(st.sampled_from(["", "/"])) if segments else "/"

    def spell() -> str:
        host, port = draw(st.sampled_from(hosts)), draw(st.sampled_from(["", ":80", ":443", ":"]))
        if draw(st.booleans()) and not host.startswith("[") and not host[0].isdigit():
            host = host.upper().replace("SS", "ß") if "ß" in host else host.upper()
            host += "."
        path = "".join(
            draw(st.sampled_from(["/", "//", "/./", "/%2e/", "/x/../", "/x/%2E./"])) + draw(encoded(segment))
            for segment in segments
        )
        pairs = "&".join(f"{draw(encoded(name))}={draw(encoded(value))}" for name, value in query)
        scheme, user, fragment = (draw(st.sampled_from(each)) for each in (("http:", "HTTPS:", ""), ("", "u:p@"), ("", "#a/b")))
        return f"{scheme}//{user}{host}{port}{path}{closing}{'?' if pairs else ''}{pairs}{fragment}"

    return spell(), spell()


@given(spellings())
def test_an_entry_covers_every_spelling_of_its_address(pair: tuple[str, str]) -> None:
    for asked, held in (pair, pair[::-1]):
        taken = lists("url", asked)
        assert taken.url(held), (asked, held, canonicalise_url(asked), canonicalise_url(held))
        stored = normalise(f"http:{held}" if held.startswith("//") else held)
        assert stored and taken.url(stored), (asked, stored)


@given(spellings(), st.sampled_from(["/more", "?other=1", "/"]), LABEL)
def test_an_entry_covers_no_other_address(pair: tuple[str, str], added: str, label: str) -> None:
    asked, held = pair
    taken = lists("url", asked)
    bare = held.partition("#")[0]
    scheme, _, rest = bare.partition("//")
    others = [f"{scheme}//{label}.{rest}"] if "@" not in rest and not rest.startswith("[") else []
    if "?" not in bare:
        others += [bare.rstrip("/") + added] if added != "/" else [bare + "x/"]
    for other in others:
        if (canonical := canonicalise_url(other)) is not None:
            assume(canonical != canonicalise_url(asked))  # a host of digits with another label is a name
            assert not taken.url(other), (asked, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://a.sample/x%2Fy", "http://a.sample/x/y"),  # an encoded slash is no separator
        ("http://a.sample/x%3Fy", "http://a.sample/x?y"),
        ("http://a.sample/x%23y", "http://a.sample/x#y"),
        ("http://a.sample/%2541", "http://a.sample/%41"),  # encoded twice
        ("http://a.sample/A", "http://a.sample/a"),
        ("http://a.sample/a/", "http://a.sample/a"),
        ("http://a.sample/?a=b%26c", "http://a.sample/?a=b&c"),
        ("http://a.sample/?a=1&b=2", "http://a.sample/?b=2&a=1"),
        ("http://a.sample/?a=%2B", "http://a.sample/?a=+"),
        ("http://a.sample:8080/", "http://a.sample/"),
        ("http://fass.sample/", "http://faß.sample/"),  # IDNA 2003 took them for one
        ("http://www.a.sample/", "http://a.sample/"),
        ("http://[::1]/", "http://[::2]/"),
        ("file:a%2520b.png", "file:a b.png"),
    ],
)
def test_what_means_something_else_is_another_address(one: str, other: str) -> None:
    assert not lists("url", one).url(other) and not lists("url", other).url(one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://a.sample/Foo_%28bar%29,x;y", "http://a.sample/Foo_(bar)%2Cx%3By"),
        ("http://a.sample/%zz", "http://a.sample/%25zz"),
        ("http://a.sample", "http://a.sample/?"),
        (" http://a.sample/x\n", "http://a.sample/x"),
        ("http://☃.sample/", "http://xn--n3h.sample/"),
        ("file:animals//./yak%2epng", "FILE:animals/yak.png"),
    ],
)
def test_further_spellings_are_equal(one: str, other: str) -> None:
    assert lists("url", one).url(other) and lists("url", other).url(one)


@pytest.mark.parametrize(
    "value", ["http://*.a.sample/", "http://a.*/", "http://999.1.1.1/", "http://[::1/", "http://%61.sample/", "a.sample/x"]
)
def test_what_is_no_address_has_no_canonical_form(value: str) -> None:
    assert canonicalise_url(value) is None


@given(HOSTS, st.sampled_from(["", ":80", ":8080"]))
def test_a_host_covers_its_addresses_in_every_spelling(hosts: tuple[str, ...], port: str) -> None:
    for asked in hosts:
        taken = lists("host", asked)
        for held in hosts:
            assert taken.url(f"http://{held}{port}/x") and taken.host(held) and taken.host(f"{held}{port}")
    assert not taken.url("http://c.d.e/")


@pytest.mark.parametrize(
    ("asked", "held"), [("::1", "http://[0::1]:8080/"), ("1.2.3.4", "http://1.2.772/"), ("a.b..", "//x.A.b")]
)
def test_addresses_of_hosts_need_no_brackets(asked: str, held: str) -> None:
    assert lists("host", asked).url(held)


@pytest.mark.parametrize("value", ["*", "a.*", "a*.b", "*.*.a", "u@a.b", "a/b", "300.1.1.1", "[::g]"])
def test_what_is_no_host_has_no_canonical_form(value: str) -> None:
    assert canonicalise_host(value) is None


NAME = "ana.b@example.social"
SPELLED = [
    NAME, "@ana.b@example.social", " Ana.B@Example.Social. ", "acct:ana.b@example.social", "ACCT:@ana.b@example.social", "https://example.social/@ana.b",
    "http://example.social/@Ana.B/", "https://example.social/users/ana.b", "https://example.social/web/@ana.b",
    "example.social/@ana.b",
    "https://example.social/ana.b", "https://other.social/@ana.b@example.social", "https://example.social/%40ana.b?page=2",
    "https://example.social/@ana.b/with_replies", "//www.example.social/@ana.b", "https://example.social:443/@ana.b#top",
]  # fmt: skip


@pytest.mark.parametrize("asked", SPELLED)
def test_an_account_is_equal_by_name_and_by_the_address_of_its_profile(asked: str) -> None:
    taken = lists("owner", asked)
    assert all(taken.owner(held) for held in SPELLED)
    for other in ("ana.b", "ana.b@other.social", "ana@example.social", "b@example.social", "https://example.social/@ana.c", ""):
        assert not taken.owner(other), other


def test_accounts_of_other_kinds_keep_their_names() -> None:
    assert canonicalise_owner("https://www.instagram.com/Some.Body/?hl=en") == canonicalise_owner("@some.body") == "some.body"
    assert canonicalise_owner("x@bücher.social") == canonicalise_owner("https://xn--bcher-kva.social/@x")
    assert canonicalise_owner("AC/DC") == "ac/dc" and canonicalise_owner("8F14E45F") == "8f14e45f"
    for refused in ("https://example.social/", "https://flickr.sample/photos/x", "https://[/@x", " @ "):
        assert canonicalise_owner(refused) is None


@given(st.text(max_size=30))
def test_any_text_has_a_stable_form_or_none(text: str) -> None:
    for kind, canonicalise in CANONICAL.items():
        canonical = canonicalise(text)
        assert canonical is None or (canonical and "\n" not in canonical), kind
        for prefix in ("http://", "http://a.b/", "file:", "https://a.b/@"):
            assert canonicalise(prefix + text) != ""


def test_lists_written_before_there_was_a_canonical_form_hold() -> None:
    """Their entries are hashes of the requested spelling, without the scheme."""
    held = "http://a.sample/Foo_(bar)//x%7ey"
    earlier = (normalise(held) or "").partition("://")[2]
    assert Takedown([Entry("url", "s", hash_value("s", "url", earlier), "")]).url(held)
    for host in ("a.example", "1.2.3.4", "::1", "2001:db8::1"):
        address = f"http://[{host}]/x" if ":" in host else f"http://{host}/x"
        assert Takedown([Entry("host", "s", hash_value("s", "host", host), "")]).url(address)
    profile = "https://example.social/@name"
    assert Takedown([Entry("owner", "s", hash_value("s", "owner", profile), "")]).owner(profile)
