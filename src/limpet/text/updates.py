"""Statements that name a change themselves: whether the one takes the place of what the other says.

"The standup was moved to 10:15" against "The standup is at 9:30"; "We dropped Django" against "We use Django". Sure
only where both speak of the same in the same words: what is left of either beside the value and the words of change
must stand in the other. English and German. Pure, linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

from .difference import Found
from .tokens import VALUES, Token, stem, tokens


def _words(text: str) -> frozenset[str]:
    return frozenset(text.casefold().split())


# What says that a thing is used or there, whatever the thing.
_PLAIN = _words(
    "use uses used using run runs running ran work works have has pay pays paying is are be written rewrote "
    "built kept stored hosted located lives live stands listen listens set happen happens take takes place go "
    "goes user we our i my project team version support supports for port plan time currently still only now "
    "since was were been do does not no longer anymore any more want wants prefer prefers wir ich unser unsere "
    "nutzen nutzt nutze benutzen benutzt verwenden verwendet haben hat ist sind wird werden läuft laufen steht "
    "liegt nutzer nur jetzt nun seit inzwischen mittlerweile nicht mehr kein keine keinen sondern findet finden "
    "statt live start starts begin begins beginnt startet"
)
# A change, and to what. Before each form what a text must hold, one of several, for the form to fit at all: it is
# compiled for no other text.
_CHANGES = (
    (" to",
     r"(?:was|were|is|are|has been|have been|got|gets) (?:moved|changed|upgraded|updated|raised|increased|reduced"
     r"|lowered|extended|shortened|switched|renamed|migrated|set|cut|downgraded|bumped|rescheduled|postponed|relocated"
     r"|pushed|brought forward)(?: (?:back|up|down|over))?(?: from (?P<from>\S.{0,60}?))? to\b"),
    ("moved |migrated |switched |relocated ",
     r"(?:moved|migrated|switched|relocated)(?: from (?P<from>\S.{0,60}?))? to\b"),
    ("now|as of today|these days|only|since|last |yesterday",
     r"(?:now|from now on|as of (?:now|today)|these days|only|since|last (?:week|month|year)|yesterday)\b"),
    ("wurde|ist|sind",
     r"(?:wurde|wurden|ist|sind)\b(?P<mid>[^.;]{0,60}?) (?:verlegt|verschoben|umgestellt|umgezogen|erhöht|gesenkt"
     r"|verlängert|verkürzt|geändert|umbenannt|migriert|angehoben|reduziert|aktualisiert|gewechselt)\b"),
    ("jetzt|nun|ab sofort|inzwischen|mittlerweile|nur|seit",
     r"(?:jetzt|nun|ab sofort|inzwischen|mittlerweile|nur|seit)\b"),
)  # fmt: skip
_VERBS = _words(
    "moved changed upgraded updated raised increased reduced lowered extended shortened switched renamed migrated cut "
    "downgraded bumped rescheduled postponed relocated pushed brought verlegt verschoben umgestellt umgezogen erhöht "
    "gesenkt verlängert verkürzt geändert umbenannt migriert angehoben reduziert aktualisiert gewechselt move change"
)
_CHANGED = _VERBS | _words(
    "forward back up down over went got gets to from on at in wurde wurden auf nach zu von vom ab sofort heute gestern "
    "today"
)
# When or why it changed says nothing of what changed.
_ASIDE = (
    r"(?is)[,;]?\s{0,3}\b(?:since|because|due to|as of|starting|effective"
    r"|last (?:week|month|year|spring|summer|autumn|winter|night)|this (?:week|month|year)|yesterday|seit|weil|wegen"
    r"|letzte[nrms]? (?:Woche|Monat|Jahr)|ab (?=\w+ \d{4}))\b.*$"
)
# What is said of how: who drinks no coffee any more drinks none with milk.
_WITH = r" (?:mit|with|without|ohne) [^,.;]*$"
# A thing holds no more, and which.
_THING = r"(?P<gone>(?:[^,.;{}]|(?<=\d)\.(?=\d)){1,60}?)(?= but\b|[,;{}]|\.(?!\d)|$)"
_CEASED = (
    ("no longer ", rf"(?<!\bto )\bno longer (?:use[sd]?|using|pay for|need|run|support)?\s*{_THING}"),
    ("dropped |celed |celled |stopped using|got rid of|gave up|abandoned |moved off|moved away",
     r"\b(?:dropped|cancell?ed|stopped using|got rid of|gave up|abandoned|moved off|moved away from)"
     rf" (?:support for )?(?:the )?{_THING}"),
    ("dropped |gave up|abandoned ",
     r"\b(?:dropped|gave up|abandoned) (?:the )?(?P<gone>[^,.;{}]{1,40}?) (?:for|in favou?r of)"
     r" (?-i:[A-Z])\w*(?=[,.;]|$)"),
    (" from ", r"\b(?:moved|switched|migrated)(?: (?P<of>[^,.;{}]{1,40}?))? from (?P<gone>[^,.;{}]{1,40}?) to\b"),
    ("replaced ", r"\breplaced (?P<gone>[^,.;{}]{1,40}?) (?:with|by)\b"),
    ("instead of |rather than ", r"\b(?:instead of|rather than) (?P<gone>[^,.;{}]{1,40})"),
    ("nicht mehr ", r"\bnicht mehr (?P<gone>[^,.;{}]{1,40}?)(?:,? sondern\b|[,.;]|$)"),
    ("kein", r"\bkeine?n? (?P<gone>[^,.;{}]{1,40}?) mehr\b"),
    ("statt |anstelle von ",
     r"\b(?:statt|anstelle von|anstatt) (?P<gone>(?-i:[A-ZÄÖÜ])[^,.;{}]{1,30}?)"
     r"(?= (?:mit|nutzen|verwenden|jetzt|nun)\b|[,.;]|$)"),
    ("von ",
     r"\bvon (?P<gone>[^,.;{}]{1,30}?) (?:auf|zu|nach) [^,.;{}]{1,40} "
     r"(?:umgestellt|gewechselt|umgestiegen|umgezogen|migriert)"),
    ("haben ",
     r"\bhaben (?:die |das |den )?(?P<gone>[^,.;{}]{1,40}?) (?:abgeschafft|gekündigt|abgeschaltet|aufgegeben)\b"),
)  # fmt: skip
# What is not so, beside what is so instead: "on Thursday, not on Tuesday", "is not Jonas but Emre".
_INSTEAD = (
    ("not ", r"[,;] (?:but |and )?not (?P<gone>[^,.;{}()]{1,40}?)(?: any ?(?:more|longer))?(?=[,.;]|$)"),
    ("not ", r"\bnot (?!only\b|just\b)(?P<gone>[^,.;{}()]{1,40}?),? but (?!also\b|only\b|not\b)"),
    ("n't |n’t |not ", r"(?:n['’]t|\bnot) (?P<gone>[^,.;{}()]{1,60}?) any ?(?:more|longer)\b"),
    ("nicht ", r"[,;] (?:und )?nicht (?P<gone>[^,.;{}()]{1,40}?)(?: mehr)?(?=[,.;]|$)"),
    ("nicht ", r"\bnicht (?!nur\b|mehr\b)(?P<gone>[^,.;{}()]{1,40}?),? sondern (?!auch\b)"),
)
# Back to what was said not to be so: "between services we talk protobuf, not JSON".
_BACK = (("back to ", r"\bback to (?P<gone>[^,.;{}]{1,40}?)(?= (?:for|in|on|between|with)\b|[,.;]|$)"),)
# Words of which each of these forms has one: what says none of them is read no further.
_CUES = _VERBS | _words(
    "now these only since last yesterday jetzt nun sofort inzwischen mittlerweile nur seit longer dropped cancelled "
    "canceled stopped rid gave abandoned replaced instead rather mehr statt anstelle anstatt abgeschafft gekündigt "
    "abgeschaltet aufgegeben umgestiegen forward not any anymore nicht back"
)
# What is wished, guessed, dreamt or said in fun of a change is no change.
_UNSURE = _words(
    "if unless would could should might may maybe perhaps almost nearly joked jokes joking kidding haha lol dreamt "
    "dreamed pretended wish wishes wished hope hopes hoped thinks thought believes guess guesses imagine suppose "
    "supposedly wenn falls würde könnte sollte vielleicht fast beinahe scherzte scherzt träumte wünscht hofft glaubt "
    "angeblich"
)
_ASIDES = _words(
    "since because due as starting effective last this yesterday seit weil wegen letzte letzten letzter letztes "
    "letztem ab"
)
_SOMEBODY = _words("i we you he she it they ich wir du er sie es man")
# What was, and is not said to hold.
_ONCE = _words("used was were had did war waren hatte hatten nutzte nutzten verwendete verwendeten")
# Where a person lives and where something is kept or runs: what is moved is there no more.
_THERE = _words(
    "lives live wohnt wohnen lebt leben stored hosted kept located deployed runs run steht liegt läuft gespeichert "
    "is are"
)
_OF_ONE = {"leitet": "geleitet", "verantwortet": "verantwortet", "betreut": "betreut", "leads": "led", "owns": "owned",
           "maintains": "maintained", "runs": "run", "heads": "headed"}  # fmt: skip
_IN = _words(
    "in on at to into for with of the a an und and der die das den dem des ein eine im am um auf nach zu bei mit für "
    "by von"
)
MOST = 24
# Words of what is said to be so instead.
MOST_NEW = 3


def without_aside(text: str, other: str) -> str:
    """A statement without when or why it changed, and without a second one that begins with what the other one says:
    "... is called release, main is for development"."""
    text = _without_when(text)
    first, _, second = text.partition(", ")
    if second.casefold().split()[1:2] not in (["is"], ["are"], ["ist"], ["sind"]):
        return text
    begins = tokens(second)[0]
    of_it = begins.kind in {"word", "name"} and begins.value in {one.value for one in tokens(other)}
    return first if of_it else text


def update(a: Sequence[Token], b: Sequence[Token], texts: tuple[str, str]) -> Found | None:
    """What one of two texts puts in the place of what the other says; None where that is not sure. Symmetric."""
    if max(len(a), len(b)) > MOST:
        return None
    one, other = texts
    for told, said, turned in ((one, other, False), (other, one, True)):
        if _UNSURE & (_all_words(said) - _all_words(told)) or _is_over(said):
            continue
        cued = _says_change(said) and not _says_change(told)
        found = (
            (cued and (_ceased(told, said) or _changed(told, said) or _instead(told, said)))
            or _taken_over(told, said)
            or _returned(told, said)
        )
        if found is not None:
            left, right = (found[1], found[0]) if turned else found
            kinds = {one.kind for side in (left, right) for one in tokens(side)[:1]}
            kind = kinds.pop() if len(kinds) == 1 and kinds <= VALUES else "name"
            return Found(kind=kind, a=(left,), b=(right,))  # type: ignore[arg-type]  # of a value, a kind of Found
    return None


def _ceased(told: str, said: str) -> tuple[str, str] | None:
    """`said` names what is no more, and all that `told` says of it."""
    if any(one.kind == "not" or _low(one) in _ONCE for one in tokens(told)):
        return None
    held = _content(told)
    for match in _fits(said, _CEASED):
        gone = _content(match["gone"])
        behind = (
            _content(said[match.end() :]) if re.match(r"\s*(?:for|für|in|on|bei)\b", said[match.end() :]) else set()
        )
        if not gone or not gone <= held or not behind <= held or set(match["gone"].casefold().split()) & _VERBS:
            continue
        if gone <= (brief := _content(re.sub(_WITH, "", told))):
            held = brief
        rest, spoken = held - gone, _content(said) | _initials(said)
        if rest and all(word in spoken or word in _spelled(told, spoken) for word in rest):
            return " ".join(match["gone"].split()), "no longer"
        if not rest and match.start() and not (_content(said[: match.start()]) - gone):
            return " ".join(match["gone"].split()), "no longer"
    return None


def _is_over(said: str) -> bool:
    """Whether it is told of another time, and says nothing of now: "was at 10:15 last year"."""
    words = _all_words(said)
    return not _ONCE.isdisjoint(words) and (_CUES - {"last", "yesterday"}).isdisjoint(words)


def _instead(told: str, said: str) -> tuple[str, str] | None:
    """`said` denies what `told` says, and what it says beside that is of the same: at most one thing is new."""
    if any(one.kind == "not" or _low(one) in _ONCE for one in tokens(told)):
        return None
    held = _content(told)
    for match in _fits(said, _INSTEAD):
        gone = _content(match["gone"])
        left = [one for one in tokens(f"{said[: match.start()]} {said[match.end() :]}") if one.kind != "not"]
        new = [i for i, one in enumerate(left) if _subject([one]) - held]
        of_same = held - gone <= _subject(left) if held != gone else _low(left[0]) == _low(tokens(told)[0])
        one_thing = not new or new[-1] - new[0] == len(new) - 1 < MOST_NEW
        # "The spare key": it only says which.
        which = bool(new) and bool(_subject(left[new[-1] + 1 : new[-1] + 2]) & (held - gone))
        if gone and gone <= held and of_same and one_thing and not which:
            return " ".join(match["gone"].split()), " ".join(left[i].surface for i in new) or "no longer"
    return None


def _changed(told: str, said: str) -> tuple[str, str] | None:
    """`said` is of the same and names another value, with a word for the change."""
    mine, theirs = tokens(_without_when(told)), tokens(_without_when(said))
    if any(one.kind == "not" for one in (*mine, *theirs)):
        return None
    both = {one.value for one in mine} & {one.value for one in theirs}
    value, other = ([one for one in some if _is_value(one) and one.value not in both] for some in (mine, theirs))
    if value and other:
        pairs = [(one, two) for one in value for two in other if _of_a_kind(one, two)]
        # "On Tuesday at 10:00", "moved to 11:30": the day is left as it was.
        alone = [one for one in (*value, *other) if all(one not in pair for pair in pairs)]
        if len(pairs) != 1 or not all(one.kind in {"date", "time"} or _low(one) in _DAYS for one in alone):
            return None
        left, right = (_subject([one for one in some if one not in (*value, *other)]) for some in (mine, theirs))
        old, new = pairs[0]
        plain = old.kind == "number" and old.unit in {"", "spelled"} and _low(mine[0]) in _SOMEBODY
        enough = len(left) > 1 if plain else bool(left)  # "I give it a four" says nothing of what
        return (old.surface, new.surface) if enough and left == right else None
    if value or other:
        return None
    return _moved(mine, theirs)


def _moved(mine: Sequence[Token], theirs: Sequence[Token]) -> tuple[str, str] | None:
    """ "Anna lives in Hamburg", "Anna moved to Leipzig": the last thing that is named, of what stands there."""
    one, other = _last_name(mine), _last_name(theirs)
    if not one or not other or one[1] == other[1] or not any(_low(x) in _THERE for x in mine[1 : one[0]]):
        return None
    left, right = _subject(mine[: one[0]]), _subject(theirs[: other[0]])
    return (one[1], other[1]) if left and left == right else None


def _last_name(some: Sequence[Token]) -> tuple[int, str] | None:
    """The place and the words of what is named at the end, behind a preposition."""
    place = len(some)
    while place and some[place - 1].kind == "name":
        place -= 1
    if place == len(some) or not place or len(some) - place > 3 or _low(some[place - 1]) not in _IN:
        return None
    return place, " ".join(one.surface for one in some[place:])


def _taken_over(told: str, said: str) -> tuple[str, str] | None:
    """ "Jonas leitet das Team", "Das Team wird von Sabine geleitet"; "Ana owns billing", "Billing is owned by Ben"."""
    if _OF_ONE.keys().isdisjoint(told.casefold().split()):
        return None
    one, others = (re.sub(_ASIDE_WITHIN, "", text).rstrip(" .!") for text in (told, said))
    words = one.split()
    if len(words) < 3 or words[1].casefold() not in _OF_ONE:
        return None
    done = _OF_ONE[words[1].casefold()]
    others = others.partition(", ")[0]
    form = re.fullmatch(
        rf"(?P<what>.{{2,60}}?) (?:wird|werden|is|are)(?: now| jetzt| nun)? (?:von (?P<wer>[A-ZÄÖÜ]\w+) {done}"
        rf"|{done} by (?P<who>[A-Z]\w+)|(?P<whose>[A-Z]\w+)['’]s(?: now)?)",
        others,
    )
    if form is None or _content(form["what"]) != _content(" ".join(words[2:])):
        return None
    who = form["wer"] or form["who"] or form["whose"]
    return (words[0], who) if words[0] != who and words[0][:1].isupper() else None


def _returned(told: str, said: str) -> tuple[str, str] | None:
    """ "We talk protobuf, not JSON", "we went back to JSON": what was said not to be so is so again."""
    for match in _fits(said, _BACK):
        again, rest = _content(match["gone"]), _content(f"{said[: match.start()]} {said[match.end() :]}")
        for denied in _fits(told, _INSTEAD):
            if again and again == _content(denied["gone"]) and rest - again <= _content(told):
                return f"not {' '.join(match['gone'].split())}", " ".join(match["gone"].split())
    return None


_ASIDE_WITHIN = r"(?i) (?:seit|since|ab) (?:dem |der |last )?\w+(?: \d{4})?(?= )"


def _fits(text: str, forms: tuple[tuple[str, str], ...]) -> Iterator[re.Match[str]]:
    """Where a text first has each of these forms, of those that it has."""
    low = text.casefold()
    for held, form in forms:
        if any(one in low for one in held.split("|")) and (match := _compiled(form).search(text)):
            yield match


@cache
def _compiled(form: str) -> re.Pattern[str]:
    return re.compile(form, re.IGNORECASE)


@lru_cache(maxsize=256)  # a text is compared with each that is near it
def _says_change(text: str) -> bool:
    return not _CUES.isdisjoint(_all_words(text)) and any(_fits(text, _CHANGES + _CEASED + _INSTEAD))


@lru_cache(maxsize=256)
def _without_when(text: str) -> str:
    return text if _ASIDES.isdisjoint(_all_words(text)) else re.sub(_ASIDE, "", text)


@lru_cache(maxsize=256)
def _all_words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.casefold()))


def _content(text: str) -> set[str]:
    return _subject([one for one in tokens(text) if one.kind != "not"])


def _subject(some: Sequence[Token]) -> set[str]:
    """What is spoken of: without the words that say that it is there, used or changed."""
    return {
        _stem(one) for one in some if one.kind not in {"function", "not"} and _low(one) not in _PLAIN | _CHANGED | _IN
    }


def _stem(one: Token) -> str:
    return stem(one.value) if one.kind in {"word", "name"} else one.value


def _low(one: Token) -> str:
    return one.surface.casefold()


def _is_value(one: Token) -> bool:
    return one.kind in VALUES or _low(one) in _DAYS


_DAYS = _words("montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag "
               "montags dienstags mittwochs donnerstags freitags samstags sonntags")  # fmt: skip


def _of_a_kind(one: Token, other: Token) -> bool:
    numbers = {"number", "version"}
    return (one.kind == other.kind or {one.kind, other.kind} <= numbers or {_low(one), _low(other)} <= _DAYS) and (
        one.unit == other.unit
    )


def _initials(text: str) -> set[str]:
    return {one.surface.casefold() for one in tokens(text) if one.surface.isupper() and 2 <= len(one.surface) <= 4}


def _spelled(text: str, short: set[str]) -> set[str]:
    """Words of a text whose initials are written short in the other: "continuous integration", "CI"."""
    several = [one for one in tokens(text) if one.kind in {"word", "name"}]
    found: set[str] = set()
    for size in (2, 3, 4):
        for start in range(len(several) - size + 1):
            some = several[start : start + size]
            if "".join(_low(one)[0] for one in some) in short:
                found.update(_stem(one) for one in some)
    return found
