"""Posts of a hashtag from a server with Mastodon's API: both phases, every field, one row per dropped post."""

from __future__ import annotations

import json

import pytest

from tests.support.crawl.social import MEDIA, SERVER, Answer, rows, rules


def test_every_field_of_a_post_is_recorded(social, collect):
    social.person("ana")
    social.post("ana", 1, "<p>Ol&aacute; <a href='x'>#PraCegoVer</a><br>Foto de uma <b>ponte</b>.</p><p>#fim</p>", media=2)
    first, second = rows(collect(social.proxy))
    assert first["alt"] == "Olá #PraCegoVer\nFoto de uma ponte.\n\n#fim" == second["alt"]
    assert first["page_url"] == f"{SERVER}/@ana/00000001" and first["image_url"] == f"{MEDIA}/00000001-0.jpg"
    assert (first["owner"], first["post"], first["language"]) == ("ana@social.sample", "00000001", "pt")
    assert first["posted"] == "2026-11-10T10:01:00Z" and len(first["collected"]) == 20 and first["collected"].endswith("Z")
    assert [row["position"] for row in (first, second)] == [0, 1] and first["figcaption"] == "descrição 1.0"
    assert first["width"] > 100 and first["height"] > 100 and first["format"] == "JPEG"


def test_the_timeline_yields_accounts_and_listings_yield_posts_of_any_age(social, collect):
    social.person("ana")
    for number in range(1, 9):
        social.post("ana", number, day=1 + number)
    social.timeline = [social.people["ana"].posts[0] | {"account": social.account(social.people["ana"])}]
    assert [row["post"] for row in rows(collect(social.proxy))] == [f"{number:08d}" for number in range(1, 9)]


def test_accounts_before_the_time_window_are_ignored(social, collect):
    for name, created in (("new", "2099-01-01T00:00:00Z"), ("old", "2020-01-01T00:00:00Z"), ("older", "2019-01-01T00:00:00Z")):
        social.person(name)
        social.post(name, 10 - len(social.people), created_at=created)
    social.page = 1
    output = collect(social.proxy, window_days=7.0)
    assert {row["owner"] for row in rows(output)} == {"new@social.sample"}
    assert len(social.asked(lambda url: "timelines" in url)) == 2  # no page further back than the first that is too old


@pytest.mark.parametrize("link", [True, False], ids=["link header", "no link header"])
def test_every_page_is_read(social, collect, link):
    social.person("ana")
    social.link = link
    for number in range(1, 8):
        social.post("ana", number)
    assert len(rows(collect(social.proxy, page_size=3))) == 7


def test_each_unsuitable_post_has_a_row_with_its_rule(social, collect):
    social.person("ana")
    video = {"id": "9", "type": "video", "url": f"{MEDIA}/v.mp4", "description": None}
    expected = {
        1: ("video_post", {"media_attachments": [video]}),
        2: ("no_image", {"media_attachments": []}),
        3: ("empty_caption", {"content": "<p>  </p>"}),
        4: ("hashtag_inside_word", {"content": "<p>veja #pracegoverbem</p>"}),
        5: ("no_hashtag", {"content": "<p>nada</p>"}),
        6: ("not_public", {"visibility": "private"}),
        7: ("boost", {"reblog": {"id": "1"}}),
        8: ("wrong_type", {"media_attachments": "none"}),
        9: ("missing_field", {"created_at": None}),
        10: ("wrong_type", {"content": 5}),
        11: ("not_public", {"visibility": "direct"}),
        12: ("caption_too_long", {"content": "#pracegover " + "a" * 60_000}),
        13: ("unusable_url", {"url": "javascript:x", "uri": ""}),
    }
    for number, (_, change) in expected.items():
        social.post("ana", number, **change)
    social.post("ana", 20)
    social.missing.add("/00000020-0.jpg")
    social.post("ana", 21, media_attachments=[video, social.image(21), {"id": "3", "type": "unknown", "url": None}])
    output = collect(social.proxy)
    dropped_rules = [(row["detail"], row["rule"]) for row in output.ledger().to_pylist() if row["verdict"] == "dropped"]
    for number, (rule, _) in expected.items():
        assert [dropped for detail, dropped in dropped_rules if f"post {number:08d} of ana" in detail] == [rule], number
    assert [row["position"] for row in rows(output)] == [1]
    assert sorted(rule for detail, rule in dropped_rules if "00000021" in detail) == ["other", "video"]
    assert [rule for detail, rule in dropped_rules if "00000020" in detail] == ["http_status"]


def test_refusing_accounts_are_recorded_and_never_visited(social, collect):
    for name, more in {
        "shut": {"locked": True},
        "shy": {"more": {"noindex": True}},
        "lost": {"more": {"suspended": True}},
    }.items():
        social.person(name, **more)
        social.post(name, len(social.people))
    social.person("ana")
    social.post("ana", 9)
    output = collect(social.proxy)
    assert {row["owner"] for row in rows(output)} == {"ana@social.sample"}
    dropped_rules = rules(output)
    assert dropped_rules[f"{SERVER}/@shut"] == "account_private" and dropped_rules[f"{SERVER}/@shy"] == "account_noindex"
    assert dropped_rules[f"{SERVER}/@lost"] == "account_gone"
    assert len(social.asked(lambda url: "/statuses" in url)) == 1


def test_under_opt_in_only_consenting_accounts_are_collected(social, collect):
    for name, indexable in (("yes", True), ("no", False)):
        social.person(name, more={"indexable": indexable})
        social.post(name, len(social.people))
    output = collect(social.proxy, consent="opt_in")
    assert {row["owner"] for row in rows(output)} == {"yes@social.sample"}
    assert rules(output)[f"{SERVER}/@no"] == "no_consent"
    both = collect(social.proxy, "other", consent="opt_in", consenting=["social.sample"])
    assert {row["owner"] for row in rows(both)} == {"yes@social.sample", "no@social.sample"}


def test_a_robots_txt_that_forbids_the_api_is_obeyed(social, collect):
    social.person("ana")
    social.post("ana", 1)
    social.robots = "User-agent: *\nDisallow: /api/\n"
    output = collect(social.proxy)
    assert "robots" in rules(output).values() and output.table().num_rows == 0 and not social.asked()


def test_named_accounts_are_visited_without_the_timeline(social, collect):
    social.person("ana")
    social.post("ana", 1)
    social.timeline = []
    output = collect(social.proxy, accounts=["ana@social.sample", "@nobody"])
    assert [row["owner"] for row in rows(output)] == ["ana@social.sample"] and rules(output) == {
        "account:nobody@social.sample": "account_gone"
    }


def test_tag_variants_are_searched_and_a_post_of_two_tags_is_recorded_once(social, collect):
    social.person("ana")
    social.post("ana", 1, "<p>#ParaCegoVer #pracegover praia</p>")
    social.post("ana", 2, "<p>#ParaCegoVer praia</p>")
    assert [row["post"] for row in rows(collect(social.proxy, variants=["paracegover"]))] == ["00000001", "00000002"]
    assert len(social.asked(lambda url: "/paracegover" in url or "tagged=paracegover" in url)) == 2


def test_hostile_answers_do_not_end_the_run(social, collect):
    social.person("ana")
    social.post("ana", 1)
    for number, answer in enumerate(([], {}, "x", [None, 5, "x", [], {"id": {}}], [{"id": "1" * 5000}], {"a": [[[[]]]]})):
        social.person(f"odd{number}")
        social.post(f"odd{number}", 100 + number)
        social.order(f"accounts/{101 + number}/statuses", Answer(200, json.dumps(answer).encode()))
    social.person("deep")
    social.post("deep", 300)
    social.order("accounts/107/statuses", *[Answer(200, b"[" * 100_000)] * 2)
    output = collect(social.proxy)
    assert {row["owner"] for row in rows(output)} == {"ana@social.sample"}
    dropped_rules = rules(output)
    assert (
        dropped_rules["listing:odd2@social.sample"] == "wrong_type" and dropped_rules["listing:deep@social.sample"] == "not_json"
    )


def test_a_listing_with_a_paging_loop_or_foreign_link_ends(social, collect):
    social.person("ana")
    social.post("ana", 1)
    circle = {"Link": f'<{SERVER}/api/v1/accounts/100/statuses?max_id=5>; rel="next"'}
    page = json.dumps(social.people["ana"].posts).encode()
    social.order("/statuses", *[Answer(200, page, circle)] * 3)
    output = collect(social.proxy)
    assert len(rows(output)) == 1 and rules(output)["listing:ana@social.sample"] == "paging_loop"
    social.order("/statuses", Answer(200, page, {"Link": '<http://evil.sample/steal?token=1>; rel="next"'}))
    assert len(rows(collect(social.proxy, "other"))) == 1
    assert not social.asked(lambda url: "evil" in url)
