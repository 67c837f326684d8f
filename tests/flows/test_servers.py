"""Prefect's and MLflow's servers on loopback answer this project's own clients and pages, and no page of another site."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import yaml

from flows.server import prefect_server
from flows.settings import login_path
from flows.ui import mlflow_server
from tests.support import HANG, PROJECT
from tests.support.flows.served import free_port

pytestmark = pytest.mark.long

ELSEWHERE = "https://elsewhere.example"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("project")


@pytest.fixture(scope="module")
def environment(root: Path) -> Iterator[None]:
    """The environment of a person without a server, restored afterwards."""
    kept = dict(os.environ)
    for name in [name for name in os.environ if name.startswith(("PREFECT_", "MLFLOW_"))]:
        del os.environ[name]
    (root / "prefect").mkdir()
    os.environ |= {"PREFECT_HOME": str(root / "prefect"), "PREFECT_SERVER_ANALYTICS_ENABLED": "false", "DO_NOT_TRACK": "1"}
    yield
    os.environ.clear()
    os.environ.update(kept)


@pytest.fixture(scope="module")
def prefect(environment: None, root: Path) -> Iterator[httpx.Client]:
    """A client, with the project's login, of a server as the project's commands start it."""
    with prefect_server(root, free_port()) as url:
        user, _, password = login_path(root).read_text().partition(":")
        with httpx.Client(base_url=url, auth=(user, password), timeout=HANG) as client:
            yield client


def test_prefect_answers_those_who_know_the_projects_login_only(prefect: httpx.Client, root: Path) -> None:
    flow = {"name": "pipeline"}
    assert prefect.post("/flows/", json=flow).status_code == 201
    assert prefect.post("/flows/", json=flow, auth=("hearsight", "guessed")).status_code == 401
    assert httpx.post(f"{prefect.base_url}flows/", json=flow, timeout=HANG).status_code == 401
    assert httpx.post(f"{prefect.base_url}flow_runs/filter", json={}, timeout=HANG).status_code == 401
    pages = httpx.get(str(prefect.base_url).replace("/api/", "/ui-settings"), timeout=HANG).json()
    assert (pages["api_url"], pages["auth"]) == ("/api", "BASIC"), "its own pages ask this server, and for the login"
    assert stat.S_IMODE(login_path(root).stat().st_mode) == 0o600


def test_prefect_refuses_pages_of_other_sites_and_names(prefect: httpx.Client) -> None:
    flow_id = prefect.post("/flows/", json={"name": "pipeline"}).json()["id"]
    run = {"flow_id": flow_id, "state": {"type": "SCHEDULED"}}
    for origin in (ELSEWHERE, "null", "http://127.0.0.1:1"):
        answer = prefect.post("/flow_runs/", json=run, headers={"origin": origin})
        assert answer.status_code == 403
        assert "access-control-allow-origin" not in answer.headers
    for host in ("elsewhere.example", "127.0.0.1.elsewhere.example", "192.168.0.1"):
        assert prefect.post("/flow_runs/", json=run, headers={"host": host}).status_code == 400
        assert prefect.get("/health", headers={"host": host}).status_code == 400
    own = f"http://{prefect.base_url.netloc.decode()}"
    preflight = {"origin": ELSEWHERE, "access-control-request-method": "POST"}
    assert prefect.options("/flow_runs/", headers=preflight).status_code == 403
    assert prefect.post("/flow_runs/count", json={}).json() == 0
    assert prefect.post("/flow_runs/", json=run, headers={"origin": own}).status_code == 201, "its own pages"


@pytest.mark.slow
def test_mlflow_refuses_pages_of_other_sites_and_names(environment: None, root: Path) -> None:
    with mlflow_server(root, free_port()) as url, httpx.Client(base_url=url, timeout=HANG) as mlflow:
        create, experiment = "/api/2.0/mlflow/experiments/create", {"name": "planted"}
        assert mlflow.post(create, json=experiment, headers={"origin": ELSEWHERE}).status_code == 403
        for host in ("elsewhere.example", "192.168.0.1"):
            assert mlflow.post(create, json=experiment, headers={"host": host}).status_code == 403
        assert mlflow.get("/", headers={"origin": ELSEWHERE}).headers.get("access-control-allow-origin") is None
        assert mlflow.post(create, json=experiment).status_code == 200, "it is not there yet, and own clients work"


def test_the_teams_servers_start_with_logins_only_and_listen_on_loopback() -> None:
    services = yaml.safe_load((PROJECT / "infra" / "compose.yaml").read_text(encoding="utf-8"))["services"]
    assert all(port.startswith("127.0.0.1:") for service in services.values() for port in service.get("ports", []))
    required = {
        "postgres": ("POSTGRES_PASSWORD",),
        "prefect": ("PREFECT_SERVER_API_AUTH_STRING",),
        "mlflow": ("MLFLOW_AUTH_ADMIN_PASSWORD", "MLFLOW_FLASK_SERVER_SECRET_KEY"),
    }
    assert services.keys() == required.keys()
    for name, variables in required.items():
        assert all(re.fullmatch(r"\$\{\w+:\?.+\}", services[name]["environment"][each]) for each in variables), name
    assert "--app-name=basic-auth" in services["mlflow"]["command"]
