"""English: money, large numbers behind it, units of measure."""

from __future__ import annotations

from components.speech.text_normalization.language import Money, units

_DOLLARS = Money("dollar", "dollars", "cent", "cents")
MONEY = {
    "US$": Money("you ess dollar", "you ess dollars", "cent", "cents"),
    "$": _DOLLARS,
    "USD": _DOLLARS,
    "C$": Money("Canadian dollar", "Canadian dollars", "cent", "cents"),
    "A$": Money("Australian dollar", "Australian dollars", "cent", "cents"),
    "R$": Money("real", "reais", "centavo", "centavos"),
    "BRL": Money("real", "reais", "centavo", "centavos"),
    "€": Money("euro", "euros", "cent", "cents"),
    "EUR": Money("euro", "euros", "cent", "cents"),
    "£": Money("pound", "pounds", "penny", "pence"),
    "GBP": Money("pound", "pounds", "penny", "pence"),
    "¥": Money("yen", "yen"),
    "₹": Money("rupee", "rupees", "paisa", "paise"),
    "¢": Money("cent", "cents"),
}
SCALES = {
    "thousand": ("thousand", False),
    "million": ("million", False),
    "billion": ("billion", False),
    "trillion": ("trillion", False),
    "k": ("thousand", True),
    "K": ("thousand", True),
    "m": ("million", True),
    "M": ("million", True),
    "mn": ("million", True),
    "B": ("billion", True),
    "b": ("billion", True),
    "bn": ("billion", True),
}
UNITS = units("""
    km kms = kilometer, kilometers
    m = meter, meters
    cm cms = centimeter, centimeters
    mm = millimeter, millimeters
    µm = micrometer, micrometers
    km² km2 = square kilometer, square kilometers
    m² m2 sqm = square meter, square meters
    cm² cm2 = square centimeter, square centimeters
    m³ m3 = cubic meter, cubic meters
    cm³ cm3 = cubic centimeter, cubic centimeters
    cc = see see, see see
    ft² ft2 sqft = square foot, square feet
    ft = foot, feet
    yd yds = yard, yards
    mi = mile, miles
    lb lbs = pound, pounds
    oz = ounce, ounces
    fl·oz = fluid ounce, fluid ounces
    gal = gallon, gallons
    qt = quart, quarts
    pt = pint, pints
    tsp = teaspoon, teaspoons
    tbsp = tablespoon, tablespoons
    kg kgs Kg KG = kilogram, kilograms
    g gr = gram, grams
    mg = milligram, milligrams
    t = ton, tons
    l L = liter, liters
    ml mL ML = milliliter, milliliters
    cl = centiliter, centiliters
    ha = hectare, hectares
    mph = mile per hour, miles per hour
    km/h kph kmh = kilometer per hour, kilometers per hour
    m/s = meter per second, meters per second
    mpg = mile per gallon, miles per gallon
    psi = pee ess eye, pee ess eye
    rpm = are pee em, are pee em
    hp = horsepower, horsepower
    W = watt, watts
    kW = kilowatt, kilowatts
    MW = megawatt, megawatts
    kWh = kilowatt hour, kilowatt hours
    V = volt, volts
    mAh = milliamp hour, milliamp hours
    Hz = hertz, hertz
    kHz = kilohertz, kilohertz
    MHz = megahertz, megahertz
    GHz = gigahertz, gigahertz
    dB = decibel, decibels
    KB kB = kilobyte, kilobytes
    MB = megabyte, megabytes
    GB = gigabyte, gigabytes
    TB = terabyte, terabytes
    Mbps = megabit per second, megabits per second
    Gbps = gigabit per second, gigabits per second
    MP = megapixel, megapixels
    px = pixel, pixels
    dpi = dots per inch, dots per inch
    fps = frame per second, frames per second
    °C = degree Celsius, degrees Celsius
    °F = degree Fahrenheit, degrees Fahrenheit
    ° = degree, degrees
    h hr hrs = hour, hours
    min mins = minute, minutes
    s sec secs = second, seconds
    ms = millisecond, milliseconds
    yr yrs = year, years
    yo y/o = year old, years old
    pcs pc = piece, pieces
    pp = pages, pages
    ct = carat, carats
    % = percent, percent
    ‰ = per mille, per mille
""")
