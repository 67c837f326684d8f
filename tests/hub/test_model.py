"""A hub's model is downloaded once, whole and without pickles, and identified by its files; a folder is read where it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.hub.loading import load_model
from components.hub.model import HubModel, find_model
from tests.support.hub import make_clip

COMMIT = "0123456789abcdef0123456789abcdef01234567"
SCRIPT = """
import json, sys
from pathlib import Path
from components.core.errors import HearsightError
from components.hub.model import cached_models, find_model
try:
    found = find_model(Path("/nonexistent"), sys.argv[1])
    print(json.dumps([found.digest, sorted(path.name for path in found.folder.iterdir()), cached_models()]))
except HearsightError as error:
    print(json.dumps(str(error)))
"""


@contextmanager
def hub(files: dict[str, bytes]) -> Iterator[tuple[str, list[str]]]:
    """Serve one repository on loopback as a hub does; yields its address and the names of the files that were fetched."""
    fetched: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(body=True)

        def do_HEAD(self) -> None:
            self._answer(body=False)

        def _answer(self, *, body: bool) -> None:
            path = self.path.partition("?")[0]
            about = [
                {"type": "file", "path": name, "size": len(data), "oid": sha256_bytes(data)[:40]} for name, data in files.items()
            ]
            content = b"{}"
            name = path.removeprefix(f"/someone/clip/resolve/{COMMIT}/")
            if path == f"/api/models/someone/clip/tree/{COMMIT}":
                content = json.dumps(about).encode()
            elif path.startswith("/api/models/someone/clip"):
                siblings = [{"rfilename": one["path"]} for one in about]
                content = json.dumps({"id": "someone/clip", "sha": COMMIT, "siblings": siblings}).encode()
            elif name in files:
                content = files[name]
                fetched.extend([name] if body else [])
            else:
                self.send_response(404)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("ETag", f'"{sha256_bytes(content)[:40]}"')
            self.send_header("X-Repo-Commit", COMMIT)
            self.end_headers()
            if body:
                self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", fetched
    finally:
        server.shutdown()
        server.server_close()


def find(model: str, home: Path, endpoint: str) -> list[object] | str:
    """What another process finds: digest, names of files, and cached models; or its error."""
    environment = os.environ | {"HF_HOME": str(home), "HF_ENDPOINT": endpoint, "HF_HUB_DISABLE_XET": "1", "NO_PROXY": "127.0.0.1"}
    done = subprocess.run([sys.executable, "-c", SCRIPT, model], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    found: list[object] | str = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.long
def test_a_model_is_downloaded_once_without_pickles_and_folders_and_then_needs_no_network(tmp_path: Path) -> None:
    folder = make_clip(tmp_path / "clip")
    wanted = {path.name: path.read_bytes() for path in folder.iterdir()}
    others = {"pytorch_model.bin": b"pickle", "modeling.py": b"1/0", "onnx/model.onnx": b"x", "fp16/model.safetensors": b"x"}
    with hub(wanted | others) as (endpoint, fetched):
        digest, names, cached = find(f"someone/clip@{COMMIT}", tmp_path / "home", endpoint)
    assert sorted(fetched) == names == sorted(wanted)
    assert digest == find_model(tmp_path, "clip").digest, "a copy in a folder is the same model"
    assert [name for name, _ in cached] == [f"someone/clip@{COMMIT}"]  # type: ignore[attr-defined]
    assert find(f"someone/clip@{COMMIT}", tmp_path / "home", "http://127.0.0.1:9") == [digest, names, cached]


@pytest.mark.long
def test_settings_that_another_program_has_fetched_are_no_model_yet(tmp_path: Path) -> None:
    files = {path.name: path.read_bytes() for path in make_clip(tmp_path / "clip").iterdir()}
    there = tmp_path / f"home/hub/models--someone--clip/snapshots/{COMMIT}"
    there.mkdir(parents=True)
    (there / "config.json").write_bytes(files["config.json"])
    with hub(files) as (endpoint, fetched):
        assert find(f"someone/clip@{COMMIT}", tmp_path / "home", endpoint)[0] == find_model(tmp_path, "clip").digest
    assert "model.safetensors" in fetched


@pytest.mark.long
def test_a_download_that_was_cut_off_is_completed(tmp_path: Path) -> None:
    files = {path.name: path.read_bytes() for path in make_clip(tmp_path / "clip").iterdir()}
    with hub(files) as (endpoint, fetched):
        find(f"someone/clip@{COMMIT}", tmp_path / "home", endpoint)
        (weights,) = (tmp_path / "home").rglob("snapshots/*/model.safetensors")
        weights.unlink()
        fetched.clear()
        found = find(f"someone/clip@{COMMIT}", tmp_path / "home", endpoint)
    assert found[0] == find_model(tmp_path, "clip").digest and weights.exists()


def test_the_digest_is_of_names_and_contents_and_follows_a_change(tmp_path: Path) -> None:
    folder = make_clip(tmp_path / "clip")
    first = find_model(tmp_path, "clip").digest
    (folder / "notes.md").write_text("not read")
    assert find_model(tmp_path, "clip").digest == first
    config = folder / "config.json"
    config.write_text(config.read_text() + " ")
    assert find_model(tmp_path, "clip").digest != first


def test_a_part_of_the_weights_is_missed_before_anything_is_loaded(tmp_path: Path) -> None:
    folder = make_clip(tmp_path / "clip")
    index = {"weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    (folder / "model.safetensors").rename(folder / "model-00001-of-00002.safetensors")
    with pytest.raises(HearsightError, match=r"holds no model-00002-of-00002\.safetensors"):
        find_model(tmp_path, "clip")


def test_weights_that_a_file_lacks_are_not_drawn_at_random(tmp_path: Path) -> None:
    folder = make_clip(tmp_path / "clip")
    weights = load_file(folder / "model.safetensors")
    save_file({name: value for name, value in weights.items() if name != "text_projection.weight"}, folder / "model.safetensors")
    with pytest.raises(HearsightError, match=r"lacks 1 weights of CLIPModel, e\.g\. text_projection\.weight"):
        load_model(find_model(tmp_path, "clip"), "AutoModel")


def test_no_model_is_named_by_default() -> None:
    assert HubModel().plain() == {"model": "", "device": "cpu", "batch": 1}
