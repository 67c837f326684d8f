"""Who may rate, what a rater may fetch, and that nothing a rater gets tells where an item comes from."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from types import SimpleNamespace

import httpx
import pytest

from components.app.invitations import INVITATION, sign
from components.ratings.running import follow
from tests.app.rating import PUBLIC, RatingApp, invited, item_of, rating_app
from tests.app.server import SECRET, TOKEN, csrf_of, running, settings_of
from tests.support.ratings.audit import event_kinds
from tests.support.ratings.made_items import make_items


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RatingApp]:
    with rating_app(tmp_path_factory.mktemp("rating"), hosts=PUBLIC) as app:
        yield app


def test_an_expired_forged_or_other_link_is_refused(app):
    client = httpx.Client(base_url=app.url, follow_redirects=True)
    link = app.link()
    for refused, reason in {
        f"{app.url}/rate/invitation?token={sign(SECRET, INVITATION, ['r-1', int(time.time()) - 1])}": "expired",
        link[:-3] + ("abc" if link[-3:] != "abc" else "abd"): "not valid",
        f"{app.url}/rate/invitation?token={sign('another key ' * 4, INVITATION, ['r-1', 2e9])}": "not valid",
        f"{app.url}/rate/invitation?token={sign(SECRET, 'speech', True)}": "not valid",
        app.link(rater="r-0123456789"): "no such rater",
    }.items():
        answer = client.get(refused)
        assert answer.status_code == 400 and reason in answer.text
        assert client.get("/rate/task").status_code == 403


def test_the_session_ends_with_the_invitation(app, monkeypatch):
    client = invited(app, days=1)
    assert client.get("/rate/task").status_code == 200
    monkeypatch.setattr("components.app.raters.time", SimpleNamespace(time=lambda: time.time() + 2 * 86400))
    assert "expired" in client.get("/rate/task").text


def test_a_revoked_invitation_ends_its_sessions_at_once_and_keeps_its_ratings(app):
    rater, other = app.store.invite("english", 2)
    client, unharmed = invited(app, rater=rater), invited(app, rater=other)
    page = client.get("/rate/task")
    form = {"csrf": csrf_of(page), "item": item_of(page), "verdict": "GOOD"}
    client.post("/rate/task", data=form)
    before = app.store.final_ratings("english")
    key = item_of(client.get("/rate/task"))
    assert app.store.revoke([rater]) == [rater] and app.store.revoke([rater]) == []
    for path in ("/rate/task", "/rate/guidelines", f"/rate/image/{key}"):
        answer = client.get(path)
        assert answer.status_code == 403 and "revoked" in answer.text
    assert client.post("/rate/task", data=form | {"item": key}).status_code == 403
    assert client.post("/rate/undo", data=form).status_code == 403
    again = httpx.get(app.link(rater=rater), follow_redirects=True)
    assert again.status_code == 403 and "revoked" in again.text
    assert unharmed.get("/rate/task").status_code == 200
    assert app.store.final_ratings("english") == before and before
    assert "revoked" in event_kinds(app.store, "english")


def test_a_rater_logs_out_of_a_browser_and_comes_back_with_the_link(app):
    rater = app.store.invite("english")[0]
    client = invited(app, rater=rater)
    page = client.get("/rate/task")
    assert 'action="/rate/leave"' in page.text
    assert client.post("/rate/leave").status_code == 403, "another site cannot log a rater out"
    left = client.post("/rate/leave", data={"csrf": csrf_of(page)}, headers={"accept-language": "pt"})
    assert left.status_code == 200 and ("logged out" in left.text or "Você saiu" in left.text)
    assert client.get("/rate/task").status_code == 403
    assert client.get(f"/rate/image/{item_of(page)}").status_code == 404
    assert item_of(invited(app, rater=rater).get("/rate/task")) == item_of(page)


def test_a_rater_cannot_open_the_owners_pages_or_images_that_were_not_given(app):
    client = invited(app)
    assert client.get("/rate").status_code == 403
    token = csrf_of(client.get("/rate/task"))
    for path in ("/rate/self", "/rate/invitations"):
        form = {"csrf": token, "dataset": "english", "count": "1", "days": "1"}
        assert client.post(path, data=form).status_code == 403
    given = item_of(client.get("/rate/task"))
    image = client.get(f"/rate/image/{given}")
    assert image.content == app.items.image(given) and image.headers["cache-control"].startswith("private, max-age=")
    for other in app.items.keys:
        if other != given:
            assert client.get(f"/rate/image/{other}").status_code == client.get(f"/rate/audio/{other}").status_code == 404
            late = client.post("/rate/task", data={"csrf": token, "item": other, "verdict": "GOOD"})
            assert "after=late" in str(late.url)
    stranger = httpx.Client(base_url=app.url)
    for path in (f"/rate/image/{given}", f"/rate/audio/{given}"):
        assert stranger.get(path).status_code == 404
    assert stranger.get("/rate/task").status_code == stranger.get("/rate").status_code == 403


def test_nothing_that_a_rater_gets_tells_where_an_item_comes_from(tmp_path):
    secret = {"mms-48", "t2t8x8", "speech_to_image", "retrieval", "rank", "record-", "uses", "known", "dataset"}
    with rating_app(tmp_path, hosts=PUBLIC) as app:  # of its own: raters of other tests may hold all places of an item
        client = invited(app)
        secret |= {item["image_sha256"][:16] for item in map(app.items.item, app.items.keys)}
        for _ in app.items.keys:
            page = client.get("/rate/task")
            key = item_of(page)
            answers = [page, client.get(f"/rate/image/{key}"), client.get(f"/rate/audio/{key}")]
            for answer in answers:
                text = str(answer.headers) + (answer.text if "text" in answer.headers["content-type"] else "")
                assert not [word for word in secret if word in text.replace("build_rating_items", "")]
            if app.items.audio(key):
                assert app.items.item(key)["caption"] not in page.text
            client.post("/rate/task", data={"csrf": csrf_of(page), "item": key, "verdict": "GOOD"})
        assert "Thank you" in client.get("/rate/task").text


def test_forms_without_the_sessions_token_and_unknown_verdicts_save_nothing(app):
    client = invited(app)
    page = client.get("/rate/task")
    before = len(app.store.final_ratings("english"))
    for form, status in (({}, 403), ({"csrf": "guessed"}, 403), ({"csrf": csrf_of(page), "verdict": "MAYBE"}, 400)):
        assert client.post("/rate/task", data={"item": item_of(page), "verdict": "GOOD"} | form).status_code == status
    assert client.post("/rate/undo").status_code == 403
    assert len(app.store.final_ratings("english")) == before


def test_a_part_of_the_speech_is_sent_to_players_that_ask_for_it(app):
    client = invited(app)
    key = item_of(client.get("/rate/task"))
    while (speech := app.items.audio(key)) is None:
        page = client.get("/rate/task")
        client.post("/rate/task", data={"csrf": csrf_of(page), "item": key, "verdict": "BAD"})
        key = item_of(client.get("/rate/task"))
    for asked, part in {"bytes=0-1": speech[:2], "bytes=10-": speech[10:], "bytes=-7": speech[-7:]}.items():
        answer = client.get(f"/rate/audio/{key}", headers={"range": asked})
        assert (answer.status_code, answer.content) == (206, part)
    assert client.get(f"/rate/audio/{key}", headers={"range": "bytes=999999-"}).status_code == 416
    assert client.get(f"/rate/audio/{key}", headers={"range": f"bytes={'9' * 5000}-"}).content == speech
    assert client.get(f"/rate/audio/{key}").content == speech


def test_changed_items_are_shown_without_a_restart(tmp_path):
    with rating_app(tmp_path, hosts=PUBLIC, captions=2, retrieved=0, voiced=0) as app:
        client = invited(app)
        assert "Item 1 of 2" in client.get("/rate/task").text
        make_items(tmp_path, captions=0, retrieved=1, voiced=0)
        page = client.get("/rate/task")
        assert "Item 1 of 1" in page.text and item_of(page) not in app.items.keys
        assert client.get(f"/rate/image/{item_of(page)}").status_code == 200
        assert follow(app.store, "english", app.items)["added"] == 2


def test_behind_a_proxy_with_https_cookies_and_invitations_are_for_https_only(tmp_path):
    make_items(tmp_path)
    with running(settings_of(tmp_path, hosts=PUBLIC, https=True)) as app:
        secure = []

        def ask(method: str, path: str, **sent: object) -> httpx.Response:
            cookies = {"cookie": secure[-1].partition(";")[0]} if secure else {}
            answer = httpx.request(method, app.url + path, headers={"host": "rate.example"} | cookies, **sent)  # type: ignore[arg-type]
            secure.extend(answer.headers.get_list("set-cookie"))
            return answer

        ask("GET", f"/login?token={TOKEN}")
        form = {"csrf": csrf_of(ask("GET", "/rate")), "dataset": "english", "count": "2", "days": "3"}
        page = ask("POST", "/rate/invitations", data=form)
        assert page.text.count('value="https://rate.example/rate/invitation?token=') == 2
        assert secure and all("secure" in cookie and "httponly" in cookie for cookie in secure)
        assert "strict-transport-security" in page.headers


def test_the_owner_rates_on_after_the_database_was_replaced(tmp_path):
    with rating_app(tmp_path, hosts=("127.0.0.1",)) as app:
        client = httpx.Client(base_url=app.url)
        client.get(app.start_link)
        client.follow_redirects = True
        for _ in range(2):
            form = {"csrf": csrf_of(client.get("/rate")), "dataset": "english"}
            assert "How to rate" in client.post("/rate/self", data=form).text
            with closing(sqlite3.connect(tmp_path / "ratings.sqlite")) as base, base:  # as another one, which knows no such rater
                base.executescript("DELETE FROM places; DELETE FROM raters")


def test_an_answer_after_others_took_the_place_is_refused_politely(app, tmp_path, monkeypatch):
    with rating_app(tmp_path, hosts=PUBLIC, captions=0, retrieved=0, voiced=1) as app:
        late = invited(app)
        page = late.get("/rate/task")
        real = app.store.clock()
        monkeypatch.setattr("components.ratings.assignment.HOLD", -1.0)  # reservations end at once
        app.store.clock = lambda: real + 10
        for rater in app.store.invite("english", 5):
            app.store.save(rater, str(app.store.next_item(rater)), "GOOD")
        answer = late.post("/rate/task", data={"csrf": csrf_of(page), "item": item_of(page), "verdict": "BAD"})
        assert "came too late" in answer.text and "Thank you" in answer.text
        assert len(app.store.final_ratings("english")) == 5


def test_the_owner_sees_what_is_counted_and_where_ratings_of_files_are(app):
    with httpx.Client(base_url=app.url, headers={"authorization": f"Bearer {TOKEN}"}) as owner:
        before = owner.get("/rate").text
        assert re.search(r"Given in this application: \d+ of \d+ ratings", before) and "ratings.html" not in before
        results = app.root / "data" / "english" / "evaluate_ratings" / "ratings.html"
        results.parent.mkdir(parents=True)
        results.write_text("the results")
        page = owner.get("/rate").text
        assert "ratings/english are not counted here" in page and f'href="/files/{results.relative_to(app.root)}"' in page
