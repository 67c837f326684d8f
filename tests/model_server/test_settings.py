"""Settings of the server: whose addresses are of this machine, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.core.errors import HearsightError
from components.model_server.settings import ServerParams, ServerPrices, server_params


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "127.1.2.3"])
def test_addresses_of_this_machine(host: str) -> None:
    params = ServerParams(address=f"http://{host}:8000/v1")
    params.check("server")
    assert params.is_local and params.place == ""


@pytest.mark.parametrize(
    "host", ["192.168.1.5", "models.example", "[2001:db8::1]", "localhost.example", "127.0.0.1@models.example", "0.0.0.0"]
)
def test_addresses_of_another_machine_need_permission_and_are_named(host: str) -> None:
    with pytest.raises(HearsightError, match="another machine"):
        ServerParams(address=f"https://{host}/v1").check("server")
    allowed = ServerParams(address=f"https://{host}/v1", allow_remote=True)
    allowed.check("server")
    assert allowed.place and allowed.place in host


@pytest.mark.parametrize(
    "address", ["", "127.0.0.1:8000/v1", "ftp://127.0.0.1/v1", "http:///v1", "http://[::1/v1", "http://127.0.0.1:port/v1"]
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(HearsightError, match="is no address"):
        ServerParams(address=address).check("server")


def test_a_budget_needs_prices() -> None:
    with pytest.raises(HearsightError, match="a budget needs prices"):
        ServerParams(budget=1.0).check("server")
    ServerParams(budget=1.0, prices=ServerPrices(input=0.1)).check("server")


@pytest.mark.parametrize("changed", [{"timeout": 0.0}, {"timeout": -1.0}, {"budget": -1.0}, {"prices": ServerPrices(input=-1.0)}])
def test_numbers_below_zero_are_refused(changed: dict[str, float]) -> None:
    with pytest.raises(HearsightError, match="below 0"):
        ServerParams(**changed).check("server")  # type: ignore[arg-type]


def test_the_price_is_by_the_million_tokens() -> None:
    assert ServerParams(prices=ServerPrices(input=3.0, output=15.0)).price(1_000_000, 200_000) == pytest.approx(6.0)


def test_a_project_without_the_block_has_the_defaults(tmp_path: Path) -> None:
    (tmp_path / "params.yaml").write_text("engine: {kind: local}\n")
    assert server_params(tmp_path) == ServerParams()
    (tmp_path / "params.yaml").write_text("server: {adress: x}\n")
    with pytest.raises(HearsightError, match="adress"):
        server_params(tmp_path)
