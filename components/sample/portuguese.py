"""Portuguese wording: names of the material's folders, titles, sentences, letters without accents."""

from __future__ import annotations

import re
import unicodedata

ARTICLE = re.compile(r"(Um|Uma|Uns|Umas|O|A|Os|As) ")
THEMES = {
    "animals": "animais",
    "animal": "animais",
    "explore_farm_animals": "animais da fazenda",
    "explore_world_animals": "animais do mundo",
    "animals/amphibians": "anfíbios",
    "animals/birds": "aves",
    "animals/dinosaur": "dinossauros",
    "animals/fish": "peixes",
    "fishes": "peixes",
    "animals/insects": "insetos",
    "animals/lizards": "répteis",
    "animals/mammals": "mamíferos",
    "animals/marsupials": "marsupiais",
    "animals/shellfish": "moluscos",
    "bodyparts": "corpo humano",
    "clothes": "roupas",
    "clothes/armor": "armaduras",
    "clothes/hats": "chapéus",
    "color": "cores",
    "explore_monuments": "monumentos",
    "explore_world_music": "música do mundo",
    "food": "comidas",
    "food/dessert": "sobremesas",
    "food/fruit": "frutas",
    "fruit": "frutas",
    "food/nuts": "castanhas",
    "food/spices": "temperos",
    "food/vegetables": "verduras",
    "hobbies": "lazer",
    "hobbies/music": "instrumentos musicais",
    "household": "casa",
    "household/arttools": "material de arte",
    "household/dishes": "louças",
    "household/tools": "ferramentas",
    "tools": "ferramentas",
    "others": "objetos",
    "medical": "saúde",
    "military": "história militar",
    "military/vehicles": "veículos militares",
    "naturalforces": "natureza",
    "painting": "pintura",
    "people": "pessoas",
    "people/body_parts": "corpo humano",
    "people/cartoon": "profissões",
    "people/toys": "brinquedos",
    "plants": "plantas",
    "plants/flowers": "flores",
    "plants/mushrooms": "cogumelos",
    "plants/trees": "árvores",
    "renewable": "energia renovável",
    "seasonal": "datas comemorativas",
    "seasonal/christmas": "natal",
    "seasonal/easter": "páscoa",
    "seasonal/halloween": "dia das bruxas",
    "seasonal/hanukkah": "chanuká",
    "seasonal/newyears": "ano novo",
    "space": "espaço",
    "space/moon": "lua",
    "space/planets": "planetas",
    "sports": "esportes",
    "symbols": "símbolos",
    "symbols/alphabets": "língua de sinais",
    "symbols/chess": "xadrez",
    "symbols/faces": "expressões",
    "symbols/math": "matemática",
    "symbols/money": "moedas",
    "symbols/music": "notação musical",
    "symbols/shapes": "formas",
    "town": "cidade",
    "town/flags": "bandeiras",
    "town/houses": "casas",
    "town/monuments": "monumentos",
    "monuments": "monumentos",
    "town/roadsigns": "placas de trânsito",
    "vehicles": "veículos",
    "vehicles/auto": "carros",
    "vehicles/construction": "máquinas",
    "vehicles/cycle": "bicicletas",
    "vehicles/emergency": "emergência",
    "vehicles/farming": "máquinas agrícolas",
    "vehicles/flight": "aviação",
    "vehicles/locomotive": "trens",
    "vehicles/masstransit": "transporte público",
    "vehicles/race": "corrida",
    "vehicles/ship": "navios",
}


def theme_of(group: str) -> str:
    """Return the Portuguese name of a group (one or two folder levels, or a lesson), or of its upper folder."""
    return THEMES.get(group) or THEMES.get(group.split("/")[0]) or "diversos"


def title_of(text: str) -> str:
    """Return the first few words of a text, without article and full stop."""
    first = re.split(r"[.!?;(]", text)[0].strip()
    article = ARTICLE.match(first)
    words = first[article.end() if article else 0 :].split()
    return " ".join(words[:5]).rstrip(",:")


def as_sentence(text: str) -> str:
    """Return a text with a full stop, unless it has an end mark."""
    return text if text.endswith((".", "!", "?", ")", "”", '"')) else f"{text}."


def lower_first(text: str) -> str:
    """Return a text with its first letter lowered, unless the second one is a capital too."""
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]


def without_accents(text: str) -> str:
    return "".join(letter for letter in unicodedata.normalize("NFD", text) if not unicodedata.combining(letter))


def differ(one: str, other: str) -> bool:
    """Return whether two texts share under half of their words."""
    a, b = (set(re.findall(r"\w+", text.lower())) for text in (one, other))
    return len(a & b) * 2 < len(a | b)
