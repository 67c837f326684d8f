"""Portuguese: letters, months, symbols, abbreviations and acronyms."""

from __future__ import annotations

from components.speech.text_normalization.language import letters, listed, short_forms, table, words_of

LETTERS = letters(
    "abcdefghijklmnopqrstuvwxyzç",
    "á,bê,cê,dê,é,efe,gê,agá,i,jota,cá,ele,eme,ene,ó,pê,quê,erre,esse,tê,u,vê,dáblio,xis,ípsilon,zê,cê cedilha",
)
MONTHS = listed("janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro")
MONTH_SHORT = short_forms("jan fev mar abr mai jun jul ago set out nov dez")
WORDS = table("""
    of = de
    to = a
    by = por
    times = vezes
    minus = menos
    number = número
    dot = ponto
    at = arroba
    about = cerca de
    over = sobre
    plus = mais
    foot = pé
    feet = pés
    inch = polegada
    inches = polegadas
    degrees = graus
    f_stop = efe
""")
SYMBOLS = table("""
    & = e
    + = mais
    @ = arroba
    % = por cento
    ± = mais ou menos
    ≈ = cerca de
    ≠ = diferente de
    ≤ = no máximo
    ≥ = no mínimo
    ÷ = dividido por
    √ = raiz quadrada de
    ∞ = infinito
    § = parágrafo
    ° = graus
    № = número
    € = euro
    £ = libra
    $ = dólar
    µ = micro
    π = pi
    α = alfa
    β = beta
    Δ = delta
    λ = lambda
    Ω = ômega
    ω = ômega
""") | {"=": "igual a"}
ABBREVIATIONS = table("""
    vs = contra
    sr = senhor
    sra = senhora
    srs = senhores
    srta = senhorita
    dr = doutor
    dra = doutora
    prof = professor
    profa = professora
    profª = professora
    eng = engenheiro
    arq = arquiteto
    d~ = dom
    pe~ = padre
    sto = santo
    sta = santa
    cel~ = coronel
    cap~ = capitão
    gen~ = general
    sgt = sargento
    dep = deputado
    gov~ = governador
    pres~ = presidente
    min~ = ministro
    av = avenida
    r~ = rua
    al~ = alameda
    pça = praça
    pç = praça
    rod~ = rodovia
    tv~ = travessa
    jd~ = jardim
    ed~ = edifício
    apto = apartamento
    cia = companhia
    ltda = limitada
    dept = departamento
    depto = departamento
    univ = universidade
    tel = telefone
    etc = etcétera
    ex = exemplo
    p. ex = por exemplo
    p.ex = por exemplo
    obs = observação
    aprox = aproximadamente
    máx = máximo
    mín = mínimo
    qtd = quantidade
    séc = século
    a.c = antes de Cristo
    d.c = depois de Cristo
    a. c = antes de Cristo
    d. c = depois de Cristo
    jan~ = janeiro
    fev = fevereiro
    ago~ = agosto
    dez~ = dezembro
""")
BEFORE_DIGITS = table("""
    n = número
    no = número
    nº = número
    n° = número
    nr = número
    núm = número
    num = número
    fig = figura
    vol = volume
    cap = capítulo
    p = página
    pp = páginas
    pág = página
    págs = páginas
    art = artigo
    apto = apartamento
    ap = apartamento
    aprox = aproximadamente
    ed = edição
    km = quilômetro
    séc = século
""")
BARE = table("""
    sr = senhor
    sra = senhora
    dra = doutora
    vs = contra
    etc = etcétera
    c/ = com
    s/ = sem
    p/ = para
    vc = você
    qto = quarto
    qtos = quartos
    vcs = vocês
    tbm = também
    p&b = preto e branco
    pb = preto e branco
    nº = número
    n° = número
""")
ACRONYMS = words_of("""
    UK USA EU AI TV PC DJ HD AC DC EV IP VIP CEO CIA FBI NBA UFC USB LED EUA SP RJ MG PR SC RS BA DF CPF RG CNPJ IPTU IPVA
    ICMS IBGE INSS PT PSDB MDB PSOL UFRJ UFMG UFRGS URSS DVD ABC BBC GPS UE DNA RNA TI RH EPI EPIS ABNT UOL BMW MPB MBA CBF
    EP LP OAB OMS UPA AVC HIV TCC UTI IA IPI PCD LGBT LGBTQIA IBM XL XXL GG
""")
ACRONYMS_BUT_WORDS = words_of("AI PC TI")
RULERS = words_of("""
    luís henrique elizabeth isabel carlos jorge eduardo ricardo filipe felipe francisco bento paulo pio leão napoleão
    alexandre catarina nicolau frederico fernando pedro joão josé maria manuel afonso sancho sebastião rei rainha papa dom
    césar ramsés otávio gregório clemente inocêncio leopoldo guilherme juan luiz
""")
ROMAN_BEFORE = {"século": True, "séculos": True, "séc": True} | dict.fromkeys(
    words_of("""
    guerra capítulo parte volume tomo livro ato cena tipo fase nível figura tabela seção artigo apêndice rodada grupo título
    edição módulo etapa anexo zona copa
    """),
    False,
)
PHRASES = {
    r"(?<=[0-9][ªº°]) ed(?:\.(?!$)|(?=\.$))": " edição",
    r"(?<=[a-zà-ÿ]) ([0-9]{1,2}) ?[xX] ?([0-9]{1,2}) (?=[A-ZÀ-Þ])": r" \1 a \2 ",
    r"(?<![\w.,])([0-9]{4})\s?K(?!\w)": r"\1 kelvins",
}
TITLES = words_of("dr dra sr sra srta prof profa sto sta eng cel d")
SHORT_WORDS = words_of("""
    aí ai ao as às cá da dá de dê do dó em es eu fã fé ha há hã ia ir já lá lã má me mó na nó no nu oi os ou pá pé pó pô ré ri sã
    se sé só te ti tu ui um uh uê vá vê vi vó vô xi
""")
