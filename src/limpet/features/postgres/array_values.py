"""Arrays of values as psycopg sends them."""

from __future__ import annotations

from typing import Any

from psycopg.adapt import Dumper


class Ids(list[bytes]):
    """An array of ids."""


class Numbers(list[int]):
    """An array of numbers."""


class _IdsDumper(Dumper):
    def dump(self, obj: Ids) -> bytes:
        return b"{" + b",".join(b'"\\\\x%s"' % one.hex().encode() for one in obj) + b"}"

    def quote(self, obj: Ids) -> bytes:
        return b"'{" + b",".join(b'"\\\\x%s"' % one.hex().encode() for one in obj) + b"}'::bytea[]"


class _NumbersDumper(Dumper):
    def dump(self, obj: Numbers) -> bytes:
        return b"{" + b",".join(b"%d" % one for one in obj) + b"}"

    def quote(self, obj: Numbers) -> bytes:
        return b"'" + self.dump(obj) + b"'::bigint[]"


class Words(list[str]):
    """An array of texts, in a third of the time that psycopg takes for a list."""


class _WordsDumper(Dumper):
    def dump(self, obj: Words) -> bytes:
        said = "\0".join(obj).replace("\\", "\\\\").replace('"', '\\"').replace("\0", '","')
        return f'{{"{said}"}}'.encode() if obj else b"{}"

    def quote(self, obj: Words) -> bytes:
        return b"'" + self.dump(obj).replace(b"'", b"''") + b"'::text[]"


DUMPERS: dict[type, type[Any]] = {Ids: _IdsDumper, Numbers: _NumbersDumper, Words: _WordsDumper}
