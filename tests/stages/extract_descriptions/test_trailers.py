"""What addresses, sells, cites or signs goes from the end of a description, and a description without it stays."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from components.stages.extract_descriptions.forms import has_phone
from tests.stages.extract_descriptions.captions import found

DESCRIPTION = "Foto de um barco azul na areia."


@pytest.mark.parametrize(
    "remain",
    [
        "\n\nPedidos pelo zap 11 98765-4321",
        "\n\nEncomendas: (11) 98765-4321.\nPagamento no pix ou boleto\nFrete grátis",
        "\nChame no direct!",
        " - Link na bio",
        " (link na bio)",
        " Faça seu pedido pelo WhatsApp 3456-7890.",
        "\n\nRua das Flores, 12, Recife\n(81) 3456-7890",
        "\nAgendamentos:\n(81) 3456-7890",
        "\n\n11987654321",
        " Peça já o seu!",
        " Compre o seu na.",
        " - from.",
        " with .fotos.litoral",
        "\n\nReposted from @vizinha",
        " - Repost.",
        "\nFonte:",
        " Fonte: IBGE.",
        "\n*Post originalmente publicado em março de 2019.",
        " - Credit to @vizinha.",
        "\n\nWhatsapp: 11 98765-4321",
        "\n\nNosso instagram: @loja",
        "\n\nDúvidas?\nFale com a gente: (11) 98765-4321",
        "\n[...]",
        "\n\nAv. Brasil, 1000 - Centro\nTel. 3222-1010",
        "\nFonte: Agência Litoral.",
        " Via Agência Litoral.",
        " portodabarrafoto.",
        "\n\ngoldenhourlovers",
        " \u0301rio.",
        " -.",
        " - .",
        " ”.",
        ' ".',
        ", de.",
        " e a.",
    ],
)
def test_what_follows_a_description_goes(remain: str) -> None:
    assert found(f"#PraCegoVer: {DESCRIPTION[:-1] if remain[0] == ',' else DESCRIPTION}{remain}").text == DESCRIPTION


@pytest.mark.parametrize(
    "text",
    [
        "Um cartaz com o texto: Ligue para a escola (11) 3456-7890.",
        'Card azul. Texto: "Ligue 0800 123 456. Av. Brasil, 200. Saiba mais em exemplo.com." No rodapé, a logo da clínica.',
        "Um cartaz amarelo. Lê-se: Agende pelo WhatsApp (11) 98765-4321.",
        "Dois homens na fila. Um deles pergunta: Você sabe que horas são?",
        "Na placa está escrito “Peça já pelo WhatsApp”.",
        "Card azul com o telefone (11) 3456-7890 no rodapé.",
        "Quatro cubos com a letra o.",
        "Um barco no rio, no interior do Pará.",
        "Uma mulher lê o livro que o menino dá.",
        "Uma fachada com os anos 1999-2004.",
        "A praia de Boa Viagem. Ao fundo, prédios.",
        "Um cartaz diz “Deus é amor”.",
        "A menina segura a caixa e abre-a.",
        "Uma rua. barcos. areia.",
        "Uma rua do centro. Loja de roupas com balcão.",
        "Um rapaz sentado. Fala ao telefone.",
        "Uma sala de aula. Entrega de cartões aos alunos.",
        "Uma mesa de madeira. Telefone celular sobre a mesa.",
        "Duas pessoas no caixa. Pagamento com cartão.",
        "Atrás da placa, um quati (bem curioso) espia.",
        "Ao lado do cartaz “Bem-vindos” uma menina sorrindo.",
        "Uma menina lê “Bom dia” sorrindo.",
        "Duas pessoas olham um mapa em frente à loja.",
        "Um barco azul na areia. No rodapé está exemplo.com.",
        'Dois cartazes. "Venha. Diga um "Bom dia!" a todos." "Pense... Fale com quem quiser." Os dois têm flores.',
    ],
)
def test_a_description_that_only_looks_similar_stays(text: str) -> None:
    assert found(f"#PraCegoVer: {text}").text == text


@pytest.mark.parametrize("advert", ["Peça já o seu!", "Saiba mais!\n\nLink na bio.", "Compre o seu pelo WhatsApp."])
def test_a_description_that_stands_again_behind_an_advert_is_said_once(advert: str) -> None:
    assert found(f"#PraCegoVer: {DESCRIPTION}{advert}\n\n{DESCRIPTION}").text == DESCRIPTION


def test_a_bracket_that_nothing_opens_goes_from_the_end() -> None:
    assert found(f"#PraCegoVer: {DESCRIPTION[:-1]}).").text == DESCRIPTION


NOUNS = ["barco", "menina", "árvore", "janela", "cachorro", "praça", "mulher", "criança", "telefone", "loja"]
QUALITIES = ["azul", "pequeno", "sorridente", "verde", "antigo", "colorido", "de costas", "em pé", "ao sol"]
PLACES = ["ao fundo", "à direita", "no centro", "na areia", "perto da água", "sobre a mesa", "em frente à casa"]
SENTENCES = st.builds(
    "{} {} {} {} {}".format,
    st.sampled_from(["Uma foto mostra um", "Vemos um", "Há um", "Na imagem, um", "Desenho de um"]),
    st.sampled_from(NOUNS),
    st.sampled_from(QUALITIES),
    st.sampled_from(["e uma", "com uma", "ao lado de uma"]),
    st.builds("{} {}.".format, st.sampled_from(NOUNS), st.sampled_from(PLACES)),
)
GAPS = st.sampled_from([" ", "  ", "\n", "\t", " \n"])


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(SENTENCES, GAPS), min_size=1, max_size=5))
def test_a_clean_description_changes_in_white_space_only(pieces: list[tuple[str, str]]) -> None:
    text = "".join(sentence + gap for sentence, gap in pieces)
    assert found(f"#PraCegoVer: {text}").text == " ".join(text.split())


@pytest.mark.parametrize(
    ("text", "number"),
    [("(11) 98765-4321", True), ("11987654321", True), ("3456-7890", True), ("1999-2004", False), ("08/05/2020", False)],
)
def test_a_telephone_number_is_no_year_and_no_date(text: str, number: bool) -> None:
    assert has_phone(text) is number
