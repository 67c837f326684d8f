"""English: letters, months, symbols, abbreviations and acronyms."""

from __future__ import annotations

from components.speech.text_normalization.language import letters, listed, short_forms, table, words_of

LETTERS = letters(
    "abcdefghijklmnopqrstuvwxyz",
    "ay,bee,see,dee,ee,eff,gee,aitch,eye,jay,kay,ell,em,en,oh,pee,cue,are,ess,tee,you,vee,double you,ex,why,zee",
)
MONTHS = listed("January February March April May June July August September October November December")
MONTH_SHORT = short_forms("jan feb mar apr may jun jul aug sep/sept oct nov dec")
DAYS = table("""
    mon = Monday
    tue = Tuesday
    tues = Tuesday
    wed = Wednesday
    thu = Thursday
    thur = Thursday
    thurs = Thursday
    fri = Friday
    sat = Saturday
    sun = Sunday
""")
WORDS = table("""
    of = of
    to = to
    by = by
    times = times
    minus = minus
    number = number
    dot = dot
    at = at
    about = about
    over = over
    and = and
    plus = plus
    foot = foot
    feet = feet
    inch = inch
    inches = inches
    degrees = degrees
    f_stop = eff
    slash = slash
""")
SYMBOLS = table("""
    & = and
    + = plus
    @ = at
    % = percent
    ± = plus or minus
    ≈ = about
    ≠ = is not
    ≤ = at most
    ≥ = at least
    ÷ = divided by
    √ = square root of
    ∞ = infinity
    § = section
    ° = degrees
    № = number
    € = euro
    £ = pound
    ¥ = yen
    $ = dollar
    ¢ = cent
    µ = micro
    π = pi
    α = alpha
    β = beta
    γ = gamma
    Δ = delta
    δ = delta
    λ = lambda
    σ = sigma
    Σ = sigma
    Ω = omega
    ω = omega
    θ = theta
    φ = phi
""") | {"=": "equals"}
ABBREVIATIONS = table("""
    mr = Mister
    mrs = Missus
    ms = Miz
    dr = Doctor
    prof = Professor
    sen~ = Senator
    rep~ = Representative
    gov~ = Governor
    gen~ = General
    col~ = Colonel
    capt~ = Captain
    lt~ = Lieutenant
    sgt = Sergeant
    rev~ = Reverend
    hon~ = Honorable
    pres~ = President
    jr = Junior
    sr = Senior
    st = Saint
    mt~ = Mount
    ft~ = Fort
    ave = Avenue
    blvd = Boulevard
    rd~ = Road
    hwy = Highway
    bldg = Building
    apt~ = Apartment
    dept = Department
    univ = University
    inc = Incorporated
    corp = Corporation
    ltd = Limited
    co~ = Company
    bros = Brothers
    vs = versus
    v~ = versus
    etc = et cetera
    e.g = for example
    eg = for example
    i.e = that is
    ca~ = circa
    c~ = circa
    approx = approximately
    incl = including
    est~ = established
    misc = miscellaneous
    feat = featuring
    ft = featuring
    assn = Association
    intl = International
    natl = National
    govt = government
    mgmt = management
    wt = weight
    ht = height
    qty = quantity
    pkg = package
    asst = assistant
    ph.d = pee aitch dee
    feb = February
    aug = August
    sept = September
    oct = October
    nov = November
    dec~ = December
""")
BEFORE_DIGITS = table("""
    no = number
    nos = numbers
    nr = number
    lat = latitude
    long = longitude
    fig = figure
    figs = figures
    vol = volume
    ch = chapter
    chap = chapter
    p = page
    pp = pages
    pg = page
    art = article
    sec = section
    rm = room
    ca = circa
    c = circa
    est = established
    approx = approximately
    ed = edition
    ver = version
    op = opus
    rte = Route
    apt = apartment
    ste = suite
""")
BARE = table("""
    mr = Mister
    mrs = Missus
    vs = versus
    etc = et cetera
    feat = featuring
    approx = approximately
    blvd = Boulevard
    hwy = Highway
    pic = picture
    jpeg = jay peg
    jpg = jay peg
    pics = pictures
    w/ = with
    w/o = without
    b/w = black and white
    b&w = black and white
    r&b = are and bee
    at&t = ay tee and tee
    n't = not
""")
REPLACED = {" n't": "n't", " 's": "'s", " 're": "'re", " 've": "'ve", " 'll": "'ll", " 'm": "'m", " 'd": "'d"}
ACRONYMS = words_of("""
    AP AFP US UK USA EU UN UAE AI IT ID TV PC DJ MC OK LA DC HD AC DC EV IV IQ IP IPA DIY VIP CEO CFO CTO COO CIA FBI NBA UFC UFO
    USB USD EUR EST UCLA USC UCF UNC UNLV ACLU AARP AAA ABA ABC AAP AFC AFL AOL API ATM ATV BBQ EDM EDT EDC EMS EMT ESPN ETA
    FAA FAQ FDA GDP GE HIV HIIT HOA HUD IEEE IOU IRA IRS ISBN IUD IVF LED LGBTQ LGBTQIA MBA MIA NAACP NCAA NEA NYC NYPD NYU
    OCD OEM OLED PA PTA RIP RIS RPI RSVP SEO SUV TBA UHD UI URL USAF USDA USGS USMC USPS USS UV UX VA XL XXL YMCA YWCA YA EP
    LP PE PR GI CGI GOP ABS AM PM ICU IBM HBO IMF IPO IPL MLA NHL NFL EPA DUI DNA RNA AWD RAF AMG
""")
ACRONYMS_BUT_WORDS = words_of("US IT AM LA OK PA ABS EST RIP AAA ID IV")
RULERS = words_of("""
    louis henry elizabeth charles george edward richard james william philip felipe francis benedict paul pius leo napoleon
    alexander catherine nicholas frederick ferdinand gustav gustavus christian ramses ramesses ptolemy innocent gregory
    clement urban julius otto wilhelm franz leopold albert juan carlos pedro john mary queen king pope rama harald olav
    haakon thutmose amenhotep mehmed murad selim abdulmejid constantine justinian theodosius darius xerxes sixtus margrethe
    maximilian
""")
ROMAN_BEFORE = dict.fromkeys(
    words_of("""
    war chapter part volume vol book act scene type phase stage class level figure fig table section article appendix bowl
    mark mk episode round grade division group title wrestlemania olympiad page step psalm schedule zone
    """),
    False,
)
PHRASES = {
    r"(?<=[0-9](?:st|nd|rd|th)) c(?:\.(?!$)|(?=\.$))": " century",
    r"(?<=[0-9](?:st|nd|rd|th)) ed(?:\.(?!$)|(?=\.$))": " edition",
    r"(?<![\w.,])([0-9]{4})\s?K(?!\w)": r"\1 kelvin",
    r"(?<!\w)WW(?:II|2)(?!\w)": "World War Two",
    r"(?<!\w)WW(?:I|1)(?!\w)": "World War One",
}
TITLES = words_of("st dr mt mr mrs ms prof sgt capt gen col lt gov sen rep rev ft jr sr")
SHORT_WORDS = words_of("ah am an as at be by do eh go ha he hi if in is it me my no of oh on or ow ox so to up us we ye yo")
