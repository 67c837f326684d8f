"""Clones of one bare repository, with DVC's remote on an S3 server on loopback."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml

from tests.support.pipeline.harness import init_repository

Make = Callable[..., Path]
KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1"}
PERSON = {f"GIT_{role}_{part}": value for role in ("AUTHOR", "COMMITTER") for part, value in (("NAME", "T"), ("EMAIL", "t@t"))}


def git(root: Path, *words: str) -> str:
    """Run git as a person and return its output."""
    done = subprocess.run(["git", *words], cwd=root, env={**os.environ, **PERSON}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"git {' '.join(words)}: {done.stderr}"
    return done.stdout.strip()


@contextmanager
def s3_server() -> Iterator[str]:
    """Yield the URL of an S3 server with the bucket ``data``."""
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        url = f"http://{host}:{port}"
        credentials = {"aws_access_key_id": "test", "aws_secret_access_key": "test", "region_name": "us-east-1"}
        boto3.client("s3", endpoint_url=url, **credentials).create_bucket(Bucket="data")
        yield url
    finally:
        server.stop()


def copying(source: str, target: str, more: str = "") -> str:
    """Return the command of a stage that writes ``target`` from ``source`` and adds a line to the file ``ran``."""
    write = f"text = open({source!r}).read(); open({target!r}, 'w').write(text + {target!r} + ' ')"
    code = "; ".join(filter(None, [more, write, f"open('ran', 'a').write({target!r} + ' ')"]))
    return f"{shlex.quote(sys.executable)} -c {shlex.quote(code)}"


def make_origin(folder: Path, stages: dict[str, Any], params: dict[str, Any], s3: str = "") -> tuple[Path, Path]:
    """Return a bare repository, and a clone of it with the commit of a project with these stages."""
    origin, clone = folder / "origin.git", folder / "one"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(origin)], check=True)
    clone.mkdir(parents=True)
    init_repository(clone)
    with (clone / ".dvc" / "config").open("a") as config:
        config.write("[core]\n    check_update = false\n    analytics = false\n    autostage = false\n")
        if s3:
            config.write(f"    remote = s3\n['remote \"s3\"']\n    url = s3://data/{folder.name}\n    endpointurl = {s3}\n")
    (clone / "dvc.yaml").write_text(yaml.safe_dump({"stages": stages}, sort_keys=False))
    (clone / "params.yaml").write_text(yaml.safe_dump(params, sort_keys=False))
    (clone / "source.txt").write_text("source ")
    (clone / ".gitignore").write_text("/.hearsight/\n/*.out\n/*.csv\n/ran\n/prefect/\n*.log\n/notes\n")
    git(clone, "add", "--all")
    git(clone, "commit", "-q", "-m", "the project")
    git(clone, "branch", "-M", "main")
    git(clone, "remote", "add", "origin", str(origin))
    git(clone, "push", "-q", "origin", "main")
    return origin, clone


def another_clone(origin: Path, name: str) -> Path:
    """Return a further clone."""
    git(origin.parent, "clone", "-q", str(origin), name)
    return origin.parent / name


class Started:
    """What :func:`superseded` reads of a flow run."""

    def __init__(self, due: str, automatic: bool = True) -> None:
        self.expected_start_time, self.auto_scheduled = datetime.fromisoformat(due), automatic
