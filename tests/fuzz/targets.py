"""The fuzzed parsers: check function, initial inputs and dictionary of each."""

from __future__ import annotations

import pkgutil
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz import words

HERE = Path(__file__).resolve().parent
CORPUS, FOUND = HERE / "corpus", HERE / "found"
PACKAGES = ("components", "protego", "PIL")
"""Python packages whose branches guide the fuzzer."""
COMPILED = (
    *(f"components.web.html.{name}" for name in ("tag_kinds", "tag_syntax", "tags")),
    "components.web.archives.wat",
)
"""Modules compiled by numba, which cannot compile instrumented code; only interpreted targets are guided by them."""


@dataclass(frozen=True)
class Target:
    """One parser under fuzzing."""

    name: str
    """Its function in ``tests.fuzz.checks``, imported on the first run, when imports may be instrumented."""
    dictionary: str = ""
    """Tokens that inputs are built from; see ``tests.fuzz.words``."""
    longest: int = 2000
    """Maximum bytes of an input, corpus files included."""
    quick: int = 700
    """Inputs of the run in `make test-long`."""
    of: str = ""
    """The target whose inputs it shares; '' for its own."""
    interpreted: bool = False
    """Whether it runs without numba, so that compiled parsers guide it and out-of-bounds reads raise errors."""

    def check(self, data: bytes) -> None:
        """Check an input; raises when a property does not hold."""
        pkgutil.resolve_name(f"tests.fuzz.checks.{self.name}")(data)

    @property
    def tokens(self) -> list[bytes]:
        """The tokens of its dictionary as bytes."""
        return [word.encode("latin-1").decode("unicode_escape").encode("latin-1") for word in self.dictionary.split()]


TARGETS: dict[str, Target] = {
    "html": Target("pages:html", words.HTML),
    "html_interpreted": Target("pages:html", words.HTML, quick=400, of="html", interpreted=True),
    "alts": Target("pages:alts", words.HTML, quick=400, of="html"),
    "srcset": Target("pages:srcset", r"1w 2x 1.5x 100h \x20 , \n http://a.sample/ data:image/gif;base64,", longest=600),
    "urls": Target("pages:urls", words.URL, longest=300),
    "robots": Target("answers:robots", words.ROBOTS),
    "sitemap": Target("answers:sitemap", words.SITEMAP),
    "manners": Target("answers:manners", f"{words.WISHES} {words.JSON}", longest=1000),
    "licence": Target("answers:licence", words.RSL),
    "heads": Target("answers:heads", words.HTTP, longest=1500),
    "segment": Target("answers:segment", f"{words.WARC} {words.ENTRY}", longest=6000),
    "index": Target("answers:index", f"{words.ENTRY} {words.JSON}", longest=6000),
    "warc": Target("archives:warc", words.WARC, longest=4000),
    "warc_packed": Target("archives:warc_packed", words.WARC, longest=4000, quick=400),
    "response": Target("archives:response", words.WARC),
    "wat": Target("archives:wat", f"{words.WAT} {words.JSON}"),
    "wat_interpreted": Target("archives:wat", f"{words.WAT} {words.JSON}", of="wat", interpreted=True),
    "wacz": Target("archives:wacz", f"{words.WARC} {words.ZIP}", 6000, quick=400),
    "image_head": Target("images:image_head", words.IMAGES),
    "image_use": Target("images:image_use", words.IMAGE_USE),
    "image": Target("images:image", words.IMAGES, longest=3000, quick=300),
    "tables": Target("sets:tables", words.SETS, longest=700),
    "documents": Target("sets:documents", f"{words.DOCUMENTS} {words.JSON}", longest=6000),
    "ratings": Target("sets:ratings", words.RATINGS),
    "mastodon": Target("posts:mastodon", f"{words.POSTS} {words.JSON}", quick=400),
    "instagram": Target("posts:instagram", f"{words.POSTS} {words.JSON}", quick=400),
    "exported": Target("posts:exported", f"{words.POSTS} {words.JSON}"),
    "sound": Target("sound:sound", words.SOUND, longest=3000),
}


def inputs_of(name: str) -> str:
    """Return the name of the folder with a target's inputs."""
    return TARGETS[name].of or name
