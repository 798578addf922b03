"""What two nearly identical texts differ in: the guard that keeps "every 30 days" apart from "every 90 days".

Two texts become tokens of a kind (number, date, name, word ...); the tokens that one text has and the other has not,
and the order of those that both have, say whether they can be the same statement. Structure alone: no model, no I/O,
linear in the length of the texts. How near they are is not asked here: see `remember/duplicates.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

from ..model.dataclass import dataclass, replace
from .lexicon import BE_FORMS, PARTICIPLES, SAYS_NOTHING
from .opposites import canonical, opposite, rivals
from .tokens import VALUES, Token, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Kind = Literal[
        "number", "unit", "version", "date", "time", "negation", "name", "opposite", "roles", "detail", "wording"
    ]

# Differences that make two statements; the other two leave it open.
CERTAIN: frozenset[str] = frozenset(
    {"number", "unit", "version", "date", "time", "negation", "name", "opposite", "roles"}
)
# Longer texts are no single statement, of which one order of two things could be told.
MOST_ORDERED = 40
# Words that put one thing before another, as "to" does of what is preferred.
_ORDERS = frozenset({"over", "than", canonical("before"), canonical("after")})
_PREFER = canonical("prefer")
# Of whom something is said, by one word for each: another one is another statement.
_PERSONS = {
    canonical(word): line[0]
    for line in (("he", "him", "his"), ("she", "her"), ("they", "them", "their"), ("you", "your"), ("user",))
    for word in line
}
# Signs that stand for a word, or a space: "--to=x", "--to x".
_LINKS = frozenset({"=", "->", "=>"})
_SILENT = frozenset(map(canonical, SAYS_NOTHING))
# Letters that two forms of a word begin with.
_SAME_WORD = 5
# Words whose place matters although they say little themselves: what stands around them changes roles.
_PIVOTS = frozenset({"from", "to", "over", "than", "by", "with", "into", "as"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One difference: its kind, and the words of either text as they stand there; one side may be empty."""

    kind: Kind
    a: tuple[str, ...] = ()
    b: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.kind}: {' '.join(self.a) or '-'} / {' '.join(self.b) or '-'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """All that two texts differ in.

    `same_statement`: nothing was found but inflection, order and words that say nothing.
    `conflict`: they cannot be the same statement. Neither: other wording or more detail, a person or a model must look.
    """

    found: tuple[Found, ...]

    @property
    def same_statement(self) -> bool:
        return not self.found

    @property
    def conflict(self) -> bool:
        return any(one.kind in CERTAIN for one in self.found)

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(one.kind for one in self.found)

    def __str__(self) -> str:
        return "; ".join(map(str, self.found)) or "the same statement"


def differences(a: str, b: str) -> Difference:
    """What makes two texts different statements. Symmetric but for the sides; O(length of both)."""
    mine, theirs = tokens(a), tokens(b)
    only_mine, only_theirs = _minus(mine, theirs), _minus(theirs, mine)
    found: list[Found] = []
    values_a, values_b = _of(only_mine, VALUES), _of(only_theirs, VALUES)
    found += _values(values_a, values_b)
    words_a, words_b = _rest(only_mine), _rest(only_theirs)
    opposites = list(_opposites(words_a, words_b))
    negation = _negation(mine, theirs)
    if negation and len(opposites) == 1 and opposites[0].kind == "opposite":
        # "not enabled" says what "disabled" says, as far as structure can tell.
        found.append(Found(kind="wording", a=negation.a + opposites[0].a, b=negation.b + opposites[0].b))
    else:
        found += opposites + ([negation] if negation else [])
    used_a = {word for one in opposites for word in one.a}
    used_b = {word for one in opposites for word in one.b}
    found += _wording(
        [one for one in words_a if one.surface not in used_a], [one for one in words_b if one.surface not in used_b]
    )
    if not negation:
        found += _scope_of_negation(mine, theirs)
    turned = reversed_order(mine, theirs)
    swapped = [turned] if turned else _roles(mine, theirs)
    if swapped:
        # In other words the order says less: "Docker has to be running for the tests".
        found += [replace(one, kind="wording") for one in swapped] if found and not turned else swapped
    found += _persons(mine, theirs)
    asks, answers = (text.rstrip().endswith("?") for text in (a, b))
    if asks != answers:
        found.append(Found(kind="wording", a=("?",) * asks, b=("?",) * answers))
    return Difference(found=tuple(found))


def other_values(a: str, b: str) -> bool:
    """Whether either says a number, date, unit, sign or the like that the other does not, or asks: told much sooner
    than all else."""
    mine, theirs = tokens(a), tokens(b)
    apart = (*_minus(mine, theirs), *_minus(theirs, mine))
    said = any(one.kind in VALUES or (not one.surface[0].isalnum() and one.value not in _LINKS) for one in apart)
    return said or a.rstrip().endswith("?") != b.rstrip().endswith("?")


@lru_cache(maxsize=256)  # a text is compared with each that is near it
def content(text: str) -> tuple[str, ...]:
    """What a text says, whatever the order: two that say not the same words may be near, and are two statements.

    Values of its tokens, sorted, without function words and those that say nothing.
    """
    said = (one.value for one in tokens(text) if one.kind != "function")
    return tuple(sorted(one for one in said if one not in _SILENT and one not in _LINKS))


def _persons(a: Sequence[Token], b: Sequence[Token]) -> list[Found]:
    """ "He told us", "you told us": of two who differ it is said of one of them each."""
    said, heard = ({_PERSONS[x.value]: x for x in some if x.value in _PERSONS} for some in (a, b))
    if not said or not heard or said.keys() == heard.keys():
        return []
    return [Found(kind="name", a=_surfaces(said.values()), b=_surfaces(heard.values()))]


def _minus(some: Sequence[Token], others: Sequence[Token]) -> list[Token]:
    """Tokens of `some` beyond those that `others` has too, each as often as it is said more often."""
    left = Counter(one.value for one in others)
    kept = []
    for one in some:
        if left[one.value] > 0:
            left[one.value] -= 1
        else:
            kept.append(one)
    return kept


def _of(some: Iterable[Token], kinds: frozenset[str]) -> list[Token]:
    return [one for one in some if one.kind in kinds]


def _rest(some: Iterable[Token]) -> list[Token]:
    return [one for one in some if one.kind not in VALUES and one.kind != "not"]


def _surfaces(some: Iterable[Token]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.surface for one in some))


def _values(a: list[Token], b: list[Token]) -> list[Found]:
    """Numbers and units that only one side has. Both sides have some: they disagree; one side only: more detail."""
    if not a and not b:
        return []
    shown = _surfaces(a), _surfaces(b)
    amounts_a, amounts_b = Counter(one.amount for one in a), Counter(one.amount for one in b)
    if not (a and b):
        return [Found(kind="detail", a=shown[0], b=shown[1])]
    units_a, units_b = Counter(one.unit for one in a), Counter(one.unit for one in b)
    if amounts_a == amounts_b:
        # The same numbers: of other units, or one text leaves the unit out.
        left = (units_a - units_b) - Counter({"": 99}), (units_b - units_a) - Counter({"": 99})
        return [Found(kind="unit" if left[0] and left[1] else "detail", a=shown[0], b=shown[1])]
    kinds = {one.kind for one in (*a, *b)}
    named: Kind = "unit" if kinds == {"unit"} else "number"
    special: tuple[Kind, ...] = ("date", "time", "version")
    return [Found(kind=next((one for one in special if one in kinds), named), a=shown[0], b=shown[1])]


def _negation(a: Sequence[Token], b: Sequence[Token]) -> Found | None:
    """Whether one text denies what the other says: an odd number of negations more.

    When nothing that it denies is spoken of in the other ("..., not a wall of text") it may only say more: wording.
    """
    no_a, no_b = _of(a, frozenset({"not"})), _of(b, frozenset({"not"}))
    if len(no_a) == len(no_b):
        return None
    more, less = (a, b) if len(no_a) > len(no_b) else (b, a)
    spoken_of = {one.value[:_SAME_WORD] for one in less}
    odd = (len(no_a) - len(no_b)) % 2 == 1
    certain = odd and any(word[:_SAME_WORD] in spoken_of for word in _denied(more) - _denied(less))
    return Found(kind="negation" if certain else "wording", a=_surfaces(no_a), b=_surfaces(no_b))


def _scope_of_negation(a: Sequence[Token], b: Sequence[Token]) -> list[Found]:
    """As many negations, but of other things: "cached and not logged", "logged and not cached"."""
    denied_a, denied_b = _denied(a), _denied(b)
    only_a, only_b = denied_a - denied_b, denied_b - denied_a
    if not only_a and not only_b:
        return []
    said_a, said_b = {one.value for one in a}, {one.value for one in b}
    crossed = all(
        any(set(words.split()) <= said for words in only) for only, said in ((only_a, said_b), (only_b, said_a))
    )
    certain = crossed and not _moved_by_one(a, b, only_a, only_b)
    return [Found(kind="negation" if certain else "wording", a=tuple(sorted(only_a)), b=tuple(sorted(only_b)))]


def _moved_by_one(a: Sequence[Token], b: Sequence[Token], only_a: Counter[str], only_b: Counter[str]) -> bool:
    """ "needs no server", "does not need a server": the negation moved over one word, the words kept their order."""
    if len(only_a) != 1 or len(only_b) != 1:
        return False
    pair = {*only_a, *only_b}
    orders = []
    for some in (a, b):
        content = [one.value for one in some if one.kind not in {"function", "not"}]
        orders.append({two for two in pairwise(content) if set(two) == pair})
    return bool(orders[0] & orders[1])


def _denied(some: Sequence[Token]) -> Counter[str]:
    """The first word of content behind each negation, before it where none is behind ("funktioniert nicht"); with the
    next one where the text says that word again."""
    found: Counter[str] = Counter()
    said = Counter(one.value for one in some)
    content = [one for one in some if one.kind != "function"]
    if len(content) > 1 and content[-1].kind == "not" and content[-2].kind != "not":
        found[content[-2].value] += 1
    for one, behind, next_one in zip(content, content[1:], [*content[2:], None], strict=False):
        if one.kind == "not" and behind.kind != "not":
            found[behind.value] += 1
            if next_one and said[behind.value] > 1:
                found[f"{behind.value} {next_one.value}"] += 1
    return found


def _opposites(a: list[Token], b: list[Token]) -> Iterable[Found]:
    """Pairs of opposites or rivals, one on each side. The lists are short: what near-identical texts do not share."""
    if len(a) * len(b) > 4_096:
        return  # texts that differ so much are other wording anyway, and time stays linear
    taken: set[int] = set()
    for one in a:
        for place, other in enumerate(b):
            if place in taken or one.value == other.value:
                continue
            against = opposite(one.value, other.value)
            if against or rivals(one.value, other.value):
                taken.add(place)
                yield Found(kind="opposite" if against else "name", a=(one.surface,), b=(other.surface,))
                break


def _wording(a: list[Token], b: list[Token]) -> list[Found]:
    """Names on both sides that differ are another statement; anything else is other wording or more detail."""
    names_a, names_b = _of(a, frozenset({"name"})), _of(b, frozenset({"name"}))
    words_a, words_b = _of(a, frozenset({"word"})), _of(b, frozenset({"word"}))
    found = []
    if names_a and names_b:
        found.append(Found(kind="name", a=_surfaces(names_a), b=_surfaces(names_b)))
    elif names_a or names_b:
        found.append(Found(kind="detail", a=_surfaces(names_a), b=_surfaces(names_b)))
    if words_a or words_b:
        found.append(Found(kind="wording", a=_surfaces(words_a), b=_surfaces(words_b)))
    return found


def _roles(a: Sequence[Token], b: Sequence[Token]) -> list[Found]:
    """Whether the words that both texts share stand in an order that swaps who does what to whom.

    Moving one clause turns the order round once (two blocks change places): harmless. More than that is a swap, unless
    one text is in the passive voice and the other is not; then the swap is what one expects and its lack is odd.
    """
    shared_a, shared_b = _shared(a, b), _shared(b, a)
    places: dict[str, list[int]] = {}
    for place, one in enumerate(shared_b):
        places.setdefault(one.value, []).append(place)
    for row in places.values():
        row.reverse()
    order = [places[one.value].pop() for one in shared_a]
    breaks = [i for i in range(1, len(order)) if order[i] != order[i - 1] + 1]
    blocks = len(breaks) + 1
    # Two blocks that changed places within a frame that stayed: the frame's own breaks do not count.
    if order and order[0] == 0:
        blocks -= 1
    if order and order[-1] == len(order) - 1:
        blocks -= 1
    turned = _passive(a) != _passive(b)
    # "3:1", "1:3": values that change places with nothing else are no clause that moved.
    values = bool(breaks) and all(one.kind in VALUES for i, one in enumerate(shared_a) if order[i] != i)
    if (blocks > 2 and not turned) or values:
        moved = [shared_a[i].surface for i in range(len(order)) if order[i] != i]
        back = [one.surface for i, one in enumerate(shared_b) if order[i] != i]
        return [Found(kind="roles", a=tuple(moved), b=tuple(back))]
    if turned and not breaks and any(one.value == "by" for one in (*a, *b)) and _passive(a) + _passive(b) == 1:
        by = [one for one in (*a, *b) if one.value == "by"]
        return [Found(kind="wording", a=_surfaces(by))] if len(by) == 1 else []
    return []


def reversed_order(a: Sequence[Token], b: Sequence[Token]) -> Found | None:
    """Two things that change places around a word that puts one before the other: "Stripe over Adyen", "Adyen over
    Stripe". Whatever else is said, it is the opposite."""
    if max(len(a), len(b)) > MOST_ORDERED:
        return None
    # What both texts say alike is no reversal, also of a text that orders the same two things both ways.
    mine, theirs = _around(a), _around(b)
    if not mine or not theirs or not _mostly_shared(a, b):
        return None
    said, heard = {_said(one) for one in mine}, {_said(one) for one in theirs}
    for word, left, right in (one for one in mine if _said(one) not in heard):
        for same, before, after in (one for one in theirs if _said(one) not in said):
            if word != same:
                continue
            first, second = {x.value for x in left}, {x.value for x in right}
            third, fourth = {x.value for x in before}, {x.value for x in after}
            one = [token for token in left if token.value in (first & fourth) - (second | third)]
            other = [token for token in right if token.value in (second & third) - (first | fourth)]
            if one and other:
                return Found(kind="roles", a=(one[-1].surface, other[0].surface), b=(other[0].surface, one[-1].surface))
    return None


def _mostly_shared(a: Sequence[Token], b: Sequence[Token]) -> bool:
    """Whether half of the content is the same: two long texts may have a word before another in passing."""
    one, other = ({x.value for x in some if x.kind not in {"function", "not"}} for some in (a, b))
    return 2 * len(one & other) >= max(len(one), len(other))


def _said(ordered: tuple[str, list[Token], list[Token]]) -> tuple[object, ...]:
    word, left, right = ordered
    return word, tuple(one.value for one in left), tuple(one.value for one in right)


def _around(some: Sequence[Token]) -> list[tuple[str, list[Token], list[Token]]]:
    """(word, words of content before it, those behind it) of each word that orders what is around it: three of either,
    but the nearest of "not", which says it of one."""
    values = {one.value for one in some}
    found = []
    for place, one in enumerate(some):
        # "pnpm, not npm"; of "is not supported by" the verb is denied.
        instead = one.kind == "not" and all(
            two.kind in {"word", "name"} for two in (*some[max(0, place - 1) : place], *some[place + 1 : place + 2])
        )
        to = one.value == "to" and any(two.value in {"from", _PREFER} for two in some[max(0, place - 4) : place])
        orders = one.value in _ORDERS or instead or to
        if orders or (one.value == "with" and canonical("replace") in values):
            most = 1 if instead else 3
            left = [two for two in some[:place] if two.kind not in {"function", "not"}][-most:]
            right = [two for two in some[place + 1 :] if two.kind not in {"function", "not"}][:most]
            found.append(("not" if one.kind == "not" else one.value, left, right))
    return found


def _shared(a: Sequence[Token], b: Sequence[Token]) -> list[Token]:
    """Tokens of `a` that carry roles and are as often in `b`, in order."""
    wanted = Counter(one.value for one in b if _carries(one)) & Counter(one.value for one in a if _carries(one))
    kept = []
    for one in a:
        if _carries(one) and wanted[one.value] > 0:
            wanted[one.value] -= 1
            kept.append(one)
    return kept


def _carries(one: Token) -> bool:
    return one.kind != "function" or one.value in _PIVOTS


def _passive(some: Sequence[Token]) -> int:
    """How many passive verbs there are: a form of "be" with a participle right behind it, or one word later."""
    count = 0
    for place, one in enumerate(some):
        if one.surface.casefold() in BE_FORMS:
            behind = [two.surface.casefold() for two in some[place + 1 : place + 3]]
            count += any(word in PARTICIPLES or (word.endswith("ed") and len(word) > 4) for word in behind)
    return count
