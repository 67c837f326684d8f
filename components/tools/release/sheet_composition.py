"""Answers about the composition of a dataset of posts (PCV §6.2)."""

from __future__ import annotations

from collections.abc import Callable

from components.tools.release.offensive import offensive_words
from components.tools.release.sheet_answer import Answer, SheetData, share

PUBLISHED_SETTINGS = ("kind", "layout", "language", "provider", "server", "tag", "variants")
"""Settings of ``crawl.source`` that are published: none of them names an account."""


def _represent(data: SheetData) -> Answer:
    crawl = data.settings["crawl"]
    settings = crawl["source"]
    source = ", ".join(
        f"{'source' if name == 'kind' else name} {', '.join(map(str, value)) if isinstance(value, list) else value}"
        for name in PUBLISHED_SETTINGS
        if (value := settings.get(name)) not in (None, "", [])
    )
    source = f"{source}, web {crawl['web']['kind']}"
    return Answer([f"Posts with a picture and the description its author wrote below it. How they were found: {source}."])


def _how_many(data: SheetData) -> Answer:
    facts, whole = data.facts, data.facts.whole
    rows = [["set", "split", "posts", "owners", "vocabulary", "words a caption: mean", "sd"]]
    for name, parts in facts.parts.items():
        for split, part in parts.items():
            captions = part.captions
            numbers = [
                f"{part.posts:,}",
                f"{len(part.users):,}",
                f"{captions.unique:,}",
                f"{captions.mean:.1f}",
                f"{captions.deviation:.1f}",
            ]
            rows.append([name or data.dataset, split or "all", *numbers])
    unowned = f"; {facts.without_owner:,} instances name no owner" if facts.without_owner else ""
    owners = f"{len(whole.users):,} owners{unowned}"
    text = f"{whole.posts:,} instances of {owners}. The owner with most posts has {facts.largest:.1%} of them."
    return Answer([text], rows)


def _instance(data: SheetData) -> Answer:
    formats = ", ".join(f"{number:,} {kind}" for kind, number in sorted(data.facts.formats.items()))
    return Answer(
        [
            "A JSON object of `dataset.json` with `user` (the owner, anonymised by a keyed hash; empty where none is known), "
            "`filename`, `raw_caption` (as its author wrote it, but for account names: see 6.2.9), `caption` (the "
            "description cut out "
            "of it) and `date` (of the post), and one picture of that file name in `images.tar.gz`.",
            f"Pictures: {formats}. Metadata inside the files (EXIF, XMP, IPTC, comments) were removed from "
            f"{data.facts.stripped:,} "
            "of them; what draws the picture was not touched.",
        ]
    )


def _label(data: SheetData) -> Answer:
    return Answer(["The caption is the target of image captioning. There is no other label."])


def _splits(data: SheetData) -> Answer:
    split = data.settings["split"]
    texts = ["Train, validation and test, in `splits/`: lists of file names."]
    if split.get("by") == "owner":
        rest = round(1 - split["validation"] - split["test"], 9)
        texts.append(
            f"All posts of an owner are in one split; {rest:.0%}, {split['validation']:.0%} and {split['test']:.0%} of the posts "
            "were aimed at. Pictures that are near-duplicates are in one split as well."
        )
    parts = data.facts.parts[""]
    texts.append(
        "; ".join(
            f"{name}: {parts[name].posts:,} posts ({share(parts[name].posts, data.facts.whole.posts)}) of "
            f"{len(parts[name].users):,} owners"
            for name in ("train", "validation", "test")
        )
        + "."
    )
    for name, subset in data.facts.parts.items():
        if name:
            sizes = "/".join(f"{subset[split].posts:,}" for split in ("train", "validation", "test"))
            texts.append(f"Subset {name}, in `subsets/{name}/`: {sizes}.")
    return Answer(texts)


def _errors(data: SheetData) -> Answer:
    facts = data.facts
    duplicates = facts.loss("dedup")
    return Answer(
        [
            "Captions were written by many people for readers, not for this dataset, and cut out of posts by rules: "
            "some hold more or "
            "less than the description, and misspellings stand as they were.",
            f"Of {duplicates.entered:,} posts that entered the search for duplicates "
            f"{share(sum(duplicates.dropped.values()), duplicates.entered)} "
            f"were dropped. Left are {facts.sharing:,} instances whose picture is a near-duplicate of another's "
            f"(several references of "
            f"{facts.shared_pictures:,} pictures), and {facts.same_caption:,} whose very caption another instance has.",
            f"Without a day of the post: {facts.posted.unknown:,}. Languages as the source tells them: "
            + ", ".join(
                f"{name} {number:,}" for name, number in sorted(facts.languages.items(), key=lambda item: (-item[1], item[0]))
            )
            + ".",
        ]
    )


def _confidential(data: SheetData) -> Answer:
    if data.settings["crawl"]["source"]["kind"] == "table":
        return Answer(
            ["The posts came from existing tables: whatever their makers collected. Nothing was asked of private accounts."]
        )
    return Answer(["Only posts that were public when they were collected; private accounts were never asked for."])


def _offensive(data: SheetData) -> Answer:
    rows = [["words", "occurrences", "rank of the most frequent"]]
    counts = offensive_words(data.facts.words)
    rows += [[words, f"{number:,}", f"{rank:,}" if rank else ""] for words, number, rank in counts]
    total = sum(number for _, number, _ in counts)
    text = (
        f"The words of the paper's table 3 occur {total:,} times among {data.facts.words.total():,} words of "
        f"captions. Other offensive "
        "words, raw captions and pictures were not looked into, so there may be more."
    )
    return Answer([text], rows)


def _identify(data: SheetData) -> Answer:
    facts = data.facts
    whole = facts.whole.posts
    kept = (
        "all other mentions were masked as well"
        if data.mask_mentions
        else "mentions of accounts that are not in the set stand as their authors wrote them"
    )
    return Answer(
        [
            "Yes. People are seen in pictures and named in captions, and a public post can be searched for by its "
            "words or its picture.",
            "Owners are represented by HMAC-SHA256 of their account under a key that is not part of the release; file "
            "names likewise. In "
            f"captions {facts.masked:,} names of accounts of the set were replaced by their user or `user`; {kept}.",
            f"Raw captions that still mention an account: {facts.mentions:,} ({share(facts.mentions, whole)}); a web address: "
            f"{facts.addresses:,} ({share(facts.addresses, whole)}); an e-mail address: {facts.mails:,} "
            f"({share(facts.mails, whole)}).",
        ]
    )


def _sensitive(data: SheetData) -> Answer:
    return Answer(
        [
            "Pictures and captions of public posts may reveal origins, health and disability, sexual orientation, "
            "religious beliefs or "
            "political opinions. None of these was looked for or removed."
        ]
    )


COMPOSITION: dict[str, Callable[[SheetData], Answer]] = {
    "6.2.1": _represent, "6.2.2": _how_many, "6.2.3": _instance, "6.2.4": _label, "6.2.5": _splits, "6.2.6": _errors,
    "6.2.7": _confidential, "6.2.8": _offensive, "6.2.9": _identify, "6.2.10": _sensitive,
}  # fmt: skip
"""Question → function that answers it."""
