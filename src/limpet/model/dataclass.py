"""Dataclasses with slots like the standard library's, made in a tenth of its time, and named tuples without `typing`.

The standard library writes and compiles seven methods of each class as it is made, and imports `inspect` to do so: a
fifth of what a cold command may take. Here the methods are the same functions for all classes, but for `__init__`: a
class gets its own with its first object.

Type checkers see the standard library's; its `fields`, `replace`, `asdict` and `inspect.signature` read these alike.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial

_MISSING: Any = object()  # no default
# Characters of a value that a repr shows whole; of a longer value, characters of a text and of a list.
SHOWN_WHOLE, SHOWN_OF_A_TEXT, SHOWN_OF_A_LIST = 120, 60, 3
# The field that says most of a value inside another: the first that it has.
_SAYING = ("content", "text", "value", "node", "message", "name", "id")


class _Field:
    """The declaration of one value of a class; named as in `dataclasses.Field`."""

    __slots__ = ("compare", "default", "default_factory", "metadata", "name", "repr", "type")

    def __init__(
        self,
        *,
        default: Any = _MISSING,
        default_factory: Any = _MISSING,
        repr: bool = True,
        compare: bool = True,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        self.name, self.type = "", None  # set by the class
        self.default, self.default_factory = default, default_factory
        self.repr, self.compare = repr, compare
        self.metadata: dict[str, Any] = metadata or {}


def _dataclass(*, slots: bool, frozen: bool = False, kw_only: bool = False) -> Callable[[type], Any]:
    if not slots:
        raise TypeError("limpet's dataclasses have slots")
    return partial(_made, frozen, kw_only)


def _fields(value: Any) -> tuple[_Field, ...]:
    """Return the fields of a class, or of an object's class, those of its bases first."""
    return tuple(value.__fields__.values())


def _replace(value: Any, /, **changes: Any) -> Any:
    """Return a copy with other values of some fields."""
    return type(value)(**{name: getattr(value, name) for name in value.__fields__} | changes)


def _made(frozen: bool, kw_only: bool, cls: type) -> Any:
    """Make the class again: slots cannot be given to an existing one."""
    of_bases: dict[str, _Field] = {}
    for base in reversed(cls.__mro__[1:]):
        of_bases |= vars(base).get("__fields__", {})
    namespace = dict(vars(cls))
    own: dict[str, _Field] = {}
    for name, annotation in cls.__annotations__.items():
        if "ClassVar" in str(annotation):
            continue
        default = namespace.pop(name, _MISSING)
        own[name] = default if isinstance(default, _Field) else _Field(default=default)
        own[name].name, own[name].type = name, annotation
    fields = of_bases | own
    namespace = _METHODS | (_FROZEN if frozen else {}) | namespace
    if namespace.get("__hash__") is None:  # Python sets it to None where there is an __eq__
        namespace["__hash__"] = (lambda self: hash(_compared(self))) if frozen else None
    namespace |= {
        "__slots__": tuple(name for name in own if name not in of_bases),
        "__fields__": fields,
        "__qualname__": cls.__qualname__,
        "__match_args__": () if kw_only else tuple(fields),
    }
    for gone in ("__dict__", "__weakref__"):
        namespace.pop(gone, None)
    return type(cls)(cls.__name__, cls.__bases__, namespace)


def _init(self: Any, *values: Any, **named: Any) -> None:
    """Write the `__init__` of a class when it gets its first object, and call it."""
    cls: Any = type(self)
    space: dict[str, Any] = {"_set": object.__setattr__, "_missing": _MISSING}
    parameters, lines = [], []
    for name, field in cls.__fields__.items():
        value = parameter = name
        if field.default is not _MISSING:
            space[f"_{name}"] = field.default
            parameter = f"{name}=_{name}"
        elif field.default_factory is not _MISSING:
            space[f"_{name}"] = field.default_factory
            parameter, value = f"{name}=_missing", f"_{name}() if {name} is _missing else {name}"
        parameters.append(parameter)
        lines.append(f"_set(self, {name!r}, {value})")
    head = ", ".join(["self", *(["*"] if parameters and not cls.__match_args__ else []), *parameters])
    exec(f"def __init__({head}):\n " + "\n ".join(lines or ["pass"]), space)
    space["__init__"].__qualname__ = f"{cls.__qualname__}.__init__"
    cls.__init__ = space["__init__"]
    cls.__init__(self, *values, **named)


def _compared(value: Any) -> tuple[Any, ...]:
    return tuple([getattr(value, name) for name, field in value.__fields__.items() if field.compare])


def _shown(self: Any) -> str:
    """Show an object as the standard library does if that is short; else cut, and without empty values."""
    given = [(name, getattr(self, name)) for name, field in self.__fields__.items() if field.repr]
    values = ", ".join(f"{name}={value!r}" for name, value in given)
    if len(values) > SHOWN_WHOLE:
        values = ", ".join(_in_brief(name, value) for name, value in given if not _is_nothing(value))
    return f"{type(self).__qualname__}({values})"


def _is_nothing(value: Any) -> bool:
    return value is None or (isinstance(value, str | list | tuple | dict) and not value)


def _in_brief(name: str, value: Any) -> str:
    if name.endswith("_us") and type(value) is int:
        from .clock import format_time

        with suppress(OverflowError):  # a time that no datetime can be is shown as the number that it is
            return f"{name.removesuffix('_us')}={format_time(value)}"
    return f"{name}={_brief(value)}"


def _brief(value: Any) -> str:
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        more = [f"... {len(value) - SHOWN_OF_A_LIST} more"] if len(value) > SHOWN_OF_A_LIST else []
        parts = ", ".join([*map(_brief, value[:SHOWN_OF_A_LIST]), *more])
        return f"[{parts}]" if isinstance(value, list) else f"({parts}{',' * (len(value) == 1)})"
    words = next((getattr(value, name) for name in _SAYING if hasattr(value, name)), None)
    if words is not None:
        return f"{type(value).__name__}({_brief(words)})"
    if isinstance(value, str):
        return repr(value if len(value) <= SHOWN_OF_A_TEXT else value[: SHOWN_OF_A_TEXT - 1] + "…")
    text = repr(value)
    return text if len(text) <= SHOWN_OF_A_TEXT else text[: SHOWN_OF_A_TEXT - 1] + "…"


def _refuse(_self: Any, name: str, *value: object) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot {'assign to' if value else 'delete'} field {name!r}")


def _set_state(self: Any, state: list[Any]) -> None:
    for name, value in zip(self.__fields__, state, strict=True):
        object.__setattr__(self, name, value)


class _Standard:
    """A class attribute for the standard library, made when it is asked for."""

    def __init__(self, make: Callable[[Any], Any]) -> None:
        self.make = make

    def __get__(self, instance: object, cls: type) -> Any:
        return self.make(cls)


@cache
def _standard(cls: Any) -> Any:
    import dataclasses

    given = []
    for name, field in cls.__fields__.items():
        parts = {part: getattr(field, part) for part in _Field.__slots__ if part not in ("name", "type")}
        present = {part: value for part, value in parts.items() if value is not _MISSING}
        given.append((name, field.type, dataclasses.field(**present)))
    return dataclasses.make_dataclass(cls.__name__, given, kw_only=not cls.__match_args__)


def _signature(cls: Any) -> Any:
    import inspect

    return inspect.signature(_standard(cls))


_METHODS: dict[str, Any] = {
    "__init__": _init, "__repr__": _shown, "__replace__": _replace, "__setstate__": _set_state,
    "__eq__": lambda self, other: _compared(self) == _compared(other) if type(self) is type(other) else NotImplemented,
    "__getstate__": lambda self: [getattr(self, name) for name in self.__fields__],
    "__dataclass_fields__": _Standard(lambda cls: _standard(cls).__dataclass_fields__),
    "__signature__": _Standard(_signature),
}  # fmt: skip
_FROZEN: dict[str, Any] = {"__setattr__": _refuse, "__delattr__": _refuse}


class _NamedTuple(type):
    """The class of `NamedTuple`: its subclasses become named tuples."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> Any:
        if not bases:
            return super().__new__(cls, name, bases, namespace)
        annotations = namespace.get("__annotations__") or type(name, (), namespace).__annotations__
        defaults = [namespace[field] for field in annotations if field in namespace]
        untyped: Any = namedtuple
        made = untyped(name, annotations, defaults=defaults, module=namespace["__module__"])
        for attribute, value in namespace.items():
            if attribute not in annotations:
                setattr(made, attribute, value)
        made.__annotations__ = annotations
        return made


TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataclasses import dataclass, field, fields, replace
    from typing import Any, NamedTuple
else:
    dataclass, field, fields, replace = _dataclass, _Field, _fields, _replace
    NamedTuple = _NamedTuple("NamedTuple", (), {})

__all__ = ["NamedTuple", "dataclass", "field", "fields", "replace"]
