"""Arrow schemas of all stages' records, with units in the fields' metadata.

Shards hold exactly these columns in this order. Stages add columns and keep ``key``, so a record can be followed from the crawl
to the scores. The units are part of the shards' bytes: another wording changes every digest.
"""

from __future__ import annotations

import pyarrow as pa

STR, I32, I64, F32, F64 = pa.string(), pa.int32(), pa.int64(), pa.float32(), pa.float64()


def _schema(*fields: pa.Field) -> pa.Schema:
    return pa.schema(fields)


def _list_of(*fields: pa.Field) -> pa.DataType:
    return pa.list_(pa.struct(fields))


def _field(name: str, kind: pa.DataType, unit: str = "", *, nullable: bool = False) -> pa.Field:
    return pa.field(name, kind, nullable=nullable, metadata={"unit": unit} if unit else None)


LABELS = _list_of(
    _field("label", STR),
    _field("confidence", F32, "0..1"),
    _field("identifier", STR, "n + 8 digits (WordNet 3.0), or a Knowledge Graph id; empty for none"),
)
CONTEXT = pa.struct(
    [
        _field("heading", STR, "title or heading of the page that the alt-text repeats; none for no such text", nullable=True),
        _field("heading_kind", STR, "title, og:title, or h1 to h6", nullable=True),
        _field("link_text", STR, "text of a link of the page that the alt-text repeats", nullable=True),
        _field("link_url", STR, "where the link around the image leads", nullable=True),
        _field("control", pa.bool_(), "whether the image is, or is in, a button", nullable=True),
        _field("role", STR, "of the image", nullable=True),
        _field("layout_width", I32, "px, if the page states it", nullable=True),
        _field("layout_height", I32, "px, if the page states it", nullable=True),
        _field("figcaption_agrees", pa.bool_(), "whether the figcaption has the alt-text's words", nullable=True),
        _field("site_count", I32, "images of the page with this alt-text", nullable=True),
    ]
)
"""All fields may be null, since Arrow refuses a null struct with fields that may not."""
STEPS = _list_of(_field("step", STR), _field("before", STR), _field("after", STR), _field("reason", STR))
CANDIDATE = _schema(
    _field("key", STR, "16 hex digits"),
    _field("page_url", STR, "empty for a row of a table, which has no page"),
    _field("image_url", STR, "http(s), or file: below the table's image folder"),
    _field("alt", STR),
    _field("figcaption", STR, "what the page's <figcaption> says of the image; empty for none"),
    _field("context", CONTEXT, "what the page around the image says; none for a table or post", nullable=True),
    _field("position", I32, "order of the image on its page, from 0"),
    _field("host", STR),
    _field("language", STR, "ISO 639-1"),
    _field("format", STR, "by content: JPEG, PNG, GIF, WEBP"),
    _field("width", I32, "px"),
    _field("height", I32, "px"),
    _field("bytes", I64, "B"),
    _field("image_sha256", STR),
    _field("phash", STR, "64-bit perceptual hash, 16 hex digits; of an image without contrast = and 15 of its pixels"),
    _field("media", STR, "tar shard / member"),
    _field("archive", STR, "the WARC, WAT or table it was read from; empty for a live page"),
    _field("archive_offset", I64, "B into a WARC or WAT, or a table's row from 1; -1 = none"),
    _field("owner", STR, "whose post it is, as its source names the account; empty where nobody is named"),
    _field("post", STR, "the post's or caption's identifier at its source; empty where there is none"),
    _field("posted", STR, "when it was posted: ISO 8601 in UTC, or as a table spells it; empty where unknown"),
    _field("collected", STR, "when a snapshot first held the post, ISO 8601 UTC; empty for what is no post"),
)
FILTERED = _schema(
    *CANDIDATE,
    _field("text", STR, "alt after boiler-plate cropping"),
    _field("labels", LABELS),
)
CAPTION = _schema(
    *FILTERED,
    _field("caption", STR),
    _field("steps", STEPS),
    _field("types", pa.list_(STR), "resolved concepts"),
)
GROUPED = _schema(*CAPTION, _field("group", STR, "the key of the record that comes first among its near-duplicates"))
SPLIT = _schema(*GROUPED, _field("split", STR, "train, validation or test"))
CLUSTERED = _schema(
    _field("key", STR),
    _field("cluster", I32, "-1 = outlier"),
    _field("round", I32, "of the clustering that found it, from 1; 0 for an outlier"),
    _field("x", F32, "on the 2-d map"),
    _field("y", F32, "on the 2-d map"),
)
UTTERANCE = _schema(
    _field("key", STR, "<record key>.<n>"),
    _field("record", STR),
    _field("caption", STR),
    _field("language", STR, "ISO 639-1, of the caption"),
    _field("spoken", STR, "what the voice was given to say; for human speech the caption"),
    _field("split", STR),
    _field("group", STR),
    _field("image_sha256", STR),
    _field("image_media", STR, "tar shard / member"),
    _field("origin", STR, "synthetic or human"),
    _field("voice", STR, "of the catalogue; for human speech the speaker, as the corpus names them"),
    _field("rate", F32, "1 = the voice's own"),
    _field("pitch", F32, "semitones from the voice's own"),
    _field("gain", F32, "dB from the voice's level"),
    _field("seconds", F32, "s"),
    _field("seconds_per_character", F32, "s, of what was spoken"),
    _field("level", F32, "dB of full scale: RMS over the 10 ms frames that count as speech"),
    _field("peak", F32, "dB of full scale"),
    _field("clipped", I32, "samples at full scale"),
    _field("lead", F32, "s of silence before the speech"),
    _field("tail", F32, "s of silence after it"),
    _field("audio_sha256", STR),
    _field("media", STR, "tar shard / member, 16 kHz mono FLAC"),
)
RECOGNITION = _schema(
    _field("key", STR, "of the utterance"),
    _field("record", STR),
    _field("language", STR, "ISO 639-1, of what was said"),
    _field("split", STR),
    _field("origin", STR, "synthetic or human"),
    _field("voice", STR),
    _field("spoken", STR, "what should be heard"),
    _field("recogniser", STR, "name of the speech recogniser; empty for none"),
    _field("verdict", STR, "heard, silent, unreadable or unrecognised"),
    _field("heard", STR, "as the recogniser wrote it"),
    _field("words", I32, "of what should be heard, normalised"),
    _field("word_errors", I32, "substituted, deleted and inserted; none where no recogniser listened", nullable=True),
    _field("characters", I32, "of the same words, spaces between them counted"),
    _field("character_errors", I32, "likewise", nullable=True),
    _field("seconds", F32, "s"),
    _field("audio_sha256", STR),
)
FEATURES = _schema(
    _field("key", STR),
    _field("split", STR),
    _field("group", STR),
    _field("language", STR, "ISO 639-1"),
    _field("caption", STR, "the wording that is learned: the caption, or the alt-text it was made from"),
    _field("words", pa.list_(STR), "its tokens, as the metrics count them"),
    _field("labels", pa.list_(STR), "of the image, by descending confidence; empty if no classifier was used"),
    _field("image_sha256", STR),
    _field("media", STR, "tar shard / member: float16 of views x (1 + cells) x features (docs/captioners.md), or the image"),
    _field("thumbnail", STR, "tar shard / member of a small image for pages; empty where none is kept"),
    _field("centre", STR, "tar shard / member of the centre crop's features; empty where none is kept"),
)
MODEL = _schema(
    _field("key", STR, "<row>-<seed>, of a captioner <network>-<seed>"),
    _field("kind", STR, "captioner or dual_encoder"),
    _field("seed", I32),
    _field("weights", STR, "path inside the output"),
    _field("weights_sha256", STR),
    _field("parameters", I64),
    _field("steps", I32, "optimiser steps"),
    _field("best_epoch", I32),
    _field("validation", F64, "the selection metric"),
)
GENERATED_CAPTION = _schema(
    _field("key", STR, "of the record"),
    _field("test", STR, "the set whose test split it is of"),
    _field("model", STR, "<training set>-<network>-<seed>"),
    _field("training", STR, "the set the model learned from"),
    _field("network", STR),
    _field("seed", I32),
    _field("output", STR, "the caption written"),
    _field("references", pa.list_(STR)),
    _field("cider_d", F64, "among all items of the test set; 0..10"),
    _field("rouge_l", F64, "0..1"),
    _field("objects", I32, "objects it mentions; null where they cannot be detected", nullable=True),
    _field("unsupported", pa.list_(STR), "lemmas of those objects that neither labels nor references contain"),
)
RETRIEVAL_RANK = _schema(
    _field("key", STR, "of the utterance that asks, or <the asking image's sha256>.<round>"),
    _field("query", STR, "bootstrap unit: the utterance's record, or the image's sha256"),
    _field("direction", STR, "speech_to_image or image_to_speech"),
    _field("model", STR),
    _field("kind", STR),
    _field("row", STR, "of the table: the model's key without its seed"),
    _field("seed", I32),
    _field("crop", STR, "of the images: centre or whole"),
    _field("rank", I32, "of the best relevant item; 1 = best"),
    _field("relevant_ranks", pa.list_(I32), "ranks of the relevant items, up to the largest k of recall@k"),
    _field("relevant", I32, "number of relevant items"),
    _field("items", I32, "items that were ranked"),
)
RETRIEVED = _schema(
    _field("key", STR, "of the query, as in RETRIEVAL_RANK"),
    _field("direction", STR, "speech_to_image or image_to_speech"),
    _field("model", STR),
    _field("crop", STR, "of the images: centre or whole"),
    _field("rank", I32, "1 = best"),
    _field("candidate", STR, "the image's sha256, or the utterance's key"),
    _field("known", pa.bool_(), "whether the data pair them, as `matching` says"),
)
"""Rows of a table beside RETRIEVAL_RANK records (:data:`components.core.addresses.RETRIEVED_FILE`): the best items of a query."""
SPOKEN = _list_of(_field("language", STR, "ISO 639-1"), _field("caption", STR))
SEARCH_ITEM = _schema(
    _field("key", STR, "of the utterance; of an image its sha256"),
    _field("kind", STR, "image or speech"),
    _field("image_sha256", STR, "the image, or the one that is spoken of"),
    _field("caption", STR, "caption spoken; of an image the first one, in the order of its utterances' keys"),
    _field("captions", SPOKEN, "all captions of the image, each once; of an utterance its own"),
    _field("languages", pa.list_(STR), "ISO 639-1, of the captions, each once"),
    _field("splits", pa.list_(STR), "train, validation, test; an image may be spoken of in several"),
    _field("origin", STR, "synthetic or human; empty for an image"),
    _field("voice", STR, "empty for an image"),
    _field("seconds", F32, "s; 0 for an image"),
    _field("audio_sha256", STR, "empty for an image"),
    _field("media", STR, "tar shard / member in the speech's output; empty for an image"),
    _field("thumbnail", STR, "path inside the output's search/ of a small image; empty where none is kept"),
)
RATING_USES = _list_of(
    _field("table", STR, "dataset, model, retrieval or truth"),
    _field("source", STR, "the dataset, or the model: <training set>-<network>-<seed>, or <row>-<seed> of a dual encoder"),
    _field("direction", STR, "speech_to_image or image_to_speech; empty for what is no retrieval result"),
    _field("query", STR, "key of the record; of a retrieval result the utterance's key or the image's sha256"),
    _field("candidate", STR, "what was retrieved: the image's sha256 or the utterance's key; empty for other tables"),
    _field("rank", I32, "of the result, 1 = best; 0 for other tables"),
    _field("known", pa.bool_(), "whether the data pair them"),
)
RATING_ITEM = _schema(
    _field("key", STR, "16 hex digits of what is shown: image, crop, and caption or speech"),
    _field("image_sha256", STR),
    _field("crop", STR, "of the image: whole or centre"),
    _field("caption", STR, "the text shown; for speech what was said, which is not shown"),
    _field("language", STR, "ISO 639-1, of the caption"),
    _field("audio_sha256", STR, "of the speech that is played instead of the text; empty where the text is shown"),
    _field("image", STR, "tar shard / member, JPEG, as it is shown"),
    _field("audio", STR, "tar shard / member, FLAC; empty where the text is shown"),
    _field("raters", I32, "how many are asked"),
    _field("uses", RATING_USES, "every place of a table that this pair fills; raters never see them"),
)
RATING = _schema(
    _field("key", STR, "<item>.<rater>"),
    _field("item", STR, "of RATING_ITEM"),
    _field("query", STR, "of the item's first use"),
    _field("candidate", STR, "likewise; empty for none"),
    _field("rank", I32, "likewise; 0 for none"),
    _field("rater", STR, "a random or pseudonymous identifier, never a name"),
    _field("verdict", STR, "GOOD or BAD"),
    _field("time", STR, "ISO 8601 in UTC; empty where the source has none"),
    _field("seconds", F32, "s from showing to answering; none where unknown", nullable=True),
    _field("source", STR, "the tool: hearsight, label_studio or csv"),
)
RATED_ITEM = _schema(
    _field("key", STR, "of RATING_ITEM"),
    _field("records", pa.list_(STR), "keys of the dataset's records whose own caption and whole image this is"),
    _field("raters", I32, "how many were asked"),
    _field("ratings", I32, "how many answered; later ones than asked for are left out"),
    _field("good", I32, "of these"),
    _field("uses", RATING_USES),
)
DRIFT = _schema(
    _field("key", STR, "<group>/<subject>/<label>"),
    _field("group", STR, "pass rates, lengths, languages, owners, hosts or errors"),
    _field("measure", STR, "its name in words"),
    _field("value", F64, "of the day: a share, 0..1, or a mean"),
    _field("of", I64, "records, or addresses, that the day has"),
    _field("days", I32, "compared with"),
    _field("low", F64, "of the usual range; none without enough days", nullable=True),
    _field("high", F64, "likewise", nullable=True),
    _field("finding", STR, "value and range of a day outside it; empty for another"),
)
FIGURE = _schema(
    _field("key", STR),
    _field("title", STR),
    _field("path", STR, "path inside the output"),
    _field("sha256", STR),
)
LEDGER = _schema(
    _field("kind", STR, "page, image, record, utterance or model"),
    _field("key", STR),
    _field("verdict", STR, "kept or dropped"),
    _field("rule", STR, "empty when kept"),
    _field("value", STR),
    _field("threshold", STR),
    _field("detail", STR),
)

OUTPUT_SCHEMAS: dict[str, tuple[str, pa.Schema]] = {
    "crawl": ("CANDIDATE", CANDIDATE),
    "filter": ("FILTERED", FILTERED),
    "hypernymize": ("CAPTION", CAPTION),
    "extract_descriptions": ("CAPTION", CAPTION),
    "dedup": ("GROUPED", GROUPED),
    "split": ("SPLIT", SPLIT),
    "synthesize": ("UTTERANCE", UTTERANCE),
    "import_recordings": ("UTTERANCE", UTTERANCE),
    "evaluate_speech": ("RECOGNITION", RECOGNITION),
    "extract_features": ("FEATURES", FEATURES),
    "train_captioner": ("MODEL", MODEL),
    "evaluate_captioners": ("GENERATED_CAPTION", GENERATED_CAPTION),
    "pretrain_retrieval": ("MODEL", MODEL),
    "finetune_retrieval": ("MODEL", MODEL),
    "evaluate_retrieval": ("RETRIEVAL_RANK", RETRIEVAL_RANK),
    "build_search_index": ("SEARCH_ITEM", SEARCH_ITEM),
    "build_rating_items": ("RATING_ITEM", RATING_ITEM),
    "import_ratings": ("RATING", RATING),
    "evaluate_ratings": ("RATED_ITEM", RATED_ITEM),
    "report": ("FIGURE", FIGURE),
    "cluster": ("CLUSTERED", CLUSTERED),
    "posts_report": ("FIGURE", FIGURE),
    "drift": ("DRIFT", DRIFT),
}
"""Stage → name and schema of its records."""
MODEL_STAGES = ("train_captioner", "pretrain_retrieval", "finetune_retrieval")
"""The stages whose outputs hold models with their weights."""
SEARCH_STAGE = "build_search_index"
"""The stage whose output is a search index with its model."""
