"""Statements of the repositories, written for SQLite, as Postgres takes them.

What both understand is left as it is; what is here is all that differs. Nothing of a value is in a statement.
"""

from __future__ import annotations

import re
from functools import lru_cache

# Names of parameters as psycopg takes them; numbered and unnumbered ones become p1, p2 and so on.
_PARAMETER = r":\w+|\?\d*"
_LITERAL = re.compile(r"('(?:[^']|'')*')")
_JSON_VALUE = "j.value #>> '{}'"
_WHOLE: tuple[tuple[str, str], ...] = (
    (r"\bx''", "''::bytea"),
    (r" INDEXED BY \w+", ""),
    # The order of a join is the planner's, which knows how long an array is.
    (r"CROSS JOIN (\w+(?: \w+)?) ON ", r"JOIN \1 ON "),
    (r"CROSS JOIN (carray\([^)]*\)(?: \w+)?) ON ", r"JOIN \1 ON "),
    (rf"carray\(({_PARAMETER})\)(?: (?!WHERE|CROSS|JOIN)(\w+))?", r"unnest(\1) AS c(value)"),
    (r"j\.type <> 'null'", "json_typeof(j.value) <> 'null'"),
    (r"j\.type IN \('true', 'false'\) AND j\.value = (:\w+)",
     rf"CASE json_typeof(j.value) WHEN 'boolean' THEN ({_JSON_VALUE})::boolean = \1 ELSE false END"),
    (r"j\.type IN \('text'\) AND j\.value = (:\w+)",
     rf"CASE json_typeof(j.value) WHEN 'string' THEN {_JSON_VALUE} = \1 ELSE false END"),
    (r"j\.type IN \('integer', 'real'\) AND j\.value = (:\w+)",
     rf"CASE json_typeof(j.value) WHEN 'number' THEN ({_JSON_VALUE})::float8 = \1 ELSE false END"),
    (rf"json_each\(({_PARAMETER}|m\.topics)\)(?: j\b)?", r"json_array_elements_text((\1)::json) AS j(value)"),
    (r" LIMIT -1\b", ""),
    (r"IN \(\)", "IN (NULL)"),
    (r"\bifnull\(", "coalesce("),
    (r"\btotal\((\w+)\)", r"coalesce(sum(\1), 0)"),
    (r"CAST\((\w\.\w+) AS BLOB\)", r"convert_to((\1)::text, 'UTF8')"),
    (r"\bchar\(", "chr("),
    # A value in JSON has no collation of its own.
    (rf"\bvalue = ({_PARAMETER}) COLLATE NOCASE", r'lower(value COLLATE "C") = lower(\1 COLLATE "C")'),
    # Both in the collation C, where case is that of ASCII.
    (rf"([\w.]+) = ({_PARAMETER}) COLLATE NOCASE", r'lower(\1) = lower(\2 COLLATE "C")'),
    (rf" LIKE ({_PARAMETER})", r" ILIKE \1"),
    (r"ON CONFLICT \(", "ON CONFLICT (tenant, "),
)  # fmt: skip
_PATTERNS = tuple((re.compile(pattern), new) for pattern, new in _WHOLE)


@lru_cache(maxsize=2_000)
def translate(statement: str) -> str:
    """The statement with psycopg's named parameters."""
    for pattern, new in _PATTERNS:
        statement = pattern.sub(new, statement)
    statement = _extremes(statement)
    count = 0

    def parameter(match: re.Match[str]) -> str:
        nonlocal count
        said = match[0]
        if said[0] == ":":
            return f"%({said[1:]})s"
        count += 1
        return f"%(p{said[1:] or count})s"

    parts = _LITERAL.split(statement.replace("%", "%%"))
    parts[::2] = [re.sub(r"(?<![:\w]):\w+|\?\d*", parameter, part) for part in parts[::2]]
    return "".join(parts)


def _extremes(statement: str) -> str:
    """`max` and `min` of several values have names of their own; those of rows stay."""
    for name, other in (("max", "greatest"), ("min", "least")):
        at = 0
        while (at := statement.find(f"{name}(", at)) >= 0:
            depth, end, several = 1, at + len(name) + 1, False
            while depth:
                depth += {"(": 1, ")": -1}.get(statement[end], 0)
                several |= depth == 1 and statement[end] == ","
                end += 1
            if several:
                statement = statement[:at] + other + statement[at + len(name) :]
            at += len(name)
    return statement
