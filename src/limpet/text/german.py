"""German statements of the same words but for one place: whether it is one that has one value at a time.

The same question that `statements.py` asks of English, by German verbs and the order of German words: what is done
stands behind the value ("wird bei Petra beantragt"). As strict: verbs and nouns of which many values hold are not here.
Closed tables and structure: no model, no I/O, linear.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .lexicon import DE_AT, DE_BE, DE_DONE, DE_LEADS, DE_MEASURES, DE_NAMED, DE_USES, DE_WANTS
from .tokens import VALUES, Token, stem


def _words(text: str) -> frozenset[str]:
    return frozenset(text.casefold().split())  # as words are compared: "heisst"


_FOR = _words("für als zum zur beim bei")
_IN = _words(
    "in im ins bei beim auf am an unter über aus mit via per als zu zum zur ab um nach von vom durch bis vor seit"
)
_ARTICLES = _words("der die das den dem des ein eine einen einem einer eines sich unser unsere unserem unseren unserer")
# Done with or by many at once.
_MANY = _words(
    "genutzt benutzt verwendet unterstützt gebraucht benötigt betroffen verursacht ausgelöst erwähnt genannt "
    "beeinflusst verkauft gekauft importiert gefunden besprochen erklärt beschrieben aufgerufen erkannt "
    "angezeigt geteilt verbunden begleitet beachtet ignoriert überschrieben"
)
_PARTICIPLE = r"(?:\w{0,12}ge\w{2,}(?:t|en)|(?:be|ver|er|ent|zer|über|unter)\w{2,}(?:t|en)|\w{3,}iert)"
_THAT = _words("dies diese dieser dieses das jene jener jenes welche welcher welches")
_PAST = _words("war waren wurde wurden hatte hatten kam ging gab fand lief stand lag dauerte kostete begann endete")
_RESPONSIBLE = _words("zuständig verantwortlich")
_ROLES = _words(
    "leiter leiterin chef chefin inhaber inhaberin ansprechpartner ansprechpartnerin verantwortliche "
    "verantwortlicher geschäftsführer geschäftsführerin teamleiter teamleiterin vorgesetzter vorgesetzte "
    "vertreter vertreterin"
)
# What a thing has one of, also at the end of a longer noun ("Hauptsprache").
_ATTRIBUTES = tuple(
    "sprache name farbe datenbank hauptstadt adresse version währung anbieter dienstleister standort sitz "  # noqa: SIM905
    "region zone branch zweig port timeout limit grenze frist termin stichtag format editor linter framework "
    "leiter leiterin chef chefin inhaber inhaberin ansprechpartner ansprechpartnerin treiber broker passwort "
    "lieblingsessen beruf geburtstag hausarzt telefonnummer wohnort arbeitgeber vermieter lizenz plattform "
    "betriebssystem modell stufe modus dauer".split()
)
_DAYS = _words("montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag")
_MONTHS = _words("januar februar märz april mai juni juli august september oktober november dezember")
_NUMBERS = _words("zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig dreißig hundert")
_OPPOSITES = [
    tuple(map(frozenset, (side.split() for side in line.split("|"))))
    for line in (
        "an ein eingeschaltet aktiviert aktiv|aus ausgeschaltet abgeschaltet deaktiviert inaktiv",
        "erlaubt gestattet zulässig|verboten untersagt unzulässig",
        "kurz knapp|lang ausführlich",
        "hell|dunkel",
        "vor|nach",
        "immer stets|nie niemals",
        "öffentlich|privat",
        "intern|extern",
        "manuell|automatisch",
        "mit|ohne",
        "offen geöffnet|geschlossen",
        "pflicht|freiwillig optional",
        "verpflichtend vorgeschrieben obligatorisch|freiwillig optional",
        "links|rechts",
        "oben|unten",
        "synchron|asynchron",
        "verschlüsselt|unverschlüsselt",
        "vormittag|nachmittag",
        "morgens|abends",
        "duzen|siezen",
    )
]


def opposes(before: Sequence[Token], a: Sequence[Token], b: Sequence[Token], after: Sequence[Token]) -> bool:
    """ "ist aktiviert", "ist deaktiviert"; "möchte kurze Antworten", "möchte ausführliche Antworten"."""
    if len(a) != 1 or len(b) != 1 or len(before) < 2 or not _opposite(_low(a[0]), _low(b[0])):
        return False
    lows = _lows(before)
    said = next((i for i, low in enumerate(lows) if low in DE_MEASURES | DE_WANTS), None)
    if not said or _past(before, after) or _rest(before[:said]) == 0:
        return False
    behind = _rest(after)
    return behind == 0 or lows[-1] in DE_WANTS or (_low(a[0]) in _words("vor nach mit ohne immer nie niemals stets"))


def one_value(before: Sequence[Token], a: Sequence[Token], b: Sequence[Token], after: Sequence[Token]) -> bool:
    """Whether a subject has one value at a time where two statements differ. `a`, `b`: what stands there, not empty."""
    if any(one.kind == "not" for one in (*before, *a, *b, *after)) or _past(before, after):
        return False
    if not before:
        return _has_role(a, b, after)
    place = _verb(before)
    if not place or (_low(before[0]) in _THAT and place == 1) or (not _rest(before[:place]) and not _we(before)):
        return False
    within, mine, theirs = _taken_in(before[place + 1 :], a, b)
    if not mine or not theirs or max(len(mine), len(theirs)) > 3:
        return False
    if _measured(mine) and _measured(theirs):
        return _lows(before)[place] in DE_MEASURES and _rest(within) <= 1 and len(mine) == len(theirs)
    if any(one.kind in VALUES for one in (*mine, *theirs)) or not (_noun(mine) and _noun(theirs)):
        return False
    return _rest(within) == 0 and _object(before[: place + 1], within, after)


def _taken_in(
    within: Sequence[Token], a: Sequence[Token], b: Sequence[Token]
) -> tuple[list[Token], Sequence[Token], Sequence[Token]]:
    """What stands before the value, with the prepositions and articles that change with it ("in Köln", "im Portal")."""
    heads = [next((i for i, x in enumerate(side) if _low(x) not in _IN | _ARTICLES), len(side)) for side in (a, b)]
    first = list(within) + (list(a[: heads[0]]) if heads[0] and heads[1] else [])
    if bool(heads[0]) != bool(heads[1]):
        return first, (), ()
    return first, a[heads[0] :], b[heads[1] :]


def _object(before: Sequence[Token], within: Sequence[Token], after: Sequence[Token]) -> bool:
    verb, joined = _low(before[-1]), any(_low(one) in _IN for one in within)
    done = _low(after[-1]) if after else ""
    if verb in DE_DONE | DE_BE and re.fullmatch(_PARTICIPLE, done):
        return joined and done not in _MANY and len(after) <= 2
    if _rest(after[:1]) and done not in {"statt", "gespeichert", "gehostet"}:
        return False  # it only says which
    if verb in DE_NAMED:
        return not joined
    if verb in DE_USES:
        return not joined and bool(after) and _low(after[0]) in _FOR
    if verb in DE_BE and not joined:
        return any(_low(one).endswith(_ATTRIBUTES) for one in before[:-1]) and not after
    return joined and verb in DE_AT


def _has_role(a: Sequence[Token], b: Sequence[Token], after: Sequence[Token]) -> bool:
    """ "Jonas leitet das Team", "Sabine leitet das Team"; "Jonas ist für das Team zuständig"."""
    if len(a) != 1 or len(b) != 1 or len(after) < 2 or not _noun(a) or not _noun(b):
        return False
    first, *then = _lows(after)
    if first in DE_LEADS:
        return _rest(after[1:]) > 0
    if first != "ist":
        return False
    return (then[0] == "für" and then[-1] in _RESPONSIBLE) or any(low in _ROLES for low in then[:2])


def _verb(before: Sequence[Token]) -> int:
    """The place of the first verb that is known; 0 where there is none: what is said first is the subject."""
    known = DE_MEASURES | DE_NAMED | DE_USES
    return next((i for i, one in enumerate(before) if i and _low(one) in known and one.surface.islower()), 0)


def _measured(some: Sequence[Token]) -> bool:
    """A number, day or time; with its unit, where that is a noun of German."""
    first, *rest = some
    number = first.kind in VALUES or _low(first) in _DAYS | _MONTHS | _NUMBERS
    return number and all(one.kind in VALUES or one.surface[:1].isupper() for one in rest)


def _noun(some: Sequence[Token]) -> bool:
    return some[-1].surface[:1].isupper() and all(one.kind in {"name", "word"} for one in some)


def _past(before: Sequence[Token], after: Sequence[Token]) -> bool:
    """Whether it is told as an event: "wurde verschoben", "hat gekostet"."""
    lows = set(_lows(before))
    if not _PAST.isdisjoint((*lows, *_lows(after))):
        return True
    return bool(lows & {"hat", "haben"} and after and re.fullmatch(_PARTICIPLE, _low(after[-1])))


def _we(before: Sequence[Token]) -> bool:
    return bool(before) and _low(before[0]) in {"wir", "ich", "er", "sie", "es", "man"}


def _rest(some: Sequence[Token]) -> int:
    """How many words of content there are."""
    return sum(one.kind != "function" and _low(one) not in _IN | _ARTICLES for one in some)


def _opposite(one: str, other: str) -> bool:
    if one in {f"un{other}", f"in{other}"} or other in {f"un{one}", f"in{one}"}:
        return True
    pairs = {(side, at) for at, sides in enumerate(_OPPOSITES) for side in (0, 1) if _is(one, sides[side])}
    return any(_is(other, _OPPOSITES[at][1 - side]) for side, at in pairs)


def _is(low: str, side: frozenset[str]) -> bool:
    return low in side or stem(low) in side


def _low(one: Token) -> str:
    return one.surface.casefold()


def _lows(some: Sequence[Token]) -> list[str]:
    return [_low(one) for one in some]
