"""limpet as a plugin of Claude Code and an extension of Gemini CLI: the server, hooks and instructions of `install`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ...model.errors import BadInput
from . import jsonc
from .change import Change, Part, json_hooks, json_value
from .clients import INSTRUCTIONS, Place, claude_hooks, gemini_hooks
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
    return _changes(folder, every)


def plan_extension(folder: Path, place: Place) -> list[Change]:
    """The files of an extension of Gemini CLI, for `gemini extensions install FOLDER` or `link`."""
    from ... import __version__

    hooks = gemini_hooks(lambda event: place.hook("gemini", event))
    manifest = {
        "name": "limpet", "version": __version__, "description": DESCRIPTION, "contextFileName": "GEMINI.md",
        "mcpServers": {"limpet": place.server()},
    }  # fmt: skip
    every = {
        "gemini-extension.json": manifest,
        "hooks/hooks.json": {"hooks": {event: [group] for event, group in hooks.items()}},
        "GEMINI.md": INSTRUCTIONS,
    }
    return _changes(folder, every)


def _changes(folder: Path, every: dict[str, Any]) -> list[Change]:
    changes = []
    for name, content in every.items():
        text = content if isinstance(content, str) else json.dumps(content, indent=2) + "\n"
        path = folder / name
        before, after = read(path), text.encode("utf-8")
        action = "create" if before is None else "keep" if before == after else "change"
        changes.append(Change(path, "plugin", action, before, after))
    return changes


def installed(client: str, place: Place) -> list[Path]:
    """The folders in which the client keeps limpet's plugin; none for one that is switched off. Raises LimpetError."""
    if client == "gemini":
        folder = place.home / ".gemini" / "extensions" / "limpet"
        given = _json(folder / ".gemini-extension-install.json")
        if given.get("type") == "link" and isinstance(given.get("source"), str):
            folder = Path(given["source"])
        return [folder] if (folder / "gemini-extension.json").is_file() else []
    folder = place.folder("CLAUDE_CONFIG_DIR", ".claude")
    plugins = _json(folder / "plugins" / "installed_plugins.json").get("plugins")
    switches = _json(folder / "settings.json").get("enabledPlugins")
    found = []
    for name, entries in plugins.items() if isinstance(plugins, dict) else ():
        off = isinstance(switches, dict) and switches.get(name) is False
        if name.partition("@")[0] == "limpet" and not off and isinstance(entries, list):
            paths = [one.get("installPath") for one in entries if isinstance(one, dict)]
            found += [Path(one) for one in paths if isinstance(one, str)]
    return list(dict.fromkeys(found))


def plugin_parts(client: str, folder: Path) -> list[Part]:
    """What of limpet stands in a plugin's folder."""
    servers = folder / {"claude": ".mcp.json", "gemini": "gemini-extension.json"}[client]
    return [
        json_value(servers, "MCP server", ("mcpServers", "limpet"), {}),
        json_hooks(folder / "hooks" / "hooks.json", {}),
    ]


def _json(path: Path) -> dict[str, Any]:
    """A client's own file; empty when there is none. Raises BadInput for one that cannot be read."""
    data = read(path)
    try:
        found = jsonc.parse(data.decode("utf-8")) if data and data.strip() else {}
    except (UnicodeDecodeError, jsonc.NotJson) as error:
        raise BadInput(f"{path} cannot be read: {error}") from None
    return found if isinstance(found, dict) else {}


PLUGINS = {"claude": plan_plugin, "gemini": plan_extension}
