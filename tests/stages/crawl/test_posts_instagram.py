"""Posts of a hashtag from the Graph API: hashtag search for the total, business discovery for named accounts."""

from __future__ import annotations

import json

import pytest

from components.core.errors import HearsightError
from components.stages.crawl.posts.instagram import seconds_to_reset
from tests.support.crawl.social import GRAPH, MEDIA, Answer, file_digests, read_all_bytes, rows, rules

TOKEN = "EAAGm0PX4ZCpsBAtoken"
HASHTAG = "Bom dia #PraCegoVer\nFoto de uma ponte.\n#fim"


@pytest.fixture
def gather(social, collect, monkeypatch):
    """Collects from the Graph API with a token."""
    social.token = TOKEN
    monkeypatch.setenv("GRAPH_TOKEN", TOKEN)
    own = {"provider": "instagram", "server": GRAPH, "user": "1784", "token_variable": "GRAPH_TOKEN", "accounts": ["museu"]}
    return lambda snapshot="day-1", base="", **changes: collect(social.proxy, snapshot, base, **(own | changes))


def error(code: int, subcode: int = 0, status: int = 400) -> Answer:
    details = {"message": f"(#{code}) told with {TOKEN}", "type": "OAuthException", "code": code, "error_subcode": subcode}
    return Answer(status, json.dumps({"error": details}).encode())


def test_every_tagged_post_of_a_named_account_is_recorded(social, gather):
    social.person("museu")
    for number in range(1, 8):
        social.media("museu", number, HASHTAG if number != 4 else "nada", day=number)
    social.media("museu", 8, "#pracegoverbem")
    social.media("museu", 9, HASHTAG, kind="VIDEO")
    social.media("museu", 10, None)
    child = [
        {"id": "91", "media_type": "IMAGE", "media_url": f"{MEDIA}/00000091-0.jpg"},
        {"id": "92", "media_type": "VIDEO", "media_url": f"{MEDIA}/v.mp4"},
        {"id": "93", "media_type": "IMAGE", "media_url": f"{MEDIA}/00000093-0.jpg"},
    ]
    social.media("museu", 11, HASHTAG, kind="CAROUSEL_ALBUM", children={"data": child}, media_url=f"{MEDIA}/00000091-0.jpg")
    output = gather()
    kept = rows(output)
    assert [row["post"] for row in kept] == [str(17000 + n) for n in (1, 2, 3, 5, 6, 7, 11, 11)]
    assert [row["position"] for row in kept][-2:] == [0, 2] and {row["alt"] for row in kept} == {HASHTAG}
    assert {row["owner"] for row in kept} == {"museu"} and kept[0]["posted"] == "2026-11-01T10:01:00Z"
    assert kept[0]["page_url"] == "https://www.instagram.com/p/1/" and kept[0]["language"] == "un"
    dropped_rules = rules(output)
    place = "https://www.instagram.com/p"
    assert (
        dropped_rules[f"{place}/8/"] == "hashtag_inside_word"
        and dropped_rules[f"{place}/9/"] == "video_post"
        and "video" in dropped_rules.values()
    )
    # Of an account's untagged posts only those that the hashtag's timeline shows have a row.
    assert (
        dropped_rules[f"{place}/4/"] == dropped_rules[f"{place}/10/"] == "no_hashtag"
        and "unknown_owner" not in dropped_rules.values()
    )
    social.people["museu"].posts[-4:-3] = []
    other = gather("other")
    assert f"{place}/4/" not in rules(other)


def test_a_hashtag_post_without_a_named_account_has_its_own_rule(social, gather):
    for name, number in (("museu", 1), ("other", 2), ("other", 3), ("other", 4), ("other", 5)):
        if name not in social.people:
            social.person(name)
        social.media(name, number, HASHTAG)
    output = gather(window_days=7000.0)
    dropped_rules = rules(output)
    assert dropped_rules == {f"https://www.instagram.com/p/{number}/": "unknown_owner" for number in (2, 3, 4, 5)}
    # The same cursor on every page: three addresses that are sent, and a page of each.
    assert len(set(social.asked(lambda url: "recent_media" in url))) == 2
    assert len(social.asked(lambda url: "recent_media" in url)) == 4


def test_tokens_in_api_answers_are_stored_nowhere(social, gather, tmp_path, capfd):
    social.person("museu")
    for number in range(1, 8):
        social.media("museu", number, HASHTAG)
    gather()
    assert social.log and all(TOKEN not in url for url, _ in social.log)
    kept = read_all_bytes(tmp_path)
    assert TOKEN.encode() not in kept and b"access_token=***" in kept and TOKEN not in "".join(capfd.readouterr())


def test_images_with_expiring_addresses_are_fetched_once_and_keep_their_records(social, gather):
    social.person("museu")
    for number in range(1, 6):
        social.media("museu", number, HASHTAG)
    first = gather()
    before = file_digests(first)
    social.signature = "s2"
    social.media("museu", 6, HASHTAG)
    social.missing.update(f"/{number:08d}-0.jpg?oh=s1" for number in range(1, 6))
    start = len(social.log)
    second = gather("day-2", "day-1")
    assert file_digests(second) | before == file_digests(second) and len(rows(second)) == 6 and not rules(second)
    assert [url for url, _ in social.log[start:] if MEDIA in url and "robots" not in url] == [f"{MEDIA}/00000006-0.jpg?oh=s2"]


@pytest.mark.parametrize("later", [False, True], ids=["at once", "on the second day"])
def test_an_undiscoverable_account_is_recorded_and_its_posts_withdrawn(social, gather, later):
    social.person("museu", locked=not later)
    social.media("museu", 1, HASHTAG)
    output = gather()
    if later:
        key = rows(output)[0]["key"]
        social.people["museu"].locked = True
        output = gather("day-2", "day-1")
        assert rules(output)[key] == "account_private"
    assert rules(output)["https://www.instagram.com/museu/"] == "account_private" and not rows(output)


@pytest.mark.long
@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (error(190, status=401), r"does not accept the token in \$GRAPH_TOKEN"),
        (error(10), r"lacks a permission \(error 10\)"),
        (error(200, status=403), r"lacks a permission \(error 200\)"),
        (error(4, status=403), r"rate limit is used up \(error 4\) and it asks to wait 3600 s"),
        (error(17), r"rate limit is used up \(error 17\)"),
        (error(32), r"rate limit is used up \(error 32\)"),
        (error(613), r"rate limit is used up \(error 613\)"),
        (error(18, 2207034), r"30 hashtags were searched within seven days"),
        (error(24, 2207024), r"it answers error 24/2207024 \(\(#24\) told with \*\*\*\)"),
    ],
)
def test_a_fatal_api_error_is_one_line_without_the_token_and_the_next_run_resumes(social, gather, answer, message):
    social.person("museu")
    social.media("museu", 1, HASHTAG)
    social.order("ig_hashtag_search", answer)
    with pytest.raises(HearsightError, match=message) as stopped:
        gather()
    assert TOKEN not in str(stopped.value)
    assert len(rows(gather())) == 1


def test_wrong_types_become_ledger_rows(social, gather):
    social.person("museu")
    social.media("museu", 1, HASHTAG, media_type=5)
    social.media("museu", 2, HASHTAG, timestamp="soon")
    social.media("museu", 3, HASHTAG, kind="CAROUSEL_ALBUM", children=[1])
    social.media("museu", 4, HASHTAG, permalink=None)
    for number, value in enumerate(({"media": 5}, {"media": {"data": {}}}, {"username": "else"}, {"media": {"data": [None, 7]}})):
        name = f"odd{number}"
        social.order(f"%28{name}%29", Answer(200, json.dumps({"business_discovery": value}).encode()))
        social.person(name)
    output = gather(accounts=["museu", *(f"odd{number}" for number in range(4)), "not a name"])
    dropped_rules = rules(output)
    assert {rule for key, rule in dropped_rules.items() if "instagram.com/p/" in key} == {"wrong_type"}
    assert (
        dropped_rules["listing:odd0"] == dropped_rules["listing:odd1"] == "wrong_type"
        and dropped_rules["listing:odd2"] == "wrong_account"
    )
    assert dropped_rules["listing:not a name"] == "unusable_name" and not rows(output)


def test_malformed_reset_times_are_ignored():
    header = "x-business-use-case-usage"
    use = {"1": [{"type": "instagram", "call_count": 100, "estimated_time_to_regain_access": 19}]}
    assert seconds_to_reset({header: json.dumps(use)}) == 19 * 60
    for odd in ("", "{}", "[]", "nonsense", '{"1": 5}', '{"1": [{"estimated_time_to_regain_access": "x"}]}', "[" * 99_999):
        assert seconds_to_reset({header: odd}) == 0
