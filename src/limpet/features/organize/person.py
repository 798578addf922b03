"""What somebody says of themselves, as a statement about the user: "I always use tabs" -> "User always uses tabs".

Grammar that is sure, and nothing else: where a sentence cannot be turned well, its words stay, as a quotation with its
speaker. What is said of a group ("we", "our") holds for the group and stays as it was said.
"""

from __future__ import annotations

import re

_I = re.IGNORECASE
FIRST_PERSON = re.compile(r"\b(?:[Ii]|[Mm]e|[Mm]y|[Mm]yself|[Mm]ine)\b(?![.:/=(_-])")
# What is code or somebody's words is not touched.
_VERBATIM = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^”]*”|https?://\S+")
_ADVERBS = (
    r"(?:(?:always|never|really|strongly|much|usually|generally|personally|often|also|only|mostly|currently|still|"
    r"just|typically|normally|sometimes|rarely|mainly|already|actually|definitely|totally|absolutely|simply|almost|"
    r"regularly|especially|particularly|now|recently|finally|both) )*"
)
# Verbs of which the third person is known to be meant: the words behind "I" that are none of them are quoted.
_VERBS_WORDS = """
accept add agree aim allow answer appreciate ask attend avoid bake begin believe belong bike bring build buy call
care celebrate change check choose clean climb code collect come commit commute configure consider consult
contribute cook coordinate count cover create cycle dance deal debug define deploy design despise detest develop
dislike do draw drink drive eat edit enjoy expect explain fear feel find fix fly follow forget format garden get
give go grow handle hate have help hike host import insist install intend invest join jog keep knit know lead learn
leave like live log look love maintain make manage mean meet mentor mind move name need offer open order organize
own paint park pay photograph plan play plug practice practise prefer produce program publish pull push put read
recommend record refuse rely remember rent repair report request require research review ride run say sail schedule
see sell send share shop sing sit skate ski sketch skip sleep sort speak specialise specialize spend stand start
stay stick stop store struggle study subscribe suffer supervise support sweep swim take talk teach tend test think
touch track train translate travel treat trust try type understand use value visit volunteer wait wake walk want
watch wear wish wonder work write
"""
_VERBS = frozenset(_VERBS_WORDS.split())
_SAME_WORDS = """
can could will would should must may might had
"""
_SAME = frozenset(_SAME_WORDS.split())
_PAST_WORDS = """
was went had did got took made gave came saw bought sold met ran sent paid spent told found left lost won began
wrote drew drove flew ate became brought thought felt heard spoke held sat stood grew chose built knew kept taught
switched
"""
_PAST = frozenset(_PAST_WORDS.split())
_SHORT = {
    "i'm": "i am", "i've": "i have", "i'll": "i will", "i’m": "i am", "i’ve": "i have", "i’ll": "i will",
}  # fmt: skip
_BEGIN = re.compile(rf"^i (?P<adverbs>{_ADVERBS})(?P<verb>[a-z]+(?:['’]t)?)\b(?! I\b)", _I)
_OWN = re.compile(r"^my (?=\w)", _I)
# A second verb of the same "I", known as one by what follows it.
_SECOND = re.compile(
    rf"(?P<join>(?:, | )(?:and|but|or|so) (?:then )?{_ADVERBS})(?P<verb>[a-z]+)(?= (?:n[o']t|the|an?|to|it|them|in|on|at|with|for|my|our|their|"
    r"all|every|no|as|from|any|want|like|use|have|need)\b)"
)
_THEIRS = (
    (re.compile(r"\bI am\b|\bI['’]m\b|\bi['’]?m\b"), "they are"),
    (re.compile(r"\b[Ii] was\b"), "they were"),
    (re.compile(r"\b[Ii]['’](?=(?:ve|ll|d)\b)"), "they'"),
    (re.compile(r"\b[Ii]\b(?!['’.])"), "they"),
    (re.compile(r"\bam\b"), "are"),
    (re.compile(r"\b[Mm]yself\b"), "themselves"),
    (re.compile(r"\b[Mm]ine\b"), "theirs"),
    (re.compile(r"\b[Mm]e\b"), "them"),
    (re.compile(r"\b[Mm]y\b"), "their"),
)
# What only "I" can say to "you", and speech that is still going on.
_NOT_TURNED = re.compile(r"\b(?:you|your|yours|let me|let's|i['’]d)\b|…|\.\.\.", _I)


def about_user(text: str, *, german: bool = False) -> str:
    """A statement of the user's own words, in the third person; as a quotation where that is not sure."""
    outside = _VERBATIM.sub(" ", text)
    if german:
        from .german import FIRST_PERSON as ICH
        from .german import about_user as turned_german

        if not ICH.search(outside):
            return text
        return turned_german(text) or quoted(text)
    if not FIRST_PERSON.search(outside):
        return text
    return _turned(text) or quoted(text)


def quoted(text: str) -> str:
    return f'User said: "{text.replace(chr(34), chr(39))}"'


def _turned(text: str) -> str:
    """In the third person; empty when that is not sure."""
    if any(FIRST_PERSON.search(found[0]) for found in _VERBATIM.finditer(text)):
        return ""
    for short, long in _SHORT.items():
        if text.lower().startswith(short + " "):
            text = long + text[len(short) :]
    if own := _OWN.match(text):
        return "User's " + _rest(text[own.end() :])
    begin = _BEGIN.match(text)
    if begin is None:
        return _spoken_to(text)
    rest = text[begin.end() :]
    if _NOT_TURNED.search(rest):
        return ""
    verb = _third(begin["verb"].lower())
    if not verb:
        return ""
    following = rest if verb in _SAME or verb.split(" ")[0] in _SAME else _SECOND.sub(_second, rest)
    return f"User {begin['adverbs'].lower()}{verb}" + _rest(following)


def _spoken_to(text: str) -> str:
    """What is asked of the agent: "always show me the diff" -> "Always show the user the diff"."""
    if re.search(r"\b(?:I|i|mine|myself)\b", _VERBATIM.sub(" ", text)):
        return ""
    text = re.sub(r"\b[Mm]y\b", "the user's", text, count=1)
    text = re.sub(r"\b[Mm]y\b", "their", text)
    text = re.sub(r"\b[Mm]e\b", "them" if "the user's" in text else "the user", text, count=1)
    return text[:1].upper() + re.sub(r"\b[Mm]e\b", "them", text)[1:]


def _third(verb: str) -> str:
    """The third person of a verb; empty for what is none that is known."""
    verb = verb.replace("’", "'")
    if verb == "don't":
        return "doesn't"
    if verb in ("am", "have", "do", "go"):
        return {"am": "is", "have": "has", "do": "does", "go": "goes"}[verb]
    if verb in _SAME or verb in _PAST or verb in ("can't", "won't", "couldn't", "wouldn't", "shouldn't", "didn't"):
        return verb
    if verb == "haven't":
        return "hasn't"
    if verb not in _VERBS:
        # "decided", but not "need": a verb that is known, in its past.
        known = verb.removesuffix("d") in _VERBS or verb.removesuffix("ed") in _VERBS or verb == "decided"
        return verb if verb.endswith("ed") and known else ""
    if re.search(r"(?:s|sh|ch|x|z|o)$", verb):
        return verb + "es"
    return verb[:-1] + "ies" if re.search(r"[^aeiou]y$", verb) else verb + "s"


def _second(found: re.Match[str]) -> str:
    verb = found["verb"]
    third = "doesn't" if verb == "don't" else _third(verb) if verb in _VERBS or verb == "am" else ""
    return found["join"] + (third or verb)


def _rest(text: str) -> str:
    """What follows, without first persons; words in quotes and code as they are."""
    done, last = [], 0
    for found in [*_VERBATIM.finditer(text), None]:
        part = text[last : found.start() if found else len(text)]
        if FIRST_PERSON.search(part):
            for form, theirs in _THEIRS:
                part = form.sub(theirs, part)
        done += [part, found[0] if found else ""]
        last = found.end() if found else last
    return "".join(done)
