"""Spanish: letters, months, symbols, abbreviations and acronyms."""

from __future__ import annotations

from components.speech.text_normalization.language import letters, listed, short_forms, table, words_of

LETTERS = letters(
    "abcdefghijklmnñopqrstuvwxyz",
    "a,be,ce,de,e,efe,ge,hache,i,jota,ka,ele,eme,ene,eñe,o,pe,cu,erre,ese,te,u,uve,uve doble,equis,i griega,zeta",
)
MONTHS = listed("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre")
MONTH_SHORT = short_forms("ene feb mar abr may jun jul ago sep/sept/set oct nov dic")
WORDS = table("""
    of = de
    to = a
    by = por
    times = veces
    minus = menos
    number = número
    dot = punto
    at = arroba
    about = cerca de
    over = sobre
    plus = más
    foot = pie
    feet = pies
    inch = pulgada
    inches = pulgadas
    degrees = grados
    f_stop = efe
""")
SYMBOLS = table("""
    & = y
    + = más
    @ = arroba
    % = por ciento
    ± = más o menos
    ≈ = cerca de
    ≠ = distinto de
    ≤ = como máximo
    ≥ = como mínimo
    ÷ = entre
    √ = raíz cuadrada de
    ∞ = infinito
    § = párrafo
    ° = grados
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
    Ω = omega
    ω = omega
""") | {"=": "igual a"}
ABBREVIATIONS = table("""
    vs = contra
    sr = señor
    sra = señora
    sres = señores
    srta = señorita
    dr = doctor
    dra = doctora
    d~ = don
    dña = doña
    prof = profesor
    profa = profesora
    ing~ = ingeniero
    lic~ = licenciado
    arq~ = arquitecto
    pdte = presidente
    gral~ = general
    cap~ = capitán
    cnel~ = coronel
    sto = santo
    sta = santa
    av = avenida
    avda = avenida
    c~ = calle
    pza = plaza
    plza = plaza
    ctra = carretera
    edif = edificio
    dpto = departamento
    depto = departamento
    univ = universidad
    cía = compañía
    hnos = hermanos
    tel = teléfono
    tfno = teléfono
    etc = etcétera
    dto = descuento
    p. ej = por ejemplo
    p.ej = por ejemplo
    ej = ejemplo
    ee. uu = Estados Unidos
    jj.oo = Juegos Olímpicos
    jj. oo = Juegos Olímpicos
    rr.hh = recursos humanos
    rr. hh = recursos humanos
    ff.aa = Fuerzas Armadas
    ff. aa = Fuerzas Armadas
    ee.uu = Estados Unidos
    aprox = aproximadamente
    máx = máximo
    mín = mínimo
    ud = usted
    uds = ustedes
    vd = usted
    a.c = antes de Cristo
    d.c = después de Cristo
    a. c = antes de Cristo
    d. c = después de Cristo
    s.a = ese a
    s. a = ese a
    izq = izquierda
    dcha = derecha
""")
BEFORE_DIGITS = table("""
    n = número
    no = número
    nº = número
    n° = número
    nro = número
    núm = número
    num = número
    fig = figura
    vol = volumen
    cap = capítulo
    p = página
    pp = páginas
    pág = página
    págs = páginas
    art = artículo
    apto = apartamento
    aprox = aproximadamente
    ed = edición
    km = kilómetro
    ca = circa
""")
BARE = table("""
    sr = señor
    sra = señora
    vs = contra
    etc = etcétera
    c/ = calle
    p/ = para
    b/n = blanco y negro
    nº = número
    n° = número
    eeuu = Estados Unidos
""")
ACRONYMS = words_of("""
    UK USA EU AI TV PC DJ HD AC DC EV IP VIP CEO CIA FBI NBA UFC USB LED ONG ONGS DNI RTVE PP UE EEUU BBVA DVD GPS UNAM IPN
    IVA ADN ARN BMW MBA OMS ITV AVE PIB ETA SOS CD UCI LGTB LGBT IA IBM XL XXL UGT OTAN RAE AEMET IMSS PRI PAN UPC ACB
""") - words_of("OTAN PAN AVE AEMET RAE IVA ETA")
ACRONYMS_BUT_WORDS = words_of("AI IA")
RULERS = words_of("""
    luis enrique isabel carlos jorge eduardo ricardo felipe francisco benedicto pablo pío león napoleón alejandro catalina
    nicolás federico fernando pedro juan josé maría alfonso sancho sebastián rey reina papa césar ramsés gregorio clemente
    inocencio leopoldo guillermo jaime jacobo
""")
ROMAN_BEFORE = {"siglo": True, "siglos": True, "s": True} | dict.fromkeys(
    words_of("""
    guerra capítulo parte volumen tomo libro acto escena tipo fase nivel figura tabla sección artículo apéndice jornada grupo
    título edición módulo etapa anexo zona
    """),
    False,
)
PHRASES = {
    r"(?<!\w)[sS]\. ?(?=[IVXL]+(?!\w))": "siglo ",
    r"(?<=[0-9][ªº°]) ed(?:\.(?!$)|(?=\.$))": " edición",
    r"(?<=[0-9][ªº°]) edic(?:\.(?!$)|(?=\.$))": " edición",
    r"(?<![\w.,])([0-9]{4})\s?K(?!\w)": r"\1 kelvin",
}
TITLES = words_of("dr dra sr sra srta prof profa sto sta ing lic arq d dña")
SHORT_WORDS = words_of("""
    ah al as da dé de di dí el él en es fe fue ha he iba id ir ja la lo me mi mí ni no nos oh os oí se sé si sí so su te té ti tu
    tú un uf va ve ven vi ya yo
""")
