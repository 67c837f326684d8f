"""A real S3 server for tests: rclone's, on loopback, over a folder. It checks credentials and signatures."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from tests.support import until

KEY, SECRET = "test-key", "test-secret"  # pragma: allowlist secret
RCLONE = str(Path(sys.executable).parent / "rclone")


class S3Server:
    """A server over the folder ``folder``, whose folders are buckets; it can be killed and started again at the same port."""

    environment: ClassVar[dict[str, str]] = {
        "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": "/nonexistent", "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent",
        "AWS_REQUEST_CHECKSUM_CALCULATION": "when_required", "AWS_RESPONSE_CHECKSUM_VALIDATION": "when_required",
    }  # fmt: skip
    """Variables with which a client has access, and finds nobody else's settings."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "bucket").mkdir(parents=True, exist_ok=True)
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            self.port = int(taken.getsockname()[1])
        self.url = f"http://127.0.0.1:{self.port}"
        self.prefix = "team"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, **options: Any) -> None:
        """Start the server, with further arguments of ``Popen``, and wait until it answers."""
        command = [RCLONE, "serve", "s3", "--auth-key", f"{KEY},{SECRET}", "--addr", f"127.0.0.1:{self.port}", str(self.folder)]
        command += ["--vfs-cache-mode", "off"]
        clean = {name: value for name, value in os.environ.items() if not name.startswith("RCLONE_")}
        self.process = subprocess.Popen(
            command,
            env={**clean, "RCLONE_CONFIG": "/dev/null"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **options,
        )
        until(lambda: answers(self.port))

    def kill(self) -> None:
        """End the server at once."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process = None

    def stored(self) -> list[str]:
        """The keys below the test's prefix, as the disk has them."""
        below = self.folder / "bucket" / self.prefix
        return sorted(path.relative_to(below).as_posix() for path in below.rglob("*") if path.is_file())


def answers(port: int) -> bool:
    """Return whether something on loopback accepts connections."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


@contextmanager
def serving(folder: Path) -> Iterator[S3Server]:
    """Yield a started server; it ends with the block."""
    server = S3Server(folder)
    server.start()
    try:
        yield server
    finally:
        server.kill()
