"""German: whether a text is, the words that say where a statement begins, and the third person."""

from __future__ import annotations

import re

from .cues import Cues

_I = re.IGNORECASE
_GERMAN = re.compile(
    r"\b(?:ich|du|wir|ihr|euch|und|oder|aber|nicht|kein(?:e[nmrs]?)?|der|die|das|den|dem|des|eine?[nmrs]?|ist|sind|hat|haben|bin|"
    r"bei|mit|von|zum?|zur|auf|für|über|nach|vor|vom|aus|weil|dass|wenn|nur|noch|schon|auch|bitte|immer|nie|niemals|mal|doch|jetzt|"
    r"meine?[nmrs]?|unsere?[nmrs]?|uns|mich|mir|dir|sich|wird|werden|muss|kann|soll|darf|statt|lieber|ab|im|beim|ne|nee|nein|"
    r"denn|damit|wegen|als|wie|gibt|geht|macht|heißt|vielleicht|danke|falsch|sondern)\b|[äöüß]",
    _I,
)
_ENGLISH = re.compile(
    r"\b(?:the|an?|and|or|not|is|are|we|i|you|it|this|that|to|of|on|for|with|my|our|your|please|always|never|use|don't|but|from|has|have|be)\b",
    _I,
)
FIRST_PERSON = re.compile(r"\b(?:ich|mir|mich|mein(?:e[nmrs]?)?|hab|bin)\b", _I)
_LEAD = re.compile(
    r"^(?:(?:und|also|aber|ja|ok|okay|gut|super|prima|ach|äh|ähm|hm+|so|nun|übrigens|bitte|danke|hey|hallo|btw|fyi|klar|alles klar|noch etwas|noch was|außerdem)\b[\s,.:;!—–-]+)+",
    _I,
)
_REJECTS = re.compile(
    r"^(?:(?:nein|ne|nee|nö|quatsch|(?:falsch|stopp|stop|halt|moment)(?=[,.;:!—–-])|vorsicht|stimmt (?:so )?nicht|das (?:stimmt|ist) (?:so )?(?:nicht|falsch)(?: richtig)?|nicht ganz|eigentlich|doch nicht|korrektur)\b[\s,.:;!—–-]*)+",
    _I,
)
_NAME = r"[`'\"„]?([\w@./+:-]+)[`'\"“]?"
_SIDES = re.compile(
    rf"(?:,|—|–|;|\bund) (?:und )?nicht (?:mit |auf |in |im |an |am |über |bei |das |die |den |der )?{_NAME}\s*(?:$|[.,;:!)])"
    rf"|\b(?:statt|anstatt|anstelle von) (?:mit |von |der |die |das |des |dem |den )?{_NAME}"
    rf"|\bnicht (?:mehr )?{_NAME}, sondern\b",
    _I,
)
_REMEMBER = re.compile(
    r"^(?:bitte )?(?:(?P<asked>merk(?:e)? (?:dir|es dir)|denk(?:e)? (?:bitte )?(?:daran|dran)|vergiss (?:bitte )?nicht|nicht vergessen|beachte(?: bitte)?|behalt(?:e)? (?:im kopf|im hinterkopf)|notier(?:e)?(?: dir)?)|"
    r"zur info|zur information|nur zur info|zur erinnerung|wichtig|hinweis|achtung|gut zu wissen|fürs protokoll|für später|info)\b[\s,:—–-]*(?:ist )?(?:dass\b|,)?[\s,:—–-]*",
    _I,
)
_REMEMBER_END = re.compile(
    r"\s*[,;.—–-]+\s*(?:bitte )?(?:merk dir das|denk (?:bitte )?(?:daran|dran)|vergiss das nicht|behalt das im kopf|das bitte merken|bitte merken)\b.*$",
    _I,
)
_POINTS_BACK = re.compile(
    r"^(?:das(?! (?-i:[A-ZÄÖÜ]))|es|er|sie|ihn|ihm|ihr|ihre[nrs]?|sein(?:e[nrs]?)?|da(?:rum|zu|von|mit|für|durch|bei|ran)?|deshalb|deswegen|daher|sonst|diese[rsnm]?(?! (?-i:[A-ZÄÖÜ])))\b(?! liegt am| lag am)",
    _I,
)
_KINDS = (
    ("goal", re.compile(r"\bziel(?: \w+){0,4} (?:ist|sind)\b|\bziel:", _I)),
    (
        "decision",
        re.compile(
            r"\b(?:entschieden|beschlossen|geeinigt|festgelegt|vereinbart|wir bleiben bei|entscheidung:|beschluss:)", _I
        ),
    ),
    (
        "lesson",
        re.compile(
            r"\b(?:ursache war|schuld war|lag (?:daran|nur )|lektion:|hat geholfen|stellte sich heraus|gelernt:)", _I
        ),
    ),
    (
        "preference",
        re.compile(
            r"^(?:ab (?:jetzt|sofort)|von (?:jetzt|nun) an|immer|nie|niemals|bitte (?:immer|nie)|ich (?:bevorzuge|hasse|mag|liebe|hätte (?:gern|lieber)|benutze immer|will)\b|vor jedem|am liebsten)",
            _I,
        ),
    ),
)
CUES = Cues(_LEAD, _REJECTS, _SIDES, _REMEMBER, _REMEMBER_END, _POINTS_BACK, _KINDS)


def is_german(sentence: str, message: str = "") -> bool:
    """Whether the words are German; a sentence that does not tell is of its message's language."""
    mine, theirs = len(_GERMAN.findall(sentence)), len(_ENGLISH.findall(sentence))
    if mine == theirs and message:
        mine, theirs = len(_GERMAN.findall(message)), len(_ENGLISH.findall(message))
    return mine > theirs


# -- in the third person

_IRREGULAR = {
    "bin": "ist", "habe": "hat", "hab": "hat", "werde": "wird", "mag": "mag", "kann": "kann", "will": "will", "muss": "muss", "darf": "darf",
    "soll": "soll", "möchte": "möchte", "hätte": "hätte", "esse": "isst", "ess": "isst", "nehme": "nimmt", "lese": "liest", "sehe": "sieht",
    "gebe": "gibt", "fahre": "fährt", "schlafe": "schläft", "trage": "trägt", "laufe": "läuft", "halte": "hält", "lasse": "lässt",
    "spreche": "spricht", "vergesse": "vergisst", "treffe": "trifft", "helfe": "hilft", "weiß": "weiß", "tue": "tut", "heiße": "heißt",
}  # fmt: skip
_BEGIN = re.compile(r"^ich (?P<verb>[a-zäöüß]+)\b")
# A second verb of the same "ich"; an adjective may look like one ("kurze Namen und lange Zeilen").
_VERB_TWO = re.compile(
    r"(?P<join>(?:\b(?:und|oder|aber)|,) )(?P<verb>arbeite|wohne|lebe|nutze|benutze|verwende|esse|trinke|spreche|studiere|unterrichte|leite|betreue|"
    r"programmiere|entwickle|fahre|spiele|schreibe|pflege|lerne|habe|mag|hasse|bevorzuge|lese|vertrage|nehme|will|möchte)\b"
)


def about_user(text: str) -> str:
    """ "Ich benutze immer Tabs" -> "User benutzt immer Tabs"; empty when that is not sure."""
    begin = _BEGIN.match(text[:1].lower() + text[1:])
    if begin is None:
        return ""
    verb, rest = begin["verb"], text[begin.end() :]
    if FIRST_PERSON.search(rest) or re.search(r"\b(?:du|dir|dich|dein\w*)\b", rest, _I):
        return ""
    third = _third(verb)
    if not third:
        return ""
    return f"User {third}" + _VERB_TWO.sub(lambda found: found["join"] + _third(found["verb"]), rest)


def _third(verb: str) -> str:
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if not verb.endswith("e") or len(verb) < 4:
        return ""
    if verb.endswith("le"):
        return verb[:-2] + ("elt" if verb[-3] not in "aeiouäöül" else "lt")
    stem = verb[:-1]
    return stem + ("et" if re.search(r"(?:[td]|[^aeiouäöülrh][mn])$", stem) else "t")
