"""Nouns in captions that name no object themselves: positions, images, groups, times.

"On top of a court" names one object, not two; "a picture of a car" shows a car; "a group of men" are men. Used by the
detection of hallucinated objects. English.
"""

from __future__ import annotations


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text block."""
    return frozenset(text.split())


POSITIONS = words_of("""
    top front side back middle center centre edge bottom corner end left right background foreground distance rear inside
    outside part piece area half way row line direction
""")
"""Parts of a position: "on top of", "in the background"."""
IMAGES = words_of("""
    picture photo photograph image shot view portrait illustration drawing painting closeup close close-up snapshot rendering
    cartoon sketch vector scene interior exterior silhouette
""")
"""Words for images: the object is what follows their "of"."""
GROUPS = words_of("""
    group bunch couple pair set number variety lot lots herd flock crowd team line row pile stack collection
""")
"""Words for groups: the object is what follows their "of"; the word itself states the number."""
PEOPLE_GROUPS = words_of("people crowd audience family team couple band group police staff public crew squad folk everyone")
PEOPLE = PEOPLE_GROUPS | words_of("person someone somebody anyone guy kid lady gentleman")
"""Words for people that a dictionary lists under groups, or under other meanings first."""
UNSEEN = words_of("""
    thing something anything nothing everything one other some stuff day night time morning afternoon evening year month week
    season summer winter autumn fall spring weekend moment hour minute today name word type kind sort way fun love life work
    use idea style look lot number amount order case fact example game match sport event activity action play performance show
    premiere party ceremony wedding festival holiday vacation race competition tournament season world color colour size
    shape pattern light shade shadow place spot area scenery scene weather rain sun sunlight sunset sunrise air position
    pose smile trick jump ride walk turn run swim trip drink break condition arrival
""")
"""Nouns that name no visible object, or hardly one: times, events, light, vague words."""
VISIBLE = words_of("smoke fire flame fog mist rainbow firework")
"""Events or phenomena in a dictionary that images nevertheless show."""
_ALIKE = """
    street road avenue highway driveway lane path sidewalk pavement
    city town downtown skyline metropolis building skyscraper
    field meadow pasture grass lawn grassland prairie plain park pitch garden
    sea ocean wave water surf
    lake pond river stream creek water shore bank
    beach shore coast seashore seaside sand
    mountain hill peak cliff slope hillside summit
    forest wood woods woodland tree jungle
    tree branch twig leaf
    rock stone boulder
    sky cloud
    flower rose tulip daisy lily orchid sunflower dandelion blossom bouquet bloom petal poppy lavender
    pot pan saucepan skillet wok
    plate dish platter bowl
    cup mug
    stove oven range cooker
    sofa couch settee
    bike bicycle cycle
    bike motorbike motorcycle scooter moped
    car automobile vehicle sedan suv traffic
    truck lorry pickup
    train locomotive wagon track rail railway railroad
    airplane plane jet aircraft airliner
    airport terminal runway
    boat ship vessel ferry yacht rowboat canoe
    frisbee disc disk
    tv television screen monitor
    phone smartphone cellphone telephone
    laptop computer notebook
    bag purse handbag backpack
    hat cap
    jacket coat
    trousers pants jeans
    shirt top t-shirt blouse
    cat kitten
    dog puppy
    horse pony foal
    cow cattle bull calf ox
    sheep lamb
    house home building cottage cabin hut
    meal food
"""
ALIKE = tuple(frozenset(line.split()) for line in _ALIKE.strip().splitlines())
"""Groups of nouns that captions of one image use interchangeably, though a dictionary separates them. Like CHAIR's list,
made by hand."""


def alike(first: str, second: str) -> bool:
    """Return whether captions use the two lemmas for the same thing."""
    return any(first in names and second in names for names in ALIKE)
