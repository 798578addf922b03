"""Secrets known by their surroundings: assigned to a name, stated in a sentence, given to a program, near a word.

Most texts about a key or a password do not contain one. So a value must look like one: letters with digits or signs,
quotation marks around it, or a plain word that ends its clause. Measured on tests/quality/secrets and
told_passwords.jsonl, and on text of others; a rule is kept only if its removal shows there. Patterns are compiled, and
kept by re's own cache, when a text holds their marks. All run in linear time.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator

from .secret_values import (
    ADJECTIVE,
    CLAUSE_ENDS,
    CODE,
    ENTRY,
    FILE_LINE,
    LITTLE,
    PLACEHOLDER,
    PLAIN_WORDS,
    REFERENCE,
    REQUESTS,
    UUID,
    is_handle,
    is_mixed,
    is_placeholder,
    is_plain_value,
    is_random,
)
from .secrets import HANDLES, HUMP, NAME_CHARACTERS, names_secret

Spans = Iterator[tuple[int, int]]

# --- assigned to a name ---------------------------------------------------------------------------------------------

# What is assigned to the name of a secret is one if it looks like this.
VALUE = (
    r"""(?=[^\s"',;]{0,199}[0-9!@#$%^&*])(?![<$*{\[]|%\(|process\.env|os\.environ)((?:[^\s"',;\\]|\\(?!["'])){8,})"""
)
_VALUE = re.compile(VALUE)
# `NAME=`, `"name": "`, also escaped, `["name"] = `, `name => `, `--name=`.
_FIELD = re.compile(
    r"""(?<![\w.-])(?<!::)(?P<name>[\w.-]++)(?:\\?["']\]?|\](?=\s{0,3}=))?(?P<sign>\s{0,3}(?:=>|:=|[=:])\s{0,3})(?P<quote>\\?["'`])?"""
)
_WORD_VALUE = re.compile(r"""[^\s"'`,;<>&\\]{1,200}""")
# Names of passwords, which take words too; of other names the value must hold a digit or a symbol.
_STRICT = re.compile(
    r"(?i)(?:pass(?:word|wd|phrase|code|wort)?|pwd|kennwort|contraseña|psk|pw)(?:[_.-]?(?:\d+|value|plain))?$"
)
_IDENTIFIER = re.compile(r"[a-z]+(?:[_-][a-z]+)+$|.*[\\/][\w.-]+[\\/]|\.{0,2}/|~/|[\d.]+$|[a-z]+://")
_SEVERAL = re.compile(r"(?i)(?:^|[\s;?&])(?:user(?:name| ?id)?|uid|host|server|data source|database|dbname|port)\s?=")
LINE = 200  # so far a line is looked at: a text may be one long line of such names


def assigned(text: str, _lower: str) -> Spans:
    """Yield what follows the name of a secret and a sign."""
    done = 0
    for match in _FIELD.finditer(text):
        name, start = match["name"][-NAME_CHARACTERS:], match.end()
        if start < done:
            continue
        if text[match.start() - 1 : start] == f":{match['name']}:" and "arn:" in text[max(0, start - LINE) : start]:
            continue  # arn:aws:secretsmanager:eu-1:1:secret:name
        if name.lower() in ("auth", "_auth"):
            value = _WORD_VALUE.match(text, start)
            if value is not None and _is_login(value[0]):
                yield value.span()
        elif names_secret(name) or (name.lower() == "pass" and name != "PASS"):
            span = _assigned(text, match, name)
            if span is not None and not is_handle(name, text[slice(*span)]):
                done = span[1]
                yield span


def _assigned(text: str, match: re.Match[str], name: str) -> tuple[int, int] | None:
    start, quote = match.end(), match["quote"]
    likely = _VALUE.match(text, start)
    if likely is not None and name.lower() != "pass":
        word = likely[1].rstrip(")]}")
        return None if is_placeholder(likely[1]) or PLACEHOLDER.match(word) or REFERENCE.match(word) else likely.span(1)
    if quote is not None:
        end = text.find(quote, start, start + 102)
        inner = text[start:end]
        return (start, end) if end > 0 and "\n" not in inner and _is_value(inner, name, closed=True) else None
    value = _WORD_VALUE.match(text, start)
    if value is None:
        return None
    end = value.end()
    line_start = max(text.rfind("\n", max(0, match.start() - LINE), match.start()) + 1, match.start() - LINE, 0)
    tight, ends = match["sign"] == "=", end >= len(text) or text[end] in "\n \t`"
    setting = tight and ends and (name.isupper() or not text[line_start : match.start()].strip())
    line = text[line_start : start + LINE].partition("\n")[0]
    closed = setting or (tight and _SEVERAL.search(line) is not None and (ends or text[end] in ";&\"'`"))
    return value.span() if _is_value(value[0], name, closed=closed) else None


def _is_value(word: str, name: str, *, closed: bool) -> bool:
    """Return whether a value is a secret. `closed`: its surroundings mark it as a value, and where it ends."""
    if not 4 <= len(word) <= 200 or is_placeholder(word) or REFERENCE.match(word) or not _STRICT.search(name):
        return False
    if " " in word:
        return len(word.split()) <= 8 and word == word.lower() and name.lower().endswith(("phrase", "psk"))
    if _IDENTIFIER.match(word) or (not closed and not is_mixed(word)):
        return False
    if is_mixed(word) or re.search(r"[._+~-]", word):
        return is_mixed(word) or re.search(r"[A-Z]", word) is not None
    return is_plain_value(word) and len(word) >= 6 and not word.istitle()


def _is_login(word: str) -> bool:
    """Return whether it is `name:password` in base64, as clients of registries keep it."""
    try:
        text = base64.b64decode(word, validate=True).decode("utf-8")
    except ValueError:
        return False
    return len(word) >= 8 and ":" in text and text.isprintable()


# --- stated in a sentence -------------------------------------------------------------------------------------------

_QUOTES = dict(zip("\"'`\u201c\u2018\u201e\u00ab\u00bb", "\"'`\u201d\u2019\u201c\u00bb\u00ab", strict=True))
_NOUN = (
    r"(?<![\w.$@/\\-])(?:[\w-]{1,30}-)?(?P<noun>pass(?:word|wort|phrase|code|wd)|kennwort|pwd|pw|pin|mot de passe"
    r"|contraseña|clave|(?:wlan|wifi|wi-fi|netzwerk)-?schlüssel|wi-?fi key|psk|pre-?shared[ -]key"
    r"|community[ -]string|snmp(?:[ -]?v?[123]c?)?[ -]community)(?:['\u2019]s)?(?![\w(\[./\\-])"
)
_IN_BRACKETS = r"(?:[ \t]*\([^()\n]{1,60}\))?"
# "for the router", "of Ana's locker", "we use there", "(billing)": up to the verb of the same clause.
_ABOUT = (
    _IN_BRACKETS
    + r"(?:[ \t]+(?:wi-?fi|wlan|vpn|admin|root|sudo))?(?:[ \t]+(?:for|of|to|on|in|at|from|we|i|they|you|that|für|von|zu"
    r"|zum|zur|auf|am|im|vom|des|der|pour|de|du|la|sur|del|para|en|d['\u2019]\w+)\b[^\n.!?;:=\"]{1,60}?)?"
    + _IN_BRACKETS
)
_STILL = r"(?:[ \t]+(?:now|currently|still|just|simply|always|again|called|the word|jetzt|nun|noch|immer|einfach))*"
_TO = r"[ \t]+(?:from[ \t]+(?P<old>\S{1,80})[ \t]+)?to[ \t]+"
_IS = (
    rf"[ \t]+(?:(?:is|was|has been|got|had been)[ \t]+)?(?:set|changed|reset|updated|rotated){_TO}"
    rf"|[ \t]+(?:is|was|will be|should be|must be|remains|ist|war|lautet|heißt|est|était|es|era){_STILL}[ \t]*:?[ \t]+"
)
_SIGN = r"[ \t]*(?:[:=]|->|=>|\u2192)[ \t]*"
# Right behind the word, without a verb: what is quoted, or holds a digit or a symbol.
_BARE = r"[ \t]+(?=[\"'`\u201c\u2018\u201e\u00ab\u00bb]|\S{0,40}[\d!@#$%^&*])"
_STATED = rf"(?i){_NOUN}(?:{_ABOUT}(?:(?P<verb>{_IS})|{_SIGN})|{_BARE})"
# "change the password [of X] to Y": only with the verb before.
_SET = (
    r"(?i)\b(?:set|changed?|reset|updated?|rotated?|switch|switched)\b[^\n.!?;:=\"]{1,50}?"
    rf"{_NOUN}(?:[ \t]+(?:for|of|on)\b[^\n.!?;:=\"]{{1,40}}?)?{_TO}(?P<verb>)"
)
# Whose value may be a plain word.
_SURE = frozenset({"password", "passwort", "passphrase", "passcode", "passwd", "kennwort", "pwd", "pw", "pin"})
_TOKEN = re.compile(r"\S{1,200}")
# In HTML quotation marks and brackets may end it, where no more than such signs follows.
_HTML_END = re.compile(r"[.,;:)!?]{0,9}(?:&(?:quot|apos|lt|gt|nbsp|#3[49]);[.,;:)]{0,9}){1,9}$")
_PHRASE = re.compile(r"[a-z]{1,30}(?: [a-z]{1,30}){2,7}(?=[.,;!?]?(?:\s|$))")


def sentences(text: str, _lower: str) -> Spans:
    """Yield the values that a sentence gives for a password."""
    for pattern in (_STATED, _SET):
        for match in re.finditer(pattern, text):
            noun, verb = match["noun"].lower(), match["verb"] is not None
            if noun == "pin" and match["noun"] != "PIN" and not verb:
                continue
            span = _value_at(text, match.end(), noun, verb=verb)
            if span is not None:
                if match["old"]:
                    yield match.span("old")
                yield span


def _value_at(text: str, start: int, noun: str, *, verb: bool) -> tuple[int, int] | None:
    """Return the span of the value that begins here. `verb`: after a verb; else after a sign, or nothing."""
    close = _QUOTES.get(text[start : start + 1])
    if close is not None:
        end = text.find(close, start + 1, start + 82)
        return (start + 1, end) if end > 0 and _is_quoted(text[start + 1 : end], verb=verb) else None
    token = _TOKEN.match(text, start)
    word = _HTML_END.sub("", token[0]).rstrip(".,;:)]}>\"'?") if token is not None else ""
    end = start + len(word)
    word = word.rstrip("!")
    if token is None or not word or word[0] in "([{</" or PLACEHOLDER.match(word):
        return None
    if CODE.match(token[0]) and not (verb and re.match(FILE_LINE, token[0])):
        return None
    closed = CLAUSE_ENDS.match(text, end) is not None
    if word.isdigit():
        least, most = (4, 8) if noun in ("pin", "passcode") else (6, 12)
        return (start, end) if least <= len(word) <= most and closed else None
    if is_mixed(word):
        return start, end
    if noun not in _SURE or not verb:
        return None
    if not closed:
        phrase = _PHRASE.match(text, start) if noun == "passphrase" else None
        return phrase.span() if phrase and not LITTLE & {*phrase[0].split()} else None
    parts = word.split("-")
    return (start, end) if is_plain_value(word) or (len(parts) > 2 and min(map(len, parts)) > 2) else None


def _is_quoted(inner: str, *, verb: bool) -> bool:
    """Return whether quoted text is a value, not words about one."""
    if not 3 <= len(inner) <= 80 or "\n" in inner or PLACEHOLDER.match(inner) or inner.endswith((":", "...")):
        return False
    words = inner.split()
    if len(words) != 1:
        return verb and len(words) <= 8 and not LITTLE & {*map(str.lower, words)}
    word = words[0].strip("!?.")
    return is_mixed(word) or (verb and word.lower() not in PLAIN_WORDS and not ADJECTIVE.search(word))


# --- near a word for a key, and codes -------------------------------------------------------------------------------

_KEY = re.compile(
    r"(?i)(?<![\w$@/\\.])(?<!::)(?P<noun>keys?|tokens?|secrets?|credentials?|creds?|password|passphrase|jeton|clave|clé"
    r"|keypair|privkey)(?![\w(\[/\\-]|\.\w)|(?:schlüssel|密钥|令牌|秘钥|密码|口令)"
)
# What says that the word before means something to be kept to oneself; a key without it needs a longer value.
_KEPT = re.compile(
    r"(?i)(?:api|access|secret|signing|shared|client|encryption|licen[sc]e|master|private|deploy|auth|service|account"
    r"|hmac|webhook|app|application|server|storage|consumer)[ -]?$"
)
# What else such a value is.
_OTHER = re.compile(
    rf"(?i)\b(?:{'|'.join(sorted(HANDLES)).replace('_', ' ')}"
    r"|commit|sha-?\d*|md5|hash\w*|digest|checksum|fingerprint|etag|uuid|guid|revision|public|trace|cache"
    r"|partition|sort|primary|foreign|change|ids?|arn|eui|host|endpoint|bucket|gpg|pgp|ssh|path|file|tx"
    r"|transaction|version|branch|image|object|document|row|node|device|room)\b|/"
)
_WORD = re.compile(r"[A-Za-z0-9+/=_.~!@#$%^&*-]{10,400}")
_BESIDE = re.compile(r"&?[A-Za-z][\w-]*=[^=]|[A-Za-z][\w+~-]*\d\.\d[\w.+~-]*-g[0-9a-f]{7,12}$|AAAA[BCE][23]|(?:[0-9A-F]{16}|[0-9A-F]{40})$|[\w./-]*#[0-9a-f]{12,16}$")  # fmt: skip
_STATES = re.compile(r"(?i)\b(?:is|are|was|to|now|use)\b|=|->|(?<![\"'])\s?:|\u2192")
NEAR, LEAST, ALONE = 70, 10, 24


def near(text: str, _lower: str) -> Spans:
    """Yield random words close behind a word for a key, token or secret."""
    done = -1
    for match in _KEY.finditer(text):
        start, end = match.span()
        before = text[max(0, start - 25) : start]
        kept = (match["noun"] or "").lower() not in ("key", "keys", "clave", "clé") or _KEPT.search(before) is not None
        if _OTHER.search(_apart(before)):
            continue
        for word in _WORD.finditer(text, max(end, done), end + NEAR + 400):
            between = text[end : word.start()]
            if (
                word.start() - end > NEAR
                or between.count("\n") > 2
                or _OTHER.search(_apart(between))
                or re.search(r"\.\s" if kept else r"\.\s|[\n()]", between)
                or _BESIDE.match(word[0].rstrip(".!,"))
            ):
                break
            uuid = UUID.search(word[0])
            if uuid is not None and REQUESTS.search(text[max(0, start - 25) : end]):
                break
            if uuid is not None and not kept and not _STATES.search(between):
                continue
            address = re.search(r"(?:\w://|\barn:)[^\s\"'`<>]*$", text[max(0, word.start() - 200) : word.start() + 2])
            if is_random(word[0], least=LEAST if kept else ALONE) and address is None:
                yield word.end() - len(word[0].lstrip("=")), word.start() + len(word[0].rstrip(".!,"))
                done = word.end()
                break


def _apart(names: str) -> str:
    """Separate the words of names: `NextToken`, `next_token` as `Next Token`."""
    return HUMP.sub(" ", names).replace("_", " ").replace("-", " ")


_LOCK = (
    r"door|alarm|gate|garage|safe|lock|locker|padlock|keypad|entry|entrance|access|unlock|security|verification"
    r"|one[- ]time|2fa|otp|mfa|voicemail|lockbox|building|suitcase|luggage|house|flat|debit|credit|bank|card|sim|phone|tablet"
    r"|backup|parental"
)
_OF = r"(?:[ \t]+[^\s\d.!?:=]{1,20}){0,6}?"
_SAYS = r"(?:['\u2019]s|[ \t]+(?:is|was|are|ist|war|lautet|est|es|to|now|still|it's)\b|[ \t]*(?:[:=]|->|\u2192))+"
# Codes of doors and cards; the last three rows are German, French and Spanish.
_CODES = (
    rf"(?i)\b(?:(?:{_LOCK})s?(?:['\u2019]s)?[ -]+){{1,3}}(?:pin|code|combination)\b{_OF}(?:{_SAYS}|(?<=pin))"
    rf"|\b(?:combination|combo|code|pin) (?:for|to|of) (?:the|my|our|his|her) (?:[\w-]+ )?(?:{_LOCK})\b{_OF}{_SAYS}"
    rf"|\b(?:my|our|his|her) pin\b{_OF}{_SAYS}|\b(?:cvv2?|cvc2?|puk|otp)(?:[ -](?:code|number))?\b{_OF}(?:{_SAYS})?"
    rf"|\b(?:code|pin|kombination) (?:für|von|zu|zum|zur|vom|am|an|der|des)(?: (?:den|das|die|dem|der|unseren?|meinen?))?(?: [\w-]+)? (?:[\w-]*(?:tresor|safe|tür|tor|alarmanlage|garage|schloss|schließfach|karte|handy))s?\b{_OF}{_SAYS}"
    rf"|\b(?:tür|alarm|tor|zugangs|safe|tresor|sicherheits|schloss|garagen|haustür|handy|karten)-?(?:code|pin)\b{_OF}{_SAYS}"
    rf"|\b(?:code|código) (?:pin|secret|confidentiel|secreto|(?:de|du|del|d['\u2019]) ?(?:la |l['\u2019])?(?:porte|accès|alarme|portail|immeuble|coffre|carte|puerta|alarma|acceso|portal|garaje|caja|seguridad|tarjeta))\b{_OF}{_SAYS}"
)
_DIGITS = re.compile(
    r"[ \t]*(?P<value>(?:\d{1,6}(?:[- ]\d{2,4}){1,2}|\d{3,10})[#*]?)(?!\w|[.,:/-]\d|[ \t]*(?:%|bits?|digits?|characters?|times))"
)


def codes(text: str, _lower: str) -> Spans:
    """Yield digits that open a door or a card."""
    for match in re.finditer(_CODES, text):
        digits = _DIGITS.match(text, match.end())
        if digits is not None and CLAUSE_ENDS.match(text, digits.end()) is not None:
            yield digits.span("value")


# --- one pattern each -----------------------------------------------------------------------------------------------

# What a program is given on its command line: `mysql -pX`, `sshpass -p X`, `curl -u name:X`. @: its other arguments.
_GIVEN = (
    r"\b(?:(?:mysql\w{0,10}|mariadb[\w-]{0,10}|7z)\b@ -p|sshpass +-p *|mongo\w{0,10}\b@ -p[ =]"
    r"|(?:docker|podman|helm|az)(?: \w{1,20}){0,2} login\b@ -p[ =]|redis-cli\b@ -a +|(?:un)?zip\b@ -P *|ldap\w{3,10}\b@ -w +"
    r"|curl\b@ (?:-u|-U|--user|--proxy-user)[ =]?[\"']?[^\s:\"']{1,80}:|openssl\b@ pass:|net use\b@ /user:\S{1,80} +"
    r"|(?=echo [^\n;|&]{1,200}\| *(?:sudo +)?chpasswd)echo +(?:-n +)?[\"']?[\w.-]{1,40}:"
    r"|(?=echo [^\n;|&]{1,200}\| *sudo +-S)echo +(?:-n +)?)[\"']?(?P<value>(?![-<$*{\[])[^\s\"'`;|&]{2,200})"
).replace("@", r"[^\n;|&]{0,200}?")


def _any(match: re.Match[str]) -> bool:
    return not PLACEHOLDER.match(match["value"])


def _mixed(match: re.Match[str]) -> bool:
    word = match["value"].strip("\"'`\u201c\u201d\u2018\u2019")
    return is_mixed(word) and not is_placeholder(word)


def _login(match: re.Match[str]) -> bool:
    return _mixed(match) and not re.match(ENTRY, match["pair"])


def _named(match: re.Match[str]) -> bool:
    name, value = match["name"][-NAME_CHARACTERS:], match["value"]
    if not names_secret(name) or is_handle(name, value) or is_placeholder(value) or REFERENCE.match(value):
        return False
    return is_mixed(value) or (match["value"] != match[0].split()[-1] and bool(_STRICT.search(name)))


def _random(match: re.Match[str]) -> bool:
    return names_secret(match["name"]) and is_random(match["value"], least=LEAST)


def _is_phrase(match: re.Match[str]) -> bool:
    return sum(map(LITTLE.__contains__, match["value"].split())) < 2


_FORMS: tuple[tuple[tuple[str, ...], str, Callable[[re.Match[str]], bool]], ...] = (
    ((" -", " pass:", "passwd", "net use"), _GIVEN, _any),
    # `hunter2 is the password for X`, `use hunter2 as my PIN`
    ((" is ", " was ", " as "), r"(?i)(?<!\S)[\"'`\u201c\u2018]?(?P<value>[^\s\"'`\u201c\u201d\u2018\u2019]{4,80})[\"'`\u201d\u2019]?[ \t]+(?:is|was|as)[ \t]+(?:the|my|our|your|his|her|their|a)[ \t]+(?:[\w'-]{1,20}[ \t]+){0,2}(?:pass(?:word|phrase|code)|PIN)\b", _mixed),
    # `密码是 X`: Chinese has no spaces, the value is what is Latin
    (("密", "令牌", "口令", "验证码"), r"(?i)(?:密码|口令|密钥|令牌|pin码|验证码)(?:[^\s，。；,;:：]{0,6})?(?:是|为|叫|改成|改为|设为|换成|[：:=])\s{0,2}[\"'`“「]?(?P<value>[A-Za-z0-9!@#$%^&*_.+~?-]{4,80})", _any),
    # a field written as two, an element, a flag, a setting that a sentence tells
    (("value",), r"""(?i)\b(?:key|name)["']?\s?[:=]\s?["']?(?P<name>[\w.-]++)["']?,?\s+["']?value["']?\s?[:=]\s?["']?(?P<value>[^"'\s]{4,200})""", _named),
    (("</",), r"<(?P<name>[\w:.-]++)>(?P<value>[^<>\s]{4,200})</", _named),
    ((" -", "requirepass", "masterauth"), r"""(?<!\S)(?:--?)?(?P<name>(?<=-)[\w-]{4,60}|requirepass|masterauth)[ \t]+["']?(?P<value>[^\s"'`-][^\s"'`]{3,199})["']?""", _named),
    (("_",), r"\b(?P<name>[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)`?[ \t]+(?:is|was|ist)[ \t]+[\"'`]?(?P<value>[A-Za-z0-9+/=_.~-]{10,400})", _random),
    # a login: `credentials: ana / X`, `log in as qa with X`
    (("log", "cred", "zugang", "account", "anmeld", "identifiant", "acceso"), r"(?i)\b(?:log ?ins?|credentials?|creds|account|zugangsdaten|zugang|anmeldedaten|identifiants?|credenciales|acceso)\b[^\n]{0,60}?(?:\b(?:is|are|with|ist|sind|lautet|lauten|est|sont|es|son)|[:=]|->)[ \t]+(?P<pair>[\w.@+-]{2,40}[ \t]?[/:|][ \t]?(?P<value>(?!//)[^\s,;]{5,60}))", _login),
    ((" with ", " using ", " mit "), r"(?i)\b(?:(?:log|sign|get|hook|connect)\w{0,4}[ -]?(?:in|into|on|onto|to)|melde\w*|komm(?:e|st|t)|(?:an|ein)(?:melden|loggen))\b[^\n.!?;:=\"]{1,60}? (?:with|using|mit) [\"'`\u201e]?(?P<value>[^\W\d_]{4,30}(?:\d{1,6}[!#$%&*]+|[!#$%&*]+\d{1,6}))(?=[\"'`\u201c]?(?:[ \t]*$|[.,;)\n]))", _any),
    # "user ledger pass X", "root pass X", "USER: ana PASS: X", "PASS: X" alone on its line
    (("pass ", "pass:"), r"(?i)\b(?:root|admin|guest|user(?:name)?|login|account|benutzer|ftp|ssh|vpn)\b[^\n!?]{0,45}?\bpass:?[ \t]+(?P<value>(?=\S{0,60}\d)(?-i:(?=\S{0,60}(?:[!@#$%^&*+~?]|[A-Z]\S{0,60}[_-]|[_-]\S{0,60}[A-Z]|\d[a-z])))[^\s\"'`<>]{5,79}[^\s\"'`<>.,;)])", _mixed),
    (("pass:",), r"\bPASS: ?(?P<value>(?=\S{0,99}[!@#$%^&*])(?=\S{0,99}\d)(?=\S{0,99}[A-Za-z])[^\s/:()\[\]]{8,100})[ \t]*(?:\n|$)", _mixed),
    # what an authenticator starts from, and the codes and words that stand in for it
    (("fa ", "fa_", "fa-", "otp", "authenticator"), r"(?i)\b(?:2fa|mfa|totp|otp|authenticator)[ _-](?:seed|secret|key|code)\b[^\n]{0,60}?[\s:=]\"?(?P<value>(?-i:(?=[A-Z ]{0,40}[2-7])[A-Z2-7]{16,64}|(?:[A-Z2-7]{4} ){3,15}[A-Z2-7]{4}))(?!\w)", _any),
    (("codes",), r"(?i)\b(?:recovery|backup|rescue|scratch)[ -]?codes?\b[^\n:=]{0,40}?(?::|=|\bare\b)\s{0,3}(?P<value>(?:(?=[a-z-]{0,20}\d)[0-9a-z]{4,8}(?:-[0-9a-z]{4,8}){1,3}(?:[ ,\n]{1,3}|(?![\w-]))){1,20}(?<![ ,\n]))", _any),
    (("phrase", "mnemonic", " words", "semilla"), r"(?i)\b(?:(?:seed|recovery|backup|secret|wallet)[ -](?:phrase|words)|mnemonic|wiederherstellungsphrase|phrase de récupération|frase semilla)\b[^\n]{0,40}?(?:\s|[:\"'`(])(?P<value>(?-i:[a-z]{3,8})(?:[ \n]+(?-i:[a-z]{3,8})){11,23})(?![\w])", _is_phrase),
    # files that clients read: .netrc, .pgpass; Oracle's short form of a login
    (("machine ", "default "), r"\b(?:machine[ \t]+\S{1,200}|default(?=\s+login))\s+(?:(?:login|account|port)\s+\S{1,200}\s+){0,3}password\s+(?P<value>\S{3,200})", _any),
    ((":*:", "432:"), r"(?m)(?:^|[\s`'\"])(?:[\w.*-]{1,100}):(?:\*|\d{4,5}):[A-Za-z_*][\w*-]{0,59}:[A-Za-z_*][\w*-]{0,59}:(?P<value>(?!\[redacted)[^\s:`'\"]{4,200})", _any),
    (("oracle:",), r"(?i)\bjdbc:oracle:\w+:[^\s/@]{1,60}/(?P<value>[^\s@]{1,100})@", _any),
)  # fmt: skip


def _formed(
    marks: tuple[str, ...], pattern: str, check: Callable[[re.Match[str]], bool]
) -> Callable[[str, str], Spans]:
    def find(text: str, lower: str) -> Spans:
        if any(mark in lower for mark in marks):
            yield from (match.span("value") for match in re.finditer(pattern, text) if check(match))

    return find


_NAME_MARKS = ("pass", "pwd", "secret", "token", "key", "credential", "cookie", "authorization", "psk", "auth", "kennwort", "mnemonic", "pw")  # fmt: skip
_SENTENCE_MARKS = ("passw", "passp", "passc", "passe ", "pw", "pin", "kennwort", "clave", "contrase", "schlüssel", "fi key", "psk", "shared", "community")  # fmt: skip
_KEY_MARKS = ("key", "token", "secret", "cred", "passw", "passphrase", "jeton", "clave", "clé", "schlüssel", "密", "令牌", "口令", "秘")  # fmt: skip
_CODE_MARKS = ("code", "combination", "combo", "cvv", "cvc", "puk", "otp", "pin")
_ONE_EACH = tuple(_formed(*form) for form in _FORMS)


def secret_spans(text: str, lower: str) -> list[tuple[int, int]]:
    """Find where secrets stand in a text, in order, without overlaps. `lower`: the text in lower case."""
    rules: list[Callable[[str, str], Spans]] = []
    if any(mark in lower for mark in _NAME_MARKS) and (":" in text or "=" in text):
        rules.append(assigned)
    if any(mark in lower for mark in _SENTENCE_MARKS):
        rules.append(sentences)
    if re.search(r"[A-Za-z]\d|\d[A-Za-z]", text) and any(mark in lower for mark in _KEY_MARKS):
        rules.append(near)
    if re.search(r"\d\d\d|\d-\d", text) and any(mark in lower for mark in _CODE_MARKS):
        rules.append(codes)
    spans: list[tuple[int, int]] = []
    for start, end in sorted({span for rule in (*rules, *_ONE_EACH) for span in rule(text, lower)}):
        if not spans or start >= spans[-1][1]:
            spans.append((start, end))
    return spans
