"""Whether a statement repeats what limpet put into the conversation, or speaks against what is believed. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from ...model.dataclass import dataclass
from ...text.lexicon import NEGATORS
from ...text.normalise import content, normalise

# An agent's statement repeats what was injected when so much of its words stands in one line of it.
REPEATED_SHARE = 0.75
_WORD = re.compile(r"[\w@+#]+(?:[./-][\w@+#]+)*")
# Words that say nothing of what a text is about.
_SMALL_WORDS = """
a an and are as at be but by for from has have in is it its not of on or our so that the their there they this to
use uses used using was we were will with you your i my me no don't do does never always only instead here than rather
"""
_SMALL = frozenset(_SMALL_WORDS.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """A memory that shares words with a statement. `stronger`: it is trusted more than who states it again."""

    id: bytes
    kind: str
    content: str
    trust: str
    stronger: bool


class Clash(NamedTuple):
    kind: str  # of the review list: correction, contradiction
    reason: str


def words(text: str) -> set[str]:
    """What a text speaks of: its words in lower case without the small ones."""
    return {word for word in map(str.lower, _WORD.findall(text)) if word not in _SMALL}


def repeats_injected(content: str, injected_lines: Iterable[str]) -> bool:
    mine = words(content)
    return bool(mine) and any(len(mine & words(one)) >= REPEATED_SHARE * len(mine) for one in injected_lines)


def says_already(told: str, text: str) -> bool:
    """Whether a text that was stored after a statement tells most of its words, and not the contrary."""
    mine, theirs = _stems(text), _stems(told)
    most = bool(mine) and len(mine & theirs) >= REPEATED_SHARE * len(mine)
    return most and _values(text) <= _values(told) and _denials(text) == _denials(told)


def _stems(text: str) -> set[str]:
    return {word[:-1] if len(word) > 3 and word.endswith("s") else word for word in words(text) if word != "user"}


# Who says it, of a project that all its users know: "we", "the project", "this repo" are one.
_WHO = re.compile(
    r"^(?:the )?(?:user|we|team|(?:this |our )?(?:project|repo|repository|codebase|company|team))(?= )", re.IGNORECASE
)
_WHERE = re.compile(
    r"\s*\b(?:in|for) (?:this|our|the) (?:project|repo|repository|codebase)\b|\s+here(?=\W|$)", re.IGNORECASE
)
_QUOTED = re.compile(r'^User said: "(.*)"$', re.DOTALL)


def same_statement(a: str, b: str) -> bool:
    """Whether two texts say one thing, whoever says it: "We use pnpm here", "The project uses pnpm"."""
    mine, theirs = _neutral(a), _neutral(b)
    return normalise(mine) == normalise(theirs) or content(mine) == content(theirs)


def _values(text: str) -> set[str]:
    return {word for word in content(text) if any(map(str.isdigit, word))}


def _denials(text: str) -> set[str]:
    return {
        word for word in re.findall(r"[\w'’]+", text.casefold()) if word in NEGATORS or word.endswith(("n't", "n’t"))
    }


def _neutral(text: str) -> str:
    said = _QUOTED.match(text)
    text = _WHERE.sub("", said[1] if said else text)
    return re.sub(r"\b(?:instead of|rather than)\b", "not", _WHO.sub("user", text))


def is_part_of(short: str, long: str) -> bool:
    """Whether the words of a text stand one after the other in a longer one."""
    mine, theirs = (" ".join(re.findall(r"\w+", normalise(one))) for one in (_neutral(short), _neutral(long)))
    return len(mine) < len(theirs) and f" {mine} " in f" {theirs} " and len(mine.split()) >= 3


def conflict(old: str, new: str, replaces: str) -> Clash | None:
    """Why two statements cannot both hold: the newer one names as wrong what the older says.

    What says so in other words is read once both are stored (`limpet.relate`)."""
    wrong = replaces.lower()
    if wrong and wrong in words(old):
        mine, theirs = words(new), {word for word in words(old) if not _denies(old, word)}
        # The older one says what is wrong, does not say what is right, and speaks of the same.
        if wrong in theirs and not _put(new, wrong) & theirs and (mine & words(old) - {wrong} or len(theirs) <= 3):
            return Clash("correction", f"says that {replaces} is wrong")
    return None


def _put(new: str, wrong: str) -> set[str]:
    """The name that a correction puts in the place of the wrong one, if it says "use"."""
    found = re.search(r"\buse[sd]?\s+[`'\"]?([\w@./+-]+)", new, re.IGNORECASE)
    return {found[1].lower()} - {wrong} if found else set()


def _denies(text: str, name: str) -> bool:
    denied = rf"\b(?:not|never|don't|no longer|instead of|rather than)\s+(?:\w+\s+){{0,2}}[`'\"]?{re.escape(name)}\b"
    return re.search(denied, text, re.IGNORECASE) is not None
