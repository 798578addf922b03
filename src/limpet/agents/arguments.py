"""JSON Schemas of the tools' arguments, and checks of a model's arguments against them.

An error says what would be right, so that the next call succeeds. Models write numbers and lists as text, and null for
what they leave out; these are accepted. A name that no schema has is refused, because a wish must not be dropped in
silence.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from ..model.errors import BadInput, LimpetError

Schema = dict[str, Any]

HALF_A_CHARACTER = "a text holds half a character (a lone surrogate, \\ud800 to \\udfff)"
# Characters of a wrong value that its error repeats.
SHOWN = 60
# JSON's types: their names in errors, and Python's types for them.
_TYPES: dict[str, tuple[str, tuple[type, ...]]] = {
    "string": ("a text", (str,)), "integer": ("a whole number", (int,)), "number": ("a number", (int, float)),
    "boolean": ("true or false", (bool,)), "array": ("a list", (list,)), "object": ("an object", (dict,)),
}  # fmt: skip


def text(description: str = "", *, one_of: tuple[str, ...] = (), default: str = "") -> Schema:
    """Return the schema of a text; empty arguments are left out of it."""
    shown = {"enum": list(one_of), "default": default, "description": description}
    return {"type": "string"} | {name: value for name, value in shown.items() if value}


def texts(description: str = "") -> Schema:
    return {"type": "array", "items": text()} | ({"description": description} if description else {})


def number(default: int, most: int, *, least: int = 1) -> Schema:
    return {"type": "integer", "minimum": least, "maximum": most, "default": default}


def flag(description: str = "") -> Schema:
    return {"type": "boolean"} | ({"description": description} if description else {})


def takes(*required: str, **properties: Schema) -> Schema:
    return {"type": "object", "properties": properties} | ({"required": list(required)} if required else {})


def listed(schema: Any, *, names: bool = False) -> Any:
    """Return a schema as clients see it: without limits, which an error tells if need be, and without defaults.

    `names`: its keys are names of properties.
    """
    if not isinstance(schema, dict):
        return schema
    return {
        key: listed(value, names=key == "properties")
        for key, value in schema.items()
        if names or key not in ("minimum", "maximum", "default")
    }


def checked(given: Any, schema: Schema, *, of: str) -> dict[str, Any]:
    """Return the arguments `of` a tool or of an item, checked against its schema, with its defaults. Raises BadInput.

    Objects in a list are not checked here: their reader checks each, so that a wrong one fails alone.
    """
    known = schema["properties"]
    if isinstance(given, str):
        given = _parsed(given, "object")
    if not isinstance(given, dict):
        raise BadInput(f"{of} takes an object, not {_shown(given)}", hint=f"fields: {', '.join(known)}")
    for name in given:
        if name not in known:
            of_items = known.get("items", {}).get("items", {}).get("properties", {})
            hint = f'give items: [{{"{name}": ...}}]' if name in of_items else f"there are: {', '.join(known)}"
            raise BadInput(f"{of} takes no {name!r}", hint=hint)
    values = {name: _value(given[name], known[name], f"{of}: {name}") for name in given if given[name] is not None}
    for name in schema.get("required", ()):
        if name not in values:
            raise BadInput(f"{of} needs {name!r}: {_wanted(known[name])}")
    return {name: part["default"] for name, part in known.items() if "default" in part} | values


def fact_value(value: str | float | bool) -> str:
    """Return a fact's value as text. Raises BadInput."""
    if isinstance(value, float) and not math.isfinite(value):
        raise BadInput(f"{value} is no value", hint="a number, text, true or false")
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # 7.0 is written 7 by the next caller
    content = value if isinstance(value, str) else json.dumps(value)
    if not content.strip():
        raise BadInput("the value is empty", hint="end: true ends what the key has; leave value out to read it")
    return content


def holds_half_a_character(value: Any) -> bool:
    """Return whether any text in a value has a lone surrogate, which JSON can write and UTF-8 cannot."""
    if isinstance(value, str):
        return any("\ud800" <= character <= "\udfff" for character in value) if not value.isascii() else False
    if isinstance(value, Mapping):
        return any(map(holds_half_a_character, (*value, *value.values())))
    return any(map(holds_half_a_character, value)) if isinstance(value, list) else False


def _value(given: Any, schema: Schema, place: str) -> Any:
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if isinstance(given, str) and "string" not in types:
        given = _parsed(given, types[0])
    if isinstance(given, float) and given.is_integer() and "number" not in types:
        given = int(given)
    fits = any(isinstance(given, _TYPES[type][1]) for type in types)
    if not fits or (isinstance(given, bool) and "boolean" not in types):
        raise BadInput(f"{place} must be {_wanted(schema)}, not {_shown(given)}")
    if "enum" in schema and given not in schema["enum"]:
        raise BadInput(f"{place} cannot be {_shown(given)}", hint=f"there are: {', '.join(schema['enum'])}")
    if isinstance(given, int) and not schema.get("minimum", given) <= given <= schema.get("maximum", given):
        raise BadInput(f"{place} must be {_wanted(schema)}, not {given}")
    if isinstance(given, list) and schema["items"]["type"] != "object":
        return [_value(part, schema["items"], f"{place}[{at}]") for at, part in enumerate(given)]
    return given


def _parsed(text: str, type: str) -> Any:
    """Parse a text argument as JSON; return the text itself if it is not JSON of the wanted type."""
    try:
        value = json.loads(text.lower() if type == "boolean" else text)
    except (ValueError, RecursionError):
        return text
    if holds_half_a_character(value):
        raise BadInput(HALF_A_CHARACTER)
    fits = isinstance(value, _TYPES[type][1]) or (type == "integer" and isinstance(value, float))
    return value if fits else text


def _wanted(schema: Schema) -> str:
    if "enum" in schema:
        return f"one of {', '.join(schema['enum'])}"
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    words = " or ".join(_TYPES[type][0] for type in types)
    if types == ["array"]:
        words += " of " + {"string": "texts", "object": "objects"}[schema["items"]["type"]]
    return f"{words} from {schema['minimum']} to {schema['maximum']}" if "maximum" in schema else words


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."


# Commands, and the call of a tool that does the same. What has none is done by the user.
_SAME = {
    "list": "recall", "recall": "recall", "show": "explain with what: audit", "review": "explain with what: review",
    "session list": "session with action: list", "forget": "correct with action: retract", "remember": "remember",
}  # fmt: skip
_COMMAND = re.compile(r"`limpet ((?:session )?[a-z]+)[^`]*`")


def in_words(error: LimpetError) -> str:
    """Return an error's message and hint, worded for tools."""
    return for_tools(f"{error.message} ({error.hint})" if error.hint else error.message)


def for_tools(message: str) -> str:
    """Return a message that names tools instead of commands; a tool sees one scope."""
    message = message.replace("`limpet list` shows ids", "recall finds memories and their ids")
    message = message.replace(", scope=NAME looks elsewhere", "")
    return _COMMAND.sub(lambda match: _SAME.get(match[1], f"your user's {match[0]}"), message)
