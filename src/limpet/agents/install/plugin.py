"""limpet as a plugin of Claude Code: the server, hooks and instructions of `install`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ... import __version__
from .change import Change
from .clients import INSTRUCTIONS, Place, claude_hooks
from .files import read

DESCRIPTION = "Memory across sessions: recalled by itself, in one file you own."


def plan_plugin(folder: Path, place: Place) -> list[Change]:
    """The files of the folder. Add it with `/plugin marketplace add FOLDER`, then `/plugin install limpet@limpet`.

    The plugin starts `limpet` from the PATH, so that the folder can be shared.
    """
    author = {"name": "limpet"}
    about = {"name": "limpet", "description": DESCRIPTION, "version": __version__}
    hooks = claude_hooks(lambda event: place.hook("claude", event))
    made: dict[str, Any] = {
        ".claude-plugin/marketplace.json": {
            "name": "limpet", "owner": author, "plugins": [{**about, "source": "./plugins/limpet"}]
        },
        "plugins/limpet/.claude-plugin/plugin.json": {**about, "author": author, "license": "Apache-2.0"},
        "plugins/limpet/.mcp.json": {"mcpServers": {"limpet": {"type": "stdio", **place.server()}}},
        "plugins/limpet/hooks/hooks.json": {
            "description": DESCRIPTION, "hooks": {event: [group] for event, group in hooks.items()},
        },
        "plugins/limpet/skills/memory/SKILL.md":
            "---\nname: memory\ndescription: Recall and store what matters across sessions with limpet's tools recall, "
            f"remember and correct.\n---\n\n{INSTRUCTIONS}",
    }  # fmt: skip
    changes = []
    for name, content in made.items():
        text = content if isinstance(content, str) else json.dumps(content, indent=2) + "\n"
        before, after = read(folder / name), text.encode("utf-8")
        action = "create" if before is None else "keep" if before == after else "change"
        changes.append(Change(folder / name, "plugin", action, before, after))
    return changes
