"""The repository names no host that packages or container images come from: a machine's own settings say where they are."""

from __future__ import annotations

import subprocess

from tests.support import PROJECT

LABELS = """deb debian, security debian, ftp debian, archive ubuntu, ports ubuntu, security ubuntu, pypi org, pypi python, pypi
io, pypi nvidia, pythonhosted org, download pytorch, anaconda org, anaconda com, astral sh, npmjs org, npmjs com,
yarnpkg com, unpkg com, jsdelivr net, crates io, rubygems org, proxy golang, repo maven, maven org, docker io, ghcr
io, quay io, nvcr io, gcr io, registry k8s, huggingface co"""
HOSTS = [".".join(labels.split()) for labels in LABELS.split(",")]
"""Beginnings and ends of hosts' names, which stand nowhere else in a text."""


def named(text: str) -> list[str]:
    """Return the hosts of packages that a text names."""
    text = text.lower()
    return [host for host in HOSTS if host in text]


def test_no_file_names_a_host_of_packages():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=PROJECT, capture_output=True, check=True).stdout.decode()
    files = [name for name in listed.split("\0") if name and (PROJECT / name).is_file()]
    assert {name: found for name in files if (found := named((PROJECT / name).read_text(errors="replace")))} == {}


def test_hosts_of_packages_are_told_from_those_of_documents_and_data():
    for labels in (("deb", "debian", "org"), ("files", "pythonhosted", "org"), ("PyPI", "org"), ("docker", "io", "library")):
        assert named(f"from https://{'.'.join(labels)}/path")
    assert named("https://www.debian.org/doc https://docs.ray.io https://data.commoncrawl.org http://mirror.example/simple") == []
