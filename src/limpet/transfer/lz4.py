"""LZ4 blocks as python-lz4 stores them: u32 raw size, then one raw block. The format is two pages long; a dependency
would bring more than it saves. Source: lz4_Block_format.md of the reference implementation."""

from __future__ import annotations

import struct

# A match is at least this long; the last bytes of a block are always literals.
MIN_MATCH = 4
LAST_LITERALS = 5
NO_MATCH_IN_THE_LAST = 12
MAX_DISTANCE = 65_535


def unpack(blob: bytes, limit: int) -> bytes:
    """The bytes that were packed, `limit` at most. Raises ValueError for what is no block of that size."""
    if len(blob) < 4:
        raise ValueError("too short")
    (size,) = struct.unpack_from("<I", blob)
    if size > limit:
        raise ValueError(f"{size:,} bytes declared, {limit:,} at most")
    out = bytearray()
    at, end = 4, len(blob)
    while at < end:
        token = blob[at]
        at += 1
        count, at = _length(blob, at, token >> 4)
        if at + count > end or len(out) + count > size:
            raise ValueError("literals beyond the end")
        out += blob[at : at + count]
        at += count
        if at == end:
            break
        if at + 2 > end:
            raise ValueError("cut off")
        distance = blob[at] | blob[at + 1] << 8
        count, at = _length(blob, at + 2, token & 15)
        count += MIN_MATCH
        if not 0 < distance <= len(out) or len(out) + count > size:
            raise ValueError("a match out of bounds")
        start = len(out) - distance
        if distance >= count:
            out += out[start : start + count]
        else:
            piece = out[start:]
            out += (piece * (count // distance + 1))[:count]
    if len(out) != size:
        raise ValueError(f"{len(out):,} bytes where {size:,} were declared")
    return bytes(out)


def _length(blob: bytes, at: int, count: int) -> tuple[int, int]:
    """A length of 15 goes on in the bytes that follow, as long as they are 255."""
    if count == 15:
        while True:
            if at >= len(blob):
                raise ValueError("cut off")
            more = blob[at]
            at += 1
            count += more
            if more != 255:
                break
    return count, at


def pack(data: bytes) -> bytes:
    """A block that any LZ4 reads. Matches are looked for greedily, by their first four bytes."""
    out = bytearray(struct.pack("<I", len(data)))
    seen: dict[bytes, int] = {}
    at = literal = 0
    last = len(data) - NO_MATCH_IN_THE_LAST
    while at <= last:
        head = data[at : at + MIN_MATCH]
        before = seen.get(head)
        seen[head] = at
        if before is None or at - before > MAX_DISTANCE:
            at += 1
            continue
        count = MIN_MATCH
        most = len(data) - LAST_LITERALS - at
        while count < most and data[before + count] == data[at + count]:
            count += 1
        _sequence(out, data[literal:at], at - before, count)
        at += count
        literal = at
    _sequence(out, data[literal:], 0, MIN_MATCH)
    return bytes(out)


def _sequence(out: bytearray, literals: bytes, distance: int, match: int) -> None:
    """One token with its literals and, unless `distance` is 0, its match."""
    rest = match - MIN_MATCH
    out.append(min(len(literals), 15) << 4 | (min(rest, 15) if distance else 0))
    _more(out, len(literals))
    out += literals
    if distance:
        out += struct.pack("<H", distance)
        _more(out, rest)


def _more(out: bytearray, count: int) -> None:
    if count >= 15:
        count -= 15
        while count >= 255:
            out.append(255)
            count -= 255
        out.append(count)
