"""Each rule drops what it names and keeps what it does not; bounds are where the paper puts them."""

from __future__ import annotations

import pytest

from components.stages.filter import Params
from components.stages.filter.cascade import GROUPS, RULES
from components.stages.filter.rules import Finding, Rule, Subject, first_failure, rule
from components.vision.evidence import Evidence
from components.vision.labels import Label
from components.web.html.context import Context
from tests.support.filter.subjects import PAPER, passes, subject

PAPERS_OWN = [
    "A Pakistani worker helps to clear the debris from the Taj Mahal Hotel November 7, 2005 in Balakot, Pakistan.",
    "Musician Justin Timberlake performs at the 2017 Pilgrimage Music & Cultural Festival on September 23, 2017 "
    "in Franklin, Tennessee.",
    "Harrison Ford and Calista Flockhart attend the premiere of 'Hollywood Homicide' at the 29th American Film Festival "
    "September 5, 2003 in Deauville, France.",
    "Side view of a British Airways Airbus A319 aircraft on approach to land with landing gear down",
    "Two sculptures by artist Duncan McKellar adorn trees outside the derelict Norwich Union offices in Bristol, UK",
]
"""The alt texts of figure 1 and table 1, all kept by the paper."""


def test_rules_have_one_name_each_and_a_meaning_of_one_sentence() -> None:
    rules = [each for rules in GROUPS.values() for each in rules]
    assert len({each.name for each in rules}) == len(rules) == len(RULES)
    for each in rules:
        assert each.meaning.endswith(".") and "``" not in each.meaning, each.name
        assert not each.portuguese or each.portuguese.endswith("."), each.name


def test_a_rule_needs_a_group_and_a_function_and_is_shown_with_what_it_found() -> None:
    group: list[Rule] = []

    @rule(group)
    def question(subject: Subject, params: Params) -> Finding:
        """The text is no question, says ``text``."""
        return Finding(subject.text[-1:] != "?", subject.text[-1:], "no question mark at the end")

    (made,) = group
    shown = made.shown(question(subject("What?"), PAPER), "english", PAPER)
    within = "(allowed: no question mark at the end, no setting)"
    assert shown.text() == f"failed     question: ? {within}. The text is no question, says `text`."


@pytest.mark.parametrize("part", ["determiner", "noun", "preposition"])
def test_a_part_of_speech_that_is_not_required_is_off_and_lets_everything_stay(part: str) -> None:
    made, verb = RULES[f"needs_{part}"], subject("Run", parse={"text": ["Run"], "pos": ["VERB"], "tag": ["VB"]})
    for required, shown in (([], "off   "), ([part], "failed")):
        params = PAPER.model_copy(update={"require": required})
        assert made.shown(made.test(verb, params), "english", params).text().startswith(f"{shown}     needs_{part}: 0 (allowed: ")


@pytest.mark.parametrize("text", PAPERS_OWN)
@pytest.mark.parametrize("group", ["tone", "text", "parse"])
def test_the_papers_own_examples_pass_every_text_rule(text: str, group: str) -> None:
    assert first_failure(subject(text, parsed=True), GROUPS[group], PAPER) is None


def test_a_png_is_dropped_where_only_jpeg_is_allowed() -> None:
    assert passes("image_format", subject()) and not passes("image_format", subject(format="PNG"))
    assert passes("image_format", subject(format="PNG"), formats=["JPEG", "PNG"])


def test_width_and_height_must_be_greater_than_the_threshold() -> None:
    assert passes("image_side", subject(width=401, height=401))
    assert not passes("image_side", subject(width=400, height=900)) and not passes("image_side", subject(width=900, height=400))


def test_an_aspect_ratio_of_exactly_two_is_kept_in_both_orientations() -> None:
    assert passes("aspect_ratio", subject(width=1000, height=500)) and passes("aspect_ratio", subject(width=500, height=1000))
    assert not passes("aspect_ratio", subject(width=1001, height=500)) and not passes("aspect_ratio", subject(width=10, height=0))


def test_a_score_at_the_pornography_threshold_is_dropped() -> None:
    assert passes("pornography", subject(pornography=0.49)) and not passes("pornography", subject(pornography=0.5))


def test_a_page_in_another_language_is_dropped_whatever_the_text() -> None:
    assert passes("page_language", subject()) and not passes("page_language", subject(language="pt"))
    assert passes("page_language", subject(language=""))


@pytest.mark.parametrize("text", ["Ein Mann mit einem Hund am Strand", "Une femme lit un livre", "Магазин ручной работы"])
def test_a_text_in_another_language_is_dropped_whatever_its_page_says(text: str) -> None:
    assert not passes("language", subject(text)) and passes("language", subject("Vineyards near the village of Walporzheim"))


def test_rare_words_are_known_when_listed_and_misspellings_are_not() -> None:
    assert passes("unknown_token", subject("Two ravenous capybaras near the blackbirds on a birdhouse"))
    assert passes("unknown_token", subject("An uncapybaralike dog")) is False and passes(
        "unknown_token", subject("A nonbirdhouse")
    )
    assert not passes("unknown_token", subject("A veiw of the mountian"))


def test_names_pass_the_vocabulary_and_names_of_files_do_not() -> None:
    assert passes("unknown_token", subject("A man named Gieske in Izola with O’Hara and d'Estaing"))
    assert passes("unknown_token", subject("Gieske Hall at night")) and passes("unknown_token", subject("The Banatski palace"))
    assert passes("unknown_token", subject("Player #15 of the team"))
    assert passes("unknown_token", subject("Mary Aglzkvaq on a beach")) and passes("unknown_token", subject("Bunolo's town hall"))
    assert passes("unknown_token", subject("SnowBoat opens a shop")) and passes("unknown_token", subject("Zqxwv Mary on a beach"))
    assert all(passes("unknown_token", subject(f"The crew of {code} on a runway")) for code in ("QZ8501", "P16s", "Trango2"))
    assert passes("unknown_token", subject("A man at rest (XNS126)"))
    for text in (
        "BOTTLES19593 on a table",
        "A dog in xkvq8501",
        "A dog #nofilter",
        "A dog #15things",
        "A dog by @anna",
        "A dog IMG_8299.jpeg",
        "A dog at www.dogs.example",
        "A dog at dogs.co.uk",
        "A dog in BeFbfty",
    ):
        assert not passes("unknown_token", subject(text)), text


@pytest.mark.parametrize("text", ["A Blorptang on a table", "Blorptang on a table", "A man in Zqxwv", "A boy with Sdfghjk"])
def test_a_capital_alone_makes_no_unlisted_word_a_name(text: str) -> None:
    assert not passes("unknown_token", subject(text))


@pytest.mark.parametrize(
    "text", ["A falcon at 200mph", "A 3000x1997 px print", "The fishmonger's stall", "The fishmongers’ stalls"]
)
def test_measures_and_genitives_of_known_words_are_known(text: str) -> None:
    assert passes("unknown_token", subject(text))


@pytest.mark.parametrize(
    "text",
    [
        "Embedded image permalink",
        "Profile photo of Anna",
        "Search icon",
        "Image",
        "Print this page",
        "Share this on the wall",
        "Image 3 of a house",
        "Photo no. 12",
        "Close this window",
        "Anna's picture",
        "More information for guests",
    ],
)
def test_dropping_patterns_drop(text: str) -> None:
    assert not passes("boilerplate_pattern", subject(text))


@pytest.mark.parametrize(
    "text",
    [
        "A profile of a man",
        "Iconic buildings on a hill",
        "An image of a dog",
        "Print on a wall",
        "Images of 3 dogs",
        "A man holds Anna's picture",
    ],
)
def test_boilerplate_patterns_inside_other_text_drop_nothing(text: str) -> None:
    assert passes("boilerplate_pattern", subject(text))


def test_word_counts_include_their_bounds() -> None:
    assert passes("min_words", subject("A chicken.")) and not passes("min_words", subject("Chicken."))
    assert not passes("min_words", subject("A chicken."), min_words=3)
    assert passes("max_words", subject("a " * 256)) and not passes("max_words", subject("a " * 257))


def test_an_alt_text_has_at_most_so_many_characters_bounds_included() -> None:
    assert passes("max_characters", subject("A" * 2500)) and not passes("max_characters", subject("A" * 2501))
    assert not passes("max_characters", subject("A dog", alt="A dog" + " stock photo" * 300))


@pytest.mark.parametrize("row", ["." * 11, ". " * 11, "!?" * 6, "\U0001f600\ufe0f" * 11, "_" * 11, ".\u200b" * 11])
def test_a_row_of_marks_drops_the_text_at_any_position(row: str) -> None:
    for text in (f"A dog on the grass{row}", f"{row}A dog on the grass", f"A dog {row} on the grass"):
        assert not passes("mark_run", subject(text))
        assert passes("mark_run", subject(text), max_mark_run=12)


@pytest.mark.parametrize("text", ["A dog... on the grass?!", "A cafe\u0301 at 10:30 (“open”), Paris", "-".join("abcdefghijklmn")])
def test_ordinary_punctuation_is_no_row_of_marks(text: str) -> None:
    assert passes("mark_run", subject(text))


def test_an_extremely_long_word_is_in_no_vocabulary_and_no_name() -> None:
    assert not passes("unknown_token", subject("The A" + "na" * 50)) and not passes("unknown_token", subject("1" * 101))
    assert passes("unknown_token", subject("1" * 100))


def test_a_capital_free_alt_is_dropped_by_first_capital() -> None:
    assert passes("first_capital", subject("A dog")) and passes("first_capital", subject("“Waves” filter"))
    assert not passes("first_capital", subject("a dog")) and not passes("first_capital", subject("... and dogs"))
    assert passes("first_capital", subject("3 dogs")) and passes("first_capital", subject("4k view"))
    assert passes("first_capital", subject("a dog"), first_capital=False)


def test_a_first_capital_in_cropped_boilerplate_counts() -> None:
    assert passes("first_capital", subject("a dog on a beach", alt="Photo of a dog on a beach"))


def test_a_title_in_capitals_is_dropped_by_capital_ratio() -> None:
    assert passes("capital_ratio", subject("A Dog And a cat"))
    assert not passes("capital_ratio", subject("Big Red Fire Truck Here"))


@pytest.mark.parametrize("text", ["A girl runs to the", "A dog and", "One of the…", "The door of."])
def test_a_text_that_was_cut_off_is_dropped(text: str) -> None:
    assert not passes("cut_off", subject(text))


def test_a_text_may_end_with_a_preposition() -> None:
    assert passes("cut_off", subject("A boy watches the ships go by")) and passes("cut_off", subject("Art for the #"))
    assert passes("cut_off", subject("Vegetables with vitamin A"))
    assert passes("cut_off", subject(""))


@pytest.mark.parametrize("text", ["Gardens of the Year", "Present for a Brother", "Learning and Teaching in Norway"])
def test_a_title_with_small_function_words_is_dropped_by_title_case(text: str) -> None:
    assert passes("capital_ratio", subject(text)) and not passes("title_case", subject(text, parsed=True))


@pytest.mark.parametrize(
    "text", ["A dog", "A house in Norway", "Dogs at the White House", "A girl with a Frisbee", "Ann Lee in Paris", "3"]
)
def test_names_alone_make_no_title(text: str) -> None:
    assert passes("title_case", subject(text, parsed=True))


def test_names_do_not_count_as_nouns_except_at_the_beginning() -> None:
    assert passes("noun_ratio", subject("A party for actor Lee Min-ho", parsed=True))
    assert not passes("noun_ratio", subject("Apple juice bottle, milk carton", parsed=True))


def test_only_repeated_content_words_count() -> None:
    kept = subject("A nurse with a child waits in a corridor on a bench in a hospital", parsed=True)
    assert passes("token_repetition", kept)
    assert passes("token_repetition", subject("The dog sees the dog", parsed=True))
    assert not passes("token_repetition", subject("Dog beds, dog toys and dog food for a dog", parsed=True))


def test_a_token_outside_the_vocabulary_drops_the_text() -> None:
    assert passes("unknown_token", subject("A blackbuck in 1998")) and not passes("unknown_token", subject("A sphxglr plot"))


def test_a_profane_text_is_dropped_from_the_threshold_on() -> None:
    assert passes("profanity", subject(profanity=0.89)) and not passes("profanity", subject(profanity=0.9))


def test_polarity_is_bounded_on_both_sides_bounds_included() -> None:
    for name, edge, beyond in (("polarity_high", 0.9, 0.91), ("polarity_low", -0.8, -0.81)):
        assert passes(name, subject(polarity=edge)) and not passes(name, subject(polarity=beyond))


@pytest.mark.parametrize(
    ("rule", "good", "bad"),
    [
        ("needs_noun", "A dog on the beach.", "He runs slowly."),
        ("noun_ratio", "A dog on the beach.", "Desktop window manager settings dialog"),
        ("unique_words", "A dog on the beach.", "A dog, a dog, a dog and a dog in dog pictures"),
    ],
)
def test_an_ill_formed_text_is_dropped_by_its_own_rule(rule: str, good: str, bad: str) -> None:
    assert passes(rule, subject(good, parsed=True)) and not passes(rule, subject(bad, parsed=True))


@pytest.mark.parametrize(("rule", "bad"), [("needs_determiner", "Dogs on beaches."), ("needs_preposition", "A dog runs.")])
def test_determiner_and_preposition_are_required_only_if_the_setting_names_them(rule: str, bad: str) -> None:
    assert passes(rule, subject(bad, parsed=True))
    assert not passes(rule, subject(bad, parsed=True), require=["determiner", "noun", "preposition"])


def test_labels_match_words_by_stem_and_by_head() -> None:
    seen = (Label(("fire engine", "fire truck"), 0.9), Label(("hen of the woods",), 0.1))
    assert passes("label_overlap", subject("Two trucks on a road", labels=seen))
    assert passes("label_overlap", subject("A hen", labels=seen))
    assert not passes("label_overlap", subject("A fire in the woods", labels=seen))
    assert not passes("label_overlap", subject("A man", labels=()))


def test_a_noun_with_a_hypernym_among_the_labels_overlaps() -> None:
    assert passes("label_overlap", subject("A gander", labels=(), kinds=("gander < goose",)))


def test_the_mean_evidence_decides_and_without_any_the_stems() -> None:
    labels = (Label(("person",), 0.9),)
    likely, unlikely = (Evidence("woman", 0.7, "person", 0.93, "is a kind of"), Evidence("dog", -1.6, "collie", 0.01, "includes"))
    text = "A person and a dog"
    assert passes("label_overlap", subject(text, labels=labels, evidence=(likely,)), overlap="evidence", min_evidence=0.5)
    assert not passes("label_overlap", subject(text, labels=labels, evidence=(likely, unlikely)), overlap="evidence")
    assert passes("label_overlap", subject(text, labels=labels, evidence=(likely, unlikely)), overlap="stem")
    assert passes("label_overlap", subject(text, labels=labels), overlap="evidence")
    assert not passes("label_overlap", subject("A dog", labels=labels), overlap="evidence")


def test_rules_on_the_page_need_its_context_and_their_names() -> None:
    repeating = Context(heading="Storm closes harbour", heading_kind="h1", link_text="Storm closes harbour", control=True)
    text = "Storm closes the harbour"
    for name in ("repeats_heading", "repeats_link_text", "control"):
        assert passes(name, subject(text)) and passes(name, subject(text, context=Context()))
        assert not passes(name, subject("Storm closes harbour.", context=repeating), context_rules=[name])
        assert passes(name, subject("Storm closes harbour.", context=repeating), context_rules=[])
    assert passes("repeats_heading", subject("Storm closes harbour after two long days", context=repeating))
    assert not passes("repeats_heading", subject("Storm closes harbour again", context=repeating))
    finding = RULES["repeats_heading"].test(subject("Storm closes harbour again", context=repeating), PAPER)
    assert finding == Finding(False, '0.75 of h1 "Storm closes harbour"', "< 0.6")
