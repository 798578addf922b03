"""Anchors: what a statement names in the checkout that it was stored in, and whether it is there as it was.

A path that git knows is one by itself. Of another name written like code, the anchor is its definition: the line that
names it, is least indented and has most below it, with what is below it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from ...checkout import head_of
from ...text.entities import Entity, entities
from .git import git, holders, renamed, state_of, worktrees

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")

# Names of a statement that are looked for; a name in more files than this is a word of the code and none of its things.
MOST_NAMES, MOST_FILES = 6, 60
# Files and bytes that are read before memories are shown: some milliseconds. What comes after is not looked at.
FILES_READ, BYTES_READ = 64, 4_000_000
# Questions to git in such a look, some milliseconds each; what is asked no more is said without where it is now.
GIT_ASKED = 3
# Characters of a definition's first line that are kept.
LINE_CHARACTERS = 200
# Kinds of names that code has (text/entities.py), beside paths.
CODE = frozenset({"code", "flag", "identifier", "quoted"})


def root_of(folders: Sequence[str], place: dict[str, str]) -> str:
    """Return the checkout from some of git's own folders that is still at the place where a memory was stored, or on
    its branch; "" for none."""
    heads = {root: head_of(root) for folder in folders for root in worktrees(folder)}
    same = [root for root, head in heads.items() if head == place]
    near = [root for root, head in heads.items() if head.get("branch") == place["branch"] != ""]
    return next(iter((*same, *near)), "")


class Tree:
    """The files of a checkout, as they are on the disk."""

    def __init__(self, root: str) -> None:
        self._root, self._lines = root, dict[str, list[str]]()

    @cached_property
    def is_dirty(self) -> bool:
        return bool(git(self._root, "diff-index", "--name-only", "HEAD"))

    @cached_property
    def files(self) -> dict[str, list[str]]:
        """The paths that end in each name: of a file itself, or with folders above it."""
        listed = git(self._root, "ls-files", "--cached", "--others", "--exclude-standard", "-z") or ""
        ends: dict[str, list[str]] = {}
        for path in dict.fromkeys(filter(None, listed.split("\0"))):
            parts = path.split("/")
            for at in range(len(parts)):
                ends.setdefault("/".join(parts[at:]), []).append(path)
            for at in range(1, len(parts)):
                folder = "/".join(parts[:at]) + "/"
                if folder not in ends.setdefault(folder, []):
                    ends[folder].append(folder)
        return ends

    def _code(self, path: str) -> list[str]:
        """Return the lines of a file; [] of one that has mostly sentences, such as a manual: it defines no name."""
        if path not in self._lines:
            lines = unix(read(self._root, path) or b"").decode("utf-8", "replace").splitlines()
            sentences = sum(map(is_sentence, lines))
            self._lines[path] = lines if 2 * sentences < sum(map(bool, lines)) else []
        return self._lines[path]

    def anchors(self, text: str) -> dict[str, Any]:
        """Return the paths and names of a text that this tree has: {"paths": [path, digest], "names": [name,
        path, line, digest]}."""
        found = entities(text)
        paths = dict.fromkeys(path for entity in found if (path := self._path(entity.name)))
        names = dict.fromkeys(name for entity in found if (name := name_of(entity)) and name not in self.files)
        definitions = [(name, self._definition(name, [*paths])) for name in [*names][:MOST_NAMES]]
        kept = []
        for path in [*paths][:MOST_NAMES]:
            data = b"" if path.endswith("/") else read(self._root, path)
            if data is not None:
                kept.append([path, digest(data)])
        return {"paths": kept, "names": [[name, *where] for name, where in definitions if where]}

    def _path(self, name: str) -> str:
        """Return the one path that a text means by a name; "" for none or several."""
        name = name.removeprefix("./").strip("`")
        whole = self.files.get(name, ())
        return name if name in whole else whole[0] if len(whole) == 1 else ""

    def _definition(self, name: str, paths: Sequence[str]) -> list[Any] | None:
        """Return path, first line and digest of the definition of a name, in the paths named beside it if there."""
        listed = git(self._root, "grep", "-l", "-z", "-w", "-F", "-I", "--untracked", "-e", name) or ""
        files = [path for path in listed.split("\0") if path]
        if len(files) > MOST_FILES:
            return None
        places = []
        for path in [path for path in files if path in paths] or files:
            lines = self._code(path)
            for at, line in enumerate(lines):
                column = place_in(name, line)
                if column is not None and len(line) <= LINE_CHARACTERS and not is_sentence(line):
                    block, depth = below(lines, at), len(line) - len(line.lstrip())
                    whole = digest("\n".join(block).encode())
                    places.append((depth, -len(block), column, len(line), path, line, whole))
        return [*min(places)[4:]] if places else None


class Look:
    """A look at anchors in a checkout, each file read once."""

    def __init__(self, root: str, *, thorough: bool = False) -> None:
        """`thorough`: however many files and bytes there are, but nothing of a file that only has other lines now."""
        self._root, self._files, self._only_exact = root, dict[str, bytes | None](), thorough
        self._left = None if thorough else [FILES_READ, BYTES_READ]
        self._asks = None if thorough else GIT_ASKED

    def changes(self, found: dict[str, Any], commit: str) -> Iterator[str]:
        """Yield what has changed since a memory was stored at a commit."""
        exact = {path for _, path, _, _ in found["names"]}  # the more exact anchor tells
        changed = []
        for path, was in found["paths"]:
            if not Path(self._root, path).exists():
                yield self._gone(path, commit)
                continue
            data = None if path.endswith("/") else self._data(path)
            if data is not None and path not in exact and digest(data) != was and digest(unix(data)) != was:
                changed.append(path)
        for name, first, line, was in found["names"]:
            path, data = first, self._data(first)
            if data is None and not self._is_over():
                if moved := self._asked(renamed, commit, first):
                    yield f"{first} is {moved} now"
                    path = moved
                data = self._data(moved) if moved else b""
            if data is not None and (change := self._of_name(name, path, line, was, data)):
                yield change
        if changed and not self._only_exact:
            yield f"{', '.join(changed)} {'has' if len(changed) == 1 else 'have'} changed since"

    def _of_name(self, name: str, path: str, line: str, was: str, data: bytes) -> str:
        lines = unix(data).decode("utf-8", "replace").splitlines()
        if any(digest("\n".join(below(lines, at)).encode()) == was for at, text in enumerate(lines) if text == line):
            return ""
        if any(place_in(name, text) is not None for text in lines):
            return f"`{name}` in {path} has changed since"
        others = self._asked(holders, line.strip())
        return f"`{name}` is in {others[0]} now" if others else f"`{name}` is no longer in {path}"

    def _gone(self, path: str, commit: str) -> str:
        moved = self._asked(renamed, commit, path)
        return f"{path} is {moved} now" if moved else f"{path} is {'gone' if moved == '' else 'no longer there'}"

    def _asked(self, what: Callable[..., T], *about: str) -> T | None:
        """Ask git, unless it was asked often enough in this look."""
        if self._asks is not None:
            if self._asks == 0:
                return None
            self._asks -= 1
        return what(self._root, *about, self._state)

    @cached_property
    def _state(self) -> str:
        return state_of(self._root)

    def _data(self, path: str) -> bytes | None:
        if path not in self._files:
            if self._is_over():
                return None
            self._files[path] = data = read(self._root, path)
            if self._left is not None:
                self._left = [self._left[0] - 1, self._left[1] - len(data or b"")]
        return self._files[path]

    def _is_over(self) -> bool:
        return self._left is not None and min(self._left) <= 0


def read(root: str, path: str) -> bytes | None:
    """Return the bytes of a file of a checkout; None for what is none, or is large."""
    try:
        file = Path(root, path)
        return file.read_bytes() if file.is_file() and file.stat().st_size <= BYTES_READ else None
    except OSError:
        return None


def name_of(entity: Entity) -> str:
    """Return the name of something in code as code has it; "" for what is none."""
    name = entity.name.removesuffix("()")
    # One capitalised word or abbreviation is a word of the language that people speak.
    is_plain = name.isalpha() and (name.isupper() or name[1:].islower())
    return name if entity.kind in CODE and len(name) > 2 and " " not in name and not is_plain else ""


def is_sentence(line: str) -> bool:
    """Return whether a line has six words or more, three in five of nothing but letters."""
    words = [word.strip(".,;:!?()*_`\"'") for word in line.split()]
    return len(words) > 5 and sum(map(str.isalpha, words)) >= 0.6 * len(words)


def place_in(name: str, line: str) -> int | None:
    """Return where a line has a name as a whole word."""
    if name not in line:
        return None
    match = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", line)
    return match.start() if match else None


def below(lines: Sequence[str], at: int) -> Sequence[str]:
    """Return a line with those below it that are indented more, and closing brackets between these."""
    depth, end = len(lines[at]) - len(lines[at].lstrip()), at + 1
    for place in range(at + 1, len(lines)):
        text = lines[place].lstrip()
        if text and len(lines[place]) - len(text) <= depth and text[0] not in ")]}":
            break
        end = place + 1 if text else end
    return lines[at:end]


def unix(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n")


def digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=10).hexdigest()
