"""Keys that may be meant by another: spelled alike, or with a word more. By meaning they are compared in `work/`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

# How alike two subjects or attributes are spelled for one to be taken for the other: "adress", "address".
ALIKE = 0.75
# Keys that one is compared with, and those that are named.
COMPARED, NAMED = 2_000, 3


def near_keys(key: str, known: Sequence[str]) -> list[str]:
    """Those of the known keys that share the subject or the attribute and are spelled alike in the other."""
    subject, _, attribute = key.lower().partition(".")
    found = []
    for one in known[:COMPARED]:
        first, _, second = one.lower().partition(".")
        if one == key or (first == subject) == (second == attribute):
            continue
        pair = (second, attribute) if first == subject else (first, subject)
        if _alike(*pair):
            found.append(one)
    return found[:NAMED]


def _alike(one: str, other: str) -> bool:
    """Not when a number or an opposite tells them apart: "port1" and "port2", "min" and "max"."""
    mine, theirs = _words(one), _words(other)
    if not (mine < theirs or theirs < mine):
        matcher = SequenceMatcher(None, one, other)
        if matcher.real_quick_ratio() < ALIKE or matcher.quick_ratio() < ALIKE or matcher.ratio() < ALIKE:
            return False
    if re.findall(r"\d+", one) != re.findall(r"\d+", other):
        return False
    from ..text.difference import differences

    return not differences(" ".join(sorted(mine)), " ".join(sorted(theirs))).conflict


def _words(part: str) -> set[str]:
    return set(re.split(r"[._-]+", part))
