"""Faults of the network: connections to the web and to S3 are cut, and the S3 server is killed, while a crawl reads them."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.faults.fault import Fault, World
from tests.faults.servers import Cut, Served, serve_folder, serve_s3
from tests.support.crawl.crawls import fixture_block
from tests.support.settings_files import edit_settings

STALLED = 2.0
"""Timeout of a request (s), above which it has failed."""
KEYS = {
    "AWS_ACCESS_KEY_ID": "k",
    "AWS_SECRET_ACCESS_KEY": "s",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": "/nonexistent",
    "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent",
}


def set_crawl(root: Path, block: dict[str, Any]) -> None:
    """Give the project another crawl."""
    edit_settings(root, lambda content: content["english"].update(crawl=block))


def web_block(proxy: str) -> dict[str, Any]:
    """Return the settings of a crawl through a proxy."""
    return fixture_block(
        web="open", proxy=proxy, contact="mail@example.org", shard_size=10, snapshot="fixture", timeout=STALLED, per_host=4
    )


def draw_cut(draw: random.Random, size: int) -> Cut:
    """Draw when, how and how often connections are cut."""
    return Cut(draw.choice(("reset", "close", "stall")), draw.randrange(size), draw.choice((1, 1, 2, 8)))


def cut_web(draw: random.Random, world: World) -> Fault:
    """Cut connections between the crawl and the web server."""
    web = world.server("web", lambda: serve_folder(world.template.root / "web"))
    world.edits.setdefault("web", (lambda root: set_crawl(root, web_block(web.url)), "crawl"))
    cut = draw_cut(draw, 60_000)
    return _through(cut, web, f"{cut.times} connections to the web", "web", web_block, lambda _: {})


def s3_block() -> dict[str, Any]:
    """Return the settings of a crawl that reads archives in S3."""
    names = [f"s3://archive/part-{number:02d}.warc.gz" for number in range(2)]
    return fixture_block(source="archives", seeds=[], hosts=[], inputs=names, shard_size=10, snapshot="fixture")


def s3(draw: random.Random, world: World) -> Fault:
    """Kill the S3 server that a crawl reads archives from, or cut connections to it."""
    server = world.server("s3", lambda: serve_s3(lambda url: _upload(world.template.root / "web", world.folder / "warc", url)))
    world.edits.setdefault("s3", (lambda root: set_crawl(root, s3_block()), "crawl"))
    world.environments["s3"] = {**KEYS, "AWS_ENDPOINT_URL": server.url}
    cut = draw_cut(draw, 12_000)
    if draw.random() < 0.3:
        cut.mode = "kill"
    if cut.mode in ("kill", "stall"):
        cut.times = 1  # each stalled connection costs a minute
    name = "S3's server" if cut.mode == "kill" else f"{cut.times} connections to S3"
    fault = _through(cut, server, name, "s3", lambda _: s3_block(), lambda url: {**KEYS, "AWS_ENDPOINT_URL": url})
    if cut.mode == "kill":
        fault.always_after = lambda _: server.run()
    return fault


def _through(
    cut: Cut,
    server: Served,
    name: str,
    variant: str,
    block: Callable[[str], dict[str, Any]],
    environment: Callable[[str], dict[str, str]],
) -> Fault:
    """Return the fault of a cut between a crawl and ``server``; both runs go through the proxy, whose cuts are then used up."""
    proxy = cut.proxy(server)
    proxy.run()
    return Fault(
        f"{name}: {cut.mode} after {cut.after} bytes",
        "crawl",
        "crawl",
        prepare=lambda project: set_crawl(project.root, block(proxy.url)),
        environment=environment(proxy.url),
        variant=variant,
        struck=lambda: cut.struck,
        end=proxy.kill,
    )


def _upload(web: Path, folder: Path, url: str) -> None:
    import boto3

    from tests.support.web.archived import archive_web

    client = boto3.client("s3", endpoint_url=url, region_name="us-east-1", aws_access_key_id="k", aws_secret_access_key="s")
    client.create_bucket(Bucket="archive")
    for part in archive_web(web, folder, 2):
        client.upload_file(str(part), "archive", part.name)
