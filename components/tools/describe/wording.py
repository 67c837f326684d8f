"""What descriptions say besides captions, in the languages of captions and of the interface."""

from __future__ import annotations

LANGUAGES = ("en", "pt", "fr", "es")
"""Languages of captions (ISO 639-1)."""
INTERFACES = ("en", "pt")
"""Languages of notes."""
PREFIX = {"en": "Not sure: ", "pt": "Sem certeza: ", "fr": "Pas sûr : ", "es": "Sin certeza: "}
"""Language of a caption → what precedes it where it is not sure."""
TEXT_IN_IMAGE = {
    "en": "Text in the image: ",
    "pt": "Texto na imagem: ",
    "fr": "Texte dans l'image : ",
    "es": "Texto en la imagen: ",
}
"""Language of a caption → what precedes the text in the image."""
MOST_TEXT = 200
"""Characters of the text in an image that an alt-text repeats."""
WORDS = {"en": ("sure", "not sure"), "pt": ("com certeza", "sem certeza")}
"""Language of the interface → the words for a confidence."""
LIMITS = {
    "en": {
        "text": "Text in the image is not read.",
        "captioner": "Trained on {number}captions of {domain}: {words} words. It calls everything by one of these words.",
        "index": "It repeats captions of {images} images of the dataset {source}.",
        "similar": "This caption was written for a similar image, of the dataset {source}. It may not fit this one.",
        "likelihood": "The confidence is the model's own: there are no captions of similar images to compare with.",
        "empty": "The model has no words for this image.",
        "unlike": "This image is unlike those that the model was trained on, so it says nothing.",
        "hub": "A model from elsewhere ({model}): its model card says what it was trained on.",
        "server": "The model {model} of the server {place}.",
        "sent": "Images are sent to {place}, another machine.",
        "said": "The model only says whether it is sure: the confidence is 1 or 0.",
        "disagrees": "Another model does not recognise in the image what the text names.",
        "unchecked": "Whether the image shows what the text names is checked for English only.",
        "names": "The model's text was dropped: it names somebody or something ({value}).",
        "length": "The model's text was dropped: it has {value} words.",
        "language": "The model's text was dropped: it is not in the language asked for.",
        "form": "The model's text was dropped: it is no description ({value}).",
        "unanswered": "The server gave no usable answer ({value}).",
        "check": "A program wrote this. Check it before you publish it.",
    },
    "pt": {
        "text": "O texto na imagem não é lido.",
        "captioner": "Treinado com {number}legendas de {domain}: {words} palavras. Chama tudo por uma dessas palavras.",
        "index": "Repete legendas de {images} imagens do conjunto {source}.",
        "similar": "Esta legenda foi escrita para uma imagem semelhante, do conjunto {source}. Pode não servir para esta.",
        "likelihood": "A confiança é do próprio modelo: não há legendas de imagens semelhantes para comparar.",
        "empty": "O modelo não tem palavras para esta imagem.",
        "unlike": "Esta imagem não se parece com as do treino, por isso o modelo não diz nada.",
        "hub": "Um modelo de fora ({model}): a ficha do modelo diz com que foi treinado.",
        "server": "O modelo {model} do servidor {place}.",
        "sent": "As imagens são enviadas para {place}, outra máquina.",
        "said": "O modelo só diz se tem certeza: a confiança é 1 ou 0.",
        "disagrees": "Outro modelo não reconhece na imagem o que o texto nomeia.",
        "unchecked": "Só em inglês se verifica se a imagem mostra o que o texto nomeia.",
        "names": "O texto do modelo foi descartado: nomeia alguém ou alguma coisa ({value}).",
        "length": "O texto do modelo foi descartado: tem {value} palavras.",
        "language": "O texto do modelo foi descartado: não está na língua pedida.",
        "form": "O texto do modelo foi descartado: não é uma descrição ({value}).",
        "unanswered": "O servidor não deu uma resposta utilizável ({value}).",
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


def with_text(alt: str, lines: list[str], language: str) -> str:
    """Return an alt-text with the text in the image, cut to :data:`MOST_TEXT` characters, behind it."""
    text = " / ".join(lines)
    if not text:
        return alt
    cut = text if len(text) <= MOST_TEXT else text[:MOST_TEXT].rpartition(" ")[0] + " …"
    between = "" if not alt else " " if alt.endswith((".", "!", "?")) else ". "
    return f"{alt}{between}{TEXT_IN_IMAGE[language]}{cut}"
