"""Names of the public interface that were given up, each with the one that took its place. Every one keeps working.

The one place for them: who looks a name up and finds nothing asks here. tests/flows/test_old_names.py tries each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    Verb = TypeVar("Verb", bound=Callable[..., Any])

COMMANDS = {"surfaced": "exposures"}
SETTINGS = {"LIMPET_WITHHOLD": "LIMPET_HOLDOUT"}
METHODS = {"surfaced": "exposures", "note_surfaced": "note_exposures"}  # of `Limpet`
KEYWORDS = {"kinds": "kind", "budget": "budget_tokens"}  # of the verbs that say so by `takes`
EMBEDDER = {"gauge": "calibration"}  # attributes of an embedder that somebody brings


def takes(*names: str) -> Callable[[Verb], Verb]:
    """A verb that still takes keywords by names that they had before."""

    def decorate(verb: Verb) -> Verb:
        @wraps(verb)
        def call(*args: Any, **given: Any) -> Any:
            for old in names:
                if old in given:
                    new = KEYWORDS[old]
                    if new in given:
                        raise TypeError(f"{verb.__name__}() got {new!r} and its old name {old!r}")
                    given[new] = given.pop(old)
            return verb(*args, **given)

        call.old_names = names  # type: ignore[attr-defined]
        return call  # type: ignore[return-value]  # its signature is that of `verb`

    return decorate


def all_names(name: str, table: Mapping[str, str]) -> tuple[str, ...]:
    """A name and those that it had before."""
    return (name, *(old for old, new in table.items() if new == name))
