"""Secrets known by their surroundings: assigned to a name, stated in a sentence, given to a program, near a word.

Most texts about a key or a password do not contain one, so a value must look like one (`secret_values.py`). Measured on
tests/quality/secrets and told_passwords.jsonl, and on text of others; a rule is kept only if its removal shows there.
Patterns are kept by re's own cache and run in linear time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial

from . import secret_values as looks
from .forms import GIVEN
from .secrets import HANDLES, HUMP, NAME_CHARACTERS, names_key, names_secret

Spans = Iterator[tuple[int, int]]

# What is assigned to the name of a secret is one if it looks like this.
VALUE = r"""(?=[^\s"',;]{0,199}[0-9!@#$%^&*])(?![<$*{\[]|%\(|process\.env|os\.environ)((?:[^\s"',;\\]|\\(?!["'])){8,})"""  # fmt: skip
_VALUE = re.compile(VALUE)
# `NAME=`, `"name": "`, also escaped, `["name"] = `, `name => `, `--name=`, `name: type = "`, `("name", "`, `"name" to "`.
_FIELD = re.compile(r"""(?<![\w.-])(?<!::)(?P<name>[\w.-]++)(?=\\?["'`\]\[\d]{0,6}\s{0,3}(?:[=:,]|to\s))(?=(?P<closed>\\?["'`]\]?|\](?=\s{0,3}=))?(?:\[\d{0,4}\])?(?P<sign>\s{0,3}(?:(?::\s{0,3}[\w&'<>\[\]?. ]{1,30}=|(?(closed)(?:,|to\b)|(?!)))(?=\s{0,3}[bBuUL@]?["'])|=>|:=|=|:(?!:))\s{0,3}(?:[bBuUL@](?=["']))?)(?P<quote>\\?["'`])?)""")  # fmt: skip
_WORD_VALUE = re.compile(r"""[^\s"'`,;<>&\\]{1,200}""")
_IDENTIFIER = r"[a-z]+(?:[_-][a-z]+)+$|.*[\\/][\w.-]+[\\/]|\.{0,2}/|~/|[\d.]+$|[a-z]+://"
_LONG = r"(?!/)(?=.*[0-9!@#$%^&*])[^\s{<]{8,}"
_LIST = r"(?i)(?:^|[\s;?&])(?:user(?:name| ?id)?|uid|host|server|data source|database|dbname|port)\s?="
LINE = 200  # so far a line is looked at: a text may be one long line of such names


def assigned(text: str, _lower: str) -> Spans:
    """Yield what follows the name of a secret and a sign."""
    done = 0
    for match in _FIELD.finditer(text):
        name, start = match["name"][-NAME_CHARACTERS:], max(match.end("sign"), match.end("quote"))
        known = names_secret(name) or (name.lower() == "pass" and name != "PASS")
        if start < done or not (known or names_key(name)):
            continue
        before = text[max(0, match.start() - LINE) : match.start()]
        if before.endswith(":") and text[match.end() : start] == ":" and "arn:" in before:
            continue  # arn:aws:secretsmanager:eu-1:1:secret:name
        if match["sign"].lstrip()[:1] == "," and not before.rstrip(" \"'").endswith("("):
            continue  # a list of names
        span = _assigned(text, match, name, start)
        value = text[slice(*span)] if span is not None else ""
        if span is not None and (looks.holds_secret(name, value) or (known and not looks.is_handle(name, value))):
            done = span[1]
            yield span


def _assigned(text: str, match: re.Match[str], name: str, start: int) -> tuple[int, int] | None:
    quote, equals = match["quote"], "=" in match["sign"]
    likely = _VALUE.match(text, start)
    if quote is not None:
        end = text.find(quote, start, start + LINE)
        inner = text[start:end] if end > start else "\n"
        strict = equals and "_" in name and looks.STRICT.search(name) and not re.search(_MESSAGE, inner)
        if " " in inner and "\n" not in inner and (name.isupper() or strict):
            return None if looks.is_placeholder(inner) else (start, end)  # a setting of the environment, with spaces
        long = re.fullmatch(_LONG, inner) and not looks.is_placeholder(inner) and not looks.is_reference(inner)
        if "\n" not in inner and (long or _is_value(inner, name, closed=True)):
            return start, end
    if likely is not None and name.lower() != "pass":
        words = likely[1], likely[1].rstrip(")]}")
        none = looks.is_placeholder(words[0]) or looks.PLACEHOLDER.match(words[1]) or looks.is_reference(words[1])
        return None if none else (start, _whole(text, likely.end()))
    value = _WORD_VALUE.match(text, start) if quote is None else None
    if value is None:
        return None
    word, end = value[0], value.end()
    begin = text.rfind("\n", 0, match.start()) + 1
    first = match.start() - begin < LINE and not text[begin : match.start()].strip()
    line = text[max(begin, match.start() - LINE) : start + LINE].partition("\n")[0]
    last, ends = text[end : end + 1] in ("", "\n"), end >= len(text) or text[end] in "\n \t`"
    tight, upper = match["sign"] == "=", name.isupper()
    in_a_list = tight and re.search(_LIST, line) is not None and (ends or text[end] in ";&\"'`")
    if ((tight and upper and ends) or in_a_list) and word.isalpha() and len(word) > 4 and looks.STRICT.search(name):
        return None if looks.is_placeholder(word) or word.lower() in looks.PLAIN_WORDS else (start, end)
    closed = in_a_list or (tight and ends and (upper or first or re.search("[A-Z][a-z]|[^A-Za-z]", word) is not None))
    closed = closed or (first and last and (upper or (equals and re.search("[A-Z].*-|-.*[A-Z]", word) is not None)))
    whole = _whole(text, end)
    return (start, whole) if _is_value(text[start:whole], name, closed=closed or whole > end) else None


_REST = r"(?:[,;'&<>][^\s\"'`,;&<>=:\\]{1,100}){1,20}(?=[ \t]*(?:\n|$))"


def _whole(text: str, end: int) -> int:
    """Return where a value ends that goes on behind a comma or the like, to the end of the line."""
    rest = re.compile(_REST).match(text, end)
    return rest.end() if rest is not None else end


# What is quoted is not a password but about one.
_MESSAGE = r"(?i)\b(?:enter|char|digit|min|max|letter|new|your|invalid|wrong|required|must|should|password|forgot|field|error)|[.:?]$"


def _is_value(word: str, name: str, *, closed: bool) -> bool:
    """Return whether a value is a secret. `closed`: its surroundings mark it as a value, and where it ends."""
    strict = looks.STRICT.search(name) and not looks.REFERENCE.match(word)
    if not 4 <= len(word) <= 200 or looks.is_placeholder(word) or not strict:
        return False
    if " " in word:
        if closed and len(word.split()) < 6 and re.search(r"[\d&+#$%*!@]", word) and not re.search(_MESSAGE, word):
            return looks.LITTLE.isdisjoint(word.lower().split())
        return len(word.split()) <= 8 and word == word.lower() and name.lower().endswith(("phrase", "psk"))
    if re.match(_IDENTIFIER, word):  # words of small letters, as names of things are too
        return closed and re.fullmatch("[a-z]{3,}(?:[_-][a-z]{3,})+", word) is not None and not looks.names_plain(word)
    if looks.is_mixed(word) or not closed:
        return looks.is_mixed(word)
    if re.search(r"[._+~,;<>-]", word):
        return re.search(r"[A-Z]", word) is not None
    return looks.is_plain_value(word) and len(word) >= 6 and not word.istitle()


_QUOTES = dict(zip("\"'`\u201c\u2018\u201e\u00ab\u00bb", "\"'`\u201d\u2019\u201c\u00bb\u00ab", strict=True))
_NOUN = r"(?<![\w.$@/\\-])(?:[\w-]{1,30}-)?(?P<noun>pass[ -]?(?:word|wort|phrase|code|wd)|kennwort|pwd|pw|pin|mot de passe|contraseña|clave|(?:wlan|wifi|wi-fi|netzwerk)-?schlüssel|wi-?fi key|psk|pre-?shared[ -]key|community[ -]string|snmp(?:[ -]?v?[123]c?)?[ -]community|wachtwoord|wachtzin|senha|palavra-?passe|parola(?: d['’]ordine| chiave)?|code ?word|codewort|losungswort|safe ?word|mot secret|palabra secreta|phrase (?:de )?passe|phrase secrète|frase (?:de paso|segreta|secreta)|(?P<pl>has[łl]o|heslo|парол[ьяюе]\w?)|пин(?:-код)?|passord|lösenord(?:et)?|adgangskode(?:n)?|salasana|jelsz[óa]\w{0,2}|şifre(?:si)?|κωδικός)(?:['’]s)?(?![\w(\[./\\-])"
_IN_BRACKETS = r"(?:[ \t]*\([^()\n]{1,60}\)|,[^,.:;\n]{1,40},)?"
# "for the router", "of Ana's locker", "we use there", "(billing)": up to the verb of the same clause.
_ABOUT = _IN_BRACKETS + r"(?:[ \t]+(?:wi-?fi|wlan|vpn|admin|root|sudo))?(?:[ \t]+(?:for|of|to|on|in|at|from|we|i|they|you|that|für|von|zu|zum|zur|auf|am|im|vom|des|der|pour|du|de|la|sur|del|della|dello|per|al|alla|para|do|da|dos|das|no|na|en|van|voor|op|bij|od|dla|pro|k|w|от|до|для|к|на|в|ko|för|till|til|på|за|[dl]['’]\w+|dell['’]\w+)\b[^\n.!?;:=\"–—]{1,60}?)?" + _IN_BRACKETS + r"(?(pl)(?:[ \t]+[^\s\d.!?;:=\"\u2013\u2014]{1,20}){0,5}?)"  # fmt: skip
_STILL = r"(?:[ \t]+(?:now|currently|still|just|simply|always|again|called|the word|jetzt|nun|noch|immer|einfach))*"
_TO = r"[ \t]+(?:from[ \t]+(?P<old>\S{1,80})[ \t]+)?to[ \t]+"
_IS = rf"[ \t]+(?:(?:is|was|has been|got|had been)[ \t]+)?(?:set|changed|reset|updated|rotated){_TO}|[ \t]+(?:is|was|will be|should be|must be|remains|ist|war|lautet|heißt|est|était|es|era|è|é|jest|brzmi|luidt|это|är|er|je|olarak){_STILL}[ \t]*:?(?:[ \t]+|[ \t]*\n[ \t]{{0,12}})|(?(pl)[ \t]+to[ \t]+|(?!))"
# Between a word and its value there may be a line break or markup: `**Password:** x`, `<td>Password</td><td>x`.
_MARKUP = r"(?:[*_~]{1,3}|(?:</?[a-z][^<>\n]{0,60}>\s{0,9}){1,6})?"
_SIGN = rf"{_MARKUP}[ \t]*(?:[:=]|->|=>|→|：|[ \t][–—][ \t]){_MARKUP}[ \t]*(?:\n[ \t]{{0,12}}(?:[-*>] )?)?{_MARKUP}" r"|(?:</[a-z]{1,9}>\s{0,9}){1,3}(?:<[a-z][^<>\n]{0,60}>\s{0,9}){1,3}"  # fmt: skip
# Right behind the word, without a verb: what is quoted, or holds a digit or a symbol.
_BARE = r"[ \t]+(?=[\"'`\u201c\u2018\u201e\u00ab\u00bb]|\S{0,40}[\d!@#$%^&*+~])"
_STATED = rf"{_NOUN}(?:{_ABOUT}(?:(?P<verb>{_IS})|{_SIGN})|{_BARE})"
# "change the password [of X] to Y": only with the verb before.
_SET = r"\b(?:set|changed?|reset|updated?|rotated?|switch|switched)\b[^\n.!?;:=\"]{1,50}?" rf"{_NOUN}(?:[ \t]+(?:for|of|on)\b[^\n.!?;:=\"]{{1,40}}?)?{_TO}(?P<verb>)"  # fmt: skip
# Whose value may be a plain word.
_SURE = frozenset("password passwort passphrase passcode passwd kennwort pwd pw pin codeword safeword codewort".split())  # noqa: SIM905 # fmt: skip
# In HTML quotation marks and brackets may end it, where no more than such signs follows.
_HTML_END = r"[.,;:)!?]{0,9}(?:&(?:quot|apos|lt|gt|nbsp|#3[49]);[.,;:)]{0,9}){1,9}$"
# Words of small letters to the end of the clause, of which the first does not begin a sentence about the phrase.
_PHRASE = r"(?!(?i:\w{3,}(?:ed|ing|ly|ble|iert)|an?|the|not?|in|on|at|by|to|of|for|from|with|as|known|kept|written|set|lost|gone|taken|given|held|made|shown|sent|only|never|always|still|also|just|too|very|so|now|then|some\w*|any\w*|every\w*|up|out|what\w*|wh\w+|how|long|short|strong|weak|different|same|our|their|his|her|your|my|right|wrong|good|bad|under|inside|there|here|more|less|about|nicht|im|in|bei|auf|noch|immer|zu|sehr|nur|jetzt|auch|nur|dans|pas|en|au|no|nel|non|na|w|nie)\b)(?:[^\W\d_]{1,30}[ -]){3,9}[^\W\d_]{1,30}(?=[.,;!?)]|[ \t]*(?:\n|$)| \()"
# A password said aloud, with the names of its signs.
_ALOUD = r"(?i)(?=[^.,;!?\n]{0,80}\b(?:capital|uppercase|underscore|dash|hyphen|exclamation|hashtag|ampersand|unterstrich|bindestrich|ausrufezeichen|raute|majuscule|tiret|mayúscula|guion|maiuscol\w|trattino)\b)[^.,;!?\n]{4,100}"


def sentences(text: str, lower: str) -> Spans:
    """Yield the values that a sentence gives for a password."""
    for pattern in (_STATED, _SET):
        for match in re.finditer(pattern, lower):
            noun, verb = re.sub("(?<=pass)[ -]", "", match["noun"]), match["verb"] is not None
            if noun == "pin" and text[slice(*match.span("noun"))] != "PIN" and not verb:
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
    token = re.compile(r"\S{1,200}").match(text, start)
    word = re.sub(_HTML_END, "", token[0]).partition("</")[0].rstrip(".,;:)]}>\"'?") if token is not None else ""
    end = start + len(word)
    word = word.rstrip("!")
    if token is None or not word or word[0] in "([{</" or looks.PLACEHOLDER.match(word):
        return None
    if looks.CODE.match(token[0]) and not (verb and re.match(looks.FILE_LINE, token[0])):
        return None
    closed = text.startswith("</", end) or looks.CLAUSE_ENDS.match(text, end) is not None
    aloud = re.compile(_ALOUD).match(text, start) if verb else None
    phrase = re.compile(_PHRASE).match(text, start) if not closed and re.search("phrase|frase", noun) else None
    if aloud is not None:
        return aloud.span()
    if word.isdigit():
        least, most = (4, 8) if noun in ("pin", "passcode") else (6, 12)
        return (start, end) if least <= len(word) <= most and closed else None
    if looks.is_mixed(word) or re.fullmatch(r"\d{1,6}(?:-\d{1,4}){2,5}", word):
        return start, end
    if phrase is not None:
        return phrase.span()
    if not closed or looks.is_joined(word):
        return (start, end) if closed else None
    if noun not in _SURE:  # Capitals at the end of a clause: a name, in a language where nouns have none.
        named = verb and len(word) > 5 and word[0].isupper() and word.isalpha()
        return (start, end) if named and not re.search("key|psk|schlüssel|clave|snmp|community", noun) else None
    parts = re.search(r"[^\W_][-./&+~][^\W_a-z]", word) is not None and looks.look(word.replace("/", "-"))
    return (start, end) if (looks.is_plain_value(word) if verb else parts) else None


def _is_quoted(inner: str, *, verb: bool) -> bool:
    """Return whether quoted text is a value, not words about one."""
    if not 3 <= len(inner) <= 80 or "\n" in inner or looks.PLACEHOLDER.match(inner) or inner.endswith((":", "...")):
        return False
    if len(inner.split()) != 1:
        return verb and len(inner.split()) <= 8 and looks.LITTLE.isdisjoint(inner.lower().split())
    word = inner.strip(" !?.")
    return looks.is_mixed(word) or (verb and word.lower() not in looks.PLAIN_WORDS and not looks.ADJECTIVE.search(word))


# What tells that a password follows or came before: first what only passwords have.
_CUE = re.compile(r"""(?x)(?<![\w.$@/\\-])(?:(?P<after>(?P<sure>[\w-]{0,24}?pass(?:w(?:or[dt]|d)|phrase|code)|\w{0,20}kennwor\w{1,2}|the[ ]pass|pwd?|ww|mdp|psk|(?:mots?[ ]de[ ]|phrase[ ](?:de[ ])?)passe|phrase[ ]secrète|contraseña|clave|clé|chave|senha|\w{0,12}wachtwoord|palavra-?passe|parola|secret|community|has[łl]\w{1,3}|hes[el][lm]\w|парол\w{1,3}|пароль|lösenord\w{0,2}|passord\w{0,2}|adgangskode\w?|salasana\w?|jelsz\w{1,4}|şifre\w{0,3}|κωδικ\w{1,3}|wpa2?(?:[ -]key)?)|(?:open|unlock|decrypt)(?:s|ed)?)|pass(?=:[ ])|wi-?fi|wlan|log[ -]?ins?|log(?:s|ged)?[ ](?:in|on)|sign[ ]?-?in|meld\w*|einlogg\w*|inlogg\w*|connect\w*|inicia\w*[ ]sesi\w+|acced\w+|entra|zalog\w+|komm(?:e|st|t)?(?=[ ]\w{1,8}[ ]mit[ ])|admin|root|rcon|ftp|ssh|vpn|rdp|account|cred(?:ential)?s?|(?:einloggen|anmelden|angemeldet|zugang|zugangsdaten)|логин|identifiants?|usuario|utente|gebruiker|zip)(?![\w(\[/\\]|[ -](?:manager|policy|reset|hash|field|file|generator|prompt|store))""")  # fmt: skip
_ENDED = r"[.!][\"')\u201d\u00bb]?\s|(?<!:)\n\s*\n|\n.*\S.*\n"
# Right before a value; and what says that a thing is named, and not a password.
_VALUE_NEXT = r"(?i)(?:[:\u2013\u2014>\u2192]|\b(?:is|was|to|now|ist|war|lautet|heißt|est|reste|es|era|è|é|jest|brzmi|to|luidt|это|är|er|je|olarak)(?: (?:le|la|el|il|o|de|het))?)\s{0,3}[\"'`*\u201c\u201e\u00ab]{0,3}$"
_NO_VALUE_AFTER = r"(?i)==|[=(\[{;]\s{0,3}[\"']?$|\b(?:vault|1password|bitwarden|keepass\w*|lastpass|file|path|folder|page|ticket|issue|version|release|branch|host|server|called|named|like|such as|e\.g\.|for|of|für|von|zu|zum|zur|pour|du|de|del|della|para|do|da|van|voor|od|dla|для|от|в|к|в|к|in|under|see|on|at|device|model|project|repo|hash\w*|algorithm|policy|via|by|uses?|using|im|siehe|unter|heißt|named?|table|field|column|variable|function|method|class|module|package|commit|tag|endpoint|header)\s{1,3}[\"'`(]{0,2}$"
_IS_THE = r"(?i)[\"'`\u201d\u00bb)]{0,2} (?:is|was|as|opens?|unlocks?|for|ist|als|öffnet|est|ouvre|es|abre|è|apre|é)\b"
# Names of products have parts too.
_PRODUCT = r"(?=.*-)(?=.*[a-z][A-Z]|(?:.*[\W_])?(?:[A-Z]{2,}|v\d+)(?:[\W_]|$)|.*\d\.\d)[^!#$%&*+=?~^]*"
_AROUND = ".?\"'`*()[]{}<>,;:\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb\u2022|"
_LOOKS = re.compile(r"(?<!\S)\S{0,40}?(?:\d|[!#$%&*+=?~^._-](?=\w))\S{0,80}")
REACH = 110


def beside(text: str, lower: str) -> Spans:
    """Yield words that look like passwords in a sentence that speaks of one."""
    for token in _LOOKS.finditer(text):
        word = token[0].lstrip("=:").strip(_AROUND)
        if re.match(r"[a-z][\w.@-]{1,30}/[^/]+$", word) and not looks.is_placeholder(word):
            word = word.rpartition("/")[2]
        strength, start = looks.look(word), token.start() + token[0].find(word)
        cues = reversed(list(_CUE.finditer(lower, max(0, start - REACH), start))) if strength else ()
        if any(_tells(text, word, strength, cue, start) for cue in cues):
            yield start, start + len(word)
        elif strength == 3:  # `use X as the password`
            after = re.split(_ENDED, text[start + len(word) : start + len(word) + 70])[0]
            cue = _CUE.search(after.lower()) if re.match(_IS_THE, after) else None
            if cue is not None and cue["after"] is not None and after.count(" ", 0, cue.start()) < 8:
                yield start, start + len(word)


def _tells(text: str, word: str, strength: int, cue: re.Match[str], start: int) -> bool:
    """Return whether what is between a word for a password and one that looks like it tells it."""
    named, before = text[cue.start() : cue.end()], text[cue.end() : start]
    number, digit = len(before.split()), re.search(r"\d", word) is not None
    if re.search(_ENDED, before) or "_" in named or HUMP.search(named) or re.search(_NO_VALUE_AFTER, before):
        return False
    if strength < 3 and re.search(r"[=\[\]{};]|\w\(", before):
        return False  # code
    if cue["sure"]:
        near = re.search(_VALUE_NEXT, before) is not None or (not number and digit)
        return number < 14 and strength >= (3 if number > 6 else 1 if near else 2)
    if re.fullmatch(_PRODUCT, word):
        return False
    return number < 10 and (strength == 3 or (digit and re.search(r"[^\s/] ?/ ?[\"'`]?$", before) is not None))


_KEY = re.compile(r"(?:(?<![\w$@/\\.])|(?<=[A-Za-z_])(?=key|token))(?<!::)(?P<noun>keys?|tokens?|secrets?|credentials?|creds?|password|passphrase|jeton|clave|clé|keypair|privkey)(?![\w(\[/\\-]|\.\w)|(?:schlüssel|密钥|令牌|秘钥|密码|口令)")  # fmt: skip
# What says that the word before means something to be kept to oneself; a key without it needs a longer value.
_KEPT = r"(?i)(?:api|access|secret|signing|shared|client|encryption|licen[sc]e|master|private|deploy|auth|service|account|hmac|webhook|app|application|server|storage|consumer|rest|write|setup|recovery|network|session|integration|license)[ _-]?$"  # fmt: skip
# What else such a value is.
_OTHER = rf"(?i)\b(?:{'|'.join(sorted(HANDLES)).replace('_', ' ')}" r"|kty|commit|sha-?\d*|md5|hash\w*|digest|checksum|fingerprint|etag|uuid|guid|revision|public|trace|cache|partition|sort|primary|foreign|change|ids?|arn|eui|host|endpoint|bucket|gpg|pgp|ssh|path|file|tx|transaction|version|branch|image|object|document|row|node|publishable|site|device|room)\b|/|(?:site|public|pub|host|foreign|hot)$"  # fmt: skip
_WORD = re.compile(r"[A-Za-z0-9+/=_.~!@#$%^&*-]{10,400}")
_BESIDE = r"pk_(?:live|test)_|&?[A-Za-z][\w-]*=[^=]|[A-Za-z][\w+~-]*\d\.\d[\w.+~-]*-g[0-9a-f]{7,12}$|AAAA[BCE][23]|(?:[0-9A-F]{16}|[0-9A-F]{40})$|[\w./-]*#[0-9a-f]{12,16}$"  # fmt: skip
_STATES = r"(?i)\b(?:is|are|was|to|now|use)\b|=|->|(?<![\"'])\s?:|\u2192"
NEAR, LEAST, ALONE = 70, 10, 24


def near(text: str, lower: str) -> Spans:
    """Yield random words close behind a word for a key, token or secret."""
    done = -1
    for match in _KEY.finditer(lower):
        start, end = match.span()
        before = re.split("[\n:;,]", text[max(0, start - 25) : start])[-1]
        kept = (match["noun"] or "") not in ("key", "keys", "clave", "clé") or re.search(_KEPT, before) is not None
        if re.search(_OTHER, _apart(before)):
            continue
        for word in _WORD.finditer(text, max(end, done), end + NEAR + 400):
            between = text[end : word.start()]
            ended = word.start() - end > NEAR or between.count("\n") > 2 or re.search(_OTHER, _apart(between))
            if (
                ended
                or re.search(r"\.\s" if kept else r"\.\s|[\n()]", between)
                or re.match(_BESIDE, word[0].rstrip(".!,"))
            ):
                break
            uuid = looks.UUID.search(word[0]) is not None
            if uuid and looks.REQUESTS.search(text[max(0, start - 25) : end]):
                break
            # A part of a name: in code as a rule.
            glued = before[-1:] == "_" and not re.match(r"(?i)`?\s+(?:is|was|ist)\b", between)
            if glued or (before[-1:].isalpha() and ("_" in word[0] or len(re.findall(r"\d", word[0])) < 5)):
                break
            address = re.search(r"(?:\w://|\barn:)[^\s\"'`<>]*$", text[max(0, word.start() - 200) : word.start() + 2])
            likely = address is None and (kept or not uuid or re.search(_STATES, between) is not None)
            if likely and looks.is_random(word[0], least=LEAST if kept else ALONE):
                yield word.end() - len(word[0].lstrip("=")), word.start() + len(word[0].rstrip(".!,"))
                done = word.end()
                break


def _apart(names: str) -> str:
    """Separate the words of names: `NextToken`, `next_token` as `Next Token`."""
    return HUMP.sub(" ", names).replace("_", " ").replace("-", " ")


# What opens with a code; what is a code by its name alone, or beside one of these; what one does with it, right before it.
_LOCK = r"(?i)\b(?:doors?|gates?|alarms?|garage|safe|locks?|lock(?:er|box)s?|padlock|keypad|key[ -]?(?:safe|box)|entr(?:y|ance)|vault|shed|suitcase|luggage|phone|tablet|ipad|laptop|bike|intercom|barrier|voicemail|till|building|house|flat|bank|cards?|sim|wallet|\w{0,20}t(?:ü|ue)r|\w{0,15}tor|\w{0,12}alarm\w{0,8}|\w{0,15}(?:tresor|schlo(?:ss|ß)|schließfach|kasten|kiste|schranke|anlage|karte|handy|tastatur|tastenfeld|schuppen|keller|eingang)|zugang\w{0,8}|wohnung|haus|spind|portes?|portail|immeuble|coffre\w{0,5}|cadenas|digicode|interphone|alarme|entrée|carte|clés?|boîte|barrière|puerta|portal|portón|alarma|caja|candado|taquilla|trastero|tarjeta|garaje|verja|cancela|cerradura|port[ae]|portone|portoncino|cancello|allarme|cassaforte|lucchetto|armadietto|bancomat|citofono|tessera|carta|portão|cofre|cartão|cadeado|cacifo|garagem|prédio|fechadura|entrada|almacén|vestuario|ingresso|cantina|magazzino|cave|parking|vestiaire|\w{0,20}(?:ingang|toegang|kelder|berging|deur|poort|kluis\w{0,5}|slot|hok|schuur|hek|pas|kastje)|drzwi\w{0,4}|bram\w{1,3}|furtk\w|sejfu?\w{0,2}|domofon\w{0,2}|alarm\w{0,2}|kłódk\w|szafk\w|klatk\w|wejści\w|kart\w|piwnic\w|garaż\w{0,2}|вход\w*|подвал\w*|гараж\w*|двер\w+|домофон\w*|сейф\w*|подъезд\w*|ворот\w*|калитк\w+|сигнализаци\w+|замк\w+|замок|карт\w+|шкафчик\w*)\b|玄関|ドア|金庫|ロッカー|キーボックス|门|保险"  # fmt: skip
_CODE_CUE = re.compile(r"(?:(?<![\w</])(?:(?:PIN|(?i:passcode|puk|cvv2?|cvc2?|otp|tan|geheimzahl|\w{0,7}prüfziffer|\w{0,7}prüfnummer|cryptogramme|digicode|pin(?:code|-?kod|-?код)|keypad|lock ?box|key[ -]?(?:safe|box)|padlock|zahlenschloss|fahrradschloss|kofferschloss|schlüsselkasten|sleutelkluisje|cijferslot|cadenas|candado|lucchetto|cadeado|kłódk\w|cassaforte|cancello|tresor\w{0,12}|(?:access|entry|door|gate|alarm|security|verification|login|sign-?in|confirmation|sms|pairing|setup|unlock|card|safe|lock|garage|two-step|one[ -]time|backup|recovery|rescue|guard|2fa|mfa)[ -](?:code|pin|combination)|(?:the|my|our|his|her|which|what) pin|combination lock|parental (?:lock|control)|(?:bike|cable|cycle|luggage|ring|number|dial) lock|code (?:pin|secret|confidentiel|d['\u2019]acc[èe]s)|código (?:secreto|de segurança|de seguridad|de acceso)|clave de acceso|codice (?:segreto|d['\u2019]accesso|di sicurezza)|(?:tür|tor|alarm|zugangs|safe|tresor|sicherheits|schloss|garagen|haustür|handy|karten|bestätigungs|geräte|ipad|entsperr|toegangs|deur|poort|kluis)-?(?:code|pin|kombination)))(?!\w)|(?P<code>(?i:code|combination|combo|pin|kombination|zahlenkombination|combinaison|combinación|combinazione|combinação|codice|código|kod|szyfr|код|шифр|cijfercode)(?:e|u|a)?)(?!\w| (?:postal|города|товара|заказа|produktu|towaru|clientes?|fiscale|de barras|a barre|barre|de la route|pays|der lieferung|review|base|coverage|style|freeze|owners?|path|blocks?|snippets?|point|page|complete|comments?|of conduct))|(?P<opens>(?i:type|enter|press|dial|swipe(?:,? then)?|punch in|key in|tippen?|tippt|eingeben|drück\w*|wähl\w*|tape[zr]?|compose[zr]?|marca\w*|teclea\w*|digita\w*|premi|toets\w*|wpisz|wybierz|набери\w*|наберите|set (?:it |them )?to|steht auf|eingestellt auf|(?:open(?:s|ed)?|unlock(?:s|ed)?|disarm(?:s|ed)?|releases?|on|off)(?: it)? (?:with|using|by)|(?:geht|öffnet|auf|aus|entsperrt|entschärf\w*)(?: \w{1,10})? mit|mit|(?:quita|abre|apaga|desactiva|ouvre|coupe|désactive|apre|disattiva|spegne|stacca|desliga|open|uit)(?: \w{1,8})? (?:con|avec|com|met)(?: (?:le|la|el|il|o))?|(?:otwiera|wyłącza)\w*(?: si\w)? (?:kodem|na)|открывается \w{0,10})(?= )))|(?:暗証番号|暗证码|密码锁|비밀번호))")  # fmt: skip
_DIGITS = re.compile(r"(?<![\w.,:/€$£+#!-])(?=[A-Z#*]{0,7}\d)(?<!\d )(?P<value>(?P<klucz>\d{1,3} (?:klucz|ключ|key|K) \d{3,5}|\d{1,3}[KКВ]\d{3,5})|[*#]?\d{2,6}[*#]\d{2,6}|\d{1,6}(?:[-–]\d{1,4}){2,3}|\d(?: \d){3,7}|\d\d(?: \d\d){1,3}|\d{3,4}[ -]\d{3,4}|\d{3,10}|(?=[A-Z]{0,7}\d[A-Z]{0,6}\d)[A-Z\d]{4,8}|(?=[A-Z]{0,4}\d)[A-Z\d]{3,4}-[A-Z\d]{3,4})(?P<sign>[#*](?![#*]))?(?!\w|[.,:/]\d|-\w| \d| *(?:%|[€$£]|(?i:bits?|digits?|char\w*|times|k?m|cm|mm|ms|kg|g|l|hours?|minutes?|min|sec\w*|days?|years?|euros?|eur|chf|rpm|people|rows?|Uhr|Stunden|Tage|pages?|points?)\b))")  # fmt: skip
_SPELLS = r"\b(?:(pin|code|codice|código|kod|combination|kombination)|padlock|lock|safe|keypad|alarm|gate|door)\b"
_SPELLED = re.compile(
    r"(?i)(?<!\w)(?:N(?:[ ,-]{1,2}N){2,11})(?!\w)".replace(
        "N",
        "(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|double|triple|null|eins|zwei|zwo|drei|vier|fünf|sechs|sieben|acht|neun|zéro|deux|trois|quatre|cinq|sept|huit|neuf|cero|uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|due|tre|quattro|cinque|sei|sette|otto|nove|um|dois|três|quatro|sete|oito|nul|een|twee|drie|vijf|zes|zeven|negen|jeden|dwa|trzy|cztery|pięć|sześć|siedem|osiem|dziewięć)",
    )
)
_NO_CODE = r"(?i)\b(?:fehlercode|pr|mr|room|page|ext(?:ension)?|bus|line|tram|call|phone|tel|fax|nr|no|since|in|year|until|till|before|after|at|from|um|seit|ab|bis|am|im|zimmer|seite|raum|chambre|salle|depuis|en|desde|dal|nel|od|w|с|в|port|ports|version|error|status|exit|http|zip|postal|post|area|country|model|serial|order|ticket|issue|id|isbn|art(?:icle|ikel|\.)?|item|unit|invoice|floor|flat|apartment|locker|lockers|house|number|spind|about|around|than|over|up to|least|most|every|per|height|width|size|bestell\w*|rechnung\w*|plz|modell|typ|kunden\w*|konto\w*|account)[.:#]* *$"
_OTHER_CODE = r"(?i)(?:model|qr|bar|zip|area|country|post|error|exit|source|dress|discount|booking|course|group|promo|status|product|item|colou?r|project|route|team|return|reason|tax|sort|bank|airport|currency|language|morse|zahlen|fehler|buchungs|kurs|rabatt|farb|post)[ -]?$"
# Whose code has three digits; where it is typed, behind it.
_OF_CARDS = r"(?i)\b(?:cv[vc]2?|cid|security code|(?:karten)?prüf(?:ziffer|nummer|zahl)|cryptogramme|código de segur\w+|codice di sicurezza|suitcase|luggage|\w{0,10}koffer\w{0,8}|valise|maleta|valigia|walizk\w)\b[^\d.]{0,20}$|card-number\][^\n]{0,40}\b(?:code|código|codice|kod|nummer|number)\b[^\d.]{0,10}$"
_TYPED = r"(?i) (?:on|at|into|in|am|an|auf|sur|en|al|no|na) [^.\d\n]{0,15}?(?:keypad|lock|tast\w+|digicode|clavier|teclado|toetsenbord|klawiatu\w+)|[#*]? (?:is your|ist (?:dein|ihr)|est (?:ton|votre)|es (?:tu|su)|è il tuo|é o seu|is je|to twój) [^.\n]{0,40}(?:code|pin|otp|tan|passcode|codice|código|kod)"
_SENTENCE = r"[.!]\s|\n[ \t]*\n"
FAR = 120


def codes(text: str, lower: str) -> Spans:
    """Yield what is typed to open a door, a card or an account."""
    for cue in re.finditer(_SPELLS, lower):  # "the code is four four seven one", "the padlock is ..."
        spelled = _SPELLED.search(text, cue.end(), cue.end() + FAR)
        gap = text[cue.end() : spelled.start()] if spelled else "."
        if spelled is not None and not re.search(_SENTENCE, gap) and (cue[1] or re.search(_VALUE_NEXT, gap)):
            yield spelled.span()
    last = -FAR
    for match in _DIGITS.finditer(text):
        between = text[last : match.start()] if match.start() - last < FAR // 2 else ". "
        another = (
            re.search(_LOCK, between) and not re.search(_SENTENCE, between) and not re.search(_NO_CODE, between[-25:])
        )
        if another or _is_code(text, match):
            last = match.end()
            yield match.start("value"), last


def _is_code(text: str, match: re.Match[str]) -> bool:
    value, start, end = match["value"], match.start("value"), match.end()
    around = text[max(0, start - FAR) : end + FAR // 2]
    before = re.split(_SENTENCE, around[: min(start, FAR)])[-1]
    marked = any(map(around.lower().__contains__, _CODE_MARKS))
    if not marked or re.search(_NO_CODE, before[-25:]):
        return False
    if len(value) < 4 or (len(value) == 4 and value.isdigit() and re.search(_OF_CARDS, before)):
        return value.isdigit() and re.search(_OF_CARDS, before) is not None
    signed = match["klucz"] or (match["sign"] and value.isdigit()) or re.search(r"[*#]|^\d(?:[- ]\d){3,}$", value)
    if re.match(_TYPED, text[end : end + 50]) or (signed and re.search(_LOCK, before)):
        return True
    for cue in reversed(list(_CODE_CUE.finditer(before))):
        gap = before[cue.end() :]
        if cue["opens"]:
            if not gap.strip(" \"'`:\u201e\u201c") and re.search(_LOCK, before):
                return True
            continue
        far = len(gap) > 45 or len(gap.split()) > (9 if re.search(_VALUE_NEXT, gap) else 6)
        other = (value.isdigit() and re.search(r"\d", gap)) or ("\n" in gap and not re.search(r"^\s*$|[:?]\s*$", gap))
        if far or other or (cue["code"] and re.search(_OTHER_CODE, before[: cue.start()])):
            return False
        if not cue["code"] or match["sign"] or (re.search(_LOCK, around) and sum(map(str.isalpha, value)) < 3):
            return True
    return False


_LISTED = r"\b(?:(?:recovery|backup|rescue|scratch|2fa|mfa|one-time|emergency)[ -]?codes?|(?:wiederherstellungs|notfall|backup|sicherungs)-?codes?|c[óo]d(?:igos|ici) (?:de |di )?(?:recup|backup|emerg|respaldo|resgate|segur)\w*|codes? de (?:secours|récup\w+|sauvegarde)|(?:herstel|back-?up)codes|kody (?:zapasowe|odzyskiwania|awaryjne)|(?:резервные|запасные) коды)\b|(?:リカバリー|バックアップ)コード"
_BETWEEN = r"(?:[\s,;/|*•`'\"-]|\d{1,2}[.)][ \t]|(?:and|or|e|y|und|et|en|oraz|i|и)\s){1,24}"
_ONE = (
    r"(\d{3,4}[ -]\d{3,4}(?:[ -]\d{4})?|(?=[A-Za-z-]{0,24}\d)[0-9A-Za-z]{4,24}(?:-[0-9A-Za-z]{4,12}){0,4})(?![\w.:/-])"
)


def listed(text: str, lower: str) -> Spans:
    """Yield the codes of a list that stand in for a second factor."""
    done = 0
    for match in re.finditer(_LISTED, lower):
        sign = re.compile(r"[^\n:=]{0,90}?(?:[:=]|\bare\b|(?=\n))").match(text, match.end())
        at = sign.end() if sign is not None and match.start() >= done else len(text)
        while code := re.compile(_BETWEEN + _ONE).match(text, at):
            yield code.span(1)
            at = done = code.end()


# A column of passwords, or of what opens a door, in a table of Markdown or CSV.
_COLUMNS = r"(?i)(?:.{0,30}[ _-])?(?:pass|password|passwort|passwd|pw|pwd|passphrase|kennwort|secret|token|api[ _-]?key|mot de passe|contraseña|clave|senha|wachtwoord|has[łl]o|heslo|пароль|パスワード|密码)|(?P<lock>(?:gate|door|alarm|safe|lock(?:er|box)?|keypad|garage|pin|tür|tor|tresor|porte|portail|puerta|porta|alarma|cancello|entry|access)(?:[ -]?(?:code|pin|código|codice|kod))?s?)"


_LOGINS = r"(?i)\b(?:user\w*|log-?in|benutzer\w*|url|host|system|site|account|dienst|service|usuario|utente|gebruiker|utilisateur|konto|e-?mail)\b"


def tables(text: str, _lower: str) -> Spans:
    """Yield the cells of such columns."""
    sign, width, start, login = "", 0, 0, False
    columns: dict[int, re.Match[str]] = {}
    for line in text.splitlines(keepends=True):
        cells = line.rstrip("\n").split(sign) if sign and line.count(sign) == width else []
        if not cells:
            sign = next((mark for mark in ("|", "\t", ";", ",") if mark in line), "")
            heads = [head.strip(" \t\n*_`\"'") for head in line.split(sign)] if sign else []
            columns = {number: match for number, head in enumerate(heads) if (match := re.fullmatch(_COLUMNS, head))}
            sign, width = sign if columns and sum(map(bool, heads)) > 1 else "", len(heads) - 1
            login = bool(columns) and re.search(_LOGINS, line) is not None
        for number in columns if cells else ():
            value = cells[number].strip(" \t*`\"'")
            begin = start + sum(map(len, cells[:number])) + number + cells[number].find(value)
            if _is_cell(value, lock=columns[number]["lock"] is not None, login=login):
                yield begin, begin + len(value)
        start += len(line)


def _is_cell(value: str, *, lock: bool, login: bool) -> bool:
    if lock:
        return re.fullmatch(r"[A-Z]?\d{3,10}[A-Z]?[#*]?|\d{2}-\d\d-\d\d", value) is not None
    if not 4 <= len(value) <= 200 or re.search(r"\s", value) or looks.is_placeholder(value):
        return False
    if login and value.isalpha():
        return looks.is_plain_value(value) or re.search("[a-z][A-Z]", value) is not None
    return looks.is_mixed(value) or re.search(r"\d{4}|[A-Z].*[._~!-]|[._~-].*[A-Z]", value) is not None


_SENTENCE_MARKS = ("pass", "pw", "pin", "kennwort", "clave", "contrase", "schlüssel", "fi key", "psk", "shared", "community", "wachtw", "senha", "heslo", "haslo", "hasł", "parola", "frase", "парол", "пин", "lösen", "adgang", "salasana", "jelsz", "şifre", "κωδικ", "phrase")  # fmt: skip
_KEY_MARKS = ("key", "token", "secret", "cred", "passw", "passphrase", "jeton", "clave", "clé", "schlüssel", "密", "令牌", "口令", "秘")  # fmt: skip
_CODE_MARKS = ("code", "combination", "combo", "cvv", "cvc", "puk", "otp", "pin", "alarm", "lock", "door", "gate", "safe", "tresor", "kod", "код", "пин", "codi", "códig", "crypto", "tür", "puerta", "porta", "暗", "비밀", "allarm", "drzwi", "bram", "kluis", "geheimzahl", "prüf", "domofon", "klucz", "schlo", "cancel", "cid", "opens", "番号", "домофон", "keypad", "voicemail", "vault", "parental", "swipe")  # fmt: skip


def _formed(pattern: str, check: Callable[[re.Match[str]], bool], text: str, _lower: str) -> Spans:
    yield from (match.span("value") for match in re.finditer(pattern, text) if check(match))


# The rules, and what of a text each looks for.
_RULES: tuple[tuple[Callable[[str, str], Spans], tuple[str, ...]], ...] = (
    (assigned, (":", "=", ",")), (sentences, _SENTENCE_MARKS), (beside, ("",)), (near, _KEY_MARKS), (codes, _CODE_MARKS),
    (listed, ("codes", "códig", "codici", "kody", "коды", "コード")), (tables, ("\n",)), *((partial(_formed, pattern, check), marks) for marks, pattern, check in GIVEN),
)  # fmt: skip


def secret_spans(text: str, lower: str) -> list[tuple[int, int]]:
    """Find where secrets stand in a text, in order, without overlaps. `lower`: the text in lower case."""
    if len(lower) != len(text):
        lower = "".join(sign.lower() if len(sign.lower()) == 1 else sign for sign in text)
    rules = [rule for rule, marks in _RULES if any(map(lower.__contains__, marks))]
    spans: list[tuple[int, int]] = []
    for start, end in sorted({span for rule in rules for span in rule(text, lower)}):
        if not spans or start >= spans[-1][1]:
            spans.append((start, end))
        elif end > spans[-1][1]:
            spans[-1] = (spans[-1][0], end)  # the whole value, not half of it
    return spans
