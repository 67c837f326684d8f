"""Arrow schemas of all stages' records, with units in the fields' metadata.

Shards hold exactly these columns in this order. Stages add columns and keep ``key``, so a record can be followed from the crawl
to the scores. The units are part of the shards' bytes: another wording changes every digest.
"""

from __future__ import annotations

import pyarrow as pa

from components.core.record_fields import CONTEXT, F32, F64, I32, I64, LABELS, STEPS, STR, field, list_of, schema

CANDIDATE = schema(
    field("key", STR, "16 hex digits"),
    field("page_url", STR, "empty for a row of a table, which has no page"),
    field("image_url", STR, "http(s), or file: below the table's image folder"),
    field("alt", STR),
    field("figcaption", STR, "what the page's <figcaption> says of the image; empty for none"),
    field("context", CONTEXT, "what the page around the image says; none for a table or post", nullable=True),
    field("position", I32, "order of the image on its page, from 0"),
    field("host", STR),
    field("language", STR, "ISO 639-1"),
    field("format", STR, "by content: JPEG, PNG, GIF, WEBP"),
    field("width", I32, "px"),
    field("height", I32, "px"),
    field("bytes", I64, "B"),
    field("image_sha256", STR),
    field("phash", STR, "64-bit perceptual hash, 16 hex digits; of an image without contrast = and 15 of its pixels"),
    field("media", STR, "tar shard / member"),
    field("archive", STR, "the WARC, WAT or table it was read from; empty for a live page"),
    field("archive_offset", I64, "B into a WARC or WAT, or a table's row from 1; -1 = none"),
    field("owner", STR, "whose post it is, as its source names the account; empty where nobody is named"),
    field("post", STR, "the post's or caption's identifier at its source; empty where there is none"),
    field("posted", STR, "when it was posted: ISO 8601 in UTC, or as a table spells it; empty where unknown"),
    field("collected", STR, "when a snapshot first held the post, ISO 8601 UTC; empty for what is no post"),
)
FILTERED = schema(
    *CANDIDATE,
    field("text", STR, "alt after boiler-plate cropping"),
    field("labels", LABELS),
)
CAPTION = schema(
    *FILTERED,
    field("caption", STR),
    field("steps", STEPS),
    field("types", pa.list_(STR), "resolved concepts"),
)
GROUPED = schema(*CAPTION, field("group", STR, "the key of the record that comes first among its near-duplicates"))
SPLIT = schema(*GROUPED, field("split", STR, "train, validation or test"))
CLUSTERED = schema(
    field("key", STR),
    field("cluster", I32, "-1 = outlier"),
    field("round", I32, "of the clustering that found it, from 1; 0 for an outlier"),
    field("x", F32, "on the 2-d map"),
    field("y", F32, "on the 2-d map"),
)
UTTERANCE = schema(
    field("key", STR, "<record key>.<n>"),
    field("record", STR),
    field("caption", STR),
    field("language", STR, "ISO 639-1, of the caption"),
    field("spoken", STR, "what the voice was given to say; for human speech the caption"),
    field("split", STR),
    field("group", STR),
    field("image_sha256", STR),
    field("image_media", STR, "tar shard / member"),
    field("origin", STR, "synthetic or human"),
    field("voice", STR, "of the catalogue; for human speech the speaker, as the corpus names them"),
    field("rate", F32, "1 = the voice's own"),
    field("pitch", F32, "semitones from the voice's own"),
    field("gain", F32, "dB from the voice's level"),
    field("seconds", F32, "s"),
    field("seconds_per_character", F32, "s, of what was spoken"),
    field("level", F32, "dB of full scale: RMS over the 10 ms frames that count as speech"),
    field("peak", F32, "dB of full scale"),
    field("clipped", I32, "samples at full scale"),
    field("lead", F32, "s of silence before the speech"),
    field("tail", F32, "s of silence after it"),
    field("audio_sha256", STR),
    field("media", STR, "tar shard / member, 16 kHz mono FLAC"),
)
RECOGNITION = schema(
    field("key", STR, "of the utterance"),
    field("record", STR),
    field("language", STR, "ISO 639-1, of what was said"),
    field("split", STR),
    field("origin", STR, "synthetic or human"),
    field("voice", STR),
    field("spoken", STR, "what should be heard"),
    field("recogniser", STR, "name of the speech recogniser; empty for none"),
    field("verdict", STR, "heard, silent, unreadable or unrecognised"),
    field("heard", STR, "as the recogniser wrote it"),
    field("words", I32, "of what should be heard, normalised"),
    field("word_errors", I32, "substituted, deleted and inserted; none where no recogniser listened", nullable=True),
    field("characters", I32, "of the same words, spaces between them counted"),
    field("character_errors", I32, "likewise", nullable=True),
    field("seconds", F32, "s"),
    field("audio_sha256", STR),
)
FEATURES = schema(
    field("key", STR),
    field("split", STR),
    field("group", STR),
    field("language", STR, "ISO 639-1"),
    field("caption", STR, "the wording that is learned: the caption, or the alt-text it was made from"),
    field("words", pa.list_(STR), "its tokens, as the metrics count them"),
    field("labels", pa.list_(STR), "of the image, by descending confidence; empty if no classifier was used"),
    field("image_sha256", STR),
    field("media", STR, "tar shard / member: float16 of views x (1 + cells) x features (docs/captioners.md), or the image"),
    field("thumbnail", STR, "tar shard / member of a small image for pages; empty where none is kept"),
    field("centre", STR, "tar shard / member of the centre crop's features; empty where none is kept"),
)
MODEL = schema(
    field("key", STR, "<row>-<seed>, of a captioner <network>-<seed>"),
    field("kind", STR, "captioner or dual_encoder"),
    field("seed", I32),
    field("weights", STR, "path inside the output"),
    field("weights_sha256", STR),
    field("parameters", I64),
    field("steps", I32, "optimiser steps"),
    field("best_epoch", I32),
    field("validation", F64, "the selection metric"),
)
GENERATED_CAPTION = schema(
    field("key", STR, "of the record"),
    field("test", STR, "the set whose test split it is of"),
    field("model", STR, "<training set>-<network>-<seed>"),
    field("training", STR, "the set the model learned from"),
    field("network", STR),
    field("seed", I32),
    field("output", STR, "the caption written"),
    field("references", pa.list_(STR)),
    field("cider_d", F64, "among all items of the test set; 0..10"),
    field("rouge_l", F64, "0..1"),
    field("objects", I32, "objects it mentions; null where they cannot be detected", nullable=True),
    field("unsupported", pa.list_(STR), "lemmas of those objects that neither labels nor references contain"),
)
RETRIEVAL_RANK = schema(
    field("key", STR, "of the utterance that asks, or <the asking image's sha256>.<round>"),
    field("query", STR, "bootstrap unit: the utterance's record, or the image's sha256"),
    field("direction", STR, "speech_to_image or image_to_speech"),
    field("model", STR),
    field("kind", STR),
    field("row", STR, "of the table: the model's key without its seed"),
    field("seed", I32),
    field("crop", STR, "of the images: centre or whole"),
    field("rank", I32, "of the best relevant item; 1 = best"),
    field("relevant_ranks", pa.list_(I32), "ranks of the relevant items, up to the largest k of recall@k"),
    field("relevant", I32, "number of relevant items"),
    field("items", I32, "items that were ranked"),
)
RETRIEVED = schema(
    field("key", STR, "of the query, as in RETRIEVAL_RANK"),
    field("direction", STR, "speech_to_image or image_to_speech"),
    field("model", STR),
    field("crop", STR, "of the images: centre or whole"),
    field("rank", I32, "1 = best"),
    field("candidate", STR, "the image's sha256, or the utterance's key"),
    field("known", pa.bool_(), "whether the data pair them, as `matching` says"),
)
"""Rows of a table beside RETRIEVAL_RANK records (:data:`components.core.addresses.RETRIEVED_FILE`): the best items of a query."""
SPOKEN = list_of(field("language", STR, "ISO 639-1"), field("caption", STR))
SEARCH_ITEM = schema(
    field("key", STR, "of the utterance; of an image its sha256"),
    field("kind", STR, "image or speech"),
    field("image_sha256", STR, "the image, or the one that is spoken of"),
    field("caption", STR, "caption spoken; of an image the first one, in the order of its utterances' keys"),
    field("captions", SPOKEN, "all captions of the image, each once; of an utterance its own"),
    field("languages", pa.list_(STR), "ISO 639-1, of the captions, each once"),
    field("splits", pa.list_(STR), "train, validation, test; an image may be spoken of in several"),
    field("origin", STR, "synthetic or human; empty for an image"),
    field("voice", STR, "empty for an image"),
    field("seconds", F32, "s; 0 for an image"),
    field("audio_sha256", STR, "empty for an image"),
    field("media", STR, "tar shard / member in the speech's output; empty for an image"),
    field("thumbnail", STR, "path inside the output's search/ of a small image; empty where none is kept"),
)
RATING_USES = list_of(
    field("table", STR, "dataset, model, retrieval or truth"),
    field("source", STR, "the dataset, or the model: <training set>-<network>-<seed>, or <row>-<seed> of a dual encoder"),
    field("direction", STR, "speech_to_image or image_to_speech; empty for what is no retrieval result"),
    field("query", STR, "key of the record; of a retrieval result the utterance's key or the image's sha256"),
    field("candidate", STR, "what was retrieved: the image's sha256 or the utterance's key; empty for other tables"),
    field("rank", I32, "of the result, 1 = best; 0 for other tables"),
    field("known", pa.bool_(), "whether the data pair them"),
)
RATING_ITEM = schema(
    field("key", STR, "16 hex digits of what is shown: image, crop, and caption or speech"),
    field("image_sha256", STR),
    field("crop", STR, "of the image: whole or centre"),
    field("caption", STR, "the text shown; for speech what was said, which is not shown"),
    field("language", STR, "ISO 639-1, of the caption"),
    field("audio_sha256", STR, "of the speech that is played instead of the text; empty where the text is shown"),
    field("image", STR, "tar shard / member, JPEG, as it is shown"),
    field("audio", STR, "tar shard / member, FLAC; empty where the text is shown"),
    field("raters", I32, "how many are asked"),
    field("uses", RATING_USES, "every place of a table that this pair fills; raters never see them"),
)
RATING = schema(
    field("key", STR, "<item>.<rater>"),
    field("item", STR, "of RATING_ITEM"),
    field("query", STR, "of the item's first use"),
    field("candidate", STR, "likewise; empty for none"),
    field("rank", I32, "likewise; 0 for none"),
    field("rater", STR, "a random or pseudonymous identifier, never a name"),
    field("verdict", STR, "GOOD or BAD"),
    field("time", STR, "ISO 8601 in UTC; empty where the source has none"),
    field("seconds", F32, "s from showing to answering; none where unknown", nullable=True),
    field("source", STR, "the tool: hearsight, label_studio or csv; model for ratings that are no person's"),
)
RATED_ITEM = schema(
    field("key", STR, "of RATING_ITEM"),
    field("records", pa.list_(STR), "keys of the dataset's records whose own caption and whole image this is"),
    field("raters", I32, "how many were asked"),
    field("ratings", I32, "how many answered; later ones than asked for are left out"),
    field("good", I32, "of these"),
    field("uses", RATING_USES),
)
DRIFT = schema(
    field("key", STR, "<group>/<subject>/<label>"),
    field("group", STR, "pass rates, lengths, languages, owners, hosts or errors"),
    field("measure", STR, "its name in words"),
    field("value", F64, "of the day: a share, 0..1, or a mean"),
    field("of", I64, "records, or addresses, that the day has"),
    field("days", I32, "compared with"),
    field("low", F64, "of the usual range; none without enough days", nullable=True),
    field("high", F64, "likewise", nullable=True),
    field("finding", STR, "value and range of a day outside it; empty for another"),
)
FIGURE = schema(
    field("key", STR),
    field("title", STR),
    field("path", STR, "path inside the output"),
    field("sha256", STR),
)
LEDGER = schema(
    field("kind", STR, "page, image, record, utterance or model"),
    field("key", STR),
    field("verdict", STR, "kept or dropped"),
    field("rule", STR, "empty when kept"),
    field("value", STR),
    field("threshold", STR),
    field("detail", STR),
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
