"""Servers with a broken certificate or handshake, on loopback: the faults of badssl.com."""

from __future__ import annotations

import datetime
import ipaddress
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

TLS = {
    "expired": "a certificate out of its dates",
    "not-yet": "a certificate of the future",
    "self-signed": "a certificate that nobody signed",
    "wrong-host": "a certificate of another host",
    "old-protocol": "no protocol newer than TLS 1.1",
    "plain": "HTTP on the port of HTTPS",
    "closed": "closes in the handshake",
    "silent": "never answers the handshake",
    "garbage": "random bytes for a handshake",
}
"""Name → fault of the server."""


@contextmanager
def tls_server(folder: Path, fault: str) -> Iterator[int]:
    """Serve this fault (a value of :data:`TLS`); yields the port."""
    name = next(key for key, what in TLS.items() if what == fault)
    serve = _serving(folder, name)
    listener = socket.create_server(("127.0.0.1", 0), backlog=16)
    stop = threading.Event()

    def accept() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=_guarded, args=(serve, client, stop), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        stop.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)


def _guarded(serve: Callable[[socket.socket, threading.Event], None], client: socket.socket, stop: threading.Event) -> None:
    with client, suppress(OSError):
        client.settimeout(10)
        serve(client, stop)


def _serving(folder: Path, name: str) -> Callable[[socket.socket, threading.Event], None]:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    if name == "plain":
        return lambda client, _: client.sendall(answer)
    if name == "closed":
        return lambda client, _: client.recv(10) and None
    if name == "silent":
        return lambda _, stop: stop.wait(60) and None
    if name == "garbage":
        return lambda client, _: client.sendall(bytes(range(256)) * 20)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(make_certificate(folder, name))
    if name == "old-protocol":
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1

    def serve(client: socket.socket, _: threading.Event) -> None:
        with context.wrap_socket(client, server_side=True) as secure:
            secure.recv(65536)
            secure.sendall(answer)

    return serve


def make_certificate(folder: Path, name: str) -> Path:
    """Write a certificate and its key to one file and return its path."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    now = datetime.datetime.now(datetime.UTC)
    start = {"expired": -30, "not-yet": 30}.get(name, -1)
    days = 10
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    host = x509.DNSName("elsewhere.invalid") if name == "wrong-host" else x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + datetime.timedelta(days=start))
        .not_valid_after(now + datetime.timedelta(days=start + days))
        .add_extension(x509.SubjectAlternativeName([host]), critical=False)
        .sign(key, hashes.SHA256())
    )
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "certificate.pem"
    form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM) + key.private_bytes(serialization.Encoding.PEM, *form))
    return path
