"""Every request: Host header, sizes, rates, headers of the answer, cross-site forms, and who may see what."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import numpy as np
import pytest
import soundfile

from components.app.security import SMALL_BODY, RateLimit
from components.app.settings import LOOPBACK_HOSTS, read_secret
from components.app.uploads import MOST_SECONDS, limit_sound
from components.core.errors import HearsightError
from tests.app.server import TOKEN, Running, csrf_of, running, settings_of
from tests.support.app.browser import assert_accessible
from tests.support.app.project import new_project


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Running:
    """An application that others than this machine may reach."""
    with running(settings_of(tmp_path_factory.mktemp("public"), hosts=(*LOOPBACK_HOSTS, "rate.example"))) as app:
        yield app


@pytest.fixture
def client(public: Running) -> httpx.Client:
    with httpx.Client(base_url=public.url) as client:
        yield client


def test_an_unknown_host_is_refused(client):
    assert client.get("/", headers={"host": "evil.example"}).status_code == 400
    assert client.get("/", headers={"host": "rate.example"}).status_code != 400


@pytest.mark.parametrize("host", ["localhost:8010", "127.0.0.1", "[::1]:8010"])
def test_names_and_addresses_of_this_machine_are_known_hosts(client, host):
    assert client.get("/none", headers={"host": host}).status_code == 404


def test_every_answer_has_the_security_headers(client, public, monkeypatch):
    monkeypatch.setattr("components.app.routes.feedback.language_of", lambda request: 1 / 0)
    client.get("/login", params={"token": TOKEN})
    for path, status in {"/": 400, "/none": 404, "/static/app.css": 200, "/files/none": 400, "/feedback": 500}.items():
        answer = httpx.get(public.url + path, cookies=dict(client.cookies))  # a failure ends its connection
        assert answer.status_code == status
        headers = answer.headers
        assert "default-src 'none'" in headers["content-security-policy"] and headers["cache-control"] == "no-store", path
        assert headers["x-content-type-options"] == "nosniff" and headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize("declared", [True, False])
def test_a_large_body_is_refused_by_its_declared_and_by_its_real_size(client, declared):
    body = b"language=" + b"x" * SMALL_BODY
    sent = body if declared else iter([body])
    headers = {"content-type": "application/x-www-form-urlencoded"}
    assert client.post("/language", content=sent, headers=headers).status_code in (400, 413)


def test_only_the_owner_sends_files(client):
    image = {"file": ("image.jpg", b"x" * SMALL_BODY)}
    assert client.post("/describe", files=image).status_code in (400, 413)
    client.get("/login", params={"token": TOKEN})
    answer = client.post("/describe", files=image, data={"csrf": csrf_of(client.get("/feedback"))})
    assert "more than" not in answer.text and answer.status_code == 400


@pytest.mark.parametrize("kind", ["FLAC", "OGG", "WAV"])
def test_a_long_sound_is_refused_before_it_is_decoded(kind):
    for seconds in (MOST_SECONDS, MOST_SECONDS + 1):
        target = io.BytesIO()
        soundfile.write(target, np.zeros(8000 * seconds, "int16"), 8000, format=kind)
        if seconds <= MOST_SECONDS:
            limit_sound(target.getvalue())
    with pytest.raises(HearsightError, match="more than 60 s"):
        limit_sound(target.getvalue())
    limit_sound(b"no sound")


def test_a_short_sound_of_many_channels_at_a_high_rate_is_refused_too():
    target = io.BytesIO()
    soundfile.write(target, np.zeros((600_000 * 10, 8), "int16"), 600_000, format="FLAC")
    with pytest.raises(HearsightError, match="samples"):
        limit_sound(target.getvalue())


def test_a_form_without_the_sessions_token_changes_nothing(client):
    page = client.get("/none")
    for form in ({"language": "pt"}, {"language": "pt", "csrf": "guessed"}):
        assert client.post("/language", data=form).status_code == 403
    right = {"language": "pt", "csrf": csrf_of(page)}
    assert client.post("/language", data=right, headers={"origin": "https://evil.example"}).status_code == 403
    assert client.post("/language", data=right).status_code == 303
    assert '<html lang="pt">' in client.get("/none").text


@pytest.mark.parametrize("back", ["//evil.example", "/\\evil.example", "https://evil.example/"])
def test_the_language_form_never_leads_to_another_site(client, back):
    token = csrf_of(client.get("/none"))
    answer = client.post("/language", data={"language": "pt", "csrf": token, "back": back})
    assert answer.headers["location"] == "/"


def test_a_changed_session_cookie_is_ignored(client):
    client.get("/none")
    name, value = next(iter(client.cookies.items()))
    client.cookies.clear()
    client.cookies.set(name, "e30=" + value)
    assert client.post("/language", data={"language": "pt", "csrf": ""}).status_code == 403


def test_one_clients_requests_are_limited_and_another_clients_are_not():
    now = [0.0]
    limit = RateLimit(None, {"/login": (60.0, 2.0)}, clock=lambda: now[0])
    assert [limit._take("/login", "a") for _ in range(3)] == [True, True, False]
    assert limit._take("/login", "b")
    now[0] = 1.0
    assert limit._take("/login", "a") and not limit._take("/login", "a")


def test_too_many_logins_are_answered_with_429(tmp_path):
    with running(settings_of(tmp_path), limited=True) as app, httpx.Client(base_url=app.url) as client:
        answers = [client.get("/login", params={"token": "x"}).status_code for _ in range(30)]
    assert 429 in answers


def test_the_signing_key_is_made_once_and_readable_by_its_owner_only(tmp_path: Path, monkeypatch):
    with ThreadPoolExecutor(8) as pool:
        (key,) = set(pool.map(read_secret, [tmp_path] * 8))
    assert read_secret(tmp_path) == key and len(key) >= 32
    assert [path.name for path in (tmp_path / ".hearsight/app").iterdir()] == ["secret"]
    assert (tmp_path / ".hearsight/app/secret").stat().st_mode & 0o077 == 0
    (tmp_path / ".hearsight/app/secret").chmod(0o644)  # as a copy of the project leaves it
    assert read_secret(tmp_path) == key and (tmp_path / ".hearsight/app/secret").stat().st_mode & 0o077 == 0
    monkeypatch.setenv("HEARSIGHT_APP_SECRET", "short")
    with pytest.raises(HearsightError, match="too short"):
        read_secret(tmp_path)


@pytest.mark.long
def test_a_text_of_the_web_in_a_stages_page_runs_no_script(page, tmp_path: Path):
    new_project(tmp_path)
    (tmp_path / "reports/made").mkdir(parents=True)
    attack = "<title>safe</title><style>p { color: rgb(1, 2, 3) }</style><p>x<script>document.title = 'ran'</script>"
    attack += "<img src=/none onerror=\"document.title = 'ran'\"><script src=made.js></script>"
    (tmp_path / "reports/made/index.html").write_text(attack)
    (tmp_path / "reports/made/made.js").write_text("document.title = 'ran'")
    with running(settings_of(tmp_path)) as app:
        app.show(page, "/files/reports/made/index.html")
        assert page.title() == "safe"
        assert page.locator("p").evaluate("one => getComputedStyle(one).color") == "rgb(1, 2, 3)"


def test_the_error_page_is_accessible(page, public):
    page.goto(f"{public.url}/none")
    assert_accessible(page)
