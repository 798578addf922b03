"""Passwords that a sentence tells: "the staging password is hunter2", "change my PIN to 4821".

A sentence about a password mostly says something else of it ("is wrong", "is stored hashed"). So what follows the word
must look like a value: letters with digits or symbols, something in quotation marks, or a plain word that ends the
clause and is no adjective. Measured on `tests/quality/told_passwords.jsonl` and on text that holds none; see there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .placeholders import CODE, FILE_LINE, PLACEHOLDER

_QUOTES = {
    '"': '"',
    "'": "'",
    "`": "`",
    "\u201c": "\u201d",
    "\u2018": "\u2019",
    "\u201e": "\u201c",
    "\u00ab": "\u00bb",
    "\u00bb": "\u00ab",
}
# Patterns are compiled, and kept by re's own cache, when a text first asks for them: a hook may need one of them.
_NOUN = (
    r"(?<![\w.$@/\\-])(?:[\w-]{1,30}-)?(?P<noun>pass(?:word|wort|phrase|code|wd)?|kennwort|pwd|pw|pin|mot de passe|contraseña|clave"
    r"|(?:wlan|wifi|wi-fi|netzwerk)-?schlüssel|wi-?fi key|psk|pre-?shared[ -]key|community[ -]string|snmp(?:[ -]?v?[123]c?)?[ -]community)(?:['\u2019]s)?(?![\w(\[./\\-])"
)
_IN_BRACKETS = r"(?:[ \t]*\([^()\n]{1,60}\))?"
# "for the router", "of Ana's locker", "we use there", "(billing)": up to the verb of the same clause.
_ABOUT = (
    _IN_BRACKETS
    + r"(?:[ \t]+(?:wi-?fi|wlan|vpn|admin|root|sudo))?(?:[ \t]+(?:for|of|to|on|in|at|from|we|i|they|you|that|für|von|zu|zum|zur|auf|am|im|vom|des|der"
    r"|pour|de|du|la|sur|del|para|en|d['\u2019]\w+)\b"
    r"[^\n.!?;:=\"]{1,60}?)?" + _IN_BRACKETS
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
_TOLD = rf"(?i){_NOUN}(?:{_ABOUT}(?:(?P<verb>{_IS})|{_SIGN})|{_BARE})"
# Before a bare "pass": "user ledger pass X", "login: noor, pass X", "root pass X"; not "the user can pass X".
_USER = re.compile(
    r"(?i)\b(?:(?:root|admin|guest|ftp|smtp|ssh|vpn|wlan|wi-?fi)[ \t]*[:,;/]?[ \t]*$|(?:user(?:name)?|login|account|benutzer(?:name)?)[ \t]*[:=]?[ \t]+"
    r"(?!(?:can|could|may|might|must|should|shall|will|would|does|did|do|has|have|who|that|to|and|or|of|in|is|not|then|code|agents?)\b)"
    r"[\w.@+-]{2,40}[ \t]*[,;/|]?[ \t]*(?:(?:and|with|und|mit)[ \t]+)?$)"
)
# With a hyphen and no capital it may be a name: phase-2.
_DIGIT_AND_SIGN = re.compile(r"(?=\S{0,60}\d)(?=\S{0,60}(?:[!@#$%^&*+~?]|[A-Z]\S{0,60}[_-]|[_-]\S{0,60}[A-Z]))")
# "change the password [of X] to Y": only with the verb before.
_SET = (
    r"(?i)\b(?:set|changed?|reset|updated?|rotated?|switch|switched)\b[^\n.!?;:=\"]{1,50}?"
    rf"{_NOUN}(?:[ \t]+(?:for|of|on)\b[^\n.!?;:=\"]{{1,40}}?)?{_TO}(?P<verb>)"
)
# "hunter2 is the password for X", "use hunter2 as my PIN".
_BEFORE = (
    r"(?i)(?<!\S)(?P<value>[\"'`\u201c\u2018][^\"'`\u201d\u2019\n]{3,60}[\"'`\u201d\u2019]|\S{4,80})"
    r"[ \t]+(?:is|was|as)[ \t]+(?:the|my|our|your|his|her|their|a)[ \t]+(?:[\w'-]{1,20}[ \t]+){0,2}"
    r"(?:pass(?:word|phrase|code)|PIN)\b"
)

# Chinese has no spaces: the value is what is Latin.
_CHINESE = r"(?:密码|口令|密钥|令牌|pin码|验证码)(?:[^\s，。；,;:：]{0,6})?(?:是|为|叫|改成|改为|设为|换成|[：:=])\s{0,2}[\"'`“「]?(?P<value>[A-Za-z0-9!@#$%^&*_.+~?-]{4,80})"
# Whose value may be a plain word.
_SURE = frozenset({"password", "passwort", "passphrase", "passcode", "passwd", "kennwort", "pwd", "pw", "pin"})

# Technical terms and measures have digits too: SHA256, TLS1.3, 2048-bit, 2026-03-01, 30s, 1Password, OAuth2, v2.
_TERM = re.compile(
    r"(?:pb?kdf|sha|md|utf|base|aes|rsa|http|oauth|ipv|argon|bcrypt|scrypt|tls|ssl|ntlm|blake|hmac|nist|latin|iso|v|s|x|h|q|level|php|python|"
    r"win|mp|log4j|k8|i18|l10|e2|a11|level|step|day|week|room|chapter|section|line|page|version|issue|pr|c|f|g|p)-?_?[\d.]+[a-z]{0,2}(?:-\w+)?$"
    r"|\d[\d.,]*-?(?:bits?|bytes?|chars?|characters?|digits?|th|st|nd|rd|days?|hours?|h|min|minutes?|weeks?|months?|years?|ms|s|m|cm|mm|kb|mb|gb|x|fa|password|am|pm|%|\+)(?:[-/]\w+)*$"
    r"|\d{4}-\d\d?-\d\d?(?:T\S*)?$|\d\d?[:/.]\d\d(?:[:/.]\d+)?$|\w+@[\w-]+\.\w+$|(?:https?|ftp|file)://",
    re.IGNORECASE,
)
# What patterns and manual pages write, and the anchor of a section.
_MARKUP = re.compile(r"\\[^\w\s\"'!@#$%^]|\\[.$&*]|\w#[0-9a-f]{12,16}$")
_TOKEN = re.compile(r"\S{1,200}")
# In HTML quotation marks and brackets may end it, where no more than such signs follows.
_HTML_END = re.compile(r"[.,;:)!?]{0,9}(?:&(?:quot|apos|lt|gt|nbsp|#3[49]);[.,;:)]{0,9}){1,9}$")
_WORDS = re.compile(r"[a-z]{1,30}(?: [a-z]{1,30}){2,7}(?=[.,;!?]?(?:\s|$))")
_SYMBOL = re.compile(r"[!@#$%^&*+~|\\?=]")
CLAUSE_ENDS = re.compile(
    r"[ \t]*(?:$|[.,;!?)\n]|[-\u2013\u2014]{1,2}[ \t]|\("
    r"|(?:and|but|so|for|on|until|if|in case|please|same|und|aber|für)\b)"
)
# What is said of a password with one word: endings of adjectives and participles, and those that have none of these.
ADJECTIVE = re.compile(
    r"(?:ed|ing|ly|able|ible|ive|al|ous|ful|less|ory|ary|ic|ics|ent|ant|en|ish|ete|ute|ate|ure|ible|iert|bar|lich|ig|isch|t)$"
)
SAID = frozenset(
    """
    wrong right weak strong short long empty blank null none undefined invalid valid safe unsafe public plain plaintext
    unique simple complex easy hard tough obvious false true mine yours ours theirs here there below above inside
    outside elsewhere everywhere somewhere enough known unknown read made gone done ready stale fresh shown seen taken
    masked obsolete clear clean okay good better best worse worst longer shorter stronger weaker newer older bigger
    harder easier simpler safer other another these those this that what which where whose something anything nothing
    everything someone nobody always never often later today tomorrow yesterday again alone together whatever fine
    crucial default random garbage gibberish nonsense visible legacy missing sensitive string bytes number integer
    email username login field input value unclear unsure third second first under about after before between during
    without within behind through across with from into over until unless because since while though although either
    neither both only also still already almost nearly maybe perhaps probably rather quite really pretty super extra
    pending alive broken stored normal usual super great awesome cool nice funny silly stupid dumb crazy weird strange
    like more less most least very much many such same different falsch richtig leer kurz lang schwach stark sicher neu
    alt weg hier dort dasselbe dieselbe nicht noch nur sehr unser unsere meins deins seins geheim ungültig gültig
    """.split()  # noqa: SIM905
)


# What a program is given on its command line: `mysql -pX`, `sshpass -p X`, `curl -u name:X`, `openssl -passin pass:X`.
# @: other arguments of the same command.
_FLAGS = (
    r"(?:mysql\w{0,10}|mariadb[\w-]{0,10}|7z)\b@ -p",
    r"sshpass +-p *",
    r"mongo\w{0,10}\b@ -p[ =]",
    r"(?:docker|podman|helm|az)(?: \w{1,20}){0,2} login\b@ -p[ =]",
    r"redis-cli\b@ -a +",
    r"(?:un)?zip\b@ -P *",
    r"ldap\w{3,10}\b@ -w +",
    r"curl\b@ (?:-u|-U|--user|--proxy-user)[ =]?[\"']?[^\s:\"']{1,80}:",
    r"openssl\b@ pass:",
    r"net use\b@ /user:\S{1,80} +",
    r"(?=echo [^\n;|&]{1,200}\| *(?:sudo +)?chpasswd)echo +(?:-n +)?[\"']?[\w.-]{1,40}:",
    r"(?=echo [^\n;|&]{1,200}\| *sudo +-S)echo +(?:-n +)?",
)
_GIVEN = (
    rf"\b(?:{'|'.join(_FLAGS)})".replace("@", r"[^\n;|&]{0,200}?")
    + r"[\"']?(?P<value>(?![-<$*{\[])[^\s\"'`;|&]{2,200})"
)


def given(text: str) -> list[tuple[int, int]]:
    """Where secrets stand that a command line gives to a program that takes one, in order."""
    found = [match.span("value") for match in re.finditer(_GIVEN, text)]
    return [span for span in found if not PLACEHOLDER.match(text[slice(*span)])]


def told(text: str) -> list[tuple[int, int]]:
    """Where passwords stand that the text tells, in order, without overlaps. Linear in the length of the text."""
    found = sorted({*_after(_TOLD, text), *_after(_SET, text), *_before(text), *_chinese(text)})
    spans: list[tuple[int, int]] = []
    for start, end in found:
        if not spans or start >= spans[-1][1]:
            spans.append((start, end))
    return spans


def _after(pattern: str, text: str) -> Iterator[tuple[int, int]]:
    for match in re.finditer(pattern, text):
        noun = match["noun"].lower()
        if noun == "pin" and match["noun"] != "PIN" and not match.groupdict().get("verb"):
            continue
        if noun == "pass" and not match.groupdict().get("verb"):
            between = text[match.end("noun") : match.end()]
            signed = re.fullmatch(rf"{_IN_BRACKETS}(?! :){_SIGN}", between)
            if match["noun"] == "PASS" or not (signed or (between.isspace() and _of_user(match))):
                continue  # mostly a verb, or the outcome of a test
        old = match.span("old") if "old" in match.re.groupindex else (-1, -1)
        span = _value(text, match.end(), noun, said=match["verb"] is not None)
        if span is not None:
            if old[0] >= 0:
                yield old
            yield span


def _of_user(match: re.Match[str]) -> bool:
    """Whether a bare "pass" stands behind the name of a user, and before digits and signs."""
    text, start = match.string, match.start()
    return bool(_DIGIT_AND_SIGN.match(text, match.end()) and _USER.search(text, max(0, start - 80), start))


def _before(text: str) -> Iterator[tuple[int, int]]:
    for match in re.finditer(_BEFORE, text):
        start, end = match.span("value")
        word = text[start:end]
        if word[0] in _QUOTES:
            if _quoted(word[1:-1], said=True):
                yield start + 1, end - 1
        elif mixed(word) and not PLACEHOLDER.match(word) and not CODE.match(word):
            yield start, end


def _chinese(text: str) -> Iterator[tuple[int, int]]:
    for match in re.finditer(_CHINESE, text, re.IGNORECASE):
        start, end = match.span("value")
        word = match["value"].rstrip(".")
        if PLACEHOLDER.match(word) or CODE.match(word):
            continue
        ends = re.match(r"[\"'`”」]?\s*(?:$|[，。；！,.;!\n])", text[end : end + 4]) is not None
        if mixed(word) or (ends and (word.isdigit() or len(word) >= 6) and word.lower() not in SAID):
            yield start, start + len(word)


def _value(text: str, start: int, noun: str, *, said: bool) -> tuple[int, int] | None:
    """The span of the value that begins here. `said`: after a verb; else after a sign, or nothing."""
    if start >= len(text):
        return None
    close = _QUOTES.get(text[start])
    if close is not None:
        end = text.find(close, start + 1, start + 82)
        inner = text[start + 1 : end]
        return (start + 1, end) if end > 0 and "\n" not in inner and _quoted(inner, said=said) else None
    token = _TOKEN.match(text, start)
    if token is None:
        return None
    word = _HTML_END.sub("", token[0])
    if not (word.isalpha() or mixed(word)):
        word = token[0]
    word = word.rstrip(".,;:)]}>\"'?")
    end = start + len(word)
    word = word.rstrip("!")
    if not word or word[0] in "([{</" or PLACEHOLDER.match(word):
        return None
    if CODE.match(token[0]) and not (said and re.match(FILE_LINE, token[0])):
        return None
    if word.isdigit():
        least, most = (4, 8) if noun in ("pin", "passcode") else (6, 12)
        fits = least <= len(word) <= most and CLAUSE_ENDS.match(text, end) is not None
        return (start, end) if fits else None
    if mixed(word):
        return start, end
    if noun not in _SURE:
        return None
    if not said or CLAUSE_ENDS.match(text, end) is None:
        if noun == "passphrase" and said:
            return _phrase(text, start)
        return None
    parts = word.lower().split("-")
    if len(parts) > 2 and not any(len(part) < 3 for part in parts):
        return start, end
    plain = word.isalpha() and len(word) >= 5 and word.lower() not in SAID and not ADJECTIVE.search(word)
    return (start, end) if plain else None


def mixed(word: str) -> bool:
    """Letters with digits or symbols, as no word of a language and no technical term has them."""
    word = word.strip("!?.,;:*'\"")
    if len(word) < 5 or _TERM.match(word) or _MARKUP.search(word) or not any(map(str.isalpha, word)):
        return False
    return any(map(str.isdigit, word)) or _SYMBOL.search(word) is not None


def _quoted(inner: str, *, said: bool) -> bool:
    """Whether what stands in quotation marks is a value, not words about one."""
    if not 3 <= len(inner) <= 80 or PLACEHOLDER.match(inner) or inner.endswith((":", "...")):
        return False
    words = inner.split()
    if len(words) == 1:
        word = words[0].strip("!?.")
        return mixed(word) or (said and word.lower() not in SAID and not ADJECTIVE.search(word))
    return said and len(words) <= 8 and not any(word.lower() in LITTLE for word in words)


# A phrase that holds one of these is a sentence.
LITTLE = frozenset(
    """
    a an the is are was be not no to of in on at by for with and or as it this that your my you too very must only known
    from
    """.split()  # noqa: SIM905
)


def _phrase(text: str, start: int) -> tuple[int, int] | None:
    """Words that make no sentence, up to the end of a clause: "correct horse battery staple"."""
    match = _WORDS.match(text, start)
    if match is None or any(word in LITTLE or word in SAID for word in match[0].split()):
        return None
    return match.span() if CLAUSE_ENDS.match(text, match.end()) else None
