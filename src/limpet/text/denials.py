"""Two statements of the same words, of which one denies: in languages whose words change beside a negation.

"Der Export enthält gelöschte Datensätze", "enthält keine gelöschten Datensätze"; "Antworte immer auf Deutsch", "nie".
What the words of a text alone say, without a language being known first: see `lexicon.NEGATORS`. Pure, linear.
"""

from __future__ import annotations

from collections.abc import Sequence

from .difference import Found
from .language import ENGLISH, OTHERS
from .tokens import Token, stem

# What stands beside a negation or in its place, and says nothing more.
_BESIDE = frozenset(
    "ein eine einen einem einer eines immer stets un une des de du d toujours siempre sempre any always".split()  # noqa: SIM905
)
# Verbs that only carry another one.
_CARRY = frozenset(
    "wird werden wurde ist sind hat haben kann können muss müssen darf dürfen soll sollen will wollen möchte sollte "
    "weiß geht gibt macht peut peuvent doit puede pueden debe può deve pode".casefold().split()
)
# What says nothing by itself, in any of these languages.
SMALL = ENGLISH | OTHERS | _CARRY


def denial(a: Sequence[Token], b: Sequence[Token]) -> Found | None:
    """The negation that one text has and the other has not, where nothing else differs but endings and articles."""
    said, denied = (a, b) if _denied(b) else (b, a)
    if _denied(said) or _denied(denied) != 1:
        return None
    mine, theirs = _words(said), _words(denied)
    if mine != theirs or sum(one not in SMALL for one in mine) < 2:
        return None
    negation = tuple(one.surface for one in denied if one.kind == "not")
    return Found(kind="negation", a=() if said is a else negation, b=negation if said is a else ())


def _denied(some: Sequence[Token]) -> int:
    return sum(one.kind == "not" for one in some)


def _words(some: Sequence[Token]) -> list[str]:
    return [stem(low) for one in some if one.kind != "not" and (low := one.surface.casefold()) not in _BESIDE]
