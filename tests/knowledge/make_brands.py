"""Makes ``components/knowledge/data/brands.tsv`` from npm's ``name-suggestion-index`` (BSD-3-Clause).

    npm pack name-suggestion-index && tar xzf name-suggestion-index-*.tgz
    python tests/knowledge/make_brands.py package

Every brand of the categories below is kept that is written in Latin letters. A brand of several categories has the one
that stands first here. Category → the word that a caption would use.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

OUT = Path(__file__).resolve().parents[2] / "components" / "knowledge" / "data" / "brands.tsv"
_CATEGORIES = """
    shop/car=car company; shop/motorcycle=motorcycle company; office/airline=airline; tourism/hotel=hotel; tourism/motel=hotel
    shop/supermarket=supermarket; shop/department_store=department store; shop/wholesale=wholesale store
    shop/clothes=clothing store; shop/shoes=shoe store; shop/furniture=furniture store; shop/electronics=electronics company
    shop/computer=computer company; shop/mobile_phone=phone company; office/telecommunication=phone company
    shop/telecommunication=phone company; shop/toys=toy store; shop/books=bookstore; shop/sports=sporting goods store
    shop/outdoor=sporting goods store; shop/doityourself=hardware store; shop/hardware=hardware store; shop/trade=hardware store
    shop/jewelry=jewelry store; shop/watches=watch company; shop/cosmetics=cosmetics company; shop/beauty=beauty salon
    shop/perfumery=perfumery; shop/chemist=drugstore; shop/bag=fashion house; shop/fashion_accessories=fashion house
    amenity/fast_food=restaurant; amenity/restaurant=restaurant; amenity/cafe=cafe; amenity/pub=pub; amenity/bar=bar
    amenity/ice_cream=ice cream shop; shop/bakery=bakery; shop/pastry=bakery; shop/confectionery=candy store
    shop/chocolate=candy store; shop/coffee=cafe; shop/tea=tea shop; shop/butcher=butcher shop; shop/alcohol=liquor store
    shop/convenience=convenience store; shop/variety_store=discount store; amenity/pharmacy=pharmacy; shop/optician=eyewear store
    amenity/fuel=gas station; amenity/bank=bank; office/insurance=insurance company; office/estate_agent=real estate agency
    amenity/cinema=cinema; amenity/car_rental=car rental company; shop/travel_agency=travel agency; office/courier=courier company
    leisure/fitness_centre=gym; shop/pet=pet store; shop/car_repair=garage; shop/tyres=tire company; shop/car_parts=garage
    shop/bicycle=bicycle company; shop/hairdresser=hair salon; amenity/clinic=clinic; healthcare/laboratory=laboratory
    shop/stationery=stationery store; shop/houseware=household store; shop/bed=furniture store
    shop/musical_instrument=music store
    shop/music=music store; shop/video_games=video game store; shop/garden_centre=garden store; shop/charity=thrift store
    amenity/kindergarten=kindergarten; amenity/prep_school=school; amenity/language_school=school
    amenity/post_office=post office; amenity/casino=casino; leisure/bowling_alley=bowling alley; tourism/theme_park=amusement park
"""
LATIN = re.compile(r"[A-Za-zÀ-ɏ0-9][A-Za-zÀ-ɏ0-9 .,&'!+/-]*$")
NOTICE = """\
# Brands by kind of business: kind, a tab, names in lower case with bars between.
# Made by tests/knowledge/make_brands.py from npm name-suggestion-index {version}, whose licence follows.
"""


def main(package: Path) -> None:
    """Write the file from the unpacked package."""
    content = json.loads((package / "dist" / "json" / "nsi.min.json").read_text(encoding="utf-8"))
    words = dict(part.strip().split("=") for line in _CATEGORIES.splitlines() for part in line.split(";") if part.strip())
    result: dict[str, str] = {}
    for category, word in words.items():
        for item in content["nsi"].get(f"brands/{category}", {}).get("items", []):
            tags = item.get("tags", {})
            for name in {item["displayName"], tags.get("brand", ""), tags.get("name", ""), tags.get("brand:en", "")}:
                plain = " ".join(name.lower().replace("’", "'").split())
                if len(plain) > 1 and LATIN.match(plain) and any(char.isalpha() for char in plain):
                    result.setdefault(plain, word)
    kinds: dict[str, list[str]] = {}
    for name, word in sorted(result.items()):
        kinds.setdefault(word, []).append(name)
    lines = [f"{word}\t{'|'.join(names)}" for word, names in sorted(kinds.items())]
    licence = [f"# {line}".rstrip() for line in (package / "LICENSE.md").read_text(encoding="utf-8").splitlines()]
    notice = NOTICE.format(version=content["_meta"]["version"])
    OUT.write_text(notice + "\n".join(licence + lines) + "\n", encoding="utf-8")
    print(f"{len(result)} brands of {len(kinds)} kinds")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
