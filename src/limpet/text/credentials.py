"""Secrets that no password's word tells: keys and tokens by their context, codes of doors and cards, logins, seed phrases.

A key, a token or a secret is mostly spoken of without its value. So what stands near the word must look random: letters
and digits in turns, as no name, path, version or word has them; and nothing near may say that it is a hash or an id.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .passwords import CLAUSE_ENDS, LITTLE, mixed
from .secrets import CODE, PLACEHOLDER

_NOUN = re.compile(
    r"(?i)(?<![\w$@/\\.])(?P<noun>keys?|tokens?|secrets?|credentials?|creds?|password|passphrase|jeton|clave|clé"
    r"|keypair|privkey)(?![\w(\[/\\-])|(?P<other>schlüssel|密钥|令牌|秘钥|密码|口令)"
)
_FOREIGN = ("jeton", "clave", "clé", "schlüssel", "密", "令牌", "口令", "privkey")
# Without these there is no random word, and no code.
_DIGIT = re.compile(r"[A-Za-z]\d|\d[A-Za-z]")
_THREE = re.compile(r"\d\d\d|\d-\d")
_SAID_AS = re.compile(
    r"(?:^|[\s`'\"(])(\S{10,400})[`'\"]?[ \t]+(?:is|was|as)[ \t]+(?:(?:the|my|our|your|an?)[ \t]+)?(?:[\w'-]{1,15}[ \t]+){0,2}$"
)
# What says that the word before means something to be kept to oneself; a key without it needs a longer value.
_KEPT = re.compile(
    r"(?i)(?:api|access|secret|signing|shared|client|encryption|license|licence|master|private|deploy|auth|service|account"
    r"|hmac|webhook|app|application|server|storage|consumer)[ -]?$"
)
_KEPT_AFTER = re.compile(
    r"(?i)[ \t](?:de l[a'\u2019] ?|d['\u2019]|de )?(?:api|secr[eè]te|privée|secreta|privada|d['\u2019]accès)\b"
)
# What else such a value is.
_OTHER = re.compile(
    r"(?i)\b(?:commit|sha-?\d*|md5|hash\w*|digest|checksum|fingerprint|etag|uuid|guid|revision|public|trace|cache|partition|sort|primary|foreign"
    r"|idempotency|cursor|id|ids|host|gpg|pgp|ssh|path|file|tx|transaction|version|branch|image|pin the|object|document|row|node)\b|/"
)
_WORD = re.compile(r"[A-Za-z0-9+/=_.~!@#$%^&*-]{10,400}")
_HEX = re.compile(r"(?i)0x[0-9a-f]+|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_TURN = re.compile(r"(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")
_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[a-z])")
NEAR, LEAST, ALONE = 70, 10, 24

_OF = r"(?:[ \t]+[^\s\d.!?:=]{1,20}){0,6}?"
_SAYS = r"(?:['\u2019]s|[ \t]+(?:is|was|are|ist|war|lautet|est|es|to|now|still|it's)\b|[ \t]*(?:[:=]|->|\u2192|是|为))+"
_LOCK = (
    r"door|alarm|gate|garage|safe|lock|locker|padlock|keypad|entry|entrance|access|unlock|security|verification|one[- ]time|2fa|otp|mfa"
    r"|voicemail|lockbox|building|suitcase|luggage|house|flat|debit|credit|bank|card|sim|phone|tablet|backup|parental"
)
_CODES = (
    rf"(?i)\b(?:(?:{_LOCK})s?(?:['\u2019]s)?[ -]+){{1,3}}(?:pin|code|combination)\b{_OF}(?:{_SAYS}|(?<=pin))",
    rf"(?i)\b(?:combination|combo|code|pin)(?:[ \t]+(?:for|to|of)[ \t]+(?:the|my|our|his|her)[ \t]+(?:[\w-]+[ \t]+)?(?:{_LOCK}))\b{_OF}{_SAYS}",
    r"(?i)\b(?:my|our|his|her|mom's|dad's) pin\b" + _OF + _SAYS,
    rf"(?i)\b(?:cvv2?|cvc2?|puk|otp)(?:[ -](?:code|number))?\b{_OF}(?:{_SAYS})?",
    rf"(?i)\b(?:tür|alarm|tor|zugangs|safe|tresor|sicherheits|schloss|garagen|haustür|handy|karten)-?(?:code|pin)\b{_OF}{_SAYS}",
    r"(?i)\b(?:code|código) (?:pin|secret|confidentiel|secreto"
    r"|(?:(?:de|du|del|d['\u2019])[ ]?)(?:(?:la|l['\u2019])[ ]?)?(?:porte|accès|alarme|portail|immeuble|coffre|carte|puerta|alarma|acceso|portal|garaje|caja|seguridad|tarjeta))"
    rf"\b{_OF}{_SAYS}",
)
_DIGITS = re.compile(
    r"[ \t]*(?P<value>\d{1,6}(?:[- ]\d{2,4}){1,2}|\d{3,10})(?P<end>[#*]?)(?!\w|[.,:/-]\d|[ \t]*(?:%|bits?|digits?|characters?|times))"
)

_LOGIN = re.compile(
    r"(?i)\b(?:log ?ins?|credentials?|creds|account|zugangsdaten|zugang|anmeldedaten|identifiants?|credenciales|acceso)\b[^\n]{0,60}?"
    r"(?:\b(?:is|are|with|ist|sind|lautet|lauten|est|sont|es|son)|[:=]|->)[ \t]+[\w.@+-]{2,40}[ \t]?[/:|][ \t]?(?P<value>[^\s,;]{5,60})"
)
_SEED = re.compile(
    r"(?i)\b(?:(?:seed|recovery|backup|secret|wallet)[ -](?:phrase|words)|mnemonic|wiederherstellungsphrase|phrase de récupération|frase semilla)\b"
    r"[^\n]{0,40}?(?:\s|[:\"'`(])(?P<value>(?-i:[a-z]{3,8})(?:[ \n]+(?-i:[a-z]{3,8})){11,23})(?![\w])"
)
# Files that clients read: .netrc, .pgpass; Oracle's short form of a login.
_FILES = (
    r"\b(?:machine[ \t]+\S{1,200}|default(?=\s+login))\s+(?:(?:login|account)\s+\S{1,200}\s+){0,2}password\s+(?P<value>\S{3,200})",
    r"(?m)(?:^|[\s`'\"])(?:[\w.*-]{1,100}):(?:\*|\d{4,5}):[\w*-]{1,60}:[\w*-]{1,60}:(?P<value>(?!\[redacted)[^\s:`'\"]{4,200})",
    r"(?i)\bjdbc:oracle:\w+:[^\s/@]{1,60}/(?P<value>[^\s@]{1,100})@",
)  # fmt: skip


def held(text: str, lower: str) -> list[tuple[int, int]]:
    """Where keys, tokens, codes, logins and seed phrases stand, in order, without overlaps."""
    found = list(_files(text, lower))
    if _DIGIT.search(text) is not None and _any(
        lower, ("key", "token", "secret", "cred", "passw", "phrase", *_FOREIGN)
    ):
        found += _near(text)
    if _THREE.search(text) is not None and _any(
        lower, ("code", "combination", "combo", "cvv", "cvc", "puk", "otp", "pin", "código")
    ):
        found += _coded(text)
    if _any(lower, ("log", "cred", "zugang", "account", "anmeld", "identifiant", "acceso")):
        found += [one.span("value") for one in _LOGIN.finditer(text) if _is_value(one["value"])]
    if _any(lower, ("phrase", "mnemonic", "words", "semilla")):
        found += [one.span("value") for one in _SEED.finditer(text) if _is_seed(one["value"])]
    spans: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if not spans or start >= spans[-1][1]:
            spans.append((start, end))
    return spans


def _any(text: str, marks: tuple[str, ...]) -> bool:
    return any(mark in text for mark in marks)


def _is_seed(words: str) -> bool:
    return sum(map(LITTLE.__contains__, words.split())) < 2


def _is_value(word: str) -> bool:
    return mixed(word) and not PLACEHOLDER.match(word) and not CODE.match(word)


def _files(text: str, lower: str) -> Iterator[tuple[int, int]]:
    if "machine " in lower or "default " in lower or "oracle:" in lower or ":*:" in lower or "432:" in lower:
        for pattern in _FILES:
            for match in re.finditer(pattern, text):
                if not PLACEHOLDER.match(match["value"]):
                    yield match.span("value")


def _coded(text: str) -> Iterator[tuple[int, int]]:
    for pattern in _CODES:
        for match in re.finditer(pattern, text):
            digits = _DIGITS.match(text, match.end())
            if digits is not None and CLAUSE_ENDS.match(text, digits.end()) is not None:
                yield digits.start("value"), digits.end("end")


def _near(text: str) -> Iterator[tuple[int, int]]:
    """Random words close to a word for a key, token or secret."""
    done = -1
    for match in _NOUN.finditer(text):
        start, end = match.span()
        plain = (match["noun"] or "").lower() in ("key", "keys", "clave", "clé")
        before = text[max(0, start - 25) : start]
        kept = not plain or _KEPT.search(before) is not None or _KEPT_AFTER.match(text, end) is not None
        behind = _OTHER.search(before) is not None and kept is False
        if behind:
            continue
        for word in _WORD.finditer(text, max(end, done), end + NEAR + 400):
            between = text[end : word.start()]
            if (
                word.start() - end > NEAR
                or between.count("\n") > 2
                or _OTHER.search(between)
                or ". " in between
                or (not kept and re.search(r"[\n()]", between))
            ):
                break
            if is_random(word[0], least=LEAST if kept else ALONE):
                shown = len(word[0].rstrip(".!,"))
                yield word.start(), word.start() + shown
                done = word.end()
                break
        # `X is the client secret`, `X as the token`
        tail = text[max(0, start - 60) : start]
        if not kept or not (" is " in tail or " as " in tail or " was " in tail):
            continue
        said = _SAID_AS.search(text, max(0, start - 450), start)
        if said and is_random(said[1].strip("`'\"("), least=LEAST):
            yield said.span(1)


def is_random(word: str, *, least: int) -> bool:
    """Whether letters and digits take turns in it, as in what a machine made; a hash does too."""
    word = word.strip(".!,")
    if len(word) < least or PLACEHOLDER.match(word) or CODE.match(word) or (least == ALONE and _HEX.fullmatch(word)):
        return False
    if word.count("/") > 2 and "+" not in word and not word.endswith("=") and len(word) < 40:
        return False
    for part in re.split(r"[-_./@:=+~!#$%^&*]", word):
        turns = len(_TURN.findall(part))
        if turns >= 3 and len(part) >= 8:
            return True
        if turns >= 1 and len(part) >= 16 and turns + len(_CASE.findall(part)) >= 7:
            return True
    return len(word) >= ALONE and sum(len(_TURN.findall(part)) for part in re.split(r"[+/=]", word)) >= 3
