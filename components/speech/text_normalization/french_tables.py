"""French: letters, months, symbols, abbreviations and acronyms."""

from __future__ import annotations

from components.speech.text_normalization.language import letters, listed, short_forms, table, words_of

LETTERS = letters(
    "abcdefghijklmnopqrstuvwxyzç",
    "a,bé,cé,dé,e,effe,gé,hache,i,ji,ka,elle,emme,enne,o,pé,ku,erre,esse,té,u,vé,double vé,ixe,i grec,zède,cé cédille",
)
MONTHS = listed("janvier février mars avril mai juin juillet août septembre octobre novembre décembre")
MONTH_SHORT = short_forms("janv/jan févr/fév/fev mar avr mai jun/juin juil/jul août/aou sept/sep oct nov déc/dec")
WORDS = table("""
    of = sur
    to = à
    by = sur
    times = fois
    minus = moins
    number = numéro
    dot = point
    at = arobase
    about = environ
    over = sur
    plus = plus
    foot = pied
    feet = pieds
    inch = pouce
    inches = pouces
    degrees = degrés
    f_stop = effe
""")
SYMBOLS = table("""
    & = et
    + = plus
    @ = arobase
    % = pour cent
    ± = plus ou moins
    ≈ = environ
    ≠ = différent de
    ≤ = au plus
    ≥ = au moins
    ÷ = divisé par
    √ = racine de
    ∞ = infini
    § = paragraphe
    ° = degrés
    № = numéro
    € = euro
    £ = livre
    $ = dollar
    µ = micro
    π = pi
    α = alpha
    β = bêta
    Δ = delta
    λ = lambda
    Ω = oméga
    ω = oméga
""") | {"=": "égale"}
ABBREVIATIONS = table("""
    vs = contre
    m~ = monsieur
    mr = monsieur
    mm~ = messieurs
    mme = madame
    mlle = mademoiselle
    dr = docteur
    pr~ = professeur
    prof = professeur
    me~ = maître
    st = saint
    ste = sainte
    gén~ = général
    cap~ = capitaine
    av = avenue
    bd = boulevard
    boul = boulevard
    bld = boulevard
    pl~ = place
    rte~ = route
    imp~ = impasse
    apt = appartement
    appt = appartement
    bât = bâtiment
    cie = compagnie
    dép = département
    univ = université
    tél = téléphone
    etc = et cetera
    p. ex = par exemple
    p.ex = par exemple
    ex = exemple
    c.-à-d = c'est-à-dire
    env = environ
    approx = approximativement
    max = maximum
    qté = quantité
    réf = référence
    av. j.-c = avant Jésus-Christ
    apr. j.-c = après Jésus-Christ
    janv = janvier
    févr = février
    juil = juillet
    déc = décembre
""")
BEFORE_DIGITS = table("""
    n = numéro
    no = numéro
    nº = numéro
    n° = numéro
    num = numéro
    fig = figure
    vol = volume
    chap = chapitre
    ch = chapitre
    p = page
    pp = pages
    art = article
    env = environ
    apt = appartement
    éd = édition
    ca = circa
    min = minimum
""")
BARE = table("""
    mme = madame
    mmes = mesdames
    mlle = mademoiselle
    dr = docteur
    st = saint
    ste = sainte
    bd = boulevard
    vs = contre
    etc = et cetera
    n&b = noir et blanc
    nb = noir et blanc
    nº = numéro
    n° = numéro
""")
ACRONYMS = words_of("""
    AFP UK USA EU AI TV PC DJ HD AC DC EV IP VIP CEO CIA FBI NBA UFC USB LED SNCF RATP RER EDF GDF PSG BD TGV CGT CFDT ADN ARN
    UE PME HLM VTT SUV BMW MBA OMS OGM ONU IGN INA PIB PS PMU OL OM ASSE RMC EPI IA IBM XL XXL USSR URSS UMP UDI LR RN DVD
    GPS ULM USM IUT CHU AOC AOP IGP ENA HEC
""") - words_of("ONU ENA INA")
ACRONYMS_BUT_WORDS = words_of("AI OM")
RULERS = words_of("""
    louis henri élisabeth elizabeth elisabeth charles georges george édouard richard philippe françois benoît paul pie léon
    napoléon alexandre catherine nicolas frédéric ferdinand pierre jean marie alphonse roi reine pape césar ramsès grégoire
    clément innocent léopold guillaume albert baudouin jacques
""")
ROMAN_BEFORE = {"siècle": False, "siècles": False} | dict.fromkeys(
    words_of("""
    guerre chapitre partie volume tome livre acte scène type phase niveau figure tableau section article annexe journée groupe
    titre zone république
    """),
    False,
)
PHRASES = {
    r"(?<=[IVX]e) s(?:\.(?!$)|(?=\.$))": " siècle",
    r"(?<=[IVX]ème) s(?:\.(?!$)|(?=\.$))": " siècle",
    r"(?<=[0-9]e) éd(?:\.(?!$)|(?=\.$))": " édition",
    r"(?<=1re) éd(?:\.(?!$)|(?=\.$))": " édition",
    r"(?<=[0-9] )(?:c|cuil)\. à (?:s\.|soupe)": "cuillères à soupe",
    r"(?<=[0-9] )(?:c|cuil)\. à (?:c\.|café)": "cuillères à café",
    r"(?<![\w.,])([0-9]{4})\s?K(?!\w)": r"\1 kelvins",
}
TITLES = words_of("dr mme mlle st ste pr me prof m")
SHORT_WORDS = words_of("""
    ah ai as au bu ce ci de du dû eh en es et eu eux fi ha hé il ils je la là le lu ma me mi mû né ne ni nu oh on or os ou où pu
    que qui ri sa se si su sur ta te tu tue un us va vu
""")
