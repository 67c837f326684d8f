"""Write README.md and settings.json of a release of pages: content, statistics, licence, citations; the stages' settings."""

from __future__ import annotations

import json
from pathlib import Path

from components.tools.release.files import CONCEPTS, LABELS, SPLITS, STATISTICS, ReleaseCounts
from components.tools.release.made import ReleaseInputs
from components.tools.release.publish import SUMS

SETTINGS = "settings.json"
CITATIONS = """\
- Piyush Sharma, Nan Ding, Sebastian Goodman and Radu Soricut. 2018. Conceptual Captions: A Cleaned, Hypernymed, Image Alt-text
  Dataset For Automatic Image Captioning. Proceedings of ACL. (the method)
- Edwin G. Ng, Bo Pang, Piyush Sharma and Radu Soricut. 2020. Understanding Guided Image Captioning Performance Across Domains.
  arXiv preprint arXiv:2012.02339. (image labels beside captions)
- Soravit Changpinyo, Piyush Sharma, Nan Ding and Radu Soricut. 2021. Conceptual 12M: Pushing Web-Scale Image-Text Pre-Training
  To Recognize Long-Tail Visual Concepts. CVPR. (where a setting of settings.json follows it)
"""
NO_LICENCE = "None is stated: whoever publishes this folder states here under which terms the captions may be used."


def write_notes(inputs: ReleaseInputs, counts: ReleaseCounts, folder: Path, licence: str) -> None:
    """Write README.md and settings.json."""
    by_output = {f"{inputs.dataset}/{stage}": values for stage, values in inputs.settings.items()}
    settings = {"dataset": inputs.dataset, "split_manifest_sha256": inputs.split.digest, "settings": by_output}
    (folder / SETTINGS).write_text(json.dumps(settings, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (folder / "README.md").write_text(readme(inputs, counts, licence), encoding="utf-8")


def readme(inputs: ReleaseInputs, counts: ReleaseCounts, licence: str) -> str:
    """Return the text of README.md."""
    name, statistics = inputs.dataset, counts.statistics
    total = sum(captions.examples for captions in statistics.values())
    rows = "\n".join(
        f"| {split} | {captions.examples:,} | {captions.unique:,} "
        f"| {captions.mean:.1f} | {captions.deviation:.1f} | {captions.median:.1f} |"
        for split, captions in statistics.items()
    )
    tables = "\n".join(
        f"| `{path.format(name)}` | caption, image URL | {statistics[split].examples:,} |" for split, path in SPLITS.items()
    )
    concepts = inputs.concepts.file(CONCEPTS).read_text(encoding="utf-8")
    kept, dropped = concepts.count("\tkept\t"), concepts.count("\tdropped\t")
    left_out = (
        f"\n{counts.unreachable:,} records of the dataset are left out: their pictures have no address on the web.\n"
        if counts.unreachable
        else ""
    )
    no_identifiers = (
        "\nThe labels of this release carry no identifiers of their own; `/label/<name>` stands in their place.\n"
        if counts.labelled and not counts.named
        else "\nA label without an identifier of its own has `/label/<name>` in its place.\n"
        if counts.unnamed
        else ""
    )
    return f"""\
# {name}: {total:,} captions of pictures on the web

Captions inputs from the alt-texts of web pages by Hearsight, after the method of Conceptual Captions: filtered, names replaced by
general words, rare concepts dropped. Rewriting is automatic: captions can be wrong, and nobody has rated the test split.

## Files

UTF-8, fields separated by a tab, no quoting. The first four have no header and the layout Conceptual Captions is published in.

| file | fields | rows |
|---|---|--:|
{tables}
| `{LABELS.format(name)}` | caption, image URL, labels, identifiers, confidences (lists, with commas) | {counts.labelled:,} |
| `{STATISTICS}` | split, examples, unique tokens, tokens a caption: mean, sd, median | {len(statistics)} |
| `{CONCEPTS}` | concept, captions that speak of it, kept or dropped, members | {kept:,} kept, {dropped:,} dropped |
| `{SETTINGS}` | the settings of every stage, and the digest of the data | |
| `{SUMS}` | sha256 of each file: `sha256sum --check {SUMS}` | |

Labels are inputs by a classifier for training pictures; a confidence is 0 to 1.{no_identifiers}{left_out}
Concepts are counted before near-duplicates are dropped.

## Statistics

| split | examples | unique tokens | tokens a caption: mean | sd | median |
|---|--:|--:|--:|--:|--:|
{rows}

Tokens are Penn Treebank words in lower case without punctuation; sd is the population's.

## Licence

**Captions and labels.** {" ".join(licence.split()) or NO_LICENCE}

**Pictures.** No picture is part of this release, only its address. Each belongs to whoever inputs it and stays under the terms it
is published under; fetching and using it is between you and them. A picture may be gone, or be another one by now.

**Taking down.** A row whose page or picture says no to such uses was left out when it was crawled. Who later asks for a row to be
removed should be heard: it is a line of a text file.

## How to cite

{CITATIONS}"""
