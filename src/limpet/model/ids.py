"""Ids: UUIDv7 (RFC 9562), 16 bytes inside, the usual 36 characters outside.

The first 48 bits are milliseconds, so ids made together begin alike, and people get a short id instead: the last 40
bits, which are random, in base32, cut to as many characters as tell it from all others. A text that a person gives is
read as a short id first, then as a whole id or the beginning of one.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Sequence

from .errors import BadInput

MIN_PREFIX_CHARACTERS = 6
# Bytes at the end of an id that make its short id, and the characters that write them. Six characters are enough in a
# store of a thousand memories, eight in one of a hundred thousand.
SHORT_BYTES, LONGEST_SHORT = 5, 8
RANDOM_BITS = 44  # at the end of an id
_WHOLE_ID = r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"
_HEX = frozenset("0123456789abcdef")
# Crockford's base32: no letter that is read as another. The three that are, are taken for what they look like.
_BASE32, _LOOK_ALIKE = "0123456789abcdefghjkmnpqrstvwxyz", str.maketrans("oil", "011")


class IdSource:
    """A source of UUIDv7 values that never go backwards within one process, whatever the clock does.

    A counter of 12 + 18 bits follows the millisecond (RFC 9562 method 1), `RANDOM_BITS` random ones close the id.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last_ms = -1
        self._counter = 0

    def make(self, now: int) -> bytes:
        """Return a new id of 16 bytes. `now`: microseconds UTC."""
        now_ms = max(0, now // 1000)
        with self._lock:
            if now_ms > self._last_ms:
                self._last_ms = now_ms
                self._counter = int.from_bytes(os.urandom(4), "big") >> 3  # 29 bits: room to count upwards
            else:
                self._counter += 1
                if self._counter >> 30:
                    self._last_ms += 1
                    self._counter = 0
            stamp, counter = self._last_ms, self._counter
        tail = int.from_bytes(os.urandom(6), "big") & ((1 << RANDOM_BITS) - 1)
        value = (stamp & ((1 << 48) - 1)) << 80
        value |= 0x7 << 76 | (counter >> 18) << 64
        value |= 0b10 << 62 | (counter & 0x3FFFF) << RANDOM_BITS | tail
        return value.to_bytes(16, "big")


def session_mark(scope: str, name: str) -> bytes:
    """Return the 16 bytes that stand for a session in the ledger, the same in every store."""
    import hashlib

    return hashlib.sha256(f"session\0{scope}\0{name}".encode()).digest()[:16]


def proposal_id(over: bytes, mark: int) -> bytes:
    """Return the id of a statement that waits to replace another: equal for equal words (UUIDv8, RFC 9562)."""
    return _hashed(f"proposal\0{over.hex()}\0{mark}")


def line_id(fresh: bytes, name: str) -> bytes:
    """Return the id of a statement from a file: that of `fresh`, whose time and counter keep the lines in order, with
    random bits made from the statement's text, so that `is_line_id` recognises it when the file comes again."""
    value = int.from_bytes(fresh, "big") >> RANDOM_BITS << RANDOM_BITS | _line_bits(name)
    return value.to_bytes(16, "big")


def is_line_id(raw: bytes, name: str) -> bool:
    """Return whether `line_id` made this id from the name; wrong for one other id in 2^44."""
    return int.from_bytes(raw, "big") & (1 << RANDOM_BITS) - 1 == _line_bits(name)


def line_end(name: str) -> bytes:
    """Return the last bytes, those of a short id, of the ids of a name."""
    return (_line_bits(name) & (1 << 8 * SHORT_BYTES) - 1).to_bytes(SHORT_BYTES, "big")


def _line_bits(name: str) -> int:
    return int.from_bytes(_hashed(f"line\0{name}"), "big") & (1 << RANDOM_BITS) - 1


def _hashed(name: str) -> bytes:
    import hashlib

    raw = bytearray(hashlib.sha256(name.encode()).digest()[:16])
    raw[6] = raw[6] & 0x0F | 0x80
    raw[8] = raw[8] & 0x3F | 0x80
    return bytes(raw)


def format_id(raw: bytes) -> str:
    """Format 16 bytes as 8-4-4-4-12 hexadecimal."""
    h = raw.hex()
    return f"{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}"


def parse_id(text: str) -> bytes:
    """Parse a whole id to 16 bytes. Raises BadInput."""
    digits = _digits(text)
    if len(digits) != 32:
        raise BadInput(f"not an id: {_shown(text)}", hint="an id is a UUID of 32 hexadecimal digits")
    return bytes.fromhex(digits)


def parse_prefix(text: str) -> tuple[bytes, bytes]:
    """Return the lowest and highest id (inclusive) that start with an id or a prefix of 6+ characters.

    Raises BadInput: too short, too long, not hexadecimal ("%" and "_" are no wildcards).
    """
    digits = _digits(text)
    if len(digits) < MIN_PREFIX_CHARACTERS:
        raise BadInput(
            f"id too short: {_shown(text)}", hint=f"give at least {MIN_PREFIX_CHARACTERS} characters of the id"
        )
    return bytes.fromhex(digits.ljust(32, "0")), bytes.fromhex(digits.ljust(32, "f"))


def parse_short(text: str) -> tuple[bytes, bytes] | None:
    """Return the lowest and highest end of an id (inclusive) for a short id, whole or its first 6+ characters; None if
    it cannot be one."""
    values = [_BASE32.find(char) for char in text.strip().lower().translate(_LOOK_ALIKE)]
    if not MIN_PREFIX_CHARACTERS <= len(values) <= LONGEST_SHORT or -1 in values:
        return None
    left = 5 * (LONGEST_SHORT - len(values))
    low = 0
    for value in values:
        low = low << 5 | value
    return (low << left).to_bytes(SHORT_BYTES, "big"), ((low + 1 << left) - 1).to_bytes(SHORT_BYTES, "big")


def shorten_ids(text: str, typed: Sequence[str] = ()) -> str:
    """Return a text with its whole ids as short ones, except those that a person typed."""
    import re

    return re.sub(_WHOLE_ID, lambda match: match[0] if match[0] in typed else short_id(parse_id(match[0])), text)


def named_by(text: str, ask: Callable[[str, bytes, bytes], list[bytes]]) -> list[bytes]:
    """Return the ids that a person's text names: as a short id, else as an id or the beginning of one.

    `ask("short", low, high)` answers with ids whose last bytes are in a range, `ask("prefix", low, high)` with those
    that are in one themselves. Raises BadInput: it can be neither.
    """
    if not isinstance(text, str):
        raise BadInput(f"not an id: {text!r:.60}", hint="ids are text")
    ends = parse_short(text)
    if ends is not None:
        ids = ask("short", *ends)
        if ids or not _HEX.issuperset(text.strip().lower()):
            return ids
    return ask("prefix", *parse_prefix(text))


def names_id(text: str, id: str) -> bool:
    """Return whether a text is this id, its short id, or the beginning of either. A text that is no id: False."""
    raw = parse_id(id)
    try:
        return bool(
            named_by(
                text, lambda how, low, high: [raw][: low <= (raw[-SHORT_BYTES:] if how == "short" else raw) <= high]
            )
        )
    except BadInput:
        return False


def short_id(raw: bytes, others: Iterable[bytes] = ()) -> str:
    """Return the first characters of its short id, six or more, with which no other id begins; the whole id if another
    has the same end. `others`: at least its neighbours by their last bytes, in any order; it may be among them."""
    end, characters = int.from_bytes(raw[-SHORT_BYTES:]), MIN_PREFIX_CHARACTERS
    for other in others:
        apart = end ^ int.from_bytes(other[-SHORT_BYTES:])
        if apart:
            characters = max(characters, (8 * SHORT_BYTES - apart.bit_length()) // 5 + 1)
        elif other != raw:
            return format_id(raw)
    places = range(LONGEST_SHORT - 1, LONGEST_SHORT - 1 - characters, -1)
    return "".join(_BASE32[end >> 5 * place & 31] for place in places)


def _digits(text: str) -> str:
    if not isinstance(text, str):
        raise BadInput(f"not an id: {text!r:.60}", hint="ids are text")
    digits = text.strip().lower().replace("-", "")
    if len(digits) > 32 or not digits or not _HEX.issuperset(digits):
        raise BadInput(f"not an id: {_shown(text)}", hint="`limpet list` shows ids")
    return digits


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:60] + "...")
