"""Secrets that are assigned to a name: in code, settings, JSON, XML, connection strings and flags of commands.

A name that means a password takes words too, where quotation marks or the end of a line say that they are a value. Of
other names (token, key) the value must hold a digit or a symbol, since code assigns words to these.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

from .passwords import ADJECTIVE, SAID, mixed
from .placeholders import ARN, CODE, PLACEHOLDER, is_handle
from .secrets import NAME_CHARACTERS, VALUE, names_secret

# `NAME=`, `"name": "`, also escaped, `["name"] = `, `name => `, `--name=`.
_FIELD = re.compile(
    r"""(?<![\w.-])(?<!::)(?P<name>[\w.-]++)(?:\\?["']\]?|\](?=\s{0,3}=))?(?P<sign>\s{0,3}(?:=>|:=|[=:])\s{0,3})(?P<quote>\\?["'`])?"""
)
# `name: X value: Y`, `key="X" value="Y"`: a field written as two. `<name>value</name>`. `--name value`.
_PAIR = re.compile(
    r"""(?i)\b(?:key|name)["']?\s?[:=]\s?["']?(?P<name>[\w.-]++)["']?,?\s+["']?value["']?\s?[:=]\s?["']?(?P<value>[^"'\s]{4,200})"""
)
_ELEMENT = re.compile(r"<(?P<name>[\w:.-]++)>(?P<value>[^<>\s]{4,200})</")
_FLAG = re.compile(
    r"""(?<!\S)(?:--?(?P<name>[\w-]{4,60})|(?P<said>requirepass|masterauth))[ \t]+(?:(?P<quote>["'])(?P<quoted>[^"'\n]{4,100})(?P=quote)|(?P<value>[^\s"'`-][^\s"'`]{3,199}))"""
)
_PLAIN = re.compile(r"""[^\s"'`,;<>&\\]{1,200}""")
_VALUE, LINE = re.compile(VALUE), 200
_MIXED = re.compile(r"(?=\S{0,99}[!@#$%^&*])(?=\S{0,99}\d)(?=\S{0,99}[A-Za-z])[^\s/:()\[\]]{8,100}[ \t]*(?:\n|$)")
# Names of passwords.
_STRICT = re.compile(
    r"(?i)(?:pass(?:word|wd|phrase|code|wort)?|pwd|kennwort|contraseña|psk|pw)(?:[_.-]?(?:\d+|value|plain))?$"
)
# A word that only names what is meant: new-password, my_secret, db-credentials-v2.
_REFERENCE = re.compile(r"(?i)[a-z\d_.:/-]*(?:pass|secret|token|credential|cookie|pwd|key)[a-z\d_.:/-]*$")
_IDENTIFIER = re.compile(r"[a-z]+(?:[_-][a-z]+)+$|.*[\\/][\w.-]+[\\/]|\.{0,2}/|~/|[\d.]+$|[a-z]+://")
_SEVERAL = re.compile(
    r"(?i)(?:^|[\s;?&])(?:user(?:name| ?id)?|uid|host|server|data source|database|dbname|port|login)\s?="
)


def assigned(text: str) -> list[tuple[int, int]]:
    """Where what is assigned to the name of a secret stands, in order, without overlaps."""
    found = list(_fields(text))
    for pattern in (_PAIR, _ELEMENT):
        for match in pattern.finditer(text):
            if names_secret(match["name"][-NAME_CHARACTERS:]) and _word(match["value"], match["name"], closed=True):
                found.append(match.span("value"))
    for match in _FLAG.finditer(text):
        group = "quoted" if match["quoted"] else "value"
        named = match["said"] or names_secret(match["name"][-NAME_CHARACTERS:])
        if named and match["name"] and is_handle(match["name"], match[group]):
            continue
        if named and not _placeholder(match[group]) and (match["quoted"] or mixed(match[group])):
            found.append(match.span(group))
    spans: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if not spans or start >= spans[-1][1]:
            spans.append((start, end))
    return spans


def _fields(text: str) -> Iterator[tuple[int, int]]:
    done = 0
    for match in _FIELD.finditer(text):
        name, start = match["name"][-NAME_CHARACTERS:], match.end()
        if start < done:
            continue
        if name.lower() in ("auth", "_auth"):
            value = _PLAIN.match(text, start)
            if value is not None and _is_login(value[0]):
                yield value.span()
            continue
        if not names_secret(name) and name.lower() != "pass":
            continue
        if text[match.start() - 1 : match.end()] == f":{match['name']}:" and ARN.search(
            text, max(0, match.start() - LINE), match.start()
        ):
            continue  # arn:aws:secretsmanager:eu-1:1:secret:name
        if name == "PASS" and not _is_told(text, match):
            continue  # the outcome of a test
        span = _span(text, match, name)
        if span is not None and not is_handle(name, text[slice(*span)]):
            done = span[1]
            yield span


def _is_told(text: str, match: re.Match[str]) -> bool:
    """Whether a password follows `PASS`: a user stands before it, or letters, digits and signs are all that follow."""
    start = match.end()
    return (
        "=" in match["sign"] or "user" in text[max(0, start - LINE) : start].lower() or bool(_MIXED.match(text, start))
    )


def _span(text: str, match: re.Match[str], name: str) -> tuple[int, int] | None:
    start, quote = match.end(), match["quote"]
    likely = _VALUE.match(text, start)
    if likely is not None and name.lower() != "pass":
        return None if _placeholder(likely[1].rstrip(")]}")) or CODE.match(likely[1]) else likely.span(1)
    if quote is not None:
        end = text.find(quote, start, start + 102)
        inner = text[start:end]
        return (start, end) if end > 0 and "\n" not in inner and _word(inner, name, closed=True) else None
    value = _PLAIN.match(text, start)
    if value is None:
        return None
    end = value.end()
    # So far the line is looked at: a text may be one long line of such names.
    line_start = max(match.start() - LINE, text.rfind("\n", max(0, match.start() - LINE), match.start()) + 1, 0)
    line = text[line_start : start + LINE].partition("\n")[0]
    tight = match["sign"] == "="
    ends = end >= len(text) or text[end] in "\n \t`"
    setting = tight and ends and (name.isupper() or not text[line_start : match.start()].strip())
    closed = setting or (tight and _SEVERAL.search(line) is not None and (ends or text[end] in ";&\"'`"))
    return value.span() if _word(value[0], name, closed=closed) else None


def _word(word: str, name: str, *, closed: bool) -> bool:
    """Whether a value is a secret. `closed`: where it stands says that it is a value, and where it ends."""
    if not 4 <= len(word) <= 200 or _placeholder(word) or CODE.match(word):
        return False
    if not _STRICT.search(name):
        return closed and name.isupper() and len(word) >= 8 and word.count("-") > 1 and not {".", "/"} & {*word}
    if " " in word:
        return (len(word.split()) <= 8 and word == word.lower() and name.lower().endswith(("phrase", "psk"))) or (
            any(map(str.isdigit, word)) and name.lower() == "psk"
        )
    if mixed(word) and (closed or not word.isdigit()):
        return not _IDENTIFIER.match(word)
    if not closed or _IDENTIFIER.match(word):
        return False
    if re.search(r"[._+~-]", word):
        return re.search(r"[A-Z]", word) is not None
    return (
        word.isalpha()
        and len(word) >= 6
        and word.lower() not in SAID
        and not ADJECTIVE.search(word)
        and not word.istitle()
    )


def _placeholder(word: str) -> bool:
    return bool(PLACEHOLDER.match(word) or "[redacted:" in word or _REFERENCE.match(word))


def _is_login(word: str) -> bool:
    """`name:password` in base64, as clients of registries keep it."""
    try:
        told = base64.b64decode(word, validate=True).decode("utf-8")
    except ValueError:
        return False
    return len(word) >= 8 and ":" in told and told.isprintable()
