"""Commands in the documents: each is valid for the real programs, and executed by a test or marked with the reason why not."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import re
from functools import cache
from typing import Any

import pytest
from typer.testing import CliRunner

from components.cli.main import app
from components.cli.reference import TARGET, commands, reference, root_command
from components.core.graph import Graph, load_graph
from components.core.params import read_yaml
from components.tools.trial import Trial, text_of
from tests.documents.commands import NOT_TESTED, TESTED, Command, documented
from tests.support import PROJECT
from tests.support.command import hearsight

COMMANDS = documented()
README = (PROJECT / "README.md").read_text(encoding="utf-8")
ADDED = {command.words[3] for command in COMMANDS if command.words[:3] == ["hearsight", "dataset", "add"] and command.block}
OWN = re.compile("|".join(["facc", "mine", "<dataset>", *(f"@{name}$" for name in sorted(ADDED))]))
"""Datasets that the documents tell the reader to add."""


@cache
def parser() -> Any:
    """The parser of the program dvc."""
    from dvc.cli.parser import get_main_parser

    return get_main_parser()


@cache
def project() -> Graph:
    """The graph of the project itself."""
    return load_graph(PROJECT)


@cache
def known_commands() -> dict[str, Any]:
    """Every command by its full name."""
    return dict(commands())


def named(command: Command) -> str:
    return f"{command.page}: {command.text}"


def of(program: str) -> list[Any]:
    return [pytest.param(command, id=named(command)) for command in COMMANDS if command.words[0] == program]


def test_the_help_and_the_list_of_commands_document_hearsight_root() -> None:
    helped = CliRunner().invoke(app, ["--help"])
    assert helped.exit_code == 0 and "HEARSIGHT_ROOT" in helped.stdout and "HEARSIGHT_ROOT" in reference()


def test_the_version_is_that_of_the_package() -> None:
    shown = hearsight("--version")
    assert (shown.returncode, shown.stdout.decode()) == (0, f"hearsight {importlib.metadata.version('hearsight')}\n")


def test_the_pages_hold_commands() -> None:
    assert len(COMMANDS) > 80


@pytest.mark.parametrize("command", of("hearsight"))
def test_a_hearsight_command_has_the_options_and_arguments_stated(command: Command) -> None:
    known = known_commands()
    words = command.words
    length = next((n for n in (3, 2) if len(words) >= n and " ".join(words[:n]) in known), 0)
    assert length, f"no such command; known are {', '.join(known)}"
    if not command.block and len(words) == length:
        return  # a sentence names the command alone
    given = ["1" if word.isupper() and word not in ("-",) else word for word in words[length:]]
    known[" ".join(words[:length])].make_context(words[1], given)


@pytest.mark.parametrize("command", of("make"))
def test_a_make_target_exists(command: Command) -> None:
    makefile = (PROJECT / "Makefile").read_text()
    for target in (word for word in command.words[1:] if "=" not in word):
        assert re.search(rf"^{re.escape(target)}:", makefile, re.MULTILINE)


@pytest.mark.parametrize("command", of("dvc"))
def test_a_dvc_command_has_options_that_dvc_knows_and_stages_and_parameters_that_exist(command: Command) -> None:
    words = command.words[1:]
    if words[-1] == "-S":
        words.pop()
    if not command.block and len(words) <= (2 if words[0] in ("exp", "plots", "metrics") else 1):
        with pytest.raises(SystemExit) as done:  # a sentence names the command alone
            parser().parse_args([*words, "--help"])
        assert done.value.code == 0
    else:
        chosen = parser().parse_args(words)
        graph = project()
        cells = {f"train_captioner@{cell.name}" for cell in graph.cells.values()}
        stages = cells | {f"{stage}@{dataset}" for stage in graph.stages for dataset in graph.chain.get(stage, {})}
        for target in getattr(chosen, "targets", None) or []:
            assert target in stages or OWN.search(target) or (PROJECT / target).exists() or target.startswith("reports/"), target
        for change in getattr(chosen, "set_param", None) or []:
            file, _, setting = change.partition("=")[0].rpartition(":")
            block: Any = read_yaml(PROJECT / (file or "params.yaml"))
            for name in setting.split("."):
                block = block[name]


@pytest.mark.parametrize("command", of("python"))
def test_a_module_exists(command: Command) -> None:
    assert command.words[1] == "-m" and importlib.util.find_spec(command.words[2]) is not None


@pytest.mark.parametrize("command", [pytest.param(command, id=named(command)) for command in COMMANDS])
def test_a_command_is_executed_by_a_test_or_marked(command: Command) -> None:
    matching = [pattern for pattern in (*TESTED, *NOT_TESTED) if re.fullmatch(pattern, command.text.replace("'", ""))]
    assert len(matching) == 1, f"{matching or 'nothing'} in tests/documents/commands.py: name the test that executes it"


@pytest.mark.parametrize("pattern", [*TESTED, *NOT_TESTED])
def test_every_command_of_the_table_is_documented(pattern: str) -> None:
    assert any(re.fullmatch(pattern, command.text.replace("'", "")) for command in COMMANDS)


@pytest.mark.parametrize("place", sorted(set(TESTED.values())))
def test_the_named_tests_exist(place: str) -> None:
    file, _, name = place.partition("::")
    text = (PROJECT / file).read_text(encoding="utf-8")
    assert re.search(rf"def {name or 'test_'}", text)


def test_the_list_of_commands_agrees_with_the_help_texts() -> None:
    assert TARGET.read_text(encoding="utf-8") == reference() + "\n", "run `make docs`"


def test_help_texts_are_sentences_without_stray_marks() -> None:
    texts = [(name, command.help) for name, command in commands()]
    texts += [
        (f"{name} {param.name}", param.help) for name, command in commands() for param in command.params if param.name != "help"
    ]
    texts += [(name, group.help) for name, group in root_command().commands.items()]
    for name, text in texts:
        assert text and text.strip().endswith((".", "...")), name
        assert "  " not in text.replace("\n", ""), name
        assert '"\n' not in text and '\n    "' not in text and text.count('"') % 2 == 0 and "  " not in text.replace("\n", ""), (
            name
        )


def test_the_readme_has_at_most_its_number_of_lines() -> None:
    assert len(README.splitlines()) <= 100


@pytest.mark.slow
def test_the_transcript_in_the_readme_is_what_try_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEARSIGHT_WORDNET", str(PROJECT / "tests" / "knowledge" / "wordnet"))
    (transcript,) = re.findall(r"\$ hearsight try < alts.txt\n(.*?)```", README, re.DOTALL)
    alts = re.findall(r"^alt +(.*)$", transcript, re.MULTILINE)
    results = "\n".join(text_of(result) for result in Trial(PROJECT, "paper").of(alts))
    assert len(alts) == 3 and results.strip() == transcript.strip()


def test_knowledge_ask_answers_the_documented_question(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEARSIGHT_WORDNET", str(PROJECT / "tests" / "knowledge" / "wordnet"))
    (command,) = (each for each in COMMANDS if each.text.startswith("hearsight knowledge ask"))
    done = CliRunner().invoke(app, command.words[1:])
    assert done.exit_code == 0 and json.loads(done.output)["word"] == "sports team", done.output
