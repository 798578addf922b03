"""Extraction by rules from German, by words and word order of its own; the same kinds and the same care as `rules.py`."""

from __future__ import annotations

import re

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
QUESTION = re.compile(
    r"^(?:(?:und|aber|also|ok)[,\s]+)*(?:was|wie|warum|wieso|weshalb|wann|wo|wer|wen|wem|welche[nmrs]?|wohin|woher|womit|wozu|kannst|könntest|könnten|könnt|können|"
    r"magst|willst|würdest|sollen|sollte|soll|darf|gibt|ist|sind|hast|habt|hat|bist|geht|weißt|siehst|wird|werden|muss|müssen|machst|meinst|hä)\b",
    _I,
)
_HYPOTHETICAL = re.compile(
    r"\b(?:vielleicht|eventuell|evtl|womöglich|möglicherweise|wahrscheinlich|vermutlich|könnten?|würden?|wäre|wären|hätten|angenommen|"
    r"zum beispiel|z\. ?b\.|ich (?:glaube|denke|schätze|vermute|nehme an)|glaub ich|keine ahnung|mal sehen|mal schauen|unsicher|"
    r"überlegen?|irgendwann|sag bescheid|was wenn|falls wir)\b",
    _I,
)
_UNCLEAR = re.compile(
    r"^(?:das(?! (?-i:[A-ZÄÖÜ]))|dies|diese[rsnm]?|es|er|sie|da|dort|hier|dann|beide[sn]?|jene[rs]?|so|darum|dazu|davon|damit)\b(?! liegt am| lag am)"
    r"|\b(?:diese[rsnm]? (?:datei|zeile|funktion|klasse|test|fehler|stelle|code|änderung|commit|branch|ansatz|teil|methode|fall|variante)|oben|unten|"
    r"zeile \d+|gerade|grad|heute|gestern|morgen früh|eben|vorhin|gleich|nochmals?|noch mal|noch einmal|wie gesagt|schon wieder|im moment|momentan|derzeit|"
    r"soeben|diesmal|immer noch|so weit|mach(?:e|st)? (?:es|das))\b",
    _I,
)
_PROGRESS = re.compile(
    r"\b(?:kaputt|fehlgeschlagen|schlägt fehl|geht nicht|läuft nicht|funktioniert nicht|hängt|stürzt ab|rot|noch nicht|fertig|fehler|bug|problem|versuche?n?|probieren?|komisch|seltsam|langsam)\b",
    _I,
)
REJECTS = re.compile(
    r"^(?:(?:nein|ne|nee|nö|falsch|quatsch|stopp|stop|halt|moment|vorsicht|stimmt (?:so )?nicht|das (?:stimmt|ist) (?:so )?(?:nicht|falsch)(?: richtig)?|nicht ganz|eigentlich|doch nicht|korrektur)\b[\s,.:;!—–-]*)+",
    _I,
)
_NAME = r"[`'\"„]?([\w@./+:-]+)[`'\"“]?"
_SIDES = re.compile(
    rf"(?:,|—|–|;|\bund) (?:und )?nicht (?:mit |auf |in |im |an |am |über |bei |das |die |den |der )?{_NAME}\s*(?:$|[.,;:!)])"
    rf"|\b(?:statt|anstatt|anstelle von) (?:mit |von |der |die |das |des |dem |den )?{_NAME}"
    rf"|\bnicht (?:mehr )?{_NAME}, sondern\b",
    _I,
)
_DURABLE = re.compile(
    r"\b(?:wir|unsere?[nmrs]?|bei uns|immer|nie|niemals|heißt|heißen|liegt|liegen|steht|läuft|laufen|ist|sind|gehört|gehören|kommt|kommen|muss|müssen|"
    r"darf|dürfen|soll|nur|verwende[nt]?|benutz(?:e|en|t)?|nimm|nutz(?:e|en|t)?|hat|haben|braucht|beginnt|endet|kostet)\b",
    _I,
)
_REASON = re.compile(
    r"\b(?:weil|da(?= (?:die|der|das|wir|sonst|es|sie|ein|unser|viele|kein|man|nur|alle|beide|dort|damit|für|im|in|bei)\w*\b)|denn|damit|sonst|deshalb|deswegen|daher|wegen|aufgrund|grund|um\b.{3,80}\bzu)\b",
    _I,
)
_DECIDED = re.compile(
    r"\b(?:(?:habe?n?|hat|wurde) (?:uns |mich |sich |gemeinsam |jetzt |nun )?(?:.{2,80} )?(?:entschieden|beschlossen|geeinigt|festgelegt|vereinbart|verworfen|abgelehnt)"
    r"|(?:wir|ich|das team) (?:\w+ ){0,2}?(?:bleiben?|setzen?|steigen?|wechseln?|verzichten|verzichte|nehmen|nehme|gehen|ziehen|stellen|behalten|streichen) (?:\w+ ){0,6}?(?:bei|auf|um|zu|ab sofort|künftig|jetzt|von)"
    r"|(?:bleiben|setzen|nehmen|verzichten|wechseln|behalten) wir\b|entscheidung:|beschluss:|entschieden:)",
    _I,
)
_ALWAYS = re.compile(
    r"\b(?:immer(?! noch| wieder| mehr| noch nicht)|nie|niemals|nie wieder|grundsätzlich|prinzipiell|generell|stets|jedes mal|jedesmal|ab jetzt|ab sofort|von nun an|von jetzt an|künftig|in zukunft|zukünftig|standardmäßig|ausschließlich|auf keinen fall|keinesfalls)\b",
    _I,
)
_NARRATES = re.compile(
    r"\b(?:war|waren|hatte|hatten|wollte|wurde|wurden|ging|gab|dachte|fand|habe ich|hab ich|ich (?:habe?|bin|war) (?:\w+ ){0,8}\w*ge\w+(?:t|en))\b",
    _I,
)
_PREFERS = re.compile(
    r"^(?:ich|wir|mein team|das team) (?:\w+ ){0,2}?(?:mag|mögen|liebe|lieben|hasse|hassen|bevorzuge|bevorzugen|verabscheue|meide|vermeide|vermeiden|favorisiere|schätze(?=\s+\w+e\b))\b(?! (?:das|es|dies)\b)"
    r"|^(?:ich|wir) (?:kann|können) .{3,80}? nicht (?:leiden|ausstehen|ertragen|gebrauchen)\b"
    r"|^(?:ich|wir) (?:hätten?|habe|haben|nehme|nehmen|nutze|nutzen|arbeite|schreibe|lese|benutze|verwende|trinke|esse|fahre) (?:\w+ ){0,4}?(?:lieber|am liebsten)\b"
    r"|^mir (?:ist|sind|gefällt|gefallen) .{3,80}\b(?:lieber|am liebsten|besser|wichtig)\b|^am liebsten\b",
    _I,
)
# "Benutz lieber httpx", "Zahlen bitte mit Komma ausgeben", "Die Datei nicht von Hand ändern": what shall be done.
_IMPERATIVE = re.compile(
    r"^(?:bitte )?(?:benutze?|nutze?|verwende|nimm|schreibe?|antworte|rede|sprich|formatiere?|halte?|lass|rufe?|starte|führe?|teste|gib|zeige?|nenne|frage?|mache?|lege?|speicher[en]?|achte|vermeide?|unterschreib|duz|siez)\b",
    _I,
)
_INFINITIVE = re.compile(
    r"\b(?!(?:einen?|keinen|meinen|unseren|seinen|ihren|wegen|gegen|zwischen|neben|oben|unten|deshalb|morgen|gestern|sondern|allen|den|dateien|zeilen|stellen|tests)\b)"
    r"[a-zäöü]{2,}(?:en|ern|eln)\b(?=\s*(?:[,;.!]|$))"
)
_FORBIDS = re.compile(r"\b(?:nicht|nie|niemals|keine?[nmrs]?|auf keinen fall)\b", _I)
_STEP = re.compile(r"^(?:bitte )?(?:vor|nach|bei) (?:jede[mrn]|allen|dem|der) .{2,60}\b", _I)
_MODAL = re.compile(
    r"\b(?:müssen|muss|dürfen|darf|sollen|soll|sollte|sollten)\b",
    _I,
)
_REMEMBER = re.compile(
    r"^(?:bitte )?(?:merk(?:e)? (?:dir|es dir)|denk(?:e)? (?:bitte )?(?:daran|dran)|vergiss (?:bitte )?nicht|nicht vergessen|beachte(?: bitte)?|behalt(?:e)? (?:im kopf|im hinterkopf)|notier(?:e)?(?: dir)?|"
    r"zur info|zur information|nur zur info|zur erinnerung|wichtig|hinweis|achtung|gut zu wissen|fürs protokoll|für später|info)\b[\s,:—–-]*(?:ist )?(?:dass\b|,)?[\s,:—–-]*",
    _I,
)
_REMEMBER_END = re.compile(
    r"\s*[,;.—–-]+\s*(?:bitte )?(?:merk dir das|denk (?:bitte )?(?:daran|dran)|vergiss das nicht|behalt das im kopf|das bitte merken|bitte merken)\b.*$",
    _I,
)
_FACT = re.compile(
    r"^(?:(?:wir|in der firma|im team|im projekt|im büro|hier im \w+) (?:\w+ ){0,3}?(?:nutzen|verwenden|benutzen|setzen|deployen|hosten|betreiben|arbeiten|entwickeln|testen|speichern|unterstützen|bauen|"
    r"schreiben|releasen|veröffentlichen|liefern|halten|führen|messen|sichern|lagern|verkaufen|haben|brauchen|dürfen|sind|kaufen|buchen|rechnen|nehmen)\b"
    r"|bei uns \w+\b"
    r"|unsere?[nmrs]? (?:[\w-]+ ){1,4}?(?:ist|sind|heißt|heißen|hat|haben|läuft|laufen|liegt|liegen|steht|stehen|beginnt|endet|braucht|brauchen|nutzt|nutzen|verwendet|kommt|kommen|"
    r"gehört|gehören|muss|müssen|darf|dürfen|kostet|dauert|trifft|treffen|wird|werden|öffnet|schließt|arbeitet|arbeiten|erlaubt|lauscht|akzeptiert|kann|können|wohnt|spricht)\b"
    r"|meine?[nmrs]? (?:[\w-]+ ){1,4}?(?:ist|sind|heißt|heißen|hat|haben|läuft|liegt|steht|arbeitet|wohnt|geht|verträgt|isst|mag|kommt|lernt|spielt|spricht|beginnt|endet|studiert)\b"
    r"|(?:ich )?(?:bin|heiße?) (?!mir\b|mich\b|nicht sicher|gespannt|froh|müde|fertig|dabei|einverstanden|dafür|dagegen|verwirrt|unsicher|dankbar)"
    r"|ich (?:\w+ ){0,2}?(?:arbeite|wohne|lebe|nutze|nutz|benutze|benutz|verwende|esse?|trinke|spreche|studiere|unterrichte|leite|betreue|programmiere|entwickle|fahre|spiele|vertrage|komme aus|schreibe|pflege|lerne)\b"
    r"|ich habe? (?:eine?n?|zwei|drei|vier|keine?n?) (?:[\w-]+ )?(?:hund|katze|katzen|hunde|tochter|sohn|kinder|kind|bruder|schwester|frau|mann|allergie|\w+allergie|auto|garten|haus|wohnung|abschluss|\w+unverträglichkeit|\w+schwäche)\b)",
    _I,
)
# Things of a name or a kind, and what holds of them: "Der Drucker im Lager versteht nur PCL".
_HOLDS = re.compile(
    r"^(?:der|die|das|alle|jede[rs]?|[A-ZÄÖÜ]\w+) .{2,80}?\b(?:(?:muss|müssen|darf|dürfen|kann|können) (?:\w+ ){0,3}?(?:nur|nie|nicht|immer|keine?[nmrs]?|erst|mindestens|höchstens)"
    r"|(?:ist|sind|hat|haben|läuft|laufen|geht|gehen|wird|werden|steht|liegt|startet|starten|springt) (?:\w+ ){0,3}?(?:immer|nur|jede[nrs]?|erst|niemals|nie|ausschließlich|grundsätzlich|stets|höchstens|mindestens|maximal))\b",
)
_GOAL = re.compile(
    r"^(?:(?:unser|mein|das) (?:\w+ )?ziel(?: \w+){0,4}? (?:ist|:)|ziel (?:ist|:)|(?:wir|ich) (?:wollen|will|möchten|möchte|planen|plane) (?:bis|vor|spätestens|noch (?:dieses|in diesem)) .{8,}\w+en\b)",
    _I,
)
_LESSON = re.compile(
    r"\b(?:(?:die |eigentliche |der )?(?:ursache|schuldige|grund|knackpunkt|auslöser|lösung|trick) (?:war|ist|lag)|lag (?:daran|am|an|nur)|(?:schlug|schlägt|schlugen) .{0,40}fehl|"
    r"(?:abgebrochen|gescheitert|fehlgeschlagen|abgestürzt|hängen ?geblieben|stehen ?geblieben|kaputt ?gegangen)\b|(?:scheitert|scheiterte|stürzte?t? .{0,20}ab|brach .{0,20}ab|hing|hängte)\b|"
    r"(?:funktionier(?:t|te)|ging|geht|lief|läuft|klappte?|klappt) (?:\w+ ){0,4}?(?:wieder|nicht|nur (?:mit|wenn|nach|ohne))\b|erst (?:mit|nach|als|wenn|nachdem)\b|"
    r"hat (?:\w+ )?(?:geholfen|gewirkt|das problem)|es stellte sich heraus|lektion|gelernt)",
    _I,
)
_CAUSE = re.compile(
    r"\b(?:weil|da|wegen|ursache|grund|lag (?:daran|am|an)|erst|nachdem|nach dem|nach der|seit|ohne|mit|half|geholfen|lösung|trick|muss|nötig|fehlte|fehlt|voll|abgelaufen|veraltet|stattdessen|durch)\b",
    _I,
)
_TASK = re.compile(
    r"^(?:bitte )?(?:kannst|könntest|füge?|erstelle?|ändere?|lösche?|entferne?|baue?|schau|guck|prüfe?|zeige?|erkläre?|fixe?|behebe?|mach|probiere?|versuche?|committe?|pushe?|öffne|lies|suche?|finde|hilf|geh|sag|schick|hol)\b",
    _I,
)
_TASK_NOW = re.compile(r"\b(?:mal|jetzt bitte|schnell|kurz|noch (?:einen?|eine|ein|die|den|das))\b", _I)


def is_german(sentence: str, message: str = "") -> bool:
    """Whether the words are German; a sentence that does not tell is of its message's language."""
    mine, theirs = len(_GERMAN.findall(sentence)), len(_ENGLISH.findall(sentence))
    if mine == theirs and message:
        mine, theirs = len(_GERMAN.findall(message)), len(_ENGLISH.findall(message))
    return mine > theirs


def lead(sentence: str) -> str:
    return _LEAD.sub("", sentence)


def clear(text: str) -> bool:
    """Whether a statement can be understood without what was said around it."""
    return not _UNCLEAR.search(text) and len(text.split()) >= 4


def kind_of(sentence: str, following: str, *, first: bool, agent: bool) -> tuple[str, str, str, str] | None:
    """(kind, rule, what is said, the name that is wrong) of a statement worth keeping; None of all others."""
    plain = lead(sentence)
    rejected = REJECTS.match(plain) if first and not agent else None
    if rejected:
        rest = lead(plain[rejected.end() :]) or lead(following)
        return _correction(rest, rejected=True)
    if _HYPOTHETICAL.search(plain) or QUESTION.match(plain):
        return None
    if (lesson := _lesson(plain)) or agent:
        return lesson or _decision(plain, following)
    return (
        _decision(plain, following)
        or _told(plain)
        or _ruled(plain)
        or _correction(plain, rejected=False)
        or _stated(plain)
    )


def _correction(rest: str, *, rejected: bool) -> tuple[str, str, str, str] | None:
    if not rest or _HYPOTHETICAL.search(rest) or QUESTION.match(rest) or _UNCLEAR.search(rest):
        return None
    sides = _SIDES.search(rest)
    wrong = next((one for one in sides.groups() if one), "") if sides else ""
    if rejected and len(rest.split()) >= 3 and (sides or (_DURABLE.search(rest) and not _PROGRESS.search(rest))):
        return "correction", "correction", rest, wrong
    told = sides and (_IMPERATIVE.match(rest) or rest.lower().startswith("wir ") or _INFINITIVE.search(rest))
    return ("correction", "correction", rest, wrong) if told and clear(rest) else None


def _decision(plain: str, following: str) -> tuple[str, str, str, str] | None:
    if not _DECIDED.search(plain):
        return None
    content = plain
    if not _REASON.search(plain):
        if not re.match(r"(?:der grund|grund|weil|denn|so |damit|dadurch|sonst)\b", following, _I):
            return None
        content = f"{plain} {following}"
    return ("decision", "decision", content, "") if clear(plain) else None


def _told(plain: str) -> tuple[str, str, str, str] | None:
    begin, end = _REMEMBER.match(plain), _REMEMBER_END.search(plain)
    if begin is None and end is None:
        return None
    rest = plain[begin.end() :] if begin else plain[: end.start()] if end else plain
    if QUESTION.match(rest) or not clear(rest) or rest.lower().startswith(("zu ", "mich ", "mir ")):
        return None
    return "preference" if _IMPERATIVE.match(rest) or _PREFERS.match(rest) else "fact", "told", rest, ""


def _ruled(plain: str) -> tuple[str, str, str, str] | None:
    """A rule that holds from now on, or a preference."""
    if not clear(plain):
        return None
    if _PREFERS.match(plain):
        return "preference", "preference", plain, ""
    asked = _IMPERATIVE.match(plain) or _INFINITIVE.search(plain)
    of_us = re.match(r"(?:wir|unsere?\w?|bei uns)\b", plain, _I)
    if _ALWAYS.search(plain) and not _NARRATES.search(plain):
        if of_us:
            return "fact", "standing", plain, ""
        if asked or re.match(r"ich\b", plain, _I):
            return "preference", "standing", plain, ""
    if _STEP.match(plain) and (_MODAL.search(plain) or _INFINITIVE.search(plain)) and not _NARRATES.search(plain):
        return "preference", "standing", plain, ""
    forbidden = _INFINITIVE.search(plain) and _FORBIDS.search(plain) and not of_us
    if forbidden and not re.match(r"(?:ich|du|man|er|sie|es)\b", plain, _I) and not _MODAL.search(plain):
        return "preference", "standing", plain, ""
    return None


def _stated(plain: str) -> tuple[str, str, str, str] | None:
    if not clear(plain) or _TASK.match(plain):
        return None
    if _GOAL.match(plain):
        return "goal", "goal", plain, ""
    if (_FACT.match(plain) or _HOLDS.match(plain)) and not _PROGRESS.search(plain) and not _NARRATES.search(plain):
        return "fact", "fact", plain, ""
    return None


def _lesson(plain: str) -> tuple[str, str, str, str] | None:
    if not _LESSON.search(plain) or not _CAUSE.search(plain) or len(plain.split()) < 7 or _TASK.match(plain):
        return None
    passing = re.search(
        r"\b(?:ich (?:werde|schaue|versuche|prüfe)|lass mich|scheint|anscheinend|sieht so aus)\b", plain, _I
    )
    return (
        None if passing or _UNCLEAR.search(re.sub(r"^es\b", "", plain, flags=_I)) else ("lesson", "lesson", plain, "")
    )


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
