"""The store and scope that a client's entries name already: an install that is told none keeps them."""

from __future__ import annotations

import os
from typing import Any

from ...folders import absolute, is_url
from ..hooks.entry import store_and_scope
from .change import present
from .check import argv_of, command_words, hook_commands
from .clients import Place, parts

_NAMES = ("store", "scope")
_Named = tuple[str | None, str | None]


def completed(client: str, place: Place) -> Place:
    """The place with what the client's MCP entry names, else its hooks. Raises BadInput for an unreadable file.

    Nothing of it for a project: a repository may come from anybody, and would choose where memories are kept.
    """
    server, environment, hooks = _found(client, place)
    given = store_and_scope(place.options)
    options, server_options, hook_options = list(place.options), [], []
    kept, dropped = [], []
    for at, name in enumerate(_NAMES):
        if given[at] is not None:
            continue
        # What a server has from its environment stays there; hooks, which do not see it, get it as an option.
        own = server[at] or (None if environment[at] else hooks[at])
        value = own or environment[at]
        if not value:
            # A client that a desktop starts has no variables of a shell: it would work in another store. A project's
            # files go to others, an address may hold a password, and one scope would hold for all projects.
            here = os.environ.get("LIMPET_STORE", "") if name == "store" and not place.project else ""
            if here and not is_url(here):
                options += [f"--{name}", absolute(here)]
            continue
        said, words = f"--{name} {value}", [f"--{name}", value]
        if place.project:
            dropped.append(said)
        elif "$" in value and (
            server[at] or environment[at]
        ):  # only the client can fill it in: a hook's line quotes it
            kept.append(f"{said} (by the server alone: hooks cannot fill in its $)")
            if own:
                server_options += words
        else:
            kept.append(said)
            if own:
                options += words
            else:
                hook_options += words
    return place._replace(
        options=tuple(options), server_options=tuple(server_options), hook_options=tuple(hook_options),
        kept=tuple(kept), dropped=tuple(dropped),
    )  # fmt: skip


def _found(client: str, place: Place) -> tuple[_Named, _Named, _Named]:
    """What the arguments of the server name, its environment, and the hooks."""
    server: _Named = (None, None)
    environment: _Named = (None, None)
    lines = []
    for part, there in present(parts(client, place)):
        if part.what == "MCP server" and isinstance(there, dict):
            server = store_and_scope((argv_of(there) or [])[1:])
            environment = _of_environment(there)
        elif part.what == "hooks":
            lines += [store_and_scope(command_words(command)) for _, command in hook_commands(client, part, there)]
    first = [next((one[at] for one in lines if one[at]), None) for at in range(len(_NAMES))]
    return server, environment, (first[0], first[1])


def _of_environment(entry: dict[str, Any]) -> _Named:
    given = entry.get("env", entry.get("environment"))
    if not isinstance(given, dict):
        return None, None
    found = [value if isinstance(value := given.get(f"LIMPET_{name.upper()}"), str) else None for name in _NAMES]
    return found[0], found[1]
