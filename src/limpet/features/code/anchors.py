"""Anchors: what a statement names in the checkout that it was stored in, and whether it is there as it was.

A path that git knows is one by itself. Of another name written like code, the anchor is its definition: the line that
names it, is least indented and has most below it, with those lines below it that have words of the statement. So other
changes of a file, or of a long definition, say nothing. A name that is only used here is looked for, and no more.
"""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Set
from functools import cached_property, lru_cache
from typing import Any
from zlib import crc32

from ...checkout import head_of
from .git import followed, git, holders, renames, renames_by_commits, state_of, worktrees

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from ...text.entities import Entity

    T = TypeVar("T")

# Names of a statement that are looked for; a name in more files than this is a word of the code and none of its things.
MOST_NAMES, MOST_FILES = 6, 60
# Files that are read before memories are shown: some milliseconds. What comes after is not looked at. Bytes of one.
FILES_READ, BYTES_READ = 64, 1_000_000
# Answers of git that a process keeps, by what was asked and the commit and index that it was asked of.
_ANSWERS, MOST_ANSWERS = dict[tuple[object, ...], Any](), 512
# Characters of a definition's first line that are kept.
LINE_CHARACTERS = 200
# Lines of a definition, or words of a file, of which a digest is kept; a file with less than this share of its words is
# another one. By lines it would be one after its sentences are wrapped anew, or its numbers fitted.
KEPT, SAME_FILE = 32, 0.5
# Kinds of names that code has (text/entities.py), beside paths.
CODE = frozenset({"code", "flag", "identifier", "quoted"})
# Those that may be defined; a flag or a version is there or not.
DEFINED = frozenset({"code", "quoted"})
_WORD = re.compile(r"[^\W\d_]{3,}")


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
        self._root, self._lines = root, dict[str, Sequence[str]]()

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

    def _all(self, path: str) -> Sequence[str]:
        return lines_of(self._root, path, stamp(self._root, path))

    def _code(self, path: str) -> Sequence[str]:
        """Return the lines of a file; none of a manual: it defines no name."""
        if path not in self._lines:
            self._lines[path] = lines if is_code(lines := self._all(path)) else ()
        return self._lines[path]

    def anchors(self, text: str, stems: Callable[[str], Set[str]]) -> dict[str, Any]:
        """Return the paths and names of a text that this tree has: {"paths": [path, digests of lines], "names": [name,
        path, first line, digests of lines]}, the first line "" for what is not defined here. `stems`: of words."""
        from ...text.entities import as_words, entities
        from ...text.lexicon import FUNCTION_WORDS

        found = entities(text)
        paths = dict.fromkeys(path for entity in found if (path := self._path(entity.name)))
        names = {name: entity for entity in found if (name := name_of(entity))}
        names = {name: entity for name, entity in names.items() if not {name, f"{name}/"} & self.files.keys()}
        said = stems(" ".join(word for word in as_words(text).split() if word not in FUNCTION_WORDS))
        kept = [
            [path, sample(vocabulary(() if path.endswith("/") else self._all(path)))] for path in [*paths][:MOST_NAMES]
        ]
        definitions = []
        for name in [*names][:MOST_NAMES]:
            if where := self._definition(name, [*paths], defined=names[name].kind in DEFINED):
                path, block = where
                words = said - stems(as_words(name))
                lines = sample(digests(speaking(block, words, stems))) if block else []
                definitions.append([name, path, block[0] if block else "", lines])
        return {"paths": kept, "names": definitions}

    def _path(self, name: str) -> str:
        """Return the one path that a text means by a name; "" for none or several."""
        name = name.removeprefix("./").strip("`")
        whole = self.files.get(name) or self.files.get(f"{name}/", [])
        return name if name in whole else whole[0] if len(whole) == 1 else ""

    def _definition(self, name: str, paths: Sequence[str], *, defined: bool) -> tuple[str, Sequence[str]] | None:
        """Return the path and lines of the definition of a name, in the paths named beside it if there; a path without
        lines where it is only used, has several, or is not `defined`: such as a flag."""
        files = holders(self._root, name)
        if len(files) > MOST_FILES:
            return None
        places = []
        for path in [path for path in files if path in paths] or files:
            lines = self._code(path)
            for at, line in enumerate(lines):
                column = place_in(name, line)
                if column is not None and len(line) <= LINE_CHARACTERS and not is_sentence(line):
                    block, depth = below(lines, at), len(line) - len(line.lstrip())
                    whole = defined and is_definition(name, column, block)
                    places.append((not whole, depth, -len(block), column, len(line), path, block))
        if not places:
            return None
        *_, path, block = min(places)
        return path, block if sum(not place[0] for place in places) == 1 else ()


class Look:
    """A look at anchors in a checkout."""

    def __init__(self, root: str, *, asks: int | None) -> None:
        """`asks`: questions to git, of some milliseconds or, on a busy machine, tens of them; what is not asked is said
        without where it is now. None: whatever it takes, and however many files there are."""
        self._root, self._asks = root, 1 << 30 if asks is None else asks
        self._most, self._files = 1 << 30 if asks is None else FILES_READ, dict[str, Sequence[str] | None]()

    def changes(self, found: dict[str, Any], commit: str) -> Iterator[tuple[str, bool]]:
        """Yield what has changed since a memory was stored at a commit, and whether it is gone or elsewhere."""
        exact = {path for _, path, line, _ in found["names"] if line}  # the more exact anchor tells
        for path, words in found["paths"]:
            if not os.path.exists(os.path.join(self._root, path)):
                moved = self._moved(path, commit)
                where = f"{moved} now" if moved else "gone" if moved == "" else "no longer there"
                yield f"{path} is {where}", True
            elif path not in exact and words and self._is_another(path, words):
                yield f"{path} has changed since", False
        for name, path, line, lines in found["names"]:
            is_gone = not os.path.exists(os.path.join(self._root, path))
            now = self._lines((is_gone and self._moved(path, commit)) or path)
            if now is not None:
                yield from self._of_name(name, path, line, lines, now)

    def _is_another(self, path: str, words: Sequence[int]) -> bool:
        now = self._lines(path)
        return now is not None and sum(map(vocabulary(now).__contains__, words)) < SAME_FILE * len(words)

    def _of_name(
        self, name: str, path: str, line: str, was: Collection[int], lines: Sequence[str]
    ) -> Iterator[tuple[str, bool]]:
        if line and any(text == line and digests(below(lines, at)).issuperset(was) for at, text in enumerate(lines)):
            return
        if any(place_in(name, text) is not None for text in lines):
            if line:
                yield f"`{name}` in {path} has changed since", False
            return
        # Gone is what no code uses either; what tells of it may have been written after it went.
        files = self._asked(holders, name)
        users = [file for file in files or () if is_code(self._lines(file) or ())]
        moved = [file for file in users if line and line in (self._lines(file) or ())]
        if moved:
            yield f"`{name}` is in {moved[0]} now", True
        elif not users and (line or files is not None):
            yield f"`{name}` is no longer in {path if line else 'the code'}", True

    def _moved(self, path: str, commit: str) -> str | None:
        """Return the path that a file has now; "" where it has none, None where git was asked often enough."""
        for what in (renames, renames_by_commits):
            listed = self._asked(what, commit)
            if listed is None or (now := followed(self._root, path, listed)):
                return None if listed is None else now
        return ""

    def _asked(self, what: Callable[[str, str], T], about: str) -> T | None:
        """Ask git, unless it was asked often enough in this look."""
        key = (what, self._root, about, self._state)
        if key not in _ANSWERS:
            if self._asks == 0:
                return None
            self._asks -= 1
            if len(_ANSWERS) >= MOST_ANSWERS:
                _ANSWERS.clear()
            _ANSWERS[key] = what(self._root, about)
        answer: T = _ANSWERS[key]
        return answer

    @cached_property
    def _state(self) -> str:
        return state_of(self._root)

    def _lines(self, path: str) -> Sequence[str] | None:
        """Return the lines of a file, none of one that is gone; None of a large one, or if enough was read."""
        if path not in self._files and len(self._files) < self._most:
            stamped = stamp(self._root, path)
            self._files[path] = lines_of(self._root, path, stamped) if stamped[1] <= BYTES_READ else None
        return self._files.get(path)


def stamp(root: str, path: str) -> tuple[int, int]:
    """Return time and size of a file, which change with each change of it; (0, 0) for what is none."""
    try:
        at = os.stat(os.path.join(root, path))
    except (OSError, ValueError):
        return 0, 0
    return (at.st_mtime_ns, at.st_size) if stat.S_ISREG(at.st_mode) else (0, 0)


@lru_cache(maxsize=FILES_READ)
def lines_of(root: str, path: str, stamped: tuple[int, int]) -> Sequence[str]:
    """Return the lines of a file of a checkout; () for what is none, or is large. `stamped`: its `stamp`."""
    try:
        if not 0 < stamped[1] <= BYTES_READ:
            return ()
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
            return tuple(file.read().splitlines())
    except OSError:
        return ()


def name_of(entity: Entity) -> str:
    """Return the name of something in code as code has it; "" for what is none."""
    name = entity.name.removesuffix("()")
    # One capitalised word or abbreviation is a word of the language that people speak.
    is_plain = name.isalpha() and (name.isupper() or name[1:].islower())
    # Nor is what is quoted with a value or arguments.
    is_part = entity.kind == "quoted" and not set(name).isdisjoint(" =()[]{}<>$*,;:\"'")
    return name if entity.kind in CODE and len(name) > 2 and " " not in name and not is_plain and not is_part else ""


def is_sentence(line: str) -> bool:
    """Return whether a line has six words or more, three in five of nothing but letters."""
    words = [word.strip(".,;:!?()*_`\"'") for word in line.split()]
    return len(words) > 5 and sum(map(str.isalpha, words)) >= 0.6 * len(words)


@lru_cache(maxsize=FILES_READ)
def is_code(lines: Sequence[str]) -> bool:
    """Return whether a file has not mostly sentences, as a manual has."""
    return 2 * sum(map(is_sentence, lines)) < sum(map(bool, lines))


def place_in(name: str, line: str) -> int | None:
    """Return where a line has a name as a whole word."""
    at = line.find(name)
    while at >= 0:
        around = line[max(0, at - 1) : at] + line[at + len(name) :][:1]
        if not any(char.isalnum() or char == "_" for char in around):
            return at
        at = line.find(name, at + 1)
    return None


def below(lines: Sequence[str], at: int) -> Sequence[str]:
    """Return a line with those below it that are indented more, and closing brackets between these."""
    depth, end = len(lines[at]) - len(lines[at].lstrip()), at + 1
    for place in range(at + 1, len(lines)):
        text = lines[place].lstrip()
        if text and len(lines[place]) - len(text) <= depth and text[0] not in ")]}":
            break
        end = place + 1 if text else end
    return lines[at:end]


def is_definition(name: str, column: int, block: Sequence[str]) -> bool:
    """Return whether lines define the name in the first of them: only words stand before it, and behind it a value or,
    on the next lines, what is indented below. Of a name with other characters, such as a key, nothing stands before."""
    before, after = block[0][:column].lstrip(), block[0][column + len(name) :]
    quote = before[-1:] if before[-1:] in ("'", '"', "`") else ""
    if quote and not after.startswith(quote):  # a sentence in quotes
        return False
    before, after = before.removesuffix(quote).strip(), after.removeprefix(quote).lstrip()
    has_value = after[:1] in ("=", ":") and after[:2] not in ("==", "::")
    if after[:1] == "=" and block[0].endswith(","):  # an argument of a call
        return False
    if not name.isidentifier():
        return not before and has_value and "/" not in name
    return before.replace(" ", "_").isidentifier() is bool(before) and (len(block) > 1 or has_value)


def speaking(block: Sequence[str], words: Set[str], stems: Callable[[str], Set[str]]) -> list[str]:
    """Return the first line of a definition, and the lines of its code that have words of a statement; of these, the
    ones with the words that few other lines have."""
    from ...text.entities import as_words

    shared = {at: set() if is_sentence(line) else words & stems(as_words(line)) for at, line in enumerate(block)}
    frequency = Counter(word for each in shared.values() for word in each)
    worth = [sum(1 / frequency[word] for word in shared[at]) for at in range(len(block))]
    least = max(worth) / 2
    return [line for at, line in enumerate(block) if at == 0 or worth[at] >= least > 0]


def digests(lines: Iterable[str]) -> set[int]:
    return {crc32(text.encode("utf-8", "replace")) for line in lines if (text := line.strip())}


def sample(digested: Set[int]) -> list[int]:
    """Return some digests, the same for the same lines wherever they stand."""
    return sorted(digested)[:KEPT]


@lru_cache(maxsize=FILES_READ)
def vocabulary(lines: Sequence[str]) -> Set[int]:
    """Return the digests of the words of a file, without its numbers."""
    return digests({word for line in lines for word in _WORD.findall(line)})
