"""The owner's access: nobody is the owner without the start link's token, wherever the application listens; sessions that end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from components.app import access
from components.app.settings import TOKEN as FILE
from components.app.settings import write_token
from tests.app.server import OWNER, TOKEN, Running, csrf_of, running, settings_of
from tests.support.app.browser import assert_accessible

PAGES = ("/", "/rate", "/describe", "/search", "/feedback", "/files/params.yaml")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """An application at the default address."""
    with running(settings_of(tmp_path_factory.mktemp("owner"))) as app:
        yield app


@pytest.fixture
def owner(site: Running) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=site.url) as client:
        assert client.get(site.start_link).status_code == 303
        yield client


@pytest.mark.parametrize(
    "changes", [{}, {"address": "0.0.0.0"}, {"address": "192.0.2.1"}, {"https": True}, {"hosts": ("127.0.0.1", "rate.example")}]
)
def test_nobody_is_the_owner_without_the_token_wherever_the_application_listens_and_whatever_host_is_named(tmp_path, changes):
    with running(settings_of(tmp_path, **changes)) as app, httpx.Client(base_url=app.url) as stranger:
        for path in PAGES:
            for header in (
                {},
                {"authorization": "Bearer"},
                {"authorization": "Bearer none"},
                {"authorization": f"Basic {TOKEN}"},
            ):
                assert stranger.get(path, headers={"host": "127.0.0.1"} | header).status_code == 403, path
        for path in ("/describe", "/search", "/feedback", "/rate/self", "/logout"):
            assert stranger.post(path, data={"text": "x", "dataset": "x", "index": "x"}).status_code == 403, path


def test_the_start_link_begins_a_session_of_a_cookie_that_scripts_and_other_sites_do_not_get_and_leaves_the_address(site):
    with httpx.Client(base_url=site.url) as client:
        answer = client.get(site.start_link)
        assert answer.status_code == 303 and answer.headers["location"] == "/" and answer.headers["cache-control"] == "no-store"
        cookie = answer.headers["set-cookie"].lower()
        assert "httponly" in cookie and "samesite=lax" in cookie and TOKEN not in cookie
        assert client.get("/feedback").status_code == 200
    for token in ("", "x", f"{TOKEN}x", TOKEN[:-1], "é", "\x00"):
        with httpx.Client(base_url=site.url) as client:
            assert client.get("/login", params={"token": token}).status_code in (403, 429)
            assert client.get("/feedback").status_code == 403


def test_a_program_is_the_owner_by_a_header_and_needs_no_page(site):
    with httpx.Client(base_url=site.url, headers=OWNER) as program:
        assert program.get("/feedback").status_code == 200
        assert program.post("/language", data={"language": "pt"}).status_code == 303
    assert httpx.post(f"{site.url}/language", data={"language": "pt"}, headers={"authorization": "Bearer x"}).status_code == 403


def test_the_token_is_in_a_file_that_others_cannot_read_and_another_one_after_each_start(tmp_path: Path):
    first, second = (settings_of(tmp_path, token=token) for token in ("one", "two"))
    (tmp_path / FILE).parent.mkdir(parents=True)
    (tmp_path / FILE).write_text("old")
    (tmp_path / FILE).chmod(0o644)
    for settings in (first, second):
        write_token(settings)
        assert (tmp_path / FILE).read_text().strip() == settings.token
        assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600
    made = {type(first)(tmp_path, "secret", "").token for _ in range(3)}
    assert len(made) == 3 and min(map(len, made)) >= 32


def test_logging_out_ends_the_session_in_every_copy_of_its_cookie_and_nothing_renews_it(site, owner):
    copied = dict(owner.cookies)
    page = owner.get("/feedback")
    assert 'action="/logout"' in page.text
    assert owner.post("/logout").status_code == 403, "another site cannot log the owner out"
    left = owner.post("/logout", data={"csrf": csrf_of(page)})
    assert left.status_code == 200 and "logged out" in left.text and 'action="/logout"' not in left.text
    for _ in range(2):
        assert owner.get("/feedback").status_code == 403
    with httpx.Client(base_url=site.url, cookies=copied) as thief:
        for _ in range(2):
            assert thief.get("/feedback").status_code == 403


def test_a_session_ends_after_its_time_however_much_it_is_used(site, owner):
    now = [site.app.state.owners.clock()]
    site.app.state.owners.clock = lambda: now[0]
    for _ in range(3):
        now[0] += access.SESSION_SECONDS / 3 - 1
        assert owner.get("/feedback").status_code == 200
    now[0] += 4
    assert owner.get("/feedback").status_code == 403


def test_a_session_of_another_start_or_of_another_login_is_not_known(tmp_path):
    settings = settings_of(tmp_path)
    with running(settings) as app, httpx.Client() as client:
        client.get(app.start_link)
        assert client.get(f"{app.url}/feedback").status_code == 200
        cookies = dict(client.cookies)
    with running(settings) as app:
        assert httpx.get(f"{app.url}/feedback", cookies=cookies).status_code == 403


def test_two_projects_of_one_host_have_cookies_of_their_own(tmp_path):
    one, other = settings_of(tmp_path), settings_of(tmp_path, secret="another key of tests with more than 32 letters")
    assert one.cookie != other.cookie


@pytest.mark.long
def test_the_page_after_logging_out_and_the_refusal_are_accessible(page, site):
    site.show(page, "/feedback")
    assert_accessible(page)
    page.get_by_role("button", name="Log out").press("Enter")
    page.wait_for_url("**/logout")
    assert "You are logged out" in page.inner_text("main")
    assert_accessible(page)
    page.goto(f"{site.url}/feedback")
    assert "for the project's owner" in page.inner_text("main")
    assert_accessible(page)
