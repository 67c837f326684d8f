"""Credentials of Google: every kind is used as documented; missing or unsafe ones are an error before any request."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from google.auth import jwt

from components.core.errors import HearsightError
from components.google.credentials import SCOPE
from tests.support.google.client_calls import ask, sentiment, texts
from tests.support.google.fake_google import (
    FakeGoogle,
    Reply,
)  # fmt: skip
from tests.support.google.google_documents import DOG


@pytest.mark.parametrize("given", ["http://example.com", "ftp://127.0.0.1", "http://127.0.0.1.example.com:80", "nonsense"])
def test_an_unencrypted_endpoint_is_refused(google: FakeGoogle, monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv("GOOGLE_LANGUAGE_ENDPOINT", given)
    with pytest.raises(HearsightError, match="GOOGLE_LANGUAGE_ENDPOINT"):
        sentiment().compute(DOG)


def test_without_credentials_the_variable_and_the_command_are_named(google: FakeGoogle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GOOGLE_API_KEY")
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    monkeypatch.setenv("CLOUDSDK_CONFIG", "/nonexistent")
    with pytest.raises(HearsightError, match="set GOOGLE_API_KEY, or run `gcloud auth application-default login`"):
        sentiment().compute(DOG)
    assert not google.requests


@pytest.mark.parametrize("missing", ["google.cloud", "google.cloud.vision_v1"])
def test_without_the_extra_the_command_that_installs_it_is_named(
    google: FakeGoogle, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    for name in [name for name in sys.modules if name.startswith("google.cloud.")]:  # loaded by an earlier test
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(HearsightError, match=r"are not installed .* run `pip install --editable '\.\[google\]'`"):
        sentiment().compute(DOG)
    assert not google.requests


def test_a_malformed_key_is_an_error_before_any_request(google: FakeGoogle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "a b\nc")
    with pytest.raises(HearsightError, match="GOOGLE_API_KEY contains"):
        sentiment().compute(DOG)


def test_a_service_account_signs_its_own_bearer_token(
    google: FakeGoogle, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    key = rsa.generate_private_key(65537, 2048)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    use_credentials(
        {
            "type": "service_account", "project_id": "p", "private_key_id": "1", "private_key": private,
            "client_email": "a@p.example", "client_id": "1", "token_uri": f"{google.url}/token",
        }, monkeypatch, tmp_path,
    )  # fmt: skip
    ask(sentiment(), texts(3))
    assert len(google.requests) == 3
    for _, headers, _ in google.requests:
        scheme, _, token = headers["authorization"].partition(" ")
        claims = jwt.decode(token, public)
        assert (
            scheme == "Bearer" and claims["iss"] == "a@p.example" and claims["scope"] == SCOPE and "x-goog-api-key" not in headers
        )


def test_a_workload_identity_is_exchanged_for_a_bearer_token(
    google: FakeGoogle, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    subject = tmp_path / "subject"
    subject.write_text("proof of a test")
    use_credentials(
        {
            "type": "external_account", "audience": "//iam.googleapis.com/projects/1/locations/global/pools/p/providers/q",
            "subject_token_type": "urn:ietf:params:oauth:token-type:jwt", "token_url": f"{google.url}/token",
            "credential_source": {"file": str(subject)},
        }, monkeypatch, tmp_path,
    )  # fmt: skip
    token = {"access_token": "token-of-a-test", "expires_in": 3600, "token_type": "Bearer", "issued_token_type": "t"}
    google.script = lambda number, path, body: Reply(200, token) if path == "/token" else None
    ask(sentiment(), texts(3))
    asked = [headers for path, headers, _ in google.requests if path != "/token"]
    assert len(asked) == 3
    assert all(headers["authorization"] == "Bearer token-of-a-test" and "x-goog-api-key" not in headers for headers in asked)
    google.script = lambda number, path, body: Reply(400, {"error": "invalid_grant"}) if path == "/token" else None
    with pytest.raises(HearsightError, match="Google issued no token"):
        sentiment().compute(DOG)


def use_credentials(content: dict[str, Any], monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    file = folder / "credentials.json"
    file.write_text(json.dumps(content))
    monkeypatch.delenv("GOOGLE_API_KEY")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "p")  # or google-auth asks Google for it
