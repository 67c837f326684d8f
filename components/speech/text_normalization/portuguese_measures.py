"""Portuguese: money, large numbers behind it, units of measure."""

from __future__ import annotations

from components.speech.text_normalization.language import Money, units

_REAIS = Money("real", "reais", "centavo", "centavos")
_DOLLARS = Money("dólar", "dólares", "centavo", "centavos")
MONEY = {
    "R$": _REAIS,
    "BRL": _REAIS,
    "US$": _DOLLARS,
    "$": _DOLLARS,
    "USD": _DOLLARS,
    "€": Money("euro", "euros", "centavo", "centavos"),
    "EUR": Money("euro", "euros", "centavo", "centavos"),
    "£": Money("libra", "libras", "pêni", "pence", True),
    "¥": Money("iene", "ienes"),
}
SCALES = {
    "mil": ("mil", False),
    "milhão": ("milhão", False),
    "milhões": ("milhões", False),
    "bilhão": ("bilhão", False),
    "bilhões": ("bilhões", False),
    "mi": ("milhões", True),
    "bi": ("bilhões", True),
    "k": ("mil", True),
    "K": ("mil", True),
    "M": ("milhões", True),
}
UNITS = units("""
    km kms Km KM = quilômetro, quilômetros
    m mts = metro, metros
    cm = centímetro, centímetros
    mm = milímetro, milímetros
    km² km2 = quilômetro quadrado, quilômetros quadrados
    m² m2 = metro quadrado, metros quadrados
    cm² cm2 = centímetro quadrado, centímetros quadrados
    m³ m3 = metro cúbico, metros cúbicos
    cm³ cm3 = centímetro cúbico, centímetros cúbicos
    cc = cilindrada, cilindradas, f
    kg kgs Kg KG = quilo, quilos
    g gr = grama, gramas
    mg = miligrama, miligramas
    t = tonelada, toneladas, f
    l L = litro, litros
    ml mL ML = mililitro, mililitros
    ha = hectare, hectares
    km/h Km/h kmh = quilômetro por hora, quilômetros por hora
    m/s = metro por segundo, metros por segundo
    rpm = rotação por minuto, rotações por minuto, f
    cv = cavalo, cavalos
    W = watt, watts
    kW = quilowatt, quilowatts
    MW = megawatt, megawatts
    kWh = quilowatt-hora, quilowatts-hora
    V = volt, volts
    mAh = miliampere-hora, miliamperes-hora
    Hz = hertz, hertz
    kHz = quilohertz, quilohertz
    MHz = megahertz, megahertz
    GHz = gigahertz, gigahertz
    dB = decibel, decibéis
    KB kB = quilobyte, quilobytes
    MB = megabyte, megabytes
    GB = gigabyte, gigabytes
    TB = terabyte, terabytes
    Mbps = megabit por segundo, megabits por segundo
    MP = megapixel, megapixels
    px = pixel, pixels
    dpi = pontos por polegada, pontos por polegada
    fps = quadro por segundo, quadros por segundo
    pol = polegada, polegadas, f
    °C = grau Celsius, graus Celsius
    °F = grau Fahrenheit, graus Fahrenheit
    ° = grau, graus
    hs hrs = hora, horas, f
    min = minuto, minutos
    s seg = segundo, segundos
    ms = milissegundo, milissegundos
    un und unid = unidade, unidades, f
    pç pçs = peça, peças, f
    % = por cento, por cento
    ‰ = por mil, por mil
""")
