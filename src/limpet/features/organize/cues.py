"""Words by which English and German say no, ask that something be remembered, or point back: patterns only.

What a statement is worth is no matter of such words (`statements.py`); these say where it begins, and what it is about.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_I = re.IGNORECASE


class Cues(NamedTuple):
    """Of one language."""

    lead: re.Pattern[str]  # begins a sentence and says nothing
    rejects: re.Pattern[str]  # begins with a no
    sides: re.Pattern[str]  # what is right and what is wrong: "X, not Y"; a group of it is Y
    remember: re.Pattern[str]  # says at the beginning that it is worth remembering; asks for it if there is `asked`
    remember_end: re.Pattern[str]  # and at the end
    points_back: re.Pattern[str]  # begins with what only the sentence before explains
    kinds: tuple[tuple[str, re.Pattern[str]], ...]  # words that leave no doubt of which kind a statement is


# Typed in haste: without the apostrophe these are no other words.
_HASTY = {
    "dont": "don't", "doesnt": "doesn't", "didnt": "didn't", "isnt": "isn't", "arent": "aren't", "wasnt": "wasn't", "cant": "can't",
    "wont": "won't", "shouldnt": "shouldn't", "couldnt": "couldn't", "im": "I'm", "ive": "I've", "youre": "you're", "theyre": "they're",
    "thats": "that's", "theres": "there's", "whats": "what's", "lets": "let's", "pls": "please", "plz": "please", "u": "you", "ur": "your",
    "i": "I",
}  # fmt: skip
_HASTILY = re.compile(r"(?<![\w`./'-])(?:" + "|".join(_HASTY) + r")(?![\w`/'’=(-]|\.\w)")


def spelled_out(sentence: str) -> str:
    """The sentence with the apostrophes that were left out in haste."""
    return _HASTILY.sub(lambda found: _HASTY[found[0]], sentence) if "`" not in sentence else sentence


# Who is ill for good, or must not have what: the user, somebody of theirs, a name. It is never of the moment.
_NAMED = (
    r"(?!(?-i:It|This|That|These|He|She|They|There|What|Who|Which|If|When|Every\w+|Some\w+|Any\w+|No\w+|You|We|The)\b)"
    r"(?-i:[A-Z])\w+"
)
_OURS = r"(?:my|our) [\w'’]+(?: [\w'’]+)?"
ILL = re.compile(
    r"^(?!.*\b(?:ha(?:ha)+|lol|kidding)\b)(?:"
    rf"(?:I(?:['’]m| am)|{_OURS} (?:is|are)|{_NAMED}(?:['’]s| is)) (?:(?:also|very|badly|severely|really|highly) )?"
    r"(?:allergic to (?!this\b|that\b|it\b)\w|(?:lactose|gluten|fructose|histamine)[ -]intolerant\b"
    r"|(?:diabetic|asthmatic|epileptic|coeliac|celiac)\b)"
    rf"|(?:I(?: have|['’]ve got)|(?:{_OURS}|{_NAMED}) has) (?:an? )?(?:[\w-]+ ){{0,2}}"
    r"(?:allergy|asthma|diabetes|epilepsy|coeliac|celiac)\b(?! (?:season|medicine|pills?|question)))",
    _I,
)
FAILED = re.compile(
    r"\b(?:fail(?:s|ed|ing)?|crash(?:es|ed|ing)?|hangs?|hung|broke|broken|breaks|times? out|timed out|error(?:s|ed)?|wouldn't (?:start|build|run|load|connect)|didn't (?:start|work|build|run|load|connect)|"
    r"doesn't (?:start|work|build|run|load|connect)|stopped working|refused|exception|segfault(?:s|ed)?|fehlgeschlagen|schlug .{0,40}fehl|abgebrochen|abgestürzt|ging nicht|lief nicht|funktionierte nicht)\b",
    _I,
)
CAUSE = re.compile(
    r"\b(?:root cause|cause was|caused by|culprit|turn(?:s|ed) out|because|due to|came from|ursache|schuld war|lag (?:daran|an)|weil|kam daher)\b",
    _I,
)
HELPED = re.compile(
    r"^(?:so )?(?:the (?:fix|solution|workaround|trick|remedy)|(?:that|this|it|which|what|[\w`'./ -]{3,60}?) (?:fixed|solved|resolved|cured|helped|did the trick|made (?:it|the [\w ]{2,20}) (?:work|pass)|got (?:it|the [\w ]{2,20}) working))\b"
    r"|\b(?:fixed|solved|resolved) (?:it|that|the (?:problem|issue|crash|failure|error))\b|\bdid the trick\b|^(?:it|the [\w ]{2,30}) works? (?:now |again )?(?:after|with|since|once)\b"
    r"|^(?:geholfen hat|die lösung|danach (?:lief|ging|funktionierte)|(?:seit|nach)dem? .{3,60}(?:läuft|lief|geht|ging|funktionier))|\bhat (?:dann )?geholfen\b",
    _I,
)
_NAME = r"[`'\"]?([\w@./+:-]+(?: [\w@./+:-]+)?)[`'\"]?"
# "Don't use Y", "X, not Y", "X instead of Y", "no Y please".
_SIDES = re.compile(
    rf"\b(?:don't|do not|never|stop|we don't|we do not|no longer|we never|quit) (?:use|using|run|running|call|calling|touch|import|importing) (?:the |a |an )?{_NAME}"
    rf"|(?:,|—|–|-|\band\b|;)\s*(?:and )?not (?:with |the |in |on |to |at |a |an |from |via |by |using )?{_NAME}\s*(?:$|[.,;:!)]|\bfor\b|\bin\b|\bbecause\b|\bsince\b|\bhere\b)"
    rf"|\b(?:instead of|rather than|not using) (?:the |a |an |using )?{_NAME}"
    r"|^no ([\w@./+-]{3,30})(?: please| here)?\s*(?:[,.;!:—–-]|$)",
    _I,
)
# Of these what gives something up, whatever the kind of the statement: "don't touch Y" says nothing of what is used.
WITHDRAWS = re.compile(r"(?:we )?no longer|instead of|rather than|statt|anstatt|anstelle|nicht mehr", _I)
FOR_A_PART = re.compile(r"(?:for|in|on|as|to|from|at|with|für|im|in|auf|bei|als)\b", _I)
_LEAD = re.compile(
    r"^(?:(?:and|also|but|so|well|ok|okay|please|pls|btw|by the way|fyi|hey|yes|yeah|right|sure|hmm+|oh|ah|wow|whoa|oops|ugh|eh|um+|uh|again|look|listen|in general|great|perfect|thanks|thank you|good|nice|cool)\b[\s,.:;!—–-]+"
    r"|(?:just )?(?:one|another|a|some|small|quick|last|general) (?:[\w-]+ ){0,4}[\w-]+: )+",
    _I,
)
# "No, ", "Actually, ", "That's wrong: "; "no emojis" and "stop pinning" forbid something
_REJECTS = re.compile(
    r"^(?:(?:no(?=[,.;:!—–-]| (?:we|it|its|it's|that|the|our|you|i|use|this|they|not|never|no)\b)|(?:stop|wrong|wait)(?=[,.;:!—–-])|nope|nah|incorrect|not quite|actually|hold on|hmm|sorry|careful|correction|that(?:'s| is| was) (?:not (?:right|correct|true)|wrong|incorrect|"
    r"not it|not what i (?:said|meant|asked)|a mistake)|you(?:'re| are) (?:wrong|mistaken)|you (?:misunderstood|got (?:that|it) wrong)|i (?:told you|said it|had it) wrong|not true)\b[\s,.:;!—–-]*(?:and|but|because)?\s*)+",
    _I,
)
# "Remember to ...", "note the typo": tasks and remarks.
_REMEMBER = re.compile(
    r"^(?:please |pls |and |also |ok,? |hey,? )*(?:(?P<asked>remember|keep in mind|don't forget|do not forget|take note)|note that|for the record|for (?:future )?reference|fyi|"
    r"(?:just )?(?:a )?(?:quick )?heads[- ]up|just so you know|be aware|good to know)\b"
    r"(?! (?:to|when|how|if|what|me|you|last|the (?:typo|error|bug|todo))\b|\s*\?)(?: this| for (?:later|next time|the future))?[\s,:—–-]*(?:that\b)?[\s,:—–-]*",
    _I,
)
_REMEMBER_END = re.compile(
    r"\s*[,;.—–-]+\s*(?:so |and )?(?:please |pls )?(?:keep (?:that|this|it) in mind|remember (?:that|this|it)|don't forget (?:that|this|it))\b.*$",
    _I,
)
_POINTS_BACK = re.compile(
    r"^(?:it|it's|its|that|that's|thats|these|those|they|they're|their|he|she|him|her|his|neither|either|otherwise|the (?:former|latter|above|same|other one))\b(?!-)",
    _I,
)
_KINDS = (
    ("fact", ILL),
    ("goal", re.compile(r"\b(?:(?:goal|aim|target|objective)(?: \w+){0,4} (?:is|are)\b|(?:goal|aim):|aim is)", _I)),
    (
        "decision",
        re.compile(
            r"\b(?:(?:we|i|team|they)(?:'ve| have| all| then| finally| just)* (?:decided|chose|agreed|settled on|opted|went with|picked|ruled out|standardi[sz]ed on)\b|"
            r"(?:we're|we are|let's) (?:staying|sticking|stick|stay|going|go) with\b|let's (?:use|keep|store|put|make|drop)\b.*\b(?:because|since|so that)\b|decision(?: was|:)|decided:|as agreed)",
            _I,
        ),
    ),
    (
        "lesson",
        re.compile(
            r"\b(?:turn(?:s|ed) out|root cause|culprit|lesson(?: learned)?:|kept (?:failing|crashing|hanging|breaking)|(?:fixed|solved|cured) (?:it|that|the)\b|got burned)",
            _I,
        ),
    ),
    (
        "preference",
        re.compile(
            r"^(?:from now on|always|never|please (?:always|never|don't)|i(?:'d)? (?:really |much |strongly )?(?:prefer|hate|dislike|can't stand|rather)\b|i (?:always|never) |whenever |before (?:each|every|you)|"
            r"(?:don't|do not|stop) )",
            _I,
        ),
    ),
)
ENGLISH = Cues(_LEAD, _REJECTS, _SIDES, _REMEMBER, _REMEMBER_END, _POINTS_BACK, _KINDS)
