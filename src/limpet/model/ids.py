"""Ids: UUIDv7 (RFC 9562), 16 bytes inside, the usual 36 characters outside.

The first 48 bits are milliseconds, so ids made together share a long prefix: `shortest_unique` says how much of
one a person has to type.
"""

from __future__ import annotations

import os
import threading

from .errors import BadInput

MIN_PREFIX_CHARACTERS = 6
_HEX = frozenset("0123456789abcdef")
# Of a prefix by the place of the first digit that sets it apart: that digit belongs to it, and the dashes before it.
_LENGTHS = [digits + 1 + sum(digits >= dash for dash in (8, 12, 16, 20)) for digits in range(33)]


class IdSource:
    """Makes UUIDv7 values that never go backwards within one process, whatever the clock does.

    A counter of 12 + 18 bits follows the millisecond (RFC 9562 method 1), 44 random bits close the id.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last_ms = -1
        self._counter = 0

    def make(self, now: int) -> bytes:
        """`now`: microseconds UTC. Returns 16 bytes."""
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
        tail = int.from_bytes(os.urandom(6), "big") & ((1 << 44) - 1)
        value = (stamp & ((1 << 48) - 1)) << 80
        value |= 0x7 << 76 | (counter >> 18) << 64
        value |= 0b10 << 62 | (counter & 0x3FFFF) << 44 | tail
        return value.to_bytes(16, "big")


def session_mark(scope: str, name: str) -> bytes:
    """The 16 bytes that stand for a session in the ledger, the same in every store."""
    import hashlib

    return hashlib.sha256(f"session\0{scope}\0{name}".encode()).digest()[:16]


def proposal_id(over: bytes, mark: int) -> bytes:
    """The id of a statement that waits to replace another: the same words again have the same (UUIDv8, RFC 9562)."""
    import hashlib

    raw = bytearray(hashlib.sha256(f"proposal\0{over.hex()}\0{mark}".encode()).digest()[:16])
    raw[6] = raw[6] & 0x0F | 0x80
    raw[8] = raw[8] & 0x3F | 0x80
    return bytes(raw)


def format_id(raw: bytes) -> str:
    """16 bytes -> 8-4-4-4-12 hexadecimal."""
    h = raw.hex()
    return f"{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}"


def parse_id(text: str) -> bytes:
    """A whole id -> 16 bytes. Raises BadInput."""
    digits = _digits(text)
    if len(digits) != 32:
        raise BadInput(f"not an id: {_shown(text)}", hint="an id is a UUID of 32 hexadecimal digits")
    return bytes.fromhex(digits)


def parse_prefix(text: str) -> tuple[bytes, bytes]:
    """An id or a prefix of 6+ characters -> the lowest and the highest id that starts with it (inclusive).

    Raises BadInput: too short, too long, not hexadecimal ("%" and "_" are no wildcards).
    """
    digits = _digits(text)
    if len(digits) < MIN_PREFIX_CHARACTERS:
        raise BadInput(
            f"id prefix too short: {_shown(text)}", hint=f"give at least {MIN_PREFIX_CHARACTERS} characters of the id"
        )
    return bytes.fromhex(digits.ljust(32, "0")), bytes.fromhex(digits.ljust(32, "f"))


def shortest_unique(raw: bytes, neighbours: list[bytes]) -> str:
    """The shortest prefix (8+ characters, never ending in a dash) that sets `raw` apart from its sorted neighbours."""
    own = format_id(raw)
    digits, number = 7, int.from_bytes(raw, "big")
    for other in neighbours:
        if other != raw:
            apart = number ^ int.from_bytes(other, "big")
            digits = max(digits, 32 - (apart.bit_length() + 3) // 4)
    return own[: _LENGTHS[digits]]


def _digits(text: str) -> str:
    digits = text.strip().lower().replace("-", "")
    if len(digits) > 32 or not digits or not _HEX.issuperset(digits):
        raise BadInput(f"not an id: {_shown(text)}", hint="ids are hexadecimal; `limpet list` shows them")
    return digits


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:60] + "...")
