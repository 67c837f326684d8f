"""The sample's packages are fetched once, checked for ever, and served as a web; apt is a stand-in here."""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path
from urllib.parse import urljoin

import pytest

from components.core.errors import HearsightError
from components.sample.gallery import gallery_pages, stamps
from components.sample.packages import BENCHMARKS, PACKAGES, VOICES, fetch_packages, names_in_releases
from components.sample.pages import SOURCES, sample_sites
from components.sample.sites import Site
from components.web.html.page import read_page
from tests.support import PROJECT
from tests.support.crawl.fixture_web import drawn_image

RELEASES = Path(__file__).parent / "releases"
"""By release: the packages with names like ours, as ``apt-cache search --names-only .`` lists them there."""
COMMANDS = ("Makefile", ".ci/run", "components/tools/doctor/machine.py", "infra/bare/root.py", "tests/app/conftest.py",
            "infra/Containerfile.cpu", "infra/Containerfile.cuda", "infra/Containerfile.data")  # fmt: skip
INSTALL = re.compile(r"apt-get install((?: +-?[a-z][-a-z0-9.+]*| +--[-a-z]+)+)")
SCENE = ("red", "house", "on a green field")
APT = """#!/bin/sh
echo "$@" >> "$CALLS"
for name; do :; done
case "$FAIL" in
  network) echo "E: Failed to fetch http://mirror.example/$name  Could not connect" >&2; exit 100;;
  disk) echo "E: Write error - write (28: No space left on device)" >&2; exit 100;;
  renamed) [ "$name" = libasound2 ] && { echo "E: package $name as it has no candidate" >&2; exit 100; };;
  unknown) [ "$1" = update ] && exit 0; echo "E: Unable to locate package $name" >&2; exit 100;;
esac
echo "archive of $name" > "${name}_1.0_all.deb"
"""
DPKG = '#!/bin/sh\nmkdir -p "$3/usr" && cp "$2" "$3/usr/content"\n'
FIELD = "#!/bin/sh\necho 1.0\n"


@pytest.fixture
def debian(tmp_path, monkeypatch):
    """A machine with Debian's tools; returns the list of calls of apt-get so far."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name, script in {"apt-get": APT, "dpkg": DPKG, "dpkg-deb": FIELD}.items():
        (tools / name).write_text(script)
        (tools / name).chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}/usr/bin{os.pathsep}/bin")
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    return lambda: (tmp_path / "calls").read_text().splitlines() if (tmp_path / "calls").exists() else []


def quiet(items, **_):
    return items


def test_a_second_call_fetches_nothing(tmp_path, debian):
    assert fetch_packages(tmp_path, quiet) == list(PACKAGES)
    assert len(debian()) == len(PACKAGES)
    assert fetch_packages(tmp_path, quiet) == [] and len(debian()) == len(PACKAGES)
    known = json.loads((tmp_path / "data/packages/checksums.json").read_text())
    assert sorted(known) == sorted(PACKAGES) and known["gimp-help-en"]["version"] == "1.0"


def test_archives_are_removed_after_unpacking(tmp_path, debian):
    fetch_packages(tmp_path, quiet)
    assert not list((tmp_path / "data/packages/debs").iterdir())


def test_a_damaged_package_is_reported_and_fetched_again(tmp_path, debian, capsys):
    fetch_packages(tmp_path, quiet)
    (tmp_path / "data/packages/unpacked/gimp-help-en/.unpacked").unlink()
    assert fetch_packages(tmp_path, quiet) == ["gimp-help-en"]
    assert "gimp-help-en: is not whole" in capsys.readouterr().out
    assert fetch_packages(tmp_path, quiet) == []


def test_a_downloaded_but_unpacked_archive_is_not_downloaded_again(tmp_path, debian):
    (tmp_path / "bin/dpkg").write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(HearsightError):
        fetch_packages(tmp_path, quiet, ["gimp-help-en"])
    calls = len(debian())
    (tmp_path / "bin/dpkg").write_text(DPKG)
    assert fetch_packages(tmp_path, quiet, ["gimp-help-en"]) == ["gimp-help-en"]
    assert len(debian()) == calls == 1


def test_answers_fetched_before_a_failure_are_kept(tmp_path, debian, monkeypatch):
    fetch_packages(tmp_path, quiet, PACKAGES[:2])
    monkeypatch.setenv("FAIL", "network")
    with pytest.raises(HearsightError, match=r"cannot be fetched.*check the network"):
        fetch_packages(tmp_path, quiet)
    monkeypatch.delenv("FAIL")
    assert fetch_packages(tmp_path, quiet) == list(PACKAGES[2:])


@pytest.mark.parametrize(("failure", "message"), [("disk", "no space is left"), ("unknown", "does not know this package")])
def test_failures_of_apt_give_a_one_line_error(tmp_path, debian, monkeypatch, failure, message):
    monkeypatch.setenv("FAIL", failure)
    with pytest.raises(HearsightError, match=message) as caught:
        fetch_packages(tmp_path, quiet)
    assert "\n" not in str(caught.value)
    assert (failure == "unknown") == any(call.startswith("update") for call in debian())


def test_a_library_that_a_release_renamed_is_found_under_its_new_name(tmp_path, debian, monkeypatch):
    monkeypatch.setenv("FAIL", "renamed")
    assert fetch_packages(tmp_path, quiet, VOICES) == list(VOICES)
    assert debian()[-1].endswith(" libasound2t64") and not any(call.startswith("update") for call in debian())
    content = tmp_path / "data/packages/unpacked/libasound2/usr/content"
    assert content.read_text() == "archive of libasound2t64\n"
    assert fetch_packages(tmp_path, quiet, VOICES) == []


@pytest.mark.parametrize("release", sorted(path.stem for path in RELEASES.glob("*.txt")))
def test_every_release_has_every_package_that_is_named_in_code_and_commands(release):
    has = set((RELEASES / f"{release}.txt").read_text().split())
    lines = [line for name in COMMANDS for line in (PROJECT / name).read_text(encoding="utf-8").splitlines()]
    named = {word for line in lines for found in INSTALL.findall(line) for word in found.split() if word[0] != "-"}
    assert {"python3-venv", "chromium", "debootstrap"} <= named
    missing = [name for name in (*PACKAGES, *BENCHMARKS, *sorted(named)) if has.isdisjoint(names_in_releases(name))]
    assert missing == []


def test_the_lists_of_names_are_of_the_releases_that_make_bare_builds():
    named = re.findall(r'"(debian\d+)": "', (PROJECT / "infra/bare/root.py").read_text())
    assert sorted(named) == sorted(path.stem for path in RELEASES.glob("*.txt"))


def test_on_another_system_than_debian_the_error_names_the_container(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HearsightError, match=r"infra/Containerfile\.data"):
        fetch_packages(tmp_path, quiet)


@pytest.fixture
def unpacked(tmp_path) -> Path:
    """A root whose packages hold one page and one image each."""
    for source in SOURCES.values():
        base = tmp_path / "data/packages/unpacked" / source.package / source.folder
        where = base / source.image.removeprefix("/stamps").lstrip("/")
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_bytes(drawn_image(SCENE, kind="PNG"))
        where.with_suffix(".txt").write_text(f"{source.caption}\nfr.utf8=Autre chose\n")
        (base / "index.html").write_text(f'<img src="{source.image}" alt="{source.caption}"><a href="//elsewhere.example/">x</a>')
    return tmp_path


def test_every_sample_host_has_redirects_errors_delays_and_forbidden_pages(unpacked):
    for host, site in sample_sites(unpacked).items():
        assert isinstance(site, Site)
        pages, seen = [f"http://{host}/"], {}
        while pages:
            url = pages.pop()
            if url in seen or not url.startswith(f"http://{host}/"):
                continue
            reply = seen[url] = site.answer(url.removeprefix(f"http://{host}"))
            if reply.status == 200 and reply.type.startswith("text/html"):
                pages += read_page(reply.body, url).links
            elif "Location" in reply.headers:
                pages.append(urljoin(url, reply.headers["Location"]))
        statuses = {reply.status for reply in seen.values()}
        assert {200, 301, 302, 404, 410} <= statuses, host
        assert any(reply.delay >= 1 for reply in seen.values()), host
        assert b"Disallow: /private/" in site.answer("/robots.txt").body and f"http://{host}/private/more.html" in seen
        assert all("ETag" in reply.headers and "Last-Modified" in reply.headers for reply in seen.values() if reply.status == 200)
        assert site.answer("/odd/moved-picture").status == 302 and site.answer("/odd/hung-up.png").reset


def test_a_missing_package_names_the_command_that_fetches_it(tmp_path):
    with pytest.raises(HearsightError, match="make data"):
        sample_sites(tmp_path)


@pytest.mark.long
def test_gallery_pages_hold_each_stamp_once_with_its_first_line_as_alt(tmp_path):
    captions = {}
    for number in range(95):
        folder = tmp_path / "animals" / ("birds" if number < 90 else "fish/cartoon")
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{number:02d}.png"
        path.write_bytes(drawn_image(SCENE, kind="PNG"))
        path.with_suffix(".txt").write_text(f'A "bird" & number {number}.\nde.utf8=Ein Vogel\n', encoding="utf-8")
        captions[f"http://s.sample/stamps/{path.relative_to(tmp_path).as_posix()}"] = f'A "bird" & number {number}.'
    (tmp_path / "animals/birds/uncaptioned.png").write_bytes(b"")
    (tmp_path / "animals/birds/foreign.png").write_bytes(b"")
    (tmp_path / "animals/birds/foreign.txt").write_text("fr.utf8=Un oiseau\n", encoding="utf-8")
    assert {group: len(items) for group, items in stamps(tmp_path).items()} == {"animals/birds": 90, "animals/fish": 5}
    made = gallery_pages(tmp_path, "somebody & others, GPL-2")
    assert made == {**gallery_pages(tmp_path, "somebody & others, GPL-2"), **{k: v for k, v in made.items() if callable(v)}}
    waiting, seen, result = ["http://s.sample/gallery/index.html"], set(), {}
    while waiting:
        url = waiting.pop()
        if url not in seen:
            seen.add(url)
            page = made[url.removeprefix("http://s.sample")]
            assert isinstance(page, bytes) and b"somebody &amp; others, GPL-2" in page
            read = read_page(page, url)
            waiting += read.links
            result |= {c.image_url: c.alt for c in read.candidates}
            assert len(read.candidates) <= 40
    assert result == captions
