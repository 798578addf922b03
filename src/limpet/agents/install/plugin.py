"""A Claude Code plugin, as a marketplace folder: the same server, hooks and instructions as `install` would merge."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .change import Change
from .clients import INSTRUCTIONS, Place, claude_hooks
from .files import read

DESCRIPTION = "Memory across sessions: recalled by itself, in one file you own."


def plan_plugin(folder: Path, place: Place) -> list[Change]:
    """The files of the folder. Add it with `/plugin marketplace add FOLDER`, then `/plugin install limpet@limpet`.

    The plugin starts `limpet` from the PATH, so that the folder can be shared.
    """
    from ... import __version__

    author = {"name": "limpet"}
    entry = {"name": "limpet", "source": "./plugins/limpet", "description": DESCRIPTION, "version": __version__}
    manifest: dict[str, Any] = {
        "name": "limpet", "version": __version__, "description": DESCRIPTION, "author": author, "license": "Apache-2.0",
    }  # fmt: skip
    hooks = claude_hooks(lambda event: place.hook("claude", event))
    skill = (
        "---\nname: memory\ndescription: Recall and store what matters across sessions with limpet's tools recall, "
        f"remember and correct.\n---\n\n{INSTRUCTIONS}"
    )
    every: dict[str, Any] = {
        ".claude-plugin/marketplace.json": {"name": "limpet", "owner": author, "plugins": [entry]},
        "plugins/limpet/.claude-plugin/plugin.json": manifest,
        "plugins/limpet/.mcp.json": {"mcpServers": {"limpet": {"type": "stdio", **place.server()}}},
        "plugins/limpet/hooks/hooks.json": {
            "description": DESCRIPTION, "hooks": {event: [group] for event, group in hooks.items()},
        },
        "plugins/limpet/skills/memory/SKILL.md": skill,
    }  # fmt: skip
    changes = []
    for name, content in every.items():
        text = content if isinstance(content, str) else json.dumps(content, indent=2) + "\n"
        path = folder / name
        before, after = read(path), text.encode("utf-8")
        action = "create" if before is None else "keep" if before == after else "change"
        changes.append(Change(path, "plugin", action, before, after))
    return changes
