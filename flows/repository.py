"""Commits, tags and pushes through git's plumbing: no checkout, HEAD or index of a person is touched.

A checkout of the very branch that moves follows it. A commit is made in an index of its own. A ref moves only from the value
that was read, here and on a remote, so of two writers one is refused. Does not import Prefect.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from components.core.errors import HearsightError

FLOW_RUN = "Flow-run: "
"""Trailer of the commits of flows and their workers: the flow run's id."""
LIMIT = 600.0
"""Seconds after which a git command is ended, e.g. one whose remote does not answer."""
OWN_SETTINGS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")
"""Variables of a surrounding git command, e.g. a hook, that would lead to another repository."""

LOOKS = 5
"""Times that a ref is fetched which moves meanwhile."""
LOST_RACE = re.compile(r"stale info|fetch first|already exists|cannot lock ref|failed to update|atomic transaction failed")
"""What git says of a ref that another writer has moved, or whose lock another push holds at this moment."""


class PushRefused(Exception):
    """The remote's refs are not at the expected values."""


@dataclass(frozen=True)
class Move:
    """A change of one ref: from ``old`` (empty: it must not exist) to ``new`` (empty: delete it)."""

    ref: str
    old: str
    new: str


class Repository:
    """The git repository of a project, and optionally one of its remotes."""

    def __init__(self, root: Path, remote: str = "") -> None:
        """Open the repository.

        Raises:
            HearsightError: ``root`` is not the top folder of a git repository, or has no such remote.
        """
        self.root, self.remote = root, remote
        self._env = {name: value for name, value in os.environ.items() if name not in OWN_SETTINGS}
        self._env |= {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
        if self.run("rev-parse", "--show-cdup", fail=False).strip():
            raise HearsightError("is not the top folder of a git repository", where=root, hint="clone the project with git")
        if not self.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}", fail=False):
            raise HearsightError("has no commit", where=root, hint="commit the project once")
        if remote and remote not in self.run("remote").split():
            raise HearsightError(f"has no remote '{remote}'", where=root, hint=f"git remote add {remote} URL")
        if not self.run("var", "GIT_COMMITTER_IDENT", fail=False):
            for role in ("AUTHOR", "COMMITTER"):
                self._env |= {f"GIT_{role}_NAME": "Hearsight", f"GIT_{role}_EMAIL": "hearsight@localhost"}

    def run(self, *words: str, stdin: str = "", fail: bool = True, extra: Mapping[str, str] | None = None) -> str:
        """Run git and return its output without the last line break; empty when it failed and ``fail`` is false.

        Raises:
            HearsightError: git failed; with its last error line.
        """
        done = self._start(words, stdin, extra)
        if done.returncode and fail:
            raise self._failed(words, done.stderr)
        return "" if done.returncode else done.stdout.rstrip("\n")

    def _failed(self, words: Sequence[str], stderr: str) -> HearsightError:
        return HearsightError(_last_line(stderr), where=f"git {' '.join(words[:2])} in {self.root}")

    def _start(
        self, words: Sequence[str], stdin: str = "", extra: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                ["git", *words], cwd=self.root, env={**self._env, **(extra or {})}, input=stdin, capture_output=True,
                encoding="utf-8", errors="surrogateescape", timeout=LIMIT, check=False,
            )  # fmt: skip
        except FileNotFoundError:
            raise HearsightError("git is not installed", where=self.root, hint="install git") from None
        except subprocess.TimeoutExpired:
            raise HearsightError(f"did not end within {LIMIT:g} s", where=f"git {' '.join(words[:2])}") from None

    def value(self, ref: str) -> str:
        """Return the commit, or another object, of a ref of this repository; empty when there is none."""
        return self.run("rev-parse", "--verify", "--quiet", ref, fail=False)

    def read(self, commit: str, path: str) -> str | None:
        """Return the text of a file in a commit; None when the commit has no such file."""
        done = self._start(["cat-file", "blob", f"{commit}:{path}"])
        return None if done.returncode else done.stdout

    def commit(
        self, tree: str, parents: Sequence[str], files: Sequence[str], message: str, texts: Mapping[str, str] | None = None
    ) -> str:
        """Return a new commit of the tree of the commit ``tree`` in which ``files`` are as in the project's folder.

        Args:
            tree: empty for an empty tree.
            files: paths from the root; ignored files too. One that is missing in the folder is missing in the commit.
            texts: path → text of further files.
        """
        with tempfile.TemporaryDirectory(prefix="hearsight-index-") as folder:
            index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
            self.run("read-tree", tree or "--empty", extra=index)
            self.run("update-index", "--add", "--remove", "-z", "--stdin", stdin="\0".join(files), extra=index)
            for path, text in (texts or {}).items():
                blob = self.run("hash-object", "-w", "--stdin", f"--path={path}", stdin=text)
                self.run("update-index", "--add", "--cacheinfo", f"100644,{blob},{path}", extra=index)
            written = self.run("write-tree", extra=index)
        words = [word for parent in parents for word in ("-p", parent)]
        return self.run("commit-tree", written, *words, "-F", "-", stdin=message)

    def move(self, *moves: Move, written: Sequence[str] = ()) -> None:
        """Move refs of this repository, all or none; a checkout of a branch that moves follows, as with `git merge --ff-only`.

        Args:
            written: paths that already have the new content in the project's folder, or the person's edits of it.

        Raises:
            HearsightError: a ref has another value than expected, or a checkout has changes that its branch would overwrite.
        """
        for move in moves:
            self._take_along(move, written)
        zero = "0" * 40
        lines = [f"update {move.ref} {move.new or zero} {move.old or zero}" for move in moves]
        self.run("update-ref", "--stdin", stdin="\n".join(["start", *lines, "commit", ""]))

    def _take_along(self, move: Move, written: Sequence[str]) -> None:
        """Bring the index and files of the checkout of a branch, if there is one, to the branch's new commit."""
        folder = self.run("for-each-ref", "--format=%(worktreepath)", move.ref)
        if not folder or not Path(folder).is_dir():
            return
        there = ("-C", folder)
        if here := bool(written) and Path(folder).samefile(self.root):
            self.run(*there, "reset", "--quiet", move.new, "--", *written)
        self.run(*there, "update-index", "-q", "--refresh", fail=False)
        try:
            self.run(*there, "read-tree", "-m", "-u", move.old, move.new)
        except HearsightError as error:
            if here:
                self.run(*there, "reset", "--quiet", move.old, "--", *written)
            branch = move.ref.removeprefix("refs/heads/")
            hint = f"commit or undo these changes, or check out another branch than {branch} there"
            raise HearsightError(error.what, where=folder, hint=hint) from None

    def push(self, *moves: Move) -> None:
        """Move refs of the remote, all or none.

        Raises:
            PushRefused: a ref has another value than expected.
            HearsightError: the remote cannot be reached, or refuses for another reason.
        """
        leases = [f"--force-with-lease={move.ref}:{move.old}" for move in moves]
        targets = [f"{move.new}:{move.ref}" for move in moves]
        done = self._start(["push", "--atomic", "--porcelain", "--no-verify", *leases, self.remote, *targets])
        if not done.returncode:
            return
        if refused := re.findall(r"^!\t\S+\t(.*)$", done.stdout, re.MULTILINE):
            if lost := [line for line in refused if LOST_RACE.search(line)]:
                raise PushRefused(lost[0])
            raise HearsightError(
                next((line for line in refused if "atomic" not in line), refused[0]), where=f"git push {self.remote}"
            )
        raise HearsightError(_last_line(done.stderr), where=f"git push {self.remote}", hint="can the remote be reached?")

    def remote_refs(self, pattern: str) -> dict[str, str]:
        """Return ref → commit or tag of the remote's refs that match a pattern such as ``refs/heads/runs/*``."""
        lines = self.run("ls-remote", self.remote, pattern).splitlines()
        return {ref: value for value, ref in (line.split("\t") for line in lines) if not ref.endswith("^{}")}

    def fetch(self, ref: str) -> str:
        """Fetch a ref of the remote and return its commit; empty when the remote does not have it, or no longer.

        Raises:
            HearsightError: the remote cannot be reached.
        """
        kept = f"refs/hearsight/fetched/{ref.removeprefix('refs/')}"
        words = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", self.remote, f"+{ref}:{kept}"]
        for _ in range(LOOKS):
            done = self._start(words)
            if not done.returncode:
                return self.value(kept)
            if "couldn't find remote ref" in done.stderr:
                return ""
            if "not our ref" not in done.stderr:  # the ref moved or vanished between two requests of this fetch
                break
        raise self._failed(words, done.stderr)

    def changed_files(self) -> list[str]:
        """Return the tracked files of the project's folder that differ from HEAD."""
        # `diff-index` alone reports files whose time has changed; refreshing the person's index would touch it.
        return [path for path in self.run("diff", "--no-ext-diff", "--name-only", "-z", "HEAD", "--").split("\0") if path]

    def is_ancestor(self, one: str, other: str) -> bool:
        """Return whether commit ``one`` is in the history of commit ``other``."""
        return not self._start(["merge-base", "--is-ancestor", one, other]).returncode

    def merge_texts(self, ours: str, base: str, theirs: str) -> str | None:
        """Return the three-way merge of texts; None when both sides change the same lines in different ways."""
        with tempfile.TemporaryDirectory(prefix="hearsight-merge-") as folder:
            paths = [Path(folder) / name for name in ("ours", "base", "theirs")]
            for path, text in zip(paths, (ours, base, theirs), strict=True):
                path.write_text(text, encoding="utf-8")
            done = self._start(["merge-file", "-p", *map(str, paths)])
        return None if done.returncode else done.stdout


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(("fatal:", "error:"))]
    return (errors or lines or ["git failed"])[-1]
