"""Run the filter's text rules and the rewriting, or extract_descriptions, on single texts, as the stages do.

Embedded providers are used. Rules that need an image or the whole corpus (size, labels, frequency of concepts) are not applied.
Of captions of posts, each line of the input is a JSON string, since they contain line breaks.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.core.graph import load_graph
from components.core.params import stage_params
from components.core.rule_values import RuleValue, allowed, setting_names
from components.execution.runner import stage_settings
from components.hub.chosen import choose_model
from components.knowledge.cascade import Knowledge
from components.language.named_entities import NamedEntities
from components.language.parser import EnglishParser
from components.language.polarity import EnglishPolarity
from components.language.profanity import EnglishProfanity
from components.language.wordnet import load_wordnet
from components.stages import filter as filtering
from components.stages import hypernymize
from components.stages.extract_descriptions import Params
from components.stages.extract_descriptions.extract import extract
from components.stages.extract_descriptions.rules import load_rules
from components.stages.filter.boilerplate import load_boilerplate
from components.stages.filter.cascade import PAGE_GROUPS, RULES, TEXT_GROUPS, evaluate_all, first_failures, make_subject
from components.stages.filter.rules import Finding, Subject
from components.stages.hypernymize.first_word import second_text
from components.stages.hypernymize.rewrite import rewrite
from components.stages.hypernymize.second_recogniser import align_names
from components.web.archives import summarize
from components.web.archives.any_input import read_input
from components.web.archives.reading import ArchivePage
from components.web.html.page import fold

TEXT = "caption, or dropped alt-text"
"""Main column of the table."""


def read_pages(paths: Iterable[str], problems: list[str]) -> Iterator[ArchivePage]:
    """Yield the pages of HTML files and archives; what could not be read is added to ``problems``, a line each."""
    for path in paths:
        skipped, found = Counter[str](), 0
        try:
            for page in read_input(path, skipped=skipped, context=True):
                if page.failure:
                    problems.append(f"{path}: {page.failure} at byte {page.offset}: {page.detail or page.url}")
                else:
                    found += 1
                    yield page
            if not found:
                problems.append(f"{path}: {summarize(found, skipped)}")
        except HearsightError as error:
            problems.append(str(error))


def judge_pages(trial: Trial, pages: Iterable[ArchivePage]) -> Iterator[tuple[ArchivePage, list[dict[str, Any]]]]:
    """Yield each page that has an image with an alt-text, with a result for each of them in the order of the page.

    A result is that of :meth:`Trial.of` with ``page``, ``image`` and ``position``.
    """
    for page in pages:
        candidates = [candidate for candidate in page.candidates if candidate.alt]
        subjects = [replace(trial.subject(each.alt), language=page.language, context=each.context) for each in candidates]
        if subjects:
            origins = [
                {"page": page.url, "image": each.image_url, "position": each.position, "alt": each.alt} for each in candidates
            ]
            yield page, [origin | result for origin, result in zip(origins, trial.judge(subjects, PAGE_GROUPS), strict=True)]


def table_row(result: Mapping[str, Any]) -> dict[str, str]:
    """Return a result as a row of a table for people: the caption of a kept text, or a dropped alt-text and what decided."""
    if result["rule"] is None:
        return {"verdict": "kept", TEXT: result["caption"], "value": ""}
    return {"verdict": result["rule"], TEXT: result["alt"], "value": str(result["value"])}


def summary_rows(results: Iterable[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return how many texts were kept, and how many each rule dropped, with their share."""
    verdicts = Counter(result["rule"] or "kept" for result in results)
    kept, total = verdicts.pop("kept", 0), sum(verdicts.values())
    rows = [("kept", kept), *sorted(verdicts.items(), key=lambda item: (-item[1], item[0]))]
    return [
        {"verdict": name, "texts": f"{count:,}", "share": f"{100 * count / max(1, total + kept):.1f} %"} for name, count in rows
    ]


AT_A_TIME = 256
"""Lines per batch."""


NEW = "DATASET"
"""Stands for the name of a dataset that has the defaults, where a setting is named."""


class Trial:
    """The text rules and the rewriting of one dataset's parameters; '' for the defaults, which a new dataset has.

    Raises:
        HearsightError: the parameters are not valid, or the dictionary is missing.
    """

    def __init__(self, root: Path, dataset: str) -> None:
        self._dataset = dataset or NEW
        self._filter = filtering.Params()
        self._rewriting: Any = hypernymize.Params()
        if dataset:
            graph = load_graph(root)
            self._filter = stage_settings(graph, "filter", dataset)
            # Its defaults where the dataset does not take the stage.
            self._rewriting = stage_params(root / "params.yaml", graph.params, dataset, "hypernymize", hypernymize.Params)
        self._lists = load_boilerplate(self._filter.language)
        self._knowledge = Knowledge(load_wordnet(root))
        chosen = choose_model(root, self._rewriting.names)
        self._names = NamedEntities(root, chosen) if chosen else None

    def of(self, alts: Iterable[str], *, explain_all: bool = False, at_a_time: int = AT_A_TIME) -> Iterator[dict[str, Any]]:
        """Yield for each alt-text, in order: ``alt``, ``verdict``, ``rule``, ``caption``, ``steps``, ``value``, ``threshold``,
        ``setting``.

        Args:
            alts: any number; one batch is in memory.
            explain_all: add ``rules``, the :class:`RuleValue` of every text rule, even after one has dropped the text.
        """
        lines = iter(alts)
        while chunk := list(islice(lines, at_a_time)):
            # White space is folded as by the crawl.
            results = self.judge([self.subject(fold(alt)) for alt in chunk], explain_all=explain_all)
            yield from ({"alt": alt} | result for alt, result in zip(chunk, results, strict=True))

    def subject(self, alt: str) -> Subject:
        """Return an alt-text as the rules test it, without a page."""
        return make_subject(alt, self._lists, self._filter.max_characters)

    def judge(
        self, subjects: Sequence[Subject], groups: Sequence[str] = TEXT_GROUPS, *, explain_all: bool = False
    ) -> Iterator[dict[str, Any]]:
        """Yield what :meth:`of` yields for subjects, without ``alt``.

        Args:
            groups: the groups of rules that apply.
        """
        named = {str(at): subject for at, subject in enumerate(subjects)}
        failed = first_failures(named, annotate_group, self._filter, groups)
        studied = evaluate_all(named, annotate_group, self._filter, groups) if explain_all else {}
        for key, subject in named.items():
            result = self._verdict(subject, failed.get(key))
            yield result | ({"rules": [asdict(self._shown(*each)) for each in studied[key].items()]} if explain_all else {})

    def _verdict(self, subject: Subject, failure: tuple[str, Finding] | None) -> dict[str, Any]:
        reason = f"cropped: {'; '.join(subject.cropped)}"
        cropping = {"step": "boiler-plate", "before": subject.alt, "after": subject.text, "reason": reason}
        steps = [cropping] if subject.cropped else []
        if failure is not None:
            shown = self._shown(*failure)
            setting = setting_names(self._dataset, "filter", RULES[shown.rule].settings)
            return _result(steps, None, shown.rule, shown.value, shown.threshold, setting)
        assert subject.parse is not None
        text = second_text(subject.text, subject.parse, self._knowledge)
        rewritten = rewrite(
            subject.parse,
            self._knowledge,
            **{name: getattr(self._rewriting, name) for name in hypernymize.REWRITING},
            second=EnglishParser().compute(text) if text else None,
            names=align_names(subject.parse["text"], subject.text, self._names.compute(subject.text)) if self._names else (),
        )
        steps += [step._asdict() for step in rewritten.steps]
        if rewritten.shortcoming is not None:
            settings = hypernymize.RULE_SETTINGS[rewritten.shortcoming[0]]
            setting = setting_names(self._dataset, "hypernymize", settings)
            return _result(steps, None, *rewritten.shortcoming, setting)
        return _result(steps, rewritten.caption)

    def _shown(self, rule: str, finding: Finding) -> RuleValue:
        return RULES[rule].shown(finding, self._dataset, self._filter)


def annotate_group(group: str, alive: Mapping[str, Subject]) -> None:
    """Add the annotations that a group of rules needs to the subjects; the stage reads them from the result caches instead."""
    # Parsers and classifiers load only for the groups that need them.
    if group == "tone":
        polarity = EnglishPolarity()
        scores = EnglishProfanity().compute_many([subject.text for subject in alive.values()])
        for subject, profanity in zip(alive.values(), scores, strict=True):
            subject.polarity, subject.profanity = polarity.compute(subject.text), profanity
    elif group == "parse":
        unparsed = [subject for subject in alive.values() if subject.parse is None]
        for subject, parse in zip(unparsed, EnglishParser().compute_many([subject.text for subject in unparsed]), strict=True):
            subject.parse = parse


def read_lines(stream: Iterable[bytes]) -> Iterator[str]:
    """Yield the lines of a stream without line ends; bytes that are not UTF-8 become U+FFFD."""
    for line in stream:
        yield line.decode("utf-8", "replace").removesuffix("\n").removesuffix("\r")


def text_of(result: Mapping[str, Any]) -> str:
    """Format a result for people."""
    lines = [f"alt      {result['alt']}"]
    lines += [f"  {step['step']:<12} {step['after']}   ({step['reason']})" for step in result["steps"]]
    if result["verdict"] == "kept":
        lines.append(f"caption  {result['caption']}")
    else:
        lines.append(f"dropped  {result['rule']}: {result['value']} ({allowed(result['threshold'], result['setting'])})")
    lines += [f"  {RuleValue(**rule).text()}" for rule in result.get("rules", ())]
    return "\n".join(lines) + "\n"


def _result(steps: list[dict[str, str]], caption: str | None, *why: str) -> dict[str, Any]:
    """Return the result of a text: kept with its caption, or dropped by a rule with its value, threshold and setting."""
    rule, value, threshold, setting = why or (None,) * 4
    verdict = {"verdict": "dropped" if rule else "kept", "rule": rule, "caption": caption, "steps": steps}
    return verdict | {"value": value, "threshold": threshold, "setting": setting}


HINT = 'write each caption as one JSON string a line, for example "#PraCegoVer: Foto de um gato.\\n#gatos"'


class PostTrial:
    """Extraction with one dataset's parameters.

    Raises:
        HearsightError: the dataset does not take ``extract_descriptions``, or its parameters are not valid.
    """

    def __init__(self, root: Path, dataset: str) -> None:
        self._params: Params = stage_settings(load_graph(root), "extract_descriptions", dataset)
        self._rules = load_rules(self._params.language)

    def of(self, caption: str) -> dict[str, Any]:
        """Return ``raw``, ``description`` (None when malformed), ``reason`` (None when well-formed), and the ``steps``."""
        # The language model loads only when a caption is given.
        from components.language.identification import language_probability

        extracted = extract(caption, self._rules, language_probability, self._params)
        steps = [step._asdict() for step in extracted.steps]
        return {"raw": caption, "description": extracted.text, "reason": extracted.reason, "steps": steps}

    def lines(self, stream: Iterable[bytes]) -> Iterator[tuple[dict[str, Any] | None, str]]:
        """Yield the result of each line of UTF-8 or its problem, in order."""
        for number, line in enumerate(stream, 1):
            try:
                caption = json.loads(line)
            except (ValueError, RecursionError) as error:
                yield (None, f"line {number}: no JSON: {str(error).splitlines()[0]} ({HINT})")
                continue
            if not isinstance(caption, str):
                yield (None, f"line {number}: JSON, but no string ({HINT})")
            else:
                yield (self.of(caption), "")


def post_text(result: dict[str, Any]) -> str:
    """Format a result for people."""
    lines = [f"raw          {result['raw']!r}"]
    lines += [f"  {step['step']:<12} {step['after']!r}   ({step['reason']})" for step in result["steps"]]
    if result["description"] is None:
        lines.append(f"malformed    {result['reason']}")
    else:
        lines.append(f"description  {result['description']}")
    return "\n".join(lines) + "\n"
