"""Settings of every test, and the S3 that several of them read from."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

from components.execution.engine import limit_threads
from tests.groups import group, weight
from tests.support import PROJECT, THOROUGH
from tests.support.google.fake_google import FakeGoogle
from tests.support.guard import Guard

# As a stage's runner does, before anything numeric is imported: a process forked from one whose threads have computed together
# waits for them for ever.
limit_threads()
# Tests read MLflow right after a stage: no background process logs for them, but where a test is about that.
os.environ.setdefault("HEARSIGHT_TRACKING", "now")
# Otherwise Ray writes a token to the home folder with the first local cluster, and clusters started before then refuse the next.
os.environ["RAY_AUTH_MODE"] = "disabled"

# `make test` draws the same few examples each time; `make test-all` draws many, and others in each run.
# Neither has a deadline: a test must not fail because the machine is busy.
settings.register_profile("quick", deadline=None, derandomize=True, max_examples=25)
settings.register_profile("thorough", deadline=None)
settings.load_profile("thorough" if THOROUGH else "quick")


def pytest_configure(config: pytest.Config) -> None:
    if sys.platform == "linux":  # only there are folders watched
        config.pluginmanager.register(Guard(PROJECT))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Where several workers share the tests (``-n``), a group goes to one of them, the first groups first.

    The plugin's own ``--dist loadgroup`` (3.8) writes groups into ids that pytest 9.2 does not look at: it groups nothing.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Groups(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return group(nodeid)

    config.option.loadscopereorder = False
    return Groups(config, log)


def draw_fewer_examples(test: Any) -> None:
    """Cut the ``max_examples`` that a property test sets for itself to a fifth: a profile does not reach those."""
    own = test._hypothesis_internal_use_settings  # Hypothesis has no public name for it.
    if own is not None and own.max_examples != settings.default.max_examples:
        test._hypothesis_internal_use_settings = settings(own, max_examples=max(3, own.max_examples // 5), derandomize=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not THOROUGH:
        tests = {item.function for item in items if isinstance(item, pytest.Function)}
        for test in tests:
            if getattr(test, "is_hypothesis_test", False):
                draw_fewer_examples(test)
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: -weight(group(item.nodeid)))


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """An S3 server on loopback with the bucket ``archive``, for this process and those it starts; a client that writes."""
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, "/nonexistent")
    client = boto3.client("s3", region_name="us-east-1", aws_access_key_id="k", aws_secret_access_key="s")
    client.create_bucket(Bucket="archive")
    yield client
    server.stop()


@pytest.fixture
def google(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeGoogle]:
    with FakeGoogle().running() as server:
        monkeypatch.setenv("GOOGLE_API_KEY", "key-of-a-test")
        monkeypatch.setenv("GOOGLE_LANGUAGE_ENDPOINT", server.url)
        monkeypatch.setenv("GOOGLE_VISION_ENDPOINT", server.url)
        monkeypatch.setenv("GOOGLE_TEXTTOSPEECH_ENDPOINT", server.url)
        monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)
        yield server
