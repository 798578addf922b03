"""Secrets known by their surroundings: assigned to a name, stated in a sentence, given to a program, near a word.

Most texts about a key or a password do not contain one, so a value must look like one (`values.py`). Measured on
tests/quality/secrets and told_passwords.jsonl, and on text of others; a rule is kept only if its removal shows there.
Patterns are kept by re's own cache and run in linear time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial

from . import HANDLES, HUMP, NAME_CHARACTERS, names_key, names_secret
from . import values as looks
from .forms import GIVEN

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


_KEY_MARKS = ("key", "token", "secret", "cred", "passw", "passphrase", "jeton", "clave", "clé", "schlüssel", "密", "令牌", "口令", "秘")  # fmt: skip


def _formed(pattern: str, check: Callable[[re.Match[str]], bool], text: str, _lower: str) -> Spans:
    yield from (match.span("value") for match in re.finditer(pattern, text) if check(match))


# The rules, and what of a text each looks for.
_RULES: tuple[tuple[Callable[[str, str], Spans], tuple[str, ...]], ...] = (
    (assigned, (":", "=", ",")), (near, _KEY_MARKS), *((partial(_formed, pattern, check), marks) for marks, pattern, check in GIVEN),
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
