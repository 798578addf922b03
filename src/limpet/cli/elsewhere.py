"""What a search says that found nothing where it looked: whether there is anything, and in which scopes."""

from __future__ import annotations

import os

from ..model.errors import counted
from ..model.memory import GLOBAL_SCOPE
from .output import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from ..api import Limpet

# Scopes that an empty answer names.
MOST_SCOPES = 5


def nothing(memory: Limpet, args: Namespace) -> None:
    """What a search or a list without a result says: whether there is anything here, and where there is."""
    if args.json:
        return
    if then := getattr(args, "known_at", None):
        words(f"nothing found in what was known then ({then})")
        return
    if elsewhere(memory, args):
        return
    if not getattr(args, "query", "?").strip():
        words("nothing is asked: the question is empty")
        return
    places = dict.fromkeys((memory.scope, GLOBAL_SCOPE))
    here = sum(one.memories for one in memory.scopes() if one.scope in places)
    words("nothing found" + (f" among {counted(here, 'memory')} of {' and '.join(places)}" if here else ""))


def named_scope(args: Namespace) -> str | None:
    """The scope that somebody named, perhaps wrongly."""
    return args.scope or os.environ.get("LIMPET_SCOPE")


def elsewhere(memory: Limpet, args: Namespace) -> bool:
    """Say so where a scope holds nothing itself, and where memories are. Returns whether it did. Where `global` holds
    some, only of a scope that was named."""
    if args.json or args.all_scopes:
        return False
    scopes = {one.scope: one.memories for one in memory.scopes()}
    if not scopes or memory.scope in scopes or (GLOBAL_SCOPE in scopes and not named_scope(args)):
        return False
    told = ", ".join(f"{count:,} in {scope}" for scope, count in list(scopes.items())[:MOST_SCOPES])
    more = f" and {counted(len(scopes) - MOST_SCOPES, 'more scope')}" if len(scopes) > MOST_SCOPES else ""
    words(f"nothing in {memory.scope}; {told}{more}")
    words("  hint: --scope NAME looks there, --all-scopes everywhere")
    return True
