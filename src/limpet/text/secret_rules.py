"""Secrets known by their surroundings: assigned to a name, stated in a sentence, given to a program, near a word.

Most texts about a key or a password do not contain one. So a value must look like one: letters with digits or signs,
quotation marks around it, or a plain word that ends its clause. Measured on tests/quality/secrets and
told_passwords.jsonl, and on text of others; a rule is kept only if its removal shows there. Patterns are compiled, and
kept by re's own cache, when a text holds their marks. All run in linear time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from .forms import GIVEN
from .secret_values import (
    ADJECTIVE,
    CLAUSE_ENDS,
    CODE,
    FILE_LINE,
    LITTLE,
    PLACEHOLDER,
    PLAIN_WORDS,
    REFERENCE,
    REQUESTS,
    STRICT,
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
        if names_secret(name) or (name.lower() == "pass" and name != "PASS"):
            span = _assigned(text, match, name)
            if span is not None and not is_handle(name, text[slice(*span)]):
                done = span[1]
                yield span


def _assigned(text: str, match: re.Match[str], name: str) -> tuple[int, int] | None:
    start, quote = match.end(), match["quote"]
    likely = _VALUE.match(text, start)
    if quote is not None:
        end = text.find(quote, start, start + LINE)
        inner = text[start:end]
        if end > 0 and "\n" not in inner and " " in inner and name.isupper() and "=" in match["sign"]:
            return None if is_placeholder(inner) else (start, end)  # a setting of the environment, with spaces
        if end > start and _is_value(inner, name, closed=True):
            return start, end
    if likely is not None and name.lower() != "pass":
        word = likely[1].rstrip(")]}")
        if is_placeholder(likely[1]) or PLACEHOLDER.match(word) or REFERENCE.match(word):
            return None
        end = text.find(quote, start, start + LINE) if quote is not None else -1
        return (
            (start, end)
            if end > likely.end() and not re.search(r"\s", text[start:end])
            else (start, _whole(text, likely.end()))
        )
    if quote is not None:
        return None
    value = _WORD_VALUE.match(text, start)
    if value is None:
        return None
    end = value.end()
    line_start = max(text.rfind("\n", max(0, match.start() - LINE), match.start()) + 1, match.start() - LINE, 0)
    tight, ends = match["sign"] == "=", end >= len(text) or text[end] in "\n \t`"
    setting = tight and ends and (name.isupper() or not text[line_start : match.start()].strip())
    line = text[line_start : start + LINE].partition("\n")[0]
    closed = setting or (tight and _SEVERAL.search(line) is not None and (ends or text[end] in ";&\"'`"))
    end = _whole(text, end)
    return (start, end) if _is_value(text[start:end], name, closed=closed or end > value.end()) else None


_REST = r"(?:[,;'&<>][^\s\"'`,;&<>=:\\]{1,100}){1,20}(?=[ \t]*(?:\n|$))"


def _whole(text: str, end: int) -> int:
    """Return where a value ends that goes on behind a comma or the like, to the end of the line."""
    rest = re.compile(_REST).match(text, end)
    return rest.end() if rest is not None else end


# What is quoted is not a password but about one.
_MESSAGE = r"(?i)\b(?:enter|char|digit|min|max|letter|new|your|invalid|wrong|required|must|should|password|forgot|field|error)|[.:?]$"


def _is_value(word: str, name: str, *, closed: bool) -> bool:
    """Return whether a value is a secret. `closed`: its surroundings mark it as a value, and where it ends."""
    if not 4 <= len(word) <= 200 or is_placeholder(word) or REFERENCE.match(word) or not STRICT.search(name):
        return False
    if " " in word:
        if closed and len(word.split()) < 6 and re.search(r"[\d&+#$%*!@]", word) and not re.search(_MESSAGE, word):
            return not LITTLE & {*word.lower().split()}
        return len(word.split()) <= 8 and word == word.lower() and name.lower().endswith(("phrase", "psk"))
    if _IDENTIFIER.match(word) or (not closed and not is_mixed(word)):
        return False
    if is_mixed(word) or re.search(r"[._+~,;<>-]", word):
        return is_mixed(word) or re.search(r"[A-Z]", word) is not None
    return is_plain_value(word) and len(word) >= 6 and not word.istitle()


# --- stated in a sentence -------------------------------------------------------------------------------------------

_QUOTES = dict(zip("\"'`\u201c\u2018\u201e\u00ab\u00bb", "\"'`\u201d\u2019\u201c\u00bb\u00ab", strict=True))
_NOUN = r"(?<![\w.$@/\\-])(?:[\w-]{1,30}-)?(?P<noun>pass[ -]?(?:word|wort|phrase|code|wd)|kennwort|pwd|pw|pin|mot de passe|contraseña|clave|(?:wlan|wifi|wi-fi|netzwerk)-?schlüssel|wi-?fi key|psk|pre-?shared[ -]key|community[ -]string|snmp(?:[ -]?v?[123]c?)?[ -]community|wachtwoord|wachtzin|senha|palavra-?passe|parola(?: d['’]ordine| chiave)?|phrase (?:de )?passe|frase (?:de paso|segreta|secreta)|(?P<pl>has[łl]o|heslo|парол[ьяюе]\w?)|пин(?:-код)?|passord|lösenord(?:et)?|adgangskode(?:n)?|salasana|jelsz[óa]\w{0,2}|şifre(?:si)?|κωδικός)(?:['’]s)?(?![\w(\[./\\-])"
_IN_BRACKETS = r"(?:[ \t]*\([^()\n]{1,60}\))?"
# "for the router", "of Ana's locker", "we use there", "(billing)": up to the verb of the same clause.
_ABOUT = (
    _IN_BRACKETS
    + r"(?:[ \t]+(?:wi-?fi|wlan|vpn|admin|root|sudo))?(?:[ \t]+(?:for|of|to|on|in|at|from|we|i|they|you|that|für|von|zu|zum|zur|auf|am|im|vom|des|der|pour|du|de|la|sur|del|della|dello|per|al|alla|para|do|da|dos|das|no|na|en|van|voor|op|bij|od|dla|pro|k|w|от|до|для|к|на|в|ko|för|till|til|på|за|[dl]['’]\w+|dell['’]\w+)\b[^\n.!?;:=\"–—]{1,60}?)?"
    + _IN_BRACKETS
    + r"(?(pl)(?:[ \t]+[^\s\d.!?;:=\"\u2013\u2014]{1,20}){0,5}?)"  # with a genitive
)
_STILL = r"(?:[ \t]+(?:now|currently|still|just|simply|always|again|called|the word|jetzt|nun|noch|immer|einfach))*"
_TO = r"[ \t]+(?:from[ \t]+(?P<old>\S{1,80})[ \t]+)?to[ \t]+"
_IS = rf"[ \t]+(?:(?:is|was|has been|got|had been)[ \t]+)?(?:set|changed|reset|updated|rotated){_TO}|[ \t]+(?:is|was|will be|should be|must be|remains|ist|war|lautet|heißt|est|était|es|era|è|é|jest|brzmi|luidt|это|är|er|je|olarak){_STILL}[ \t]*:?[ \t]+|(?(pl)[ \t]+to[ \t]+|(?!))"
# Between a word and its value there may be a line break or markup: `**Password:** x`, `<td>Password</td><td>x`.
_MARKUP = r"(?:[*_~]{1,3}|(?:</?[a-z][^<>\n]{0,60}>\s{0,9}){1,6})?"
_SIGN = (
    rf"{_MARKUP}[ \t]*(?:[:=]|->|=>|→|：|[ \t][–—][ \t]){_MARKUP}[ \t]*(?:\n[ \t]{{0,12}}(?:[-*>] )?)?{_MARKUP}"
    r"|(?:</[a-z]{1,9}>\s{0,9}){1,3}(?:<[a-z][^<>\n]{0,60}>\s{0,9}){1,3}"
)
# Right behind the word, without a verb: what is quoted, or holds a digit or a symbol.
_BARE = r"[ \t]+(?=[\"'`\u201c\u2018\u201e\u00ab\u00bb]|\S{0,40}[\d!@#$%^&*+~])"
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
# Words of small letters to the end of the clause, of which the first does not begin a sentence about the phrase.
_PHRASE = r"(?!(?:\w{3,}(?:ed|ing|ly|ble|iert)|an?|the|not?|in|on|at|by|to|of|for|from|with|as|known|kept|written|set|lost|gone|taken|given|held|made|shown|sent|only|never|always|still|also|just|too|very|so|now|then|some\w*|any\w*|every\w*|up|out|what\w*|wh\w+|how|long|short|strong|weak|different|same|our|their|his|her|your|my|right|wrong|good|bad|under|inside|there|here|more|less|about|nicht|im|in|bei|auf|noch|immer|zu|sehr|nur|jetzt|auch|nur|dans|pas|en|au|no|nel|non|na|w|nie)\b)(?:[^\W\d_A-Z]{1,30}[ -]){3,9}[^\W\d_A-Z]{1,30}(?=[.,;!?)]|[ \t]*(?:\n|$))"


def sentences(text: str, _lower: str) -> Spans:
    """Yield the values that a sentence gives for a password."""
    for pattern in (_STATED, _SET):
        for match in re.finditer(pattern, text):
            noun, verb = re.sub("(?<=pass)[ -]", "", match["noun"].lower()), match["verb"] is not None
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
    if noun not in _SURE:  # Capitals at the end of a clause: a name, in a language where nouns have none.
        named = verb and closed and len(word) > 5 and word[0].isupper() and word.isalpha()
        return (start, end) if named and not re.search("key|psk|schlüssel|clave|snmp|community", noun) else None
    if not verb:
        phrase = re.compile(_PHRASE).match(text, start) if "phrase" in noun else None
        return phrase.span() if phrase else None
    if not closed:
        phrase = re.compile(_PHRASE).match(text, start) if "phrase" in noun or "frase" in noun else None
        return phrase.span() if phrase else None
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
    r"(?i)(?<![\w$@/\\.])(?<!::)(?P<noun>keys?|tokens?|secrets?|credentials?|creds?|password|passphrase|jeton|clave|clé|keypair|privkey)(?![\w(\[/\\-]|\.\w)|(?:schlüssel|密钥|令牌|秘钥|密码|口令)"
)
# What says that the word before means something to be kept to oneself; a key without it needs a longer value.
_KEPT = re.compile(
    r"(?i)(?:api|access|secret|signing|shared|client|encryption|licen[sc]e|master|private|deploy|auth|service|account|hmac|webhook|app|application|server|storage|consumer)[ -]?$"
)
# What else such a value is.
_OTHER = re.compile(
    rf"(?i)\b(?:{'|'.join(sorted(HANDLES)).replace('_', ' ')}"
    r"|commit|sha-?\d*|md5|hash\w*|digest|checksum|fingerprint|etag|uuid|guid|revision|public|trace|cache|partition|sort|primary|foreign|change|ids?|arn|eui|host|endpoint|bucket|gpg|pgp|ssh|path|file|tx|transaction|version|branch|image|object|document|row|node|device|room)\b|/"
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


_LOCK = r"door|alarm|gate|garage|safe|lock|locker|padlock|keypad|entry|entrance|access|unlock|security|verification|login|sign-?in|confirmation|sms|vault|shed|key ?safe|one[- ]time|2fa|otp|mfa|voicemail|lockbox|building|suitcase|luggage|house|flat|debit|credit|bank|card|sim|phone|tablet|backup|parental"
_OF = r"(?:[ \t]+[^\s\d.!?:=]{1,20}){0,6}?"
_SAYS = r"(?:['\u2019]s|[ \t]+(?:is|was|are|ist|war|lautet|est|es|è|é|jest|to|now|still|it's)\b|[ \t]*(?:[:=：]|->|\u2192|[ \t][\u2013\u2014](?= )|は|是))+"
# Codes of doors and cards; the last three rows are German, French and Spanish.
_CODES = (
    rf"(?i)\b(?:(?:{_LOCK})s?(?:['\u2019]s)?[ -]+){{1,3}}(?:pin|code|combination)\b{_OF}(?:{_SAYS}|(?<=pin)|(?<=combination))|\b(?:combination|combo|code|pin) (?:for|to|of) (?:the|my|our|his|her) (?:[\w-]+ )?(?:{_LOCK})\b{_OF}{_SAYS}|\b(?:my|our|his|her) pin\b{_OF}{_SAYS}|\b(?:cvv2?|cvc2?|puk|otp)(?:[ -](?:code|number))?\b{_OF}(?:{_SAYS})?|\b(?:code|pin|kombination) (?:für|von|zu|zum|zur|vom|am|an|der|des)(?: (?:den|das|die|dem|der|unseren?|meinen?))?(?: [\w-]+)? (?:[\w-]*(?:tresor|safe|tür|tor|alarmanlage|garage|schloss|schließfach|karte|handy))s?\b{_OF}{_SAYS}"
    rf"|\b(?:tür|alarm|tor|zugangs|safe|tresor|sicherheits|schloss|garagen|haustür|handy|karten)-?(?:code|pin)\b{_OF}{_SAYS}|\b(?:codice|código|kod|код|пин-?код) (?:(?:d\w{{0,4}}|pin|от|для|do|na) ?(?:l['\u2019])?)?(?:porta|port\w{{2,5}}|allarme|alarme|cancello|cassaforte|cofre|cartão|garagem|accesso|drzwi\w*|alarmu|bramy|furtki|sejfu|domofonu|двер\w+|домофон\w*|сейф\w*|подъезд\w*)\b{_OF}(?:{_SAYS})?|\b(?:(?:deur|toegangs|pin|kluis|poort)-?code|code (?:van|voor) (?:de |het )?\w{{0,15}}(?:deur|kluis|poort|alarm|kast|garage|slot))\b{_OF}{_SAYS}|\b(?:lockbox|keypad|padlock|key ?safe|digicode)\b{_OF}(?:{_SAYS})?|(?:暗証番号|暗证码|비밀번호){_OF}{_SAYS}|\b(?:cryptogramme|prüfnummer|kartenprüfnummer|código de seguridad)\b{_OF}(?:{_SAYS})?"
    # what one types at the thing, or sets it to: `the alarm: type 2806`, `locker 114: I set it to 5083`
    rf"|\b(?:alarma?|door|gate|lock(?:er|box)?|padlock|safe|keypad|garage|tresor|tür|alarmanlage|schloss|puerta|porte|portail|portone|cancello|allarme|alarme|drzwi|brama|deur)\b[^\n.!?]{{0,90}}?\b(?:type|enter|press|dial|punch in|key in|set (?:it |them )?to|(?:opens?|unlocks?|open it|disarm(?:ed)?(?: it)?) (?:with|using|by)|geht mit|öffnet mit|tippe?n?|(?:quita|abre|s['\u2019]ouvre|ouvre|apre|desactiva|désactive) (?:con|avec|com))(?= )|\b(?:code|código) (?:pin|secret|confidentiel|secreto|(?:de|du|del|d['\u2019]) ?(?:la |l['\u2019])?(?:porte|accès|alarme|portail|immeuble|coffre|carte|puerta|alarma|acceso|portal|garaje|caja|seguridad|tarjeta))\b{_OF}{_SAYS}"
)
_DIGITS = r"[ \t]*[\"'`*]{0,2}(?P<value>(?:\d{1,6}(?:[- ]\d{2,4}){1,2}|\d(?:[- ]\d){3,7}|\d{3,10}|(?=[A-Z]{0,7}\d[A-Z]{0,6}\d)[A-Z\d]{4,8})[#*]?)(?!\w|[.,:/-]\d|[ \t]*(?:%|bits?|digits?|characters?|times))"
_GOES_ON = r"[\"'`*]| (?:then|and|y|e|et|und|i|en|po|dann|puis|o|or|です)\b|です|。"


def codes(text: str, _lower: str) -> Spans:
    """Yield digits that open a door or a card."""
    for match in re.finditer(_CODES, text):
        digits = re.compile(_DIGITS).match(text, match.end())
        if digits is not None and (
            CLAUSE_ENDS.match(text, digits.end()) or re.match(_GOES_ON, text[digits.end() : digits.end() + 9])
        ):
            yield digits.span("value")


_LISTED = r"(?i)\b(?:(?:recovery|backup|rescue|scratch|2fa|mfa|one-time|emergency)[ -]?codes?|(?:wiederherstellungs|notfall|backup|sicherungs)-?codes?|c[óo]d(?:igos|ici) (?:de |di )?(?:recup|backup|emerg|respaldo|resgate|segur)\w*|codes? de (?:secours|récup\w+|sauvegarde)|(?:herstel|back-?up)codes|kody (?:zapasowe|odzyskiwania|awaryjne)|(?:резервные|запасные) коды)\b|(?:リカバリー|バックアップ)コード"
_BETWEEN = r"(?:[\s,;/|*•`'\"-]|\d{1,2}[.)][ \t]|(?:and|or|e|y|und|et|en|oraz|i|и)\s){1,24}"
_ONE = r"(?:\d{3,4}[ -]\d{3,4}(?:[ -]\d{4})?|(?=[A-Za-z-]{0,24}\d)[0-9A-Za-z]{4,12}(?:-[0-9A-Za-z]{4,12}){0,4})(?![\w.:/-])"


def listed(text: str, _lower: str) -> Spans:
    """Yield the codes of a list that stand in for a second factor."""
    done = 0
    for match in re.finditer(_LISTED, text):
        sign = re.compile(r"[^\n:=]{0,90}?(?:[:=]|\bare\b|\n)").match(text, match.end())
        at = sign.end() if sign is not None and match.start() >= done else len(text)
        while (between := re.compile(_BETWEEN).match(text, at)) and (
            code := re.compile(_ONE).match(text, between.end())
        ):
            yield code.span()
            at = done = code.end()


# A column of passwords, or of what opens a door, in a table of Markdown or CSV.
_COLUMNS = r"(?i)(?:.{0,30}[ _-])?(?:pass|password|passwort|passwd|pw|pwd|passphrase|kennwort|secret|token|api[ _-]?key|mot de passe|contraseña|clave|senha|wachtwoord|has[łl]o|heslo|пароль|パスワード|密码)|(?P<lock>(?:gate|door|alarm|safe|lock(?:er|box)?|keypad|garage|pin|tür|tor|tresor|porte|portail|puerta|porta|alarma|cancello|entry|access)(?:[ -]?(?:code|pin|código|codice|kod))?s?)"


def tables(text: str, _lower: str) -> Spans:
    """Yield the cells of such columns."""
    sign, width, columns, start = "", 0, {}, 0
    for line in text.splitlines(keepends=True):
        cells = line.rstrip("\n").split(sign) if sign and line.count(sign) == width else []
        if not cells:
            sign = next((one for one in ("|", "\t", ";", ",") if one in line), "")
            named = enumerate(line.split(sign)) if sign else ()
            width = line.count(sign) if sign else 0
            columns = {
                number: found for number, one in named if (found := re.fullmatch(_COLUMNS, one.strip(" \t\n*_`\"'")))
            }
            sign = sign if columns and sum(map(bool, map(str.strip, line.split(sign)))) > 1 else ""
        for number in columns if cells else ():
            value = cells[number].strip(" \t*`\"'")
            begin = start + sum(map(len, cells[:number])) + number + cells[number].find(value)
            if _is_cell(value, lock=columns[number]["lock"] is not None):
                yield begin, begin + len(value)
        start += len(line)


def _is_cell(value: str, *, lock: bool) -> bool:
    if lock:
        return re.fullmatch(r"[A-Z]?\d{3,10}[A-Z]?[#*]?|\d{2}-\d\d-\d\d", value) is not None
    if not 4 <= len(value) <= 200 or re.search(r"\s", value) or is_placeholder(value):
        return False
    return is_mixed(value) or re.search(r"\d{4}|[A-Z].*[._~-]|[._~-].*[A-Z]", value) is not None


# --- all rules --------------------------------------------------------------------------------------------------------

_NAME_MARKS = ("pass", "pw", "secret", "token", "key", "credential", "cookie", "authorization", "psk", "auth", "kennwort", "mnemonic", "wachtw", "senha", "heslo", "haslo", "parola", "essionid", "sessid")  # fmt: skip
_SENTENCE_MARKS = ("pass", "pw", "pin", "kennwort", "clave", "contrase", "schlüssel", "fi key", "psk", "shared", "community", "wachtw", "senha", "heslo", "haslo", "hasł", "parola", "frase", "парол", "пин", "lösen", "adgang", "salasana", "jelsz", "şifre", "κωδικ", "phrase")  # fmt: skip
_KEY_MARKS = ("key", "token", "secret", "cred", "passw", "passphrase", "jeton", "clave", "clé", "schlüssel", "密", "令牌", "口令", "秘")  # fmt: skip
_CODE_MARKS = ("code", "combination", "combo", "cvv", "cvc", "puk", "otp", "pin", "alarm", "lock", "door", "gate", "safe", "tresor", "kod", "код", "пин", "codi", "códig", "crypto", "tür", "puerta", "porta", "暗", "비밀", "allarm", "drzwi", "bram")  # fmt: skip


def _formed(
    marks: tuple[str, ...], pattern: str, check: Callable[[re.Match[str]], bool]
) -> Callable[[str, str], Spans]:
    def find(text: str, lower: str) -> Spans:
        if any(map(lower.__contains__, marks)):
            yield from (match.span("value") for match in re.finditer(pattern, text) if check(match))

    return find


_ONE_EACH = tuple(_formed(*form) for form in GIVEN)


def secret_spans(text: str, lower: str) -> list[tuple[int, int]]:
    """Find where secrets stand in a text, in order, without overlaps. `lower`: the text in lower case."""
    rules: list[Callable[[str, str], Spans]] = []
    if any(map(lower.__contains__, _NAME_MARKS)) and (":" in text or "=" in text):
        rules.append(assigned)
    if any(map(lower.__contains__, _SENTENCE_MARKS)):
        rules.append(sentences)
    if re.search(r"[A-Za-z]\d|\d[A-Za-z]", text) and any(map(lower.__contains__, _KEY_MARKS)):
        rules.append(near)
    if any(map(lower.__contains__, ("codes", "códig", "codici", "kody", "коды", "コード"))):
        rules.append(listed)
    if "\n" in text and any(map(lower.__contains__, (*_NAME_MARKS, *_CODE_MARKS, "парол", "パスワード", "密"))):
        rules.append(tables)
    if re.search(r"\d\d\d|\d[- ]\d", text) and any(map(lower.__contains__, _CODE_MARKS)):
        rules.append(codes)
    spans: list[tuple[int, int]] = []
    for start, end in sorted({span for rule in (*rules, *_ONE_EACH) for span in rule(text, lower)}):
        if not spans or start >= spans[-1][1]:
            spans.append((start, end))
        elif end > spans[-1][1]:
            spans[-1] = (spans[-1][0], end)  # the whole value, not half of it
    return spans
