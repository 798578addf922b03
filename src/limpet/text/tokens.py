"""Texts as tokens of a kind: numbers with their units, dates, times, versions, names, code, negations, words.

Read by the difference guard only: a token's `value` is equal where two spellings say the same ("five minutes",
"5 min"; "3 March 2025", "2025-03-03"; "retries", "retried"). One pass over the text, linear.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from ..model.dataclass import dataclass, replace
from .dates import MONTHS, WEEKDAYS
from .lexicon import (
    CLOCK_WORDS,
    FRACTIONS,
    FUNCTION_WORDS,
    LETTER_UNITS,
    NEGATED_AGAIN,
    NEGATED_FIRST,
    NEGATORS,
    NUMBER_WORDS,
    ORDINALS,
    PORTUGUESE,
    SCALES,
    SHORT_UNITS,
    THAN,
    TIMES,
    UNITS,
)
from .opposites import canonical

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    TokenKind = Literal["number", "unit", "version", "date", "time", "not", "name", "word", "function"]

VALUES: frozenset[str] = frozenset({"number", "unit", "version", "date", "time"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """One token. `value` decides equality; `amount` and `unit` are the parts of a measured number, else value, ""."""

    kind: TokenKind
    surface: str  # as it stands in the text
    value: str
    amount: str = ""
    unit: str = ""


_SCAN = re.compile(
    r"""
    (?P<url>https?://[^\s<>"'`)\]]+)
  | (?P<iso>\b\d{4}-\d{2}-\d{2}\b)
  | (?P<clock>\b\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]\.?m\b\.?)?|\b\d{1,2}\s?[ap]\.?m\b\.?)
  | (?P<hex>\#?\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{6,40}\b)
  | (?P<path>(?<![\w/])(?:~|\.{1,2}|[A-Za-z_@][\w.@-]{0,99})?(?:/[\w.@{}:%+-]{0,99}[\w}])+/?)
  | (?P<number>(?<![\w.])(?:(?<=\s)-|^-)?[$€£₩]?\d+(?:,\d{3})*(?:[._]\d+)*(?:[xX]\b)?)(?P<suffix>%|°?[A-Za-zµ]+\d*\b)?
  | (?P<prefixed>\bv\d+(?:\.\d+)*(?:[-.]?(?:alpha|beta|rc|dev|post)[-.]?\d*)?\b)
  | (?P<word>
      [^\W\d_][\w$]*(?:(?:[._]|::|->|['’])[\w$]+)*  # words, contractions, names with dots
      (?:-\d[\w-]*|-[a-z]+-\d\w*)?(?:\+\+|\#(?!\w)|\(\))?  # gpt-4, eu-west-1, C++, call()
    | _\w+ | (?<![\w-])--?[a-z][\w-]*)
  | (?P<sign>[-=]>|[<>]=?|[=!]=|[-+*/]?=|[%€£$](?=\s|$)|(?<=\s)[+*/^](?=\s)|&&|\|\||[~^](?=v?\d+\.\d)
      |(?<![\w!])!(?=[\w(])|(?<![\w*])\*{1,2}(?=[./]\w)|(?<=[/.])\*{1,2}(?![\w*])|(?<!\S)[.\#](?=[a-z]))
    """,
    re.VERBOSE | re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?:^|[.!?:;]\s+|\n\s*|[\"“(]|[-*]\s+)$")
# Words within which a negation is said again.
AGAIN_WITHIN = 6
_MONTHS = (
    {name: i for i, name in enumerate(MONTHS, 1)} | {name[:3]: i for i, name in enumerate(MONTHS, 1)} | {"sept": 9}
)
_DAYS = {name: name for name in WEEKDAYS}
_DAYS |= {f"{name}s": name for name in _DAYS}
_SHORT_DAYS = {name[:size]: name for name in WEEKDAYS for size in (3, 4, 5)}
_CONTRACTION = r"(?i)(?:n['’]t|['’](?:s|re|ve|ll|d|m))$"
_CODE = re.compile(r"[_$\d]|[a-z][A-Z]|\w\.\w|::|->|\(\)|^--?[a-z]|#$|\+\+$")
# French "n'est pas" is "ne est pas", which the second word denies.
_ELIDED = r"(?i)\bn['’](?=[aàeéêèiîoôuhy])"
_PHRASES = re.compile(r"\b(cannot|no longer|instead of|rather than|not only|have to|has to|fails? to)\b", re.IGNORECASE)
_PHRASE_AS = {
    "cannot": "can not", "no longer": "not", "instead of": "not", "rather than": "not", "not only": "",
    "have to": "must", "has to": "must", "fail to": "not", "fails to": "not",
}  # fmt: skip


@lru_cache(maxsize=256)  # a text is compared with each that is near it: results of a recall with one another
def tokens(text: str) -> tuple[Token, ...]:
    """The tokens of a text in order."""
    text = unicodedata.normalize("NFC", text)
    if "'" in text or "’" in text:
        text = re.sub(_ELIDED, "ne ", text)
    text = _PHRASES.sub(lambda match: _PHRASE_AS[match[1].casefold()] or " ", text)
    return tuple(_joined(_denied_once(list(_scanned(text)))))


def _denied_once(some: list[Token]) -> list[Token]:
    """One negation for each that a language says in two words: "ne ... pas", "no ... nunca", "nicht mehr"."""
    lows = [one.surface.casefold() for one in some]
    said = set(lows)
    if "no" in said and not PORTUGUESE.isdisjoint(said):  # there it is "in the"
        some = [replace(one, kind="function") if low == "no" else one for one, low in zip(some, lows, strict=True)]
    if NEGATED_AGAIN.isdisjoint(said):
        return some
    kept: list[Token] = []
    ne = denied = -AGAIN_WITHIN  # where in `some` either stood last
    for place, (one, low) in enumerate(zip(some, lows, strict=True)):
        if (
            low in NEGATED_AGAIN
            and place - denied < AGAIN_WITHIN
            and not THAN.intersection(lows[place + 1 : place + 2])
        ):
            continue
        second = low in NEGATED_AGAIN and place - ne < AGAIN_WITHIN <= place - denied
        if second:
            del kept[next(i for i in range(len(kept) - 1, -1, -1) if kept[i].surface.casefold() == "ne")]
            denied, ne = place, -AGAIN_WITHIN
        if low == "ne":
            ne = place
        if low in NEGATED_FIRST:
            denied = place
        kept.append(replace(one, kind="not", value="not") if second else one)
    return kept


def _scanned(text: str) -> Iterator[Token]:
    for match in _SCAN.finditer(text):
        kind, said = match.lastgroup, match[0]
        if match["number"]:
            yield from _number(match["number"], match["suffix"] or "")
        elif kind == "path" and (rate := said.casefold().rpartition("/"))[0].isalpha() and rate[2] in UNITS:
            yield from _word(said[: len(rate[0])], text, match.start())
            yield _unit(said[len(rate[0]) + 1 :], rate[2])
        elif kind in {"url", "path", "hex"}:
            said = said.rstrip(".,;:!?")
            yield Token(kind="name", surface=said, value=said.casefold().strip("#").rstrip("/"))
        elif kind == "iso":
            yield Token(kind="date", surface=said, value=f"@{said[5:]}")
            yield Token(kind="date", surface=said[:4], value=said[:4], amount=said[:4])
        elif kind == "clock":
            yield _clock(said)
        elif kind == "prefixed":
            yield Token(kind="version", surface=said, value=said[1:].casefold(), amount=said[1:].casefold())
        elif kind == "sign":
            unit = UNITS.get(said)
            yield (
                Token(kind="unit", surface=said, value=f"unit:{unit[0]}:1", unit=unit[0])
                if unit
                else Token(kind="word", surface=said, value=said)
            )
        else:
            yield from _word(said, text, match.start())


def _number(said: str, suffix: str) -> Iterator[Token]:
    money = said.lstrip("-")[0] if said.lstrip("-")[0] in "$€£₩" else ""
    plain = (
        said.replace(",", "").replace("_", "").replace(money, "") if money else said.replace(",", "").replace("_", "")
    )
    low = suffix.casefold()
    if low in {"st", "nd", "rd", "th"}:
        value = "first" if plain == "1" else f"{plain}th"
        yield Token(kind="number", surface=said + suffix, value=value, amount=value)
        return
    if low in {"k", "m", "x", ""} or low in UNITS or low in SHORT_UNITS:
        many = plain.count(".") > 1
        kind: TokenKind = "version" if many else "number"
        if low == "k":
            plain = plain if many else f"{float(plain) * 1000:.12g}"
        yield Token(kind=kind, surface=said + (suffix if low in {"k", "x"} else ""), value=plain, amount=plain)
        named = money or SHORT_UNITS.get(low, low if low not in {"k", "x"} else "")
        if named:
            yield _unit(suffix or money, named)
        return
    yield Token(kind="name", surface=said + suffix, value=(plain + low))


def _unit(surface: str, name: str) -> Token:
    dimension, size = UNITS[name]
    return Token(kind="unit", surface=surface, value=f"unit:{dimension}:{size:g}", unit=f"{dimension}:{size:g}")


def _clock(said: str) -> Token:
    digits = [int(part) for part in re.findall(r"\d+", said)]
    hour, minute = digits[0], digits[1] if len(digits) > 1 else 0
    half = re.search(r"([ap])\.?m", said, re.IGNORECASE)
    if half:
        hour = hour % 12 + (12 if half[1].casefold() == "p" else 0)
    value = f"{hour:02}:{minute:02}" + (f":{digits[2]:02}" if len(digits) > 2 else "")
    return Token(kind="time", surface=said, value=value, amount=value)


def _word(said: str, text: str, start: int) -> Iterator[Token]:
    whole, short = said, re.search(_CONTRACTION, said) if "'" in said or "’" in said else None
    denied = bool(short and short[0][0] in "nN")
    if short and not denied and "." not in said:
        said = said[: short.start()]
    elif denied and short:
        said = {"ca": "can", "wo": "will", "sha": "shall"}.get(said[: short.start()].casefold(), said[: short.start()])
    if said:
        yield _one_word(said, text, start)
    if denied:
        yield Token(kind="not", surface=whole, value="not")


def _one_word(said: str, text: str, start: int) -> Token:
    low = said.casefold()
    first = bool(_SENTENCE_END.search(text[max(0, start - 8) : start]))
    capital = said[0].isupper() and not first
    loud = len(said) > 1 and said.isupper() and not said.isdigit() and said.isascii()
    if _CODE.search(said):
        return Token(kind="name", surface=said, value=canonical(low))
    if low in NEGATORS:
        return Token(kind="not", surface=said, value="not")
    month = _MONTHS.get(low)
    if month and (capital or low not in {"may", "mar", "march", "dec", "sep", "jan"}):
        return Token(kind="date", surface=said, value=f"@{month:02}", unit="month")
    day = _DAYS.get(low) or (_SHORT_DAYS.get(low) if capital else None)
    if day:
        return Token(kind="date", surface=said, value=day)
    if low in CLOCK_WORDS:
        return Token(kind="time", surface=said, value=CLOCK_WORDS[low], amount=CLOCK_WORDS[low])
    if low in ORDINALS and low != "first":  # "first" is the opposite of "last"
        return Token(kind="number", surface=said, value=f"{ORDINALS[low]}th")
    if low in NUMBER_WORDS or low in SCALES:
        return Token(kind="number", surface=said, value=str(NUMBER_WORDS.get(low, SCALES.get(low))), unit="spelled")
    if low in TIMES:
        return Token(kind="number", surface=said, value=str(TIMES[low]), amount=str(TIMES[low]))
    if low in FRACTIONS:
        return Token(kind="number", surface=said, value=FRACTIONS[low], amount=FRACTIONS[low])
    if low in UNITS and low not in LETTER_UNITS:
        return _unit(said, low)
    if (
        low in FUNCTION_WORDS
        and not (said == "A" and not first)
        and not (loud and low not in {"and", "or", "all", "any"})
    ):
        return Token(kind="function", surface=said, value=canonical(low))
    return Token(kind="name" if capital or loud else "word", surface=said, value=canonical(low))


def _joined(some: list[Token]) -> list[Token]:
    """Numbers with their units, spelled numbers with one another, days with their months."""
    found: list[Token] = []
    for plain in some:
        last = found[-1] if found else None
        short = plain.surface.casefold() in LETTER_UNITS and plain.kind in {"word", "name", "function"}
        one = _unit(plain.surface, plain.surface.casefold()) if short and last and last.kind == "number" else plain
        if one.kind == "number" and one.unit == "spelled":
            joined = _spelled(last, one)
            found[-1 if joined else len(found) :] = [joined or replace(one, amount=one.value)]
        elif one.unit == "month" or (one.kind == "number" and last and last.unit == "month"):
            _month(found, one)
        elif one.kind == "unit" and last and last.kind == "number" and not last.unit.count(":"):
            found[-1] = _measured(last, one)
        elif (
            one.surface.casefold() == "second"
            and last
            and (last.kind == "number" or last.value in {"a", "per", "each"})
        ):
            unit = _unit(one.surface, "s")
            found[-1 if last.kind == "number" else len(found) :] = [
                _measured(last, unit) if last.kind == "number" else unit
            ]
        else:
            found.append(one if one.amount or one.unit else replace(one, amount=one.value))
    return found


def _spelled(last: Token | None, one: Token) -> Token | None:
    """ "twenty" + "five" = 25; "2" + "hundred" = 200; None when they do not go together."""
    if last is None or last.kind != "number" or not last.value.isdigit() or len(last.value) > 18:
        return None
    before, value = int(last.value), int(one.value)
    if value in SCALES.values():
        whole = before * value
    elif last.unit == "spelled" and 20 <= before < 100 and before % 10 == 0 and 0 < value < 10:
        whole = before + value
    else:
        return None
    return Token(
        kind="number", surface=f"{last.surface} {one.surface}", value=str(whole), amount=str(whole), unit="spelled"
    )


def _measured(number: Token, unit: Token) -> Token:
    """A quantity in the base unit of its dimension, so that "90 s" equals "1.5 min"."""
    dimension, size = unit.value.removeprefix("unit:").rsplit(":", 1)
    plain = number.value.replace(".", "", 1).removeprefix("-")
    scaled = plain.isdecimal() and len(plain) <= 18  # more digits than a float keeps are left as they stand
    value = f"{float(number.value) * float(size):.10g}" if scaled else f"{number.value}*{size}"
    return Token(
        kind="number", surface=f"{number.surface} {unit.surface}", value=f"{value} {dimension}",
        amount=number.amount or number.value, unit=unit.unit,
    )  # fmt: skip


def _month(found: list[Token], one: Token) -> None:
    """Join a month with the day before or behind it: "3 March", "March 3", "3rd of March" -> "@03-03"."""
    if one.unit == "month":
        places = [i for i in (1, 2) if len(found) >= i]
        for back in places:
            day = found[-back]
            if back == 2 and found[-1].value != "of":
                break
            number = day.value.removesuffix("th")
            if day.kind == "number" and number.isdecimal() and len(number) <= 2 and 1 <= int(number) <= 31:
                value = f"{one.value}-{int(number):02}"
                found[-back:] = [Token(kind="date", surface=f"{day.surface} {one.surface}", value=value, amount=value)]
                return
        found.append(replace(one, amount=one.value))
        return
    number = one.value.removesuffix("th")
    last = found[-1]
    if number.isdecimal() and len(number) <= 2 and 1 <= int(number) <= 31:
        value = f"{last.value}-{int(number):02}"
        found[-1] = Token(kind="date", surface=f"{last.surface} {one.surface}", value=value, amount=value)
    else:
        found.append(replace(one, amount=one.value))


_ENDINGS = ("en", "em", "er", "es", "e", "n", "s")
# Shorter words keep their ending.
_STEM = 4


def stem(low: str) -> str:
    """A word without the ending that German gives it beside an article, or none: "gelöschten", "gelöschte"."""
    ending = next((one for one in _ENDINGS if low.endswith(one) and len(low) - len(one) >= _STEM), "")
    return low.removesuffix(ending)
