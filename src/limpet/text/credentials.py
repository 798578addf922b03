"""Secrets that no password's word tells: keys and tokens by their context, codes of doors and cards, logins, seed phrases.

A key, a token or a secret is mostly spoken of without its value. So what stands near the word must look random: letters
and digits in turns, as no name, path, version or word has them; and nothing near may say that it is a hash or an id.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .passwords import CLAUSE_ENDS, LITTLE, mixed
from .placeholders import ADDRESS, CODE, ENTRY, PLACEHOLDER, UUID
from .secrets import HANDLES, names_secret

_NOUN = re.compile(
    r"(?i)(?<![\w$@/\\.])(?<!::)(?P<noun>keys?|tokens?|secrets?|credentials?|creds?|password|passphrase|jeton|clave|clé"
    r"|keypair|privkey)(?![\w(\[/\\-]|\.\w)|(?P<other>schlüssel|密钥|令牌|秘钥|密码|口令)"
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
# A token of a list, a request or a version: see `names_secret`.
_HANDLE = re.compile(rf"(?i)(?:{'|'.join(sorted(HANDLES)).replace('_', '[ _-]')})[ _-]$")
_REQUEST = re.compile(r"(?i)(?:change|lock|update|action|sync)[ _-]$|\b(?:client|request)[_-]$")
# What else such a value is.
_OTHER = re.compile(
    r"(?i)\b(?:commit|sha-?\d*|md5|hash\w*|digest|checksum|fingerprint|etag|uuid|guid|revision|public|trace|cache|partition|sort|primary|foreign"
    r"|idempotency|cursor|id|ids|host|gpg|pgp|ssh|path|file|tx|transaction|version|branch|image|pin the|object|document|row|node)\b|/"
)
_WORD = re.compile(r"[A-Za-z0-9+/=_.~!@#$%^&*-]{10,400}")
_HEX = re.compile(r"(?i)0x[0-9a-f]+|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
# An id: a UUID behind a folder or a word, a few hexadecimal digits behind a word; not where a sentence says it is the key.
_ID = re.compile(rf"\S*[_/-]{UUID.pattern[4:]}|(?:[a-z]{{2,20}}-)+[0-9a-f]{{8,17}}$", re.IGNORECASE)
_SAID = re.compile(r"(?i)\b(?:is|are|was|to|now|use)\b|=|->|(?<![\"'])\s?:|\u2192")
# A version as git describes it: glibc-2.33-879-gfc859c3.
_DESCRIBED = re.compile(r"[A-Za-z][\w+~-]*\d\.\d[\w.+~-]*-g[0-9a-f]{7,12}$")
# The fingerprint of an OpenPGP key, the public half of one of SSH, a section's anchor.
_PUBLIC = re.compile(r"(?:[0-9A-F]{16}|[0-9A-F]{40})$|AAAA[BCE][23]V?[A-Za-z0-9]|[\w./-]*#[0-9a-f]{12,16}$")
# A field of its own: what is assigned to it says what it is. So does the name of a field of JSON and a flag.
_FIELD = re.compile(r"&?[A-Za-z][\w-]*=[^=]")
_NAME = re.compile(r"""[,{\[\n]\s*\\?["'](?P<field>[\w.:-]+)\\?["']\s?:|\s--(?P<flag>[a-z][\w-]*)[ =]+["']?$""")
# How names end that say that it is another thing; a token's among them, as `names_secret` knows those that are secrets.
_ELSE = frozenset(
    """
    id ids eui uuid guid version host hostname endpoint url uri region zone commit digest hash sha checksum fingerprint etag
    name arn comment description device bucket path file room image revision date time timestamp token
    """.split()  # noqa: SIM905
)
_LAST = re.compile(r"[_.:-]+|(?<=[a-z0-9])(?=[A-Z])")
# Names that say nothing of another thing, and what opens an object: what it holds belongs to the word before.
_PART = re.compile(
    r"(?i)secret|^(?:key|value|(?:string)?data|raw|string|text|body)$|(?:key|token|pass\w*)[_-]?(?:data|string|text|material)$"
)
_OPENS = re.compile(r"""\\?["']?\s?[:=]\s?\{[^}]*$|.*["'](?:stringD|d)ata\\?["']\s?:\s?\{[^}]*$""", re.DOTALL)
_TURN = re.compile(r"(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")
_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[a-z])")
# The name of a class: words that begin with capitals.
_CAMEL = re.compile(
    r"_*(?:V\d{1,2}(?:(?:[Aa]lpha|[Bb]eta)\d{0,2})?)?[a-z]{0,20}(?:[A-Z]{1,5}[a-z]{2,20}\d{0,2})+[A-Z]{0,5}$"
)
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
    rf"(?i)\b(?:code|pin|kombination)(?:[ \t]+(?:für|von|zu|zum|zur|vom|am|an|der|des))(?:[ \t]+(?:den|das|die|dem|der|unseren?|meinen?))?(?:[ \t]+[\w-]+)?"
    rf"[ \t]+(?:[\w-]*(?:tresor|safe|tür|tor|alarmanlage|garage|schloss|schließfach|karte|handy))s?\b{_OF}{_SAYS}",
    rf"(?i)\b(?:tür|alarm|tor|zugangs|safe|tresor|sicherheits|schloss|garagen|haustür|handy|karten)-?(?:code|pin)\b{_OF}{_SAYS}",
    r"(?i)\b(?:code|código) (?:pin|secret|confidentiel|secreto"
    r"|(?:(?:de|du|del|d['\u2019])[ ]?)(?:(?:la|l['\u2019])[ ]?)?(?:porte|accès|alarme|portail|immeuble|coffre|carte|puerta|alarma|acceso|portal|garaje|caja|seguridad|tarjeta))"
    rf"\b{_OF}{_SAYS}",
)
_DIGITS = re.compile(
    r"[ \t]*(?P<value>\d{1,6}(?:[- ]\d{2,4}){1,2}|\d{3,10})(?P<end>[#*]?)(?!\w|[.,:/-]\d|[ \t]*(?:%|bits?|digits?|characters?|times))"
)

_SETTING = re.compile(
    r"\b(?P<name>[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)`?[ \t]+(?:is|was|ist)[ \t]+[\"'`]?(?P<value>[A-Za-z0-9+/=_.~-]{10,400})"
)
_LOGIN = re.compile(
    r"(?i)\b(?:log ?ins?|credentials?|creds|account|zugangsdaten|zugang|anmeldedaten|identifiants?|credenciales|acceso)\b[^\n]{0,60}?"
    r"(?:\b(?:is|are|with|ist|sind|lautet|lauten|est|sont|es|son)|[:=]|->)[ \t]+(?P<pair>[\w.@+-]{2,40}[ \t]?[/:|][ \t]?(?P<value>(?!//)[^\s,;]{5,60}))"
)
# "log in as qa with X", "ins WLAN kommt man mit X": what one gets in with, a word with figures and signs at its end.
_WITH = re.compile(
    r"(?i)\b(?:(?:log|sign|get|hook|connect)(?:s|ged|ged|ed)?[ -]?(?:in|into|on|onto|to)|melde\w*|komm(?:e|st|t)|(?:an|ein)(?:melden|loggen))\b"
    r"[^\n.!?;:=\"]{1,60}?[ \t](?:with|using|mit)[ \t]+[\"'`\u201e\u201c]?(?P<value>[^\W\d_]{4,30}(?:\d{1,6}[!#$%&*]+|[!#$%&*]+\d{1,6}))(?=[\"'`\u201c\u201d]?(?:[ \t]*$|[.,;)\n]))"
)
# What an authenticator starts from, in base 32; and the codes that stand in for it.
_TOTP = re.compile(
    r"(?i)\b(?:2fa|mfa|totp|otp|authenticator)[ _-](?:seed|secret|key|code)\b[^\n]{0,60}?[\s:=]\"?(?P<value>(?-i:(?=[A-Z ]{0,40}[2-7])[A-Z2-7]{16,64}|(?:[A-Z2-7]{4} ){3,15}[A-Z2-7]{4}))(?!\w)"
)
_CODE_LIST = re.compile(
    r"(?i)\b(?:recovery|backup|rescue|scratch|wiederherstellungs|notfall)[ -]?codes?\b[^\n:=]{0,40}?(?::|=|\bare\b|\bsind\b)\s{0,3}"
    r"(?P<value>(?:(?=[a-z-]{0,20}\d)[0-9a-z]{4,8}(?:-[0-9a-z]{4,8}){1,3}(?:[ ,\n]{1,3}|(?![\w-]))){1,20}(?<![ ,\n]))"
)
_SEED = re.compile(
    r"(?i)\b(?:(?:seed|recovery|backup|secret|wallet)[ -](?:phrase|words)|mnemonic|wiederherstellungsphrase|phrase de récupération|frase semilla)\b"
    r"[^\n]{0,40}?(?:\s|[:\"'`(])(?P<value>(?-i:[a-z]{3,8})(?:[ \n]+(?-i:[a-z]{3,8})){11,23})(?![\w])"
)
# Files that clients read: .netrc, .pgpass; Oracle's short form of a login.
_FILES = (
    r"\b(?:machine[ \t]+\S{1,200}|default(?=\s+login))\s+(?:(?:login|account|port)\s+\S{1,200}\s+){0,3}password\s+(?P<value>\S{3,200})",
    r"(?m)(?:^|[\s`'\"])(?:[\w.*-]{1,100}):(?:\*|\d{4,5}):[A-Za-z_*][\w*-]{0,59}:[A-Za-z_*][\w*-]{0,59}:(?P<value>(?!\[redacted)[^\s:`'\"]{4,200})",
    r"(?i)\bjdbc:oracle:\w+:[^\s/@]{1,60}/(?P<value>[^\s@]{1,100})@",
)  # fmt: skip


def held(text: str, lower: str) -> list[tuple[int, int]]:
    """Where keys, tokens, codes, logins and seed phrases stand, in order, without overlaps."""
    found = list(_files(text, lower))
    if _DIGIT.search(text) is not None and _any(
        lower, ("key", "token", "secret", "cred", "passw", "phrase", *_FOREIGN)
    ):
        found += [*_near(text), *_named(text)]
    if _THREE.search(text) is not None and _any(
        lower, ("code", "combination", "combo", "cvv", "cvc", "puk", "otp", "pin", "código")
    ):
        found += _coded(text)
    if _any(lower, ("log", "cred", "zugang", "account", "anmeld", "identifiant", "acceso")):
        found += [
            one.span("value") for one in _LOGIN.finditer(text) if _is_value(one["value"]) and not _is_entry(one["pair"])
        ]
    for marks, pattern in (
        (("with ", "using ", "mit "), _WITH),
        (("fa ", "fa_", "fa-", "otp", "authenticator"), _TOTP),
        (("code",), _CODE_LIST),
    ):
        if _any(lower, marks):
            found += [one.span("value") for one in pattern.finditer(text)]
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


def _is_entry(pair: str) -> bool:
    """Whether what looks like a name and its password is an entry of a vault and its field: kv/shop#api_key."""
    return ENTRY.match(pair) is not None and names_secret(pair.rpartition("#")[2])


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


def _named(text: str) -> Iterator[tuple[int, int]]:
    """What the name of a setting is said to be: HEROKU_API_KEY is X."""
    for match in _SETTING.finditer(text):
        if names_secret(match["name"]) and is_random(match["value"], least=LEAST):
            yield match.span("value")


def _near(text: str) -> Iterator[tuple[int, int]]:
    """Random words close to a word for a key, token or secret."""
    done = -1
    for match in _NOUN.finditer(text):
        start, end = match.span()
        plain = (match["noun"] or "").lower() in ("key", "keys", "clave", "clé")
        before = text[max(0, start - 25) : start]
        kept = not plain or _KEPT.search(before) is not None or _KEPT_AFTER.match(text, end) is not None
        behind = _OTHER.search(before) is not None and kept is False
        if behind or _HANDLE.search(before):
            continue
        for word in _WORD.finditer(text, max(end, done), end + NEAR + 400):
            between = text[end : word.start()]
            if (
                word.start() - end > NEAR
                or between.count("\n") > 2
                or _OTHER.search(between)
                or re.search(r"\.\s", between)
                or _FIELD.match(word[0])
                or (not kept and re.search(r"[\n()]", between))
                or _is_other(between, kept=kept)
            ):
                break
            if _REQUEST.search(before) and UUID.fullmatch(word[0].strip(".!,=")):
                break
            if not kept and _ID.match(word[0]) and not _SAID.search(between):
                continue
            if is_random(word[0], least=LEAST if kept else ALONE) and not ADDRESS.search(
                text, max(0, word.start() - 200), word.start() + 2
            ):
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


def _is_other(between: str, *, kept: bool) -> bool:
    """Whether what follows is the value of another field or flag, one whose name says that it is no secret."""
    own = kept and "[redacted:" not in between  # it may still be the value of the word before
    if own and _OPENS.match(between):
        return False
    names = [one["field"] or one["flag"] for one in _NAME.finditer(between)]
    if not names or names_secret(names[-1]) or (own and _PART.search(names[-1])):
        return False
    return _LAST.split(names[-1].strip("_.:-"))[-1].lower() in _ELSE


def is_random(word: str, *, least: int) -> bool:
    """Whether letters and digits take turns in it, as in what a machine made; a hash does too."""
    word = word.strip(".!,")
    if len(word) < least or PLACEHOLDER.match(word) or CODE.match(word) or _PUBLIC.match(word):
        return False
    if _DESCRIBED.match(word) or (least == ALONE and _HEX.fullmatch(word)):
        return False
    if word.count("/") > 2 and "+" not in word and not word.endswith("=") and len(word) < 40:
        return False
    for part in re.split(r"[-_./@:=+~!#$%^&*]", word):
        turns = len(_TURN.findall(part))
        if turns >= 3 and len(part) >= 8:
            return True
        if turns >= 1 and len(part) >= 16 and not _CAMEL.match(part) and turns + len(_CASE.findall(part)) >= 7:
            return True
    return len(word) >= ALONE and sum(len(_TURN.findall(part)) for part in re.split(r"[+/=]", word)) >= 3
