"""Spanish: money, large numbers behind it, units of measure."""

from __future__ import annotations

from components.speech.text_normalization.language import Money, units

_DOLLARS = Money("dólar", "dólares", "centavo", "centavos")
_EUROS = Money("euro", "euros", "céntimo", "céntimos")
MONEY = {
    "$": _DOLLARS,
    "US$": _DOLLARS,
    "USD": _DOLLARS,
    "€": _EUROS,
    "EUR": _EUROS,
    "£": Money("libra", "libras", "penique", "peniques", True),
    "R$": Money("real", "reales", "centavo", "centavos"),
    "MXN": Money("peso", "pesos", "centavo", "centavos"),
    "ARS": Money("peso", "pesos", "centavo", "centavos"),
    "S/": Money("sol", "soles", "céntimo", "céntimos"),
    "¥": Money("yen", "yenes"),
}
SCALES = {
    "mil": ("mil", False),
    "millón": ("millón", False),
    "millones": ("millones", False),
    "k": ("mil", True),
    "K": ("mil", True),
    "M": ("millones", True),
}
UNITS = units("""
    km kms Km KM = kilómetro, kilómetros
    m mts = metro, metros
    cm = centímetro, centímetros
    mm = milímetro, milímetros
    km² km2 = kilómetro cuadrado, kilómetros cuadrados
    m² m2 = metro cuadrado, metros cuadrados
    cm² cm2 = centímetro cuadrado, centímetros cuadrados
    m³ m3 = metro cúbico, metros cúbicos
    cm³ cm3 = centímetro cúbico, centímetros cúbicos
    cc = centímetro cúbico, centímetros cúbicos
    kg kgs Kg KG = kilo, kilos
    g gr grs = gramo, gramos
    mg = miligramo, miligramos
    t = tonelada, toneladas, f
    l L = litro, litros
    ml mL ML = mililitro, mililitros
    ha = hectárea, hectáreas, f
    km/h Km/h kmh = kilómetro por hora, kilómetros por hora
    m/s = metro por segundo, metros por segundo
    rpm = revolución por minuto, revoluciones por minuto, f
    cv CV = caballo, caballos
    W = vatio, vatios
    kW = kilovatio, kilovatios
    MW = megavatio, megavatios
    kWh = kilovatio hora, kilovatios hora
    V = voltio, voltios
    mAh = miliamperio hora, miliamperios hora
    Hz = hercio, hercios
    kHz = kilohercio, kilohercios
    MHz = megahercio, megahercios
    GHz = gigahercio, gigahercios
    dB = decibelio, decibelios
    KB kB = kilobyte, kilobytes
    MB = megabyte, megabytes
    GB = gigabyte, gigabytes
    TB = terabyte, terabytes
    Mbps = megabit por segundo, megabits por segundo
    MP = megapíxel, megapíxeles
    px = píxel, píxeles
    dpi ppp = puntos por pulgada, puntos por pulgada
    fps = fotograma por segundo, fotogramas por segundo
    °C = grado Celsius, grados Celsius
    °F = grado Fahrenheit, grados Fahrenheit
    ° = grado, grados
    hs hrs = hora, horas, f
    min = minuto, minutos
    s seg = segundo, segundos
    ms = milisegundo, milisegundos
    ud uds unid = unidad, unidades, f
    pza pzas = pieza, piezas, f
    % = por ciento, por ciento
    ‰ = por mil, por mil
""")
