"""A long message in parts as long as a question."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from limpet.text.excerpt import WORDS, nearest, parts

LONG = (
    "The checkout test is flaky again since yesterday, it fails roughly one run out of five on the small runner. "
    "Please find out whether it is the clock or the fixture. Then write to Ana what the staging database's port is, "
    "and rename the folder."
)


def test_a_question_is_one_part_and_a_message_several():
    assert parts("Which port has the staging database?") == ["Which port has the staging database?"]
    several = parts(LONG)
    assert len(several) > 2 and all(len(one.split()) <= WORDS for one in several)
    assert nearest(several, "The staging database listens on port 5433") == (
        "Then write to Ana what the staging database's port is, and rename the folder."
    )


def test_what_does_not_pause_stays_whole_and_of_equals_the_longest_is_taken():
    endless = " ".join(["word"] * 2 * WORDS)
    assert parts(endless) == [endless]
    assert nearest(["Hm.", "Rename the folder.", "Wait."], "Something else entirely") == "Rename the folder."


@given(st.text(alphabet=st.sampled_from("ab.,!? \n。—-"), max_size=400))
def test_every_word_is_in_a_part(message):
    several = parts(message)
    assert all(any(word in one for one in several) for word in re.findall("[ab]+", message))


@given(
    st.lists(st.sampled_from(["Do this.", "Then that, please.", "A rather long sentence with ten words in it here."]))
)
def test_no_word_of_sentences_is_lost(sentences):
    message = " ".join(sentences)
    said = " ".join(parts(message))
    assert all(sentence in said for sentence in sentences)
