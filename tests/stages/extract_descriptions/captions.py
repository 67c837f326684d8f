"""What the tests of describe share: the rules, a call of extract, and captions as people might write them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from components.language.identification import language_probability
from components.stages.extract_descriptions import Params
from components.stages.extract_descriptions.extract import Description, extract
from components.stages.extract_descriptions.rules import load_rules

RULES = load_rules("pt")


def found(caption: str, **params: Any) -> Description:
    """The description in a caption, by the settings of params.yaml."""
    return extract(caption, RULES, language_probability, Params(**params))


_PIECES = [
    "#PraCegoVer", "#pratodosverem:", "#", "# pracegover", "\uff03PraCegoVer", "#praia", "#VacinaJá", "@ana.souza",
    "@a@b.org", "@", "foto", "Foto de", "uma", "mulher", "sorri", "na", "praia.", "Imagem 1:", "Imagem 2:",
    "Fim da descrição.", "(fim da AD)", "FIM", "#FimDaDescricao", "(", ")", "[", "]", "“", "”", "\"", "'", ".", "...",
    ",", ":", ";", "-", "—", "\n", "\n\n", "\n.\n", "E:", "e", "FONTE: IBGE", "https://a.br/x?y=(1)", "www.a.com.br",
    "a@b.com", "bit.ly/x", "\U0001f600", "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "\U0001f1e7\U0001f1f7", "\U0001f1fa\U0001f1f8", "1\ufe0f\u20e3", "\u2764\ufe0f", "©", "™", "\u6771\u4eac",
    "سلام", "é", "e\u0301", "[EN]", "EN:", "PT:", "Photo of a woman smiling on the beach.", "Descrição da imagem:",
    "Audiodescrição", "#AD", "Saiba mais", "link na bio", "Foto: Ana", "\U0001f4f7", "​", "\u200d", "\ufe0f",
    "\U000e0041", "\u2800", " ", "#10", "C#", "_", "*", "/", "|", ":)", "R$ 5,00", "10:30", "!", "?", "Texto:",
    "&amp;", "&quot;", "<br>", "</p><p>", ":libras:", "\u200c", "\u0915\u094d\u200d\u0937", "Ao fundo, el perro y la casa.",
    "Card 3", "de", "por", "e", "(@b)", "#a,#b", "a#b", "..", ". .", ",,", "»", "«", "{", "}", "+50", "&", "\r", "",
]  # fmt: skip
PIECES = st.sampled_from(_PIECES)
CAPTIONS = st.one_of(
    st.text(max_size=120),
    st.builds("#PraCegoVer {}".format, st.text(max_size=120)),
    st.lists(PIECES, max_size=25).map(" ".join),
    st.lists(PIECES, max_size=25).map(lambda pieces: "#PraCegoVer " + "".join(pieces)),
    st.lists(PIECES, max_size=25).map(lambda pieces: "#PraCegoVer: " + " ".join(pieces)),
)
