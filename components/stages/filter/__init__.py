"""filter: drop candidates whose image, text, or both together do not make a caption.

"Ours" marks a threshold that CC does not publish: each is set so that its rule alone drops at most .3 % of CC's published
captions (docs/quality.md), except where a rule reads the image.
Source: CC §3, image-based, text-based and image&text-based filtering. Every threshold is a setting in ``Params``.
Annotations (parse, tone, pornography, labels) depend on content and model alone, so a changed threshold recomputes none of them.
Not in scope: rewriting captions (``hypernymize``), duplicates (``dedup``).
"""

from __future__ import annotations

from typing import Literal

from components.core.params import Settings
from components.hub.model import HubModel
from components.providers.registry import ProviderParams, ZeroShot


class Params(Settings):
    """Settings of filter: the providers, and one threshold for each rule."""

    providers: ProviderParams = ProviderParams()
    """Providers that parse texts and classify images; hypernymize takes the same (``docs/providers.md``)."""
    language: str = "en"
    """Language of page and text, ISO 639-1, and of the boiler-plate lists. CC §3: English pages."""
    formats: list[str] = ["JPEG"]
    """Allowed image encodings. CC §3: JPEG."""
    sides_over: int = 400
    """Both sides must be greater than this, in px. CC §3: 400."""
    max_aspect_ratio: float = 2.0
    """Larger side over smaller side, at most. CC §3: 2; CC12M: 2.5."""
    context_rules: list[Literal["repeats_heading", "repeats_link_text", "control"]] = ["repeats_heading", "repeats_link_text"]
    """Rules on the page around an image that apply. Ours: CC reads alt-texts alone, so the dataset ``paper`` has none;
    ``control`` is left out: many buttons enlarge a photo (docs/quality.md)."""
    repetition_from: float = 0.6
    """Share (0..1) of the longer text's words, alt-text or heading, from which the shorter one, contained in it, makes the
    alt-text a repetition. Ours."""
    pornography_from: float = 0.5
    """Pornography score (0..1) from which an image is dropped. CC §3 names none; COYO-700M: .5."""
    min_words: int = 2
    """Words a text must have at least. Ours: an article and a noun; CC12M: 3."""
    max_words: int = 256
    """Words a text may have at most. CC12M: 256."""
    max_characters: int = 2500
    """Characters an alt-text may have at most. Ours: about what 256 words, the most of CC12M, take at nine characters each."""
    max_mark_run: int = 10
    """Marks (neither letters nor digits) in a row, spaces ignored, at most. Ours: it drops captions like "grass......"."""
    max_capital_ratio: float = 0.7
    """Share of capitalised words, at most. Ours: CC's own examples pass (figure 3's has .63)."""
    first_capital: bool = False
    """Whether a text must begin with a capital letter or a digit. CC §3: yes. Ours: no, as one in eight
    descriptions of pages begins with a small letter, and ``min_description`` is better evidence."""
    max_repetition: float = 0.35
    """Share of the nouns, verbs, adjectives and adverbs that occurred before, at most. Ours; CC12M: .2 of all words."""
    min_language: float = 0.01
    """Probability (0..1) that the text itself is in ``language``, at least. Ours: low, because names and short texts read as many
    languages; a sentence in another language has .001 or less."""
    min_zipf: float = 0.5
    """Zipf frequency (log10 of the count in 10^9 words) of the rarest word, at least; labels' names too. Ours, for CC §3's "at
    least 5 times in the English Wikipedia": table 1's "A319" passes."""
    min_zipf_unlisted: float = 1.35
    """The same for a lower-case word that the dictionary does not list. Ours: "hoverfly" is listed, "mountian" is not."""
    profanity_from: float = 0.9
    """Probability of profanity (0..1) from which a text is dropped. Ours."""
    min_polarity: float = -0.8
    """Polarity (-1..1), at least. Ours."""
    max_polarity: float = 0.9
    """Polarity (-1..1), at most. Ours."""
    require: list[Literal["determiner", "noun", "preposition"]] = ["noun"]
    """Parts of speech without which a text is dropped. CC §3 discards candidates "with no determiner, no noun,
    or no preposition". Read as "without any one of them" this drops 13 % of the captions that CC published; read as "with none of
    them", .1 %. Ours: a noun, without which there is nothing to see (.2 %). All three for the first reading; CC12M: no
    preposition."""
    max_noun_ratio: float = 0.8
    """Share of nouns among the words, at most. Ours."""
    min_unique_ratio: float = 0.5
    """Share of distinct words within each open part of speech, at least. Ours."""
    min_description: float = 0.7
    """Probability (0..1) that the text describes an image, by its form and its page, at least; 0 for no such rule. Ours."""
    overlap: Literal["evidence", "stem"] = "evidence"
    """How text and labels are compared. ``stem`` (CC §3, over 10^5 labels): any word must name a label. ``evidence`` (ours, over
    1,080): the nouns must be likely of the image; labels of Google or a hub, and a text without a known noun, are compared by
    stem."""
    min_evidence: float = -0.15
    """Mean evidence for the nouns that name what can be seen (log-likelihood ratio), at least. Ours: on 500 training images of
    Flickr8k 97.9 % of their captions pass, and 65 % of captions of another image; at .25 these are 79 and 23 %."""
    min_labels: int = 5
    """Labels an image gets at least. CC §3: 5."""
    max_labels: int = 20
    """Labels an image gets at most. CC §3: 20."""
    min_label_confidence: float = 0.05
    """Confidence (0..1) below which an image gets no label beyond ``min_labels``. Ours."""
    min_kind_confidence: float = 0.1
    """Confidence (0..1) in a noun's hypernym, from which the noun counts as visible by ``stem``. Ours."""
    zero_shot: ZeroShot = ZeroShot()
    """The model of ``providers: {vision: hub}``, such as CLIP or SigLIP, and the labels that it tells apart. Ours."""
    image_text: HubModel = HubModel()
    """The model, such as CLIP or SigLIP, that compares an image with its text, beside the labels (``docs/providers.md``); without
    one there is no such rule. DataComp §3.4."""
    min_image_text: float = 0.0
    """Cosine (-1..1) of image and text, at least. Ours: each model has its own scale, so calibrate it by the share that passes
    (``hearsight calibrate --rule image_text --pass-rate .3``). LAION-400M: .3, DataComp: the best 30 %, both by CLIP."""
