"""Hostile values of the fuzz (`tests/fuzz.py`): texts, JSON, calls of tools, damaged bytes. All of a `random.Random`."""

from __future__ import annotations

import json

from limpet.agents.tools import TOOLS
from tests.hostile import VALUES

PIECES = (
    "\ud800", "\0", "\u202e", "\x1b[31m", "</limpet-memory>", "[[", "]]", "---\n", "```", "<!-- limpet 0190 -->", "\r\n", "ﷺ", "e\u0301", "%s", "../..", '"', "'", "*",
    "AND", "OR", "NOT", "NEAR(", "(", ")", "^", ":", "content:", "-", "+", "tomorrow", "last", "13th", "2026-02-30", "99999999999", "T25:61", "next", "friday",
    "12/31", "0000-00-00", "in 10000000000 years", "a day ago", "since", "vor 3 Tagen", "ago", "am 31. Februar", "the redis port", "deploys", "\ufeff", "\U000e0041",
    "1e999", "-0", "9" * 400, "½", "٣", "²", "1st", "$5", "10 %", "not", "never", "is", "instead of", "password:", "sk-", "-----BEGIN", "//x:y@", "base64,", "=", "==",
    "\x7f", "\x85", "\u2028", "\ufffd", "\u200d", "İ", "ß", "ſ", "ǆ", "\U0001f469\u200d", "你好", "{", "}", "\\u", "\\", "<", "&amp;", "\t", "|", "#", "~~~", "yyyy",
)  # fmt: skip
# What people say: a hostile word among good ones gets further than one alone.
PLAIN = (
    "The redis port of deploys is 6380", "We never deploy on Fridays", "Ana prefers tabs over spaces since 2026-01-03", "The limit of the api is 200 requests a minute",
    "Der Server steht seit vor 3 Tagen in Berlin", "Alice calls Bob every Monday at 10:30", "The build takes 12 minutes, not 15", "Use pytest -n 2 on the CI machine",
    "The staging database moved from 10.0.0.4 to 10.0.0.7 last week", "Where does the redis port come from?", "Invoices are due on the 13th of each month",
)  # fmt: skip
TIMES = (
    "2026-01-03",
    "yesterday",
    "3 days ago",
    "2026-02-30",
    "1",
    "99999999999",
    "next friday",
    "2026-01-03T10:00:00Z",
    "9999-12-31",
    "0001-01-01",
)
TIMED = ("since", "until", "as_of", "known_at", "valid_from", "valid_to")


def text(rng):
    """Up to a dozen pieces; half the time in an ordinary sentence; now and then one of them very often."""
    if rng.random() < 0.01:
        return rng.choice(PIECES) * rng.choice((100, 1_000, 5_000))
    said = rng.choice(("", " ")).join(
        rng.choice(PIECES) if rng.random() < 0.7 else chr(rng.choice((rng.randrange(128), rng.randrange(0xD800))))
        for _ in range(rng.randrange(1, 10))
    )
    if rng.random() < 0.5:
        words = rng.choice(PLAIN).split()
        at = rng.randrange(len(words) + 1)
        return " ".join((*words[:at], said, *words[at:]))
    return said


def sayable(rng):
    """A text that may be stored: no half characters, no control characters."""
    said = rng.choice(PLAIN) if rng.random() < 0.3 else text(rng)
    return "".join(one for one in said if one == "\n" or (one.isprintable() and not "\ud800" <= one <= "\udfff"))


def value(rng, depth=0):
    what = rng.randrange(8 if depth < 3 else 5)
    if what < 2:
        return rng.choice(VALUES)
    if what < 5:
        return text(rng)
    if what == 5:
        return [value(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {str(text(rng))[:50]: value(rng, depth + 1) for _ in range(rng.randrange(4))}


def damaged(data, rng):
    """Bytes changed, taken out, put in, doubled, exchanged or cut off."""
    data = bytearray(data)
    for _ in range(rng.randrange(1, 6)):
        at, what = rng.randrange(len(data) + 1), rng.randrange(9)
        if what == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif what == 1 and rng.random() < 0.3:
            del data[at:]
        elif what == 2:
            data[at:at] = rng.randbytes(rng.randrange(40))
        elif what == 3:
            del data[at : at + rng.randrange(1, 40)]
        elif what == 4:
            data[at : at + 8] = rng.choice((b"\xff" * 8, bytes(8)))
        elif what == 5:
            data[at:at] = data[at : at + 200]
        elif what == 6:
            said = rng.choice(PIECES) if rng.random() < 0.9 else "9" * 5_000
            data[at:at] = said.encode("utf-8", "surrogatepass")
        elif what == 7:
            other, length = rng.randrange(len(data) + 1), rng.randrange(1, 60)
            data[at : at + length] = data[other : other + length]
        else:
            said = json.dumps(value(rng), ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")
            data[at : at + rng.randrange(13)] = said
    return bytes(data)


def request(rng, ids=()):
    """A method and its params. Most name a tool, with all that it needs; up to two of its arguments are anything. `ids`: of memories."""
    if rng.random() < 0.15:
        return _method(rng, ids)
    tool = rng.choice(TOOLS)
    takes, needs = tool["inputSchema"]["properties"], tool["inputSchema"].get("required", ())
    given = {name: good(rng, of, name, ids) for name, of in takes.items() if name in needs or rng.random() < 0.35}
    for _ in range(rng.choice((0, 0, 0, 1, 1, 2))):
        given[rng.choice(list(takes))] = value(rng)
    if rng.random() < 0.03:
        given[text(rng)] = value(rng)
    if given and rng.random() < 0.03:
        given.pop(rng.choice(list(given)))
    return "tools/call", {
        "name": tool["name"] if rng.random() < 0.98 else value(rng),
        "arguments": given if rng.random() < 0.98 else value(rng),
    }


def _method(rng, ids):
    methods = ("resources/read", "prompts/get", "completion/complete", "resources/subscribe", "resources/unsubscribe", "resources/list", "initialize", "tools/list",
               "x", text(rng))  # fmt: skip
    told = {
        "uri": (f"memory://{rng.choice([*ids, text(rng)])}", f"memory://topic/{text(rng)}", "memory://index"),
        "name": ("brief", "reflect"),
        "arguments": ({"task": text(rng)},),
        "ref": ({"uri": "memory://topic/{topic}"}, {"uri": "memory://{id}"}, {"name": "brief"}),
        "argument": ({"name": "topic", "value": text(rng)},),
        "cursor": (text(rng),),
        "_meta": ({"progressToken": value(rng)},),
    }
    given = {name: rng.choice(ways) for name, ways in told.items() if rng.random() < 0.6}
    if rng.random() < 0.5:
        given[rng.choice(list(told))] = value(rng)
    return rng.choice(methods), given


def good(rng, schema, name="", ids=()):
    """A value of the type that a schema asks for, hostile within it."""
    if "enum" in schema:
        return rng.choice(schema["enum"])
    type = schema.get("type")
    type = rng.choice(type) if isinstance(type, list) else type
    if type == "array":
        return [good(rng, schema.get("items", {}), name, ids) for _ in range(rng.randrange(1, 3))]
    if type == "object":
        fields = schema.get("properties", {})
        return {one: good(rng, of, one, ids) for one, of in fields.items() if rng.random() < 0.2} | (
            {"content": sayable(rng)} if "content" in fields or not fields else {}
        )
    if type in ("integer", "number"):
        return rng.choice((1, 5, 20)) if rng.random() < 0.7 else rng.choice((0, -1, 10**9, 2.5, 0.5, 10**308, 10**400))
    if type == "boolean":
        return rng.random() < 0.5
    if name in ("id", "ids", "because", "about") and ids and rng.random() < 0.9:
        return rng.choice(ids)[: rng.choice((4, 8, 36, 36))]
    if name in TIMED and rng.random() < 0.8:
        return rng.choice(TIMES)
    return sayable(rng) if rng.random() < 0.6 else text(rng)
