"""Closed classes of words: negators, words without a statement of their own, words that say next to nothing.

Also texts without these words.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import filterfalse


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NEGATORS = _words(
    "not no never none nobody nothing neither nor nowhere without cannot avoid forbid forbidden prohibit prohibited "
    "lack lacks refuse refuses hardly except "
    # German, French, Spanish, Italian, Portuguese, Dutch. Without what says more often something else: French
    # "personne", Italian "mai" (German May), Portuguese "nem" (German for "a").
    "nicht nichts kein keine keinen keinem keiner keines keinerlei nie niemals niemand niemanden niemandem "
    "nirgends nirgendwo weder ohne verboten untersagt pas jamais rien aucun aucune sans nunca jamás sin nada "
    "nadie ningún ninguno ninguna tampoco ni non senza niente nulla nessun nessuno nessuna não sem nenhum "
    "nenhuma ninguém niet geen nooit zonder"
)  # fmt: skip

# Words that carry no statement of their own: left out where two texts are compared. Tense ("was",
# "will"), mood ("can", "may") and "some" are not among them: a text that has one where the other has none says more.
FUNCTION_WORDS = _words(
    "a an the is are be been being am has have having do does it its this that these those there here of for in at by "
    "as to into onto on and or but so than then also just we our ours us you your yours they their them he him his she "
    "her who which what when where while how because since due about per each every all any get gets got become such "
    "with from through up out way one's"
)

# Words of content that say no more than that something is there, is done or is meant: one more of these is no other
# statement. Without "was", "can", "only" and the like.
SAYS_NOTHING = _words(
    "go find use contain locate switch turn given specified again though please already really very definitely "
    "actually anyway"
)
# A word with the signs before and inside it, a sign, or the question mark at the end.
_SAID = re.compile(r"(?:(?<!\w)[.!/@#$*-]{1,3})?\w+(?:[.:/'’+-]\w+)*|[^\w\s.,;:!?'\"()`*“”’–—-]+|[?]$")
# Words that may be missing of the same statement; "in" and "out", "for" and "from" may not.
_PASSED_OVER = (FUNCTION_WORDS | SAYS_NOTHING) - frozenset("in out up for from by with".split())  # noqa: SIM905


@lru_cache(maxsize=256)  # standing and recent texts come again with every brief
def content(text: str) -> tuple[str, ...]:
    """Return the words and signs of a text in order, without case and without words that carry no meaning. Two texts
    with equal content are one statement in two wordings."""
    words = map(str.casefold, _SAID.findall(text.strip()))
    return tuple(filterfalse(_PASSED_OVER.__contains__, words))
