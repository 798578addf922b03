"""Whether two statements of the same words but for one place cannot both hold: a denial, or another value.

Reads what may wait for a person, where a wrong alarm costs more than a missed one, so it asks for more than the guard
of `difference.py`: the words before and after the place are the same, and the place has one value at a time. What
stands before the verb is who or what is spoken of: "worker 3", "worker 4" are two subjects, not two values.
English here; `german.py` asks the same of German, `denials.py` finds denials of both and others, and `updates.py` what
names the change itself ("was moved to"). Structure alone: no model, no I/O, linear in the length of the texts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from ..model.dataclass import dataclass, replace
from .difference import Found, reversed_order
from .lexicon import BE_FORMS, DE_VERBS, PARTICIPLES
from .opposites import canonical, opposite, rivals
from .overlap import share_words
from .tokens import VALUES, Token, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

# Longer texts are no single statement; a place holds a few words at most.
MOST_TOKENS, MOST_IN_PLACE = 40, 3


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _stems(text: str) -> frozenset[str]:
    return frozenset(canonical(word) for word in text.split())


# Words that may come or go without changing what is said; "three times" counts as "twice" does.
_SILENT = _words(
    "the now currently today actually still just also anymore times only nur nun jetzt derzeit aktuell zurzeit "
    "momentan inzwischen mittlerweile weiterhin auch noch maintenant actuellement désormais aussi ahora actualmente "
    "también agora também anche"
)
_ARTICLES = _words("a an")
_WHOSE = _words("our my your his her their its s user")
_PRONOUNS = _words("i we you he she it they this that these those there here who what")
_MODALS = _words("must should can could may might will would shall")
_DOES = _words("do does did")
_HAS = _words("has have had")
_IN = _words("in on at to for with by from as into under within after of every about per")
# Verbs whose object is one at a time: by themselves, with a preposition, with something said behind it ("for CI").
_ONE = _stems(
    "prefer choose own drive default call name cost require need last expire rotate limit cap pin listen return study "
    "target charge weigh measure hold"
)
_ONE_AT = _stems(
    "live work run write store keep host deploy base belong report default point move switch migrate stay ship "
    "start begin end open close send log listen train point set study publish meet expire pin read"
)
# The same, but only of where, when and by what means: somebody pays for many things, and pays with one.
_ONE_IN = _stems("teach sit sleep park pay go take arrive depart land connect commute reside rehearse practise track")
_ONE_AIM, _WORKED = _stems("work train study set"), _words("at for")
_WHERE = _words("in at on to from through via over with under by into")
# Done to a thing in many places and by many.
_MANY = _stems(
    "use need know support call affect test like love inspire interest excite worry motivate involve surprise impress "
    "mention include invite show see find visit discuss explain document describe list sell import trigger follow "
    "cover share connect relate fill please bore scare tie cause pass give apply"
)
_ONE_FOR = _stems("use run deploy store write host choose build test log")
# Verbs of which a thing has one who does it.
_OF_ONE = _stems("own lead maintain chair head approve")
_ROLES = _stems(
    "responsible owner lead leader maintainer manager head chair ceo cto author contact host director captain"
)
# Nouns of which a thing has one that is said in one word.
_ATTRIBUTES = _stems(
    "name color colour owner lead manager maintainer contact engineer host city town country address language "
    "framework database broker queue branch region zone target port tool linter formatter editor shell provider "
    "vendor tracker currency license day date time deadline format theme font size limit timeout version model "
    "drink food dish meal fruit sport team job role title nickname password default driver backend runtime os "
    "platform phone car bike allergy hobby major school birthday landlord doctor dentist bank state status mode level "
    "gateway proxy cache cloud compiler bundler orm scheduler registry browser subject instrument supplier locale "
    "surname gender nationality religion profession employer insurer carrier courier headquarters topic "
)
# What is said behind it holds of a case: "returns true if the mode is that of a directory".
_IF = _words(
    "if when whether unless while until wenn falls ob sofern solange sobald ausser während bis lorsque cuando quando "
    "which whose welche welcher welches che qui que"
)
# No statement by themselves.
_EXCLAIMED = _words("oh ah aw uh um hmm mm well yeah yes yep okay ok right hey wow alright sure please thanks")
# How a thing is, which is no value of it: it may be slow and full.
_STATES = _words(
    "slow fast full empty down up ready broken stable fine ok okay bad good new old big small busy dead alive clean "
    "dirty wrong right large huge great nice hot cold warm late early hard easy cheap safe sure done off on open"
)
_ADJECTIVE = re.compile(r"\w{3}(?:ful|ous|ive|able|ible|less|ent|ant|ing|ed|ly)")
# What says that something is there, or done at all: against "no" it is a denial.
_THERE = _stems("support have has offer need require allow use want provide include always")
# Function words that come and go with a negation.
_WITH_NOT = _DOES | _HAS | _ARTICLES | BE_FORMS | _words("all any every each")
_ENVIRONMENTS = _stems("staging production development testing preview get post put patch morning afternoon evening we")
_PAST = _words(
    "went had did got took made gave came saw bought sold met ran sent paid spent said told found left lost "
    "used won began wrote read drew drove flew ate was were became brought thought felt heard spoke held sat stood"
)  # fmt: skip
# "takes place in" says one thing, as "starts in" does; "any more" is one word.
_PHRASE = re.compile(r"\b(takes?) place\b|\bany (?:more|longer)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Clash:
    """`contradiction`: the one denies the other. `correction`: the other gives another value."""

    kind: Literal["correction", "contradiction"]
    found: Found
    # Words before and after the place; what else stands there in a third statement makes a series. () () of a denial.
    frame: tuple[tuple[str, ...], tuple[str, ...]]
    named: bool = False  # one names the change itself, in words of its own


@dataclass(frozen=True, slots=True)
class _Place:
    """Two statements as what they share before and after a place, and what either has there."""

    before: Sequence[Token]
    a: Sequence[Token]
    b: Sequence[Token]
    after: Sequence[Token]


@lru_cache(maxsize=2_048)  # the pairs of a review list are looked at again with every visit
def clash(a: str, b: str) -> Clash | None:
    """Why two statements cannot both hold; None when they may, or when it is not certain. Symmetric, sides apart."""
    if "?" in a or "?" in b or not share_words(a, b):
        return None
    return clash_of_words(a, b)


def clash_of_words(a: str, b: str) -> Clash | None:
    """The same, of any two statements: those that share few words are read too."""
    mine, theirs = _said(a), _said(b)
    if max(len(mine), len(theirs)) > MOST_TOKENS:
        return None
    turned = reversed_order(mine, theirs)
    if turned is not None:
        return Clash("contradiction", turned, ((), ()))
    place = _place(mine, theirs)
    if any(_low(one) in _IF for one in place.before[1:]):
        return None
    kind = _denies(place) or _opposes(place)
    if kind is not None:
        return Clash("contradiction", _found(kind, place), ((), ()))
    if any(one.kind == "not" for one in (*mine, *theirs)):
        from .denials import denial

        denied = denial(mine, theirs)
        if denied is not None:
            return Clash("contradiction", denied, ((), ()))
    if _past(mine[: len(place.before)]) != _past(theirs[: len(place.before)]):
        return None  # both may be true, each of its time
    if place.a and place.b and (_has_one_value(place) or _has_one_value_in_german(place)):
        kind = "name" if not _values(place.a) else place.a[0].kind if place.a[0].kind in ("date", "time") else "number"
        return Clash("correction", _found(kind, place), _frame(place))
    from .updates import update, without_aside

    changed = update(mine, theirs, (a, b))
    if changed is not None:
        return Clash("correction", changed, ((), ()), named=True)
    one, other = without_aside(a, b), without_aside(b, a)
    return clash_of_words(one, other) if (one != a) != (other != b) else None


def in_series(a: str, b: str, frame: tuple[tuple[str, ...], tuple[str, ...]], third: str) -> bool:
    """Whether a third text fills the frame of two with something else again: then all are siblings, not corrections."""
    (before, after), words = frame, [one.value for one in _said(third)]
    inside = words[len(before) : len(words) - len(after)]
    if not (before or after) or not inside or len(inside) > MOST_IN_PLACE + 1:
        return False  # without a frame any short text would fill it
    if _past(_said(third)) != _past(_said(a)):
        return False  # "we used Travis" is of another time
    if tuple(words[: len(before)]) != before or tuple(words[len(words) - len(after) :]) != after:
        return False
    return all(words != [one.value for one in _said(text)] for text in (a, b))


def contradict(a: str, b: str, *, keys: tuple[str | None, str | None] = (None, None)) -> bool:
    """Whether one of two texts denies the other. `keys`: of which key either is the value, and no sentence."""
    one, other = keys
    if one or other:
        from .ceased import ceased

        return not (one and other) and (ceased(a, b, other) if other else ceased(b, a, one or ""))
    found = clash(a, b)
    return found is not None and found.kind == "contradiction"


def is_statement(text: str) -> bool:
    """Whether it says enough to be put before a person: three words of content, and no question."""
    return "?" not in text and sum(_low(one) not in _EXCLAIMED for one in _content(tokens(text))) >= 3


@lru_cache(maxsize=16)  # a new text is compared with each that is near it
def _said(text: str) -> tuple[Token, ...]:
    return tuple(
        _article(one)
        for one in tokens(_PHRASE.sub(lambda match: match[1] or "anymore", text))
        if _low(one) not in _SILENT
    )


def _article(one: Token) -> Token:
    return replace(one, value="a") if one.value == "an" else one


def _place(a: Sequence[Token], b: Sequence[Token]) -> _Place:
    """The shortest place in which two texts differ; whole names, not their ends ("New York", "New Jersey")."""
    shorter = min(len(a), len(b))
    first = next((i for i in range(shorter) if a[i].value != b[i].value), shorter)
    last = next((i for i in range(shorter - first) if a[-1 - i].value != b[-1 - i].value), shorter - first)
    while first > 0 and a[first - 1].kind == "name" and first < shorter and a[first].kind == b[first].kind == "name":
        first -= 1
    while last and a[-last].kind == "name" and len(a) - last > first and a[-last - 1].kind == "name":
        last -= 1
    return _Place(a[:first], a[first : len(a) - last], b[first : len(b) - last], a[len(a) - last :])


def _content(some: Sequence[Token]) -> list[Token]:
    return [one for one in some if one.kind != "function"]


def _low(one: Token) -> str:
    return one.surface.casefold()


def _values(some: Sequence[Token]) -> bool:
    return all(one.kind in VALUES for one in some)


def _found(kind: str, place: _Place) -> Found:
    return Found(
        kind=kind,  # type: ignore[arg-type]  # one of the kinds of Found
        a=tuple(one.surface for one in place.a),
        b=tuple(one.surface for one in place.b),
    )


def _frame(place: _Place) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(one.value for one in place.before), tuple(one.value for one in place.after)


def _denies(place: _Place) -> str | None:
    """ "retries", "does not retry"; "supports pagination", "has no pagination"."""
    a, b = _content(place.a), _content(place.b)
    denied, plain = (a, b) if any(one.kind == "not" for one in a) else (b, a)
    if [one.kind for one in denied] != ["not"] or any(one.kind == "not" for one in plain):
        return None
    if any(one.kind == "function" and _low(one) not in _WITH_NOT for one in (*place.a, *place.b)):
        return None
    if len(plain) > 1 or (plain and plain[0].value not in _THERE):
        return None
    from .denials import SMALL

    rest = [one for one in _content((*place.before, *place.after)) if _low(one) not in _EXCLAIMED | SMALL]
    return "negation" if rest else None


def _opposes(place: _Place) -> str | None:
    """ "is enabled", "is disabled"; "runs before", "runs after"; "allows", "denies"."""
    if _is_german(place):
        from .german import opposes

        if opposes(place.before, place.a, place.b, place.after):
            return "opposite"
    if {_switch(place.a), _switch(place.b)} == {"on", "off"}:
        return "opposite" if _predicate(place.before) and not _content(place.after) else None
    a, b = _content(place.a), _content(place.b)
    if len(a) != 1 or len(b) != 1 or len(place.a) > 2 or len(place.b) > 2 or not opposite(a[0].value, b[0].value):
        return None
    if _predicate(place.before):
        last = place.before[-1]
        if _low(last) in _IN or (_content([last]) and _verb(place.before) != len(place.before) - 1):
            return None  # "is open for reading", "has an incremental decoder": there may be both
        behind = place.after[0] if place.after else None
        modifies = behind is not None and behind.kind in {"word", "name"} and a[0].value not in _stems("before after")
        wanted = place.before[-1].value in _stems("prefer use choose")
        return None if modifies and not wanted else "opposite"
    acts = all(_low(one).endswith(("s", "ed")) for one in (a[0], b[0]))
    subject = bool(_content(place.before))
    verb_behind = bool(place.after) and _verb([place.after[0], *place.after][:2]) is not None
    named = not _content(place.before[-1:])  # "a list of locals": what stands behind the verb is no verb
    return "opposite" if acts and subject and place.after and not (verb_behind or named) else None


def _switch(some: Sequence[Token]) -> str:
    return _low(some[0]) if len(some) == 1 else ""


def _has_one_value(place: _Place) -> bool:
    """Whether the place is one of which a subject has one value at a time."""
    if max(len(place.a), len(place.b)) > MOST_IN_PLACE:
        return False
    one, other = place.a, place.b
    if any(each.kind in {"function", "not"} for each in (*one, *other)):
        return False
    if _values(one) or _values(other):
        day = all(each.kind == "date" for each in (*one, *other))  # with or without its year
        return _values(one) and _values(other) and (day or len(one) == len(other) == 1) and _measured(place)
    if not _content(place.before):
        return _has_role(place)
    behind = place.after[0] if place.after else None
    if behind is not None and behind.kind in {"word", "name"}:
        return False  # it only says which ("a red bike", "a blue bike")
    return _is_object(place)


def _is_german(place: _Place) -> bool:
    """Whether a verb that `german.py` reads stands where it looks for one: it is loaded for German alone."""
    return any(_low(one) in DE_VERBS for one in (*place.before, *place.after[:1]))


def _has_one_value_in_german(place: _Place) -> bool:
    if not _is_german(place):
        return False
    from .german import one_value

    return one_value(place.before, place.a, place.b, place.after)


def _measured(place: _Place) -> bool:
    """A number, unit, date or time that says something of the subject and does not name it ("step 3")."""
    before, value = place.before, place.a[0]
    if not (_content(before) or _low(before[0]) in _PRONOUNS if before else False) or _past(before):
        return False
    last = before[-1]
    verb = _verb(before)
    if verb is None:
        # Without a known verb only what is measured, behind a preposition: "rotate every 30 days".
        return bool(value.unit or value.kind in {"date", "time"}) and _low(last) in _IN and not place.after
    between = before[verb + 1 :]
    if value.kind in {"date", "time"}:
        return all(one.kind == "function" for one in between)
    if value.unit or last.kind == "function" or verb == len(before) - 1:
        return len(_content(between)) <= 1
    # "Python 3.10", "port 8080": one name or noun in between.
    return len(_content(between)) == 1


def _is_object(place: _Place) -> bool:
    before = place.before
    verb = _verb(before)
    if verb is None:
        return False
    between = before[verb + 1 :]
    subject = [one for one in _content(before[:verb]) if _low(one) not in _PRONOUNS]
    if any(one.kind != "function" for one in between) or _past(before):
        return False
    if _environment(place):
        return False
    said, head = _low(before[verb]), before[verb].value
    joined = any(_low(one) in _IN | _WHERE for one in between)
    if said in BE_FORMS:
        if not subject:
            return False
        if joined:
            return True
        named = all(any(one.kind == "name" for one in side) for side in (place.a, place.b))
        rival = len(place.a) == len(place.b) == 1 and rivals(place.a[0].value, place.b[0].value)
        state = any(_adjective(_low(one)) for one in (*place.a, *place.b))
        return named or rival or (any(one.value in _ATTRIBUTES for one in subject) and not state)
    if head in _ONE and not joined:
        return True
    if joined:
        # Somebody works on many things, and a thing is open for many; one works and trains for one.
        at = {_low(one) for one in between}
        one_at = (
            head in _ONE_AT and ("for" not in at or head in _ONE_AIM) and (head != canonical("work") or at & _WORKED)
        )
        done = _low(before[verb - 1]) in BE_FORMS and head not in _MANY
        # "Teaches in Graz"; not "teaches in a school".
        there = (done or head in _ONE_IN) and at <= _WHERE
        return bool(one_at or there) and (bool(subject) or _low(before[0]) in _PRONOUNS)
    return head in _ONE_FOR and bool(place.after) and _low(place.after[0]) in {"for", "as"}


def _adjective(low: str) -> bool:
    return low in _STATES or _ADJECTIVE.fullmatch(low) is not None


def _has_role(place: _Place) -> bool:
    """ "Ana owns billing", "Ben owns billing"; "Ana is the owner of billing"."""
    sides = (*place.a, *place.b)
    capital = all(one.surface[:1].isupper() for one in sides)
    small = all(one.surface.islower() for one in (*sides, *place.after))
    if len(place.after) < 2 or len(sides) != 2 or not (capital or small):
        return False
    first, *then = place.after
    if first.value in _OF_ONE:
        return True
    if _low(first) != "is" or _low(then[0]) in _ARTICLES:
        return False
    said = next((i for i, one in enumerate(then[:4]) if one.value in _ROLES), None)
    whose = any(_low(one) in _WHOSE for one in then[:2])
    known = any(one.value in _ATTRIBUTES for one in then[:4])
    return said == 0 or (whose and (said is not None or known))


def _environment(place: _Place) -> bool:
    return any(one.value in _ENVIRONMENTS for one in (*place.a, *place.b))


def _verb(before: Sequence[Token]) -> int | None:
    """The place of the last known verb: of "is hosted" the participle."""
    for place in range(len(before) - 1, -1, -1):
        one = before[place]
        if one.kind == "function" and _low(one) in BE_FORMS:
            return place
        if one.kind == "function" and _low(one) in _HAS:
            return place
        if one.kind == "word" and place and one.value in _KNOWN_VERBS:
            return place
        if one.kind == "word" and place and _low(before[place - 1]) in BE_FORMS and _participle(_low(one)):
            return place
    return None


def _participle(low: str) -> bool:
    return low in PARTICIPLES or (low.endswith("ed") and len(low) > 4)


_KNOWN_VERBS = _ONE | _ONE_AT | _ONE_IN | _ONE_FOR | _stems("take wait retry allow have get hold serve accept require")


def _predicate(some: Sequence[Token]) -> bool:
    return _verb(some) is not None or any(_low(one) in _MODALS | _DOES for one in some)


def _past(before: Sequence[Token]) -> bool:
    """Whether it is told as an event: "we paid", "the meeting was". What "is kept" lasts."""
    for place, one in enumerate(before):
        low = _low(one)
        passive = place and _low(before[place - 1]) in BE_FORMS - {"was", "were"}
        if not passive and (low in _PAST or (one.kind == "word" and low.endswith("ed") and len(low) > 4)):
            return True
    return False
