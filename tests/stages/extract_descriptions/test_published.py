"""Where the published rules break (they are told in docs/posts-to-descriptions.md), these hold."""

from __future__ import annotations

import pytest

from tests.stages.extract_descriptions.captions import found


@pytest.mark.parametrize(
    ("caption", "description"),
    [
        ("#PraCegoVer: FONTE: IBGE, gráfico de barras", "FONTE: IBGE, gráfico de barras."),
        ("#PraCegoVer: Flor amarela no vaso. Fim da descricao. Compre já!", "Flor amarela no vaso."),
        ("#PraCegoVer: Flor amarela no jarro. Fim da audiodescrição. Compre já!", "Flor amarela no jarro."),
        ("#PraCegoVer: Sol no fim da tarde sobre o lago. Há uma descrição na placa.", None),
        ("#PraCegoVer: Letreiro 新宿 na rua à noite.", "Letreiro 新宿 na rua à noite."),
        ("#ParaCegoVer: Flor amarela no canteiro.", "Flor amarela no canteiro."),
        ("#PraCegoVer: Convite para o site exemplo.com/festa, com balões.", "Convite para o site, com balões."),
    ],
)
def test_words_that_the_published_rules_damage_are_unchanged(caption: str, description: str | None) -> None:
    assert found(caption).text == (description or caption.removeprefix("#PraCegoVer: "))


@pytest.mark.parametrize(
    ("caption", "reason"),
    [
        ("Uma mulher anda na praia com seu cachorro.", "no_tag"),
        ("PraCegoVer: Uma mulher anda na praia com seu cachorro.", "no_tag"),
        ("#pracegoverbrasil Uma mulher anda na praia.", "tag_in_word"),
        ("https://a.br/#pracegover Uma mulher anda na praia.", "tag_in_word"),
        ("A campanha #PraCegoVer nasceu na Bahia.", "tag_in_sentence"),
        ("Que dia! #sol #PraCegoVer", "nothing_after_tag"),
        ("Descrição da imagem: uma mulher anda na praia. #PraCegoVer", "before_tag"),
        ("#PraCegoVer #sol @ana 😀", "only_marks"),
        ("#PraCegoVer: Mulher na praia.", "too_short"),
        ("#PraCegoVer: Nunca deixe para amanhã o carinho que você pode dar hoje.", "no_description"),
        ("#PraCegoVer: Promoção! Compre pelo link da bio e ganhe desconto.", "no_description"),
        ("#PraCegoVer: A woman walks along the beach with her dog.", "not_portuguese"),
    ],
)
def test_a_malformed_caption_says_why(caption: str, reason: str) -> None:
    result = found(caption)
    assert (result.text, result.reason) == (None, reason)


def test_the_number_of_words_is_a_parameter() -> None:
    assert found("#PraCegoVer: Mulher anda na praia.", min_words=4).reason == "too_short"
    assert found("#PraCegoVer: Mulher na praia.", min_words=2).text == "Mulher na praia."
