"""French: money, large numbers behind it, units of measure."""

from __future__ import annotations

from components.speech.text_normalization.language import Money, units

_DOLLARS = Money("dollar", "dollars", "cent", "cents")
_EUROS = Money("euro", "euros", "centime", "centimes")
MONEY = {
    "€": _EUROS,
    "EUR": _EUROS,
    "$": _DOLLARS,
    "US$": _DOLLARS,
    "USD": _DOLLARS,
    "£": Money("livre", "livres", "penny", "pence", True),
    "CHF": Money("franc suisse", "francs suisses", "centime", "centimes"),
    "R$": Money("réal", "réaux", "centavo", "centavos"),
    "¥": Money("yen", "yens"),
}
SCALES = {
    "mille": ("mille", False),
    "million": ("million", False),
    "millions": ("millions", False),
    "milliard": ("milliard", False),
    "milliards": ("milliards", False),
    "k": ("mille", True),
    "K": ("mille", True),
    "M": ("millions", True),
    "Mds": ("milliards", True),
}
UNITS = units("""
    km kms Km KM = kilomètre, kilomètres
    m = mètre, mètres
    cm = centimètre, centimètres
    mm = millimètre, millimètres
    km² km2 = kilomètre carré, kilomètres carrés
    m² m2 = mètre carré, mètres carrés
    cm² cm2 = centimètre carré, centimètres carrés
    m³ m3 = mètre cube, mètres cubes
    cm³ cm3 = centimètre cube, centimètres cubes
    cc = centimètre cube, centimètres cubes
    kg kgs Kg KG = kilo, kilos
    g gr = gramme, grammes
    mg = milligramme, milligrammes
    t = tonne, tonnes, f
    l L = litre, litres
    ml mL ML = millilitre, millilitres
    cl cL = centilitre, centilitres
    ha = hectare, hectares
    km/h Km/h kmh = kilomètre heure, kilomètres heure
    m/s = mètre par seconde, mètres par seconde
    tr/min = tour par minute, tours par minute
    ch cv = cheval, chevaux
    W = watt, watts
    kW = kilowatt, kilowatts
    MW = mégawatt, mégawatts
    kWh = kilowattheure, kilowattheures
    V = volt, volts
    mAh = milliampère heure, milliampères heure
    Hz = hertz, hertz
    kHz = kilohertz, kilohertz
    MHz = mégahertz, mégahertz
    GHz = gigahertz, gigahertz
    dB = décibel, décibels
    Ko ko = kilooctet, kilooctets
    Mo MB = mégaoctet, mégaoctets
    Go GB = gigaoctet, gigaoctets
    To TB = téraoctet, téraoctets
    Mbps = mégabit par seconde, mégabits par seconde
    MP Mpx = mégapixel, mégapixels
    px = pixel, pixels
    dpi ppp = points par pouce, points par pouce
    fps = image par seconde, images par seconde, f
    °C = degré Celsius, degrés Celsius
    °F = degré Fahrenheit, degrés Fahrenheit
    ° = degré, degrés
    min mn = minute, minutes, f
    s sec = seconde, secondes, f
    ms = milliseconde, millisecondes, f
    pcs = pièce, pièces, f
    pers = personne, personnes, f
    % = pour cent, pour cent
    ‰ = pour mille, pour mille
""")
