"""The quick look before the patterns passes nothing that a pattern would have found."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from limpet.text import instructions

# Words of the patterns, and of ordinary text.
WORDS = sorted(
    {word for _, pattern in instructions._PATTERNS for word in re.findall(r"[a-z]{2,}", re.sub(r"\\.", " ", pattern))}
    | set(
        "the a this that to for user you your about in is system: <system> ### [inst] and us with https:// @ now".split()
    )
)
FULL = [(name, re.compile(pattern)) for name, pattern in instructions._PATTERNS]


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join))
def test_the_quick_look_changes_no_verdict(text):
    found = next((name for name, pattern in FULL if pattern.search(instructions._levelled(text))), None)
    assert instructions.reads_like_instruction(text) == found


@given(st.sampled_from(range(len(FULL))).flatmap(lambda i: st.tuples(st.just(i), st.from_regex(FULL[i][1]))))
def test_what_a_pattern_finds_holds_what_it_needs(found):
    place, text = found
    assert any(word in text for word in instructions._NEEDS[place])


def test_every_pattern_has_its_needs():
    assert len(instructions._NEEDS) == len(instructions._PATTERNS)
