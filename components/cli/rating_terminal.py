"""Rating in the terminal: plain lines, one question at a time, so that a screen reader can follow."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from components.core.errors import HearsightError
from components.core.printing import print_text
from components.ratings.items import RatingItems
from components.ratings.store import RatingStore, RefusedRatingError
from components.web.images.opening import open_header

QUESTION = "good (g), bad (b), undo (u) or quit (q)? "
VERDICTS = {"g": "GOOD", "good": "GOOD", "b": "BAD", "bad": "BAD"}


def rate_in_terminal(store: RatingStore, items: RatingItems, rater: str, ask: Callable[[str], str] = input) -> None:
    """Ask until nothing is left or the rater quits; each answer is saved at once.

    Raises:
        HearsightError: there is no such rater.
    """
    store.dataset_of(rater)
    print_text(f"You are {rater}. GOOD: the description is true and tells what is there. BAD: it does not. Use common sense.")
    with TemporaryDirectory(prefix="hearsight-rate-") as folder:
        while (key := store.next_item(rater)) is not None:
            _show(store, items, rater, key, Path(folder))
            if not _answer(store, rater, key, ask):
                break
        else:
            print_text("Nothing is left for you to rate. Thank you.")
    print_text(f"{store.progress(rater).answered} rated. Saved. Go on with: hearsight rate --dataset {store.dataset_of(rater)}")


def _show(store: RatingStore, items: RatingItems, rater: str, key: str, folder: Path) -> None:
    progress, item = store.progress(rater), items.item(key)
    image, speech = folder / f"{key}.jpg", folder / f"{key}.flac"
    image.write_bytes(items.image(key))
    width, height = open_header(items.image(key)).size
    print_text(f"\nItem {progress.answered + 1} of {progress.items}\nImage: {image} ({width} by {height} pixels)")
    if audio := items.audio(key):
        speech.write_bytes(audio)
        print_text(f"Spoken description: {speech}")
    else:
        print_text(f"Description: {item['caption']}")


def _answer(store: RatingStore, rater: str, key: str, ask: Callable[[str], str]) -> bool:
    """Carry out one answer; return whether to go on."""
    while True:
        try:
            given = ask(QUESTION).strip().lower()
        except EOFError:
            return False
        if given in ("q", "quit"):
            return False
        if given in ("u", "undo"):
            print_text("Taken back." if store.undo(rater) else "There is no answer to take back.")
            return True
        if given in VERDICTS:
            try:
                store.save(rater, key, VERDICTS[given])
                print_text(f"Saved: {VERDICTS[given]}.")
            except RefusedRatingError as refused:
                print_text(f"Not saved: {refused.what}.")
            return True
        if given:
            print_text(HearsightError(f"'{given}' is no answer", hint="type g, b, u or q").__str__())
