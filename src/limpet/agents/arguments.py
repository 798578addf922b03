"""What a model gave a tool, held against the tool's schema. What is wrong is said so that the next call can be right.

Models write numbers and lists as text, and null for what they leave out: what is meant is taken. A name that nobody
knows is refused with those that there are, for what is dropped in silence is a wish not granted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..model.errors import BadInput

HALF_A_CHARACTER = "a text holds half a character (a lone surrogate, \\ud800 to \\udfff)"
# Characters of a wrong value that its error repeats.
SHOWN = 60

_NAMES = {"string": "a text", "integer": "a whole number", "number": "a number", "boolean": "true or false",
          "array": "a list", "object": "an object"}  # fmt: skip
_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,), "array": (list,), "object": (dict,)
}  # fmt: skip


def checked(given: Any, schema: dict[str, Any], *, of: str) -> dict[str, Any]:
    """The arguments `of` a tool, or of an item, as its schema has them, with its defaults. Raises BadInput.

    Objects in a list are left as they are: each is checked by who takes it, so that one which is wrong fails alone.
    """
    if isinstance(given, str):
        given = _parsed(given, "object")
    if not isinstance(given, dict):
        raise BadInput(f"{of} takes an object, not {_shown(given)}", hint=f"fields: {', '.join(schema['properties'])}")
    known = schema["properties"]
    for name in given:
        if name not in known:
            items = known.get("items", {}).get("items", {}).get("properties", {})
            if name in items:
                raise BadInput(f"{of} takes no {name!r}", hint=f'give items: [{{"{name}": ...}}]')
            raise BadInput(f"{of} takes no {name!r}", hint=f"there are: {', '.join(known)}")
    values = {name: _value(given[name], known[name], f"{of}: {name}") for name in given if given[name] is not None}
    for name in schema.get("required", ()):
        if name not in values:
            raise BadInput(f"{of} needs {name!r}: {_wanted(known[name])}")
    return {name: one["default"] for name, one in known.items() if "default" in one} | values


def holds_half_a_character(value: Any) -> bool:
    """Whether a text in there cannot be UTF-8. JSON can name such, also inside of a text that is JSON itself."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return True
        return False
    if isinstance(value, Mapping):
        return any(map(holds_half_a_character, (*value, *value.values())))
    return any(map(holds_half_a_character, value)) if isinstance(value, list) else False


def _value(given: Any, schema: dict[str, Any], place: str) -> Any:
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if isinstance(given, str) and "string" not in types:
        given = _parsed(given, types[0])
    if isinstance(given, float) and given.is_integer() and "number" not in types:
        given = int(given)
    fits = any(isinstance(given, _TYPES[one]) for one in types)
    if not fits or (isinstance(given, bool) and "boolean" not in types):
        raise BadInput(f"{place} must be {_wanted(schema)}, not {_shown(given)}")
    if "enum" in schema and given not in schema["enum"]:
        raise BadInput(f"{place} cannot be {_shown(given)}", hint=f"there are: {', '.join(schema['enum'])}")
    if isinstance(given, int) and not schema.get("minimum", given) <= given <= schema.get("maximum", given):
        raise BadInput(f"{place} must be {_wanted(schema)}, not {given}")
    if isinstance(given, list) and schema["items"]["type"] != "object":
        return [_value(one, schema["items"], f"{place}[{at}]") for at, one in enumerate(given)]
    return given


def _parsed(text: str, type: str) -> Any:
    """What a model wrote as text: JSON where it is that of the type that is wanted, else the text."""
    try:
        value = json.loads(text.lower() if type == "boolean" else text)
    except (ValueError, RecursionError):
        return text
    if holds_half_a_character(value):
        raise BadInput(HALF_A_CHARACTER)
    return value if isinstance(value, _TYPES[type]) or (type == "integer" and isinstance(value, float)) else text


def _wanted(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return f"one of {', '.join(schema['enum'])}"
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    words = " or ".join(_NAMES[one] for one in types)
    if types == ["array"]:
        words += " of " + {"string": "texts", "object": "objects"}[schema["items"]["type"]]
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is not None:
        words += f" from {least} to {most}" if most is not None else f", {least} or more"
    return words


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."
