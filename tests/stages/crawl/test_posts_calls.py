"""API access: rate limits are waited for or reported, tokens are never stored, stopped runs resume."""

from __future__ import annotations

import time

import pytest

from components.core.errors import HearsightError
from components.web.api import Api, seconds_until_reset
from components.web.store import FetchStore
from tests.support.crawl.social import SERVER, Answer, read_all_bytes, rows, rules

TOKEN = "s3cret+token/of=ours"
DATE = {"Date": "Sat, 21 Nov 2026 10:00:00 GMT"}


def limited(seconds: int, status: int = 429) -> Answer:
    """Return an answer with an exhausted rate limit that resets after ``seconds``."""
    reset = f"2026-11-21T10:{seconds // 60:02d}:{seconds % 60:02d}.000000Z"
    return Answer(status, b"{}", DATE | {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset, "X-RateLimit-Limit": "300"})


@pytest.mark.long
def test_a_rate_limited_request_is_repeated_after_the_reset(social, collect, capfd):
    social.person("ana")
    social.post("ana", 1)
    social.order("/statuses", limited(2))
    start = time.monotonic()
    assert len(rows(collect(social.proxy))) == 1
    assert time.monotonic() - start > 1.5 and "rate limit" in capfd.readouterr().err


@pytest.mark.long
def test_an_exhausted_limit_in_a_good_answer_delays_the_next_request(social, collect, capfd):
    social.person("ana")
    social.post("ana", 1)
    page = b"[]"
    social.order("timelines", Answer(200, page, limited(2).headers))
    social.post("ana", 2)
    start = time.monotonic()
    assert len(rows(collect(social.proxy, accounts=["ana"]))) == 2
    assert time.monotonic() - start > 1.5 and "rate limit" in capfd.readouterr().err


@pytest.mark.parametrize("part", ["timelines", "/statuses"])
def test_a_long_rate_limit_stops_the_run_and_the_next_run_resumes(social, collect, part):
    for name in ("ana", "bia"):
        social.person(name)
        social.post(name, len(social.people))
    social.order(part, limited(299))
    with pytest.raises(HearsightError, match=r"rate limit is used up.*299 s"):
        collect(social.proxy, per_host=1)
    before = social.asked()
    assert len(rows(collect(social.proxy))) == 2
    answered = [url for url in before if part not in url]
    assert not set(answered) & set(social.asked()[len(before) :])  # what was answered is not asked again


def test_a_missing_or_wrong_token_is_a_one_line_error_and_stores_nothing(social, collect, monkeypatch):
    social.person("ana")
    social.post("ana", 1)
    social.token = TOKEN
    with pytest.raises(HearsightError, match=r"asks for a token.*source\.token_variable"):
        collect(social.proxy)
    monkeypatch.setenv("A_TOKEN", "another token".replace(" ", "-"))
    with pytest.raises(HearsightError, match=r"does not accept the token in \$A_TOKEN"):
        collect(social.proxy, token_variable="A_TOKEN")
    monkeypatch.delenv("A_TOKEN")
    with pytest.raises(HearsightError, match=r"\$A_TOKEN: is not set"):
        collect(social.proxy, token_variable="A_TOKEN")
    monkeypatch.setenv("A_TOKEN", TOKEN)
    assert len(rows(collect(social.proxy, token_variable="A_TOKEN"))) == 1


def test_a_token_is_sent_to_the_api_only_and_stored_nowhere(social, collect, monkeypatch, tmp_path, capfd):
    social.person("ana")
    social.post("ana", 1, f"<p>#pracegover {TOKEN}</p>")
    social.token = TOKEN
    leaking = Answer(200, b'{"x": "%s"}' % TOKEN.encode(), {"Set-Cookie": f"session={TOKEN}", "X-Echo": TOKEN})
    social.order("/statuses", leaking)
    monkeypatch.setenv("A_TOKEN", TOKEN)
    collect(social.proxy, token_variable="A_TOKEN")
    sent = {url.split("/")[2] for url, headers in social.log if TOKEN in headers.get("authorization", "")}
    asked = {url.split("/")[2] for url, _ in social.log}
    assert sent == {"social.sample"} and asked == {"social.sample"}
    social.orders.clear()
    output = collect(social.proxy, "other", token_variable="A_TOKEN")
    assert {url.split("/")[2] for url, headers in social.log if "authorization" in headers} == {"social.sample"}
    assert "media.sample" in {url.split("/")[2] for url, _ in social.log} and len(rows(output)) == 1
    assert TOKEN.encode() not in read_all_bytes(tmp_path) and TOKEN not in "".join(capfd.readouterr())
    monkeypatch.delenv("A_TOKEN")  # and a replay needs none
    assert len(rows(collect("http://127.0.0.1:1", "other", token_variable="A_TOKEN"))) == 1


def test_a_redirect_does_not_carry_the_token_to_another_host(social, collect, monkeypatch):
    social.person("ana")
    social.post("ana", 1)
    monkeypatch.setenv("A_TOKEN", TOKEN)
    social.order("/statuses", Answer(302, b"", {"Location": "http://evil.sample/statuses"}))
    output = collect(social.proxy, token_variable="A_TOKEN")
    assert rules(output)["listing:ana@social.sample"] == "redirect" and not social.asked(lambda url: "evil" in url)


@pytest.mark.long
@pytest.mark.parametrize(
    "answer", [Answer(500, b"{}"), Answer(200, body=None), Answer(200, b"<html>down"), Answer(404, b"{}"), Answer(422, b"{}")]
)
def test_an_unavailable_timeline_stops_the_run_and_stores_nothing(social, collect, answer, tmp_path):
    social.person("ana")
    social.post("ana", 1)
    social.order("timelines", *[answer] * 6)
    with pytest.raises(HearsightError, match="/api/v1/timelines/tag/pracegover"):
        collect(social.proxy)
    with FetchStore(tmp_path / "data/store/day-1") as store:
        assert [entry.url for entry in store] == [f"{SERVER}/robots.txt"]
    social.orders.clear()
    assert len(rows(collect(social.proxy))) == 1


def test_a_transient_failure_is_retried(social, collect):
    social.person("ana")
    social.post("ana", 1)
    social.order("timelines", Answer(500, b"{}"))
    social.order("/statuses", Answer(200, b"<html>"))
    output = collect(social.proxy)
    assert len(rows(output)) == 1 and not rules(output)


def test_a_retry_requests_the_failed_listings_again(social, collect, tmp_path):
    from components.tools.snapshots import retry_snapshot
    from tests.support import make_stage
    from tests.support.crawl.crawls import posts_params

    for name in ("ana", "bia"):
        social.person(name)
        social.post(name, len(social.people))
    social.order("/100/statuses", *[Answer(503, b"")] * 2)
    assert len(rows(collect(social.proxy))) == 1
    start = len(social.log)
    report = retry_snapshot(make_stage(tmp_path, "crawl", params=posts_params(social.proxy)), ["http_5xx"])
    assert report["asked"] == report["answered"] == 1
    assert [url.split("/")[-1].split("?")[0] for url, _ in social.log[start:]] == ["statuses", "00000001-0.jpg"]
    assert len(rows(collect(social.proxy))) == 2


@pytest.mark.parametrize(
    ("reset", "seconds"),
    [
        ("2026-11-21T10:00:30.123Z", 30.123),
        ("2026-11-21T09:00:00Z", 0),
        ("30", 30),
        ("1795255230", 30),
        ("soon", 0),
        ("", 0),
        ("9" * 400, 0),
        ("2026-11-21T10:00:30", 30),
    ],
)
def test_the_time_to_a_reset_is_relative_to_the_answers_date(reset, seconds):
    sent = {"date": DATE["Date"]} | ({"x-ratelimit-reset": reset} if reset else {})
    if set(reset) == {"9"}:
        assert seconds_until_reset(sent) > 1e9  # more than anybody waits for
    else:
        assert seconds_until_reset(sent) == pytest.approx(seconds)


def test_a_token_is_removed_in_every_encoding():
    api = Api("https://graph.sample/v1", TOKEN)
    spelled = (TOKEN, "s3cret%2Btoken%2Fof%3Dours", r"s3cret+token\/of=ours")
    for form in spelled:
        assert b"s3cret" not in api.scrub(f'{{"next": "https://graph.sample/x?access_token={form}&after=1"}}'.encode())
    other = api.scrub(b'{"next": "https:\\/\\/graph.sample\\/x?access_token=EAAother&after=1"}')
    assert b"EAAother" not in other and b"after=1" in other
    assert (
        "Authorization" not in api.headers("https://graph.sample.evil/v1/x")
        and api.headers("https://graph.sample/v1/x")["Authorization"]
    )
