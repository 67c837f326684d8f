"""What a description says besides its caption, in the languages of the interface and of captions."""

from __future__ import annotations

LANGUAGES = ("en", "pt", "fr", "es")
"""Languages of captions (ISO 639-1)."""
INTERFACES = ("en", "pt")
"""Languages of notes."""
PREFIX = {"en": "Not sure: ", "pt": "Sem certeza: ", "fr": "Pas sûr : ", "es": "Sin certeza: "}
"""Language of a caption → what precedes it where it is not sure."""
WORDS = {"en": ("sure", "not sure"), "pt": ("com certeza", "sem certeza")}
"""Language of the interface → the words for a confidence."""
LIMITS = {
    "en": {
        "text": "Text in the image is not read.",
        "words": "The model knows {words} words, learned from the captions of the dataset {source}. It calls everything by one "
        "of these words.",
        "similar": "This caption was written for a similar image, of the dataset {source}. It may not fit this one.",
        "likelihood": "The confidence is the model's own: there are no captions of similar images to compare with.",
        "empty": "The model has no words for this image.",
        "check": "A program wrote this. Check it before you publish it.",
    },
    "pt": {
        "text": "O texto na imagem não é lido.",
        "words": "O modelo conhece {words} palavras, aprendidas das legendas do conjunto {source}. Ele chama tudo por uma "
        "dessas palavras.",
        "similar": "Esta legenda foi escrita para uma imagem semelhante, do conjunto {source}. Pode não servir para esta.",
        "likelihood": "A confiança é do próprio modelo: não há legendas de imagens semelhantes para comparar.",
        "empty": "O modelo não tem palavras para esta imagem.",
        "check": "Um programa escreveu isto. Confira antes de publicar.",
    },
}


def limit(interface: str, name: str, **values: object) -> str:
    """Return a note on a limit in a language of the interface."""
    return LIMITS[interface][name].format(**values)


def confidence_word(interface: str, sure: bool) -> str:
    """Return the word for a confidence in a language of the interface."""
    return WORDS[interface][0 if sure else 1]


def with_prefix(caption: str, language: str, sure: bool) -> str:
    """Return the caption as an alt-text: one that is not sure says so; empty for an empty caption."""
    return caption if sure or not caption else PREFIX[language] + caption
