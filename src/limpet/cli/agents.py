"""Commands about agent clients: install, uninstall, hook."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, BooleanOptionalAction, Namespace
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..agents.hooks.client_adapters import CLIENT_ADAPTERS
from ..folders import absolute
from ..model.errors import BadInput
from . import output
from .options import Command

if TYPE_CHECKING:
    from ..agents.install.change import Change, Part
    from ..agents.install.clients import Place

# Clients with hooks; install knows some more, which only have an MCP server.
NAMES = ", ".join(CLIENT_ADAPTERS)
INSTALLED = f"{NAMES}, claude-desktop, vscode, zed"
_DONE = {"create": "created", "change": "changed", "restore": "restored", "remove": "removed", "keep": "unchanged"}


def _install_options(parser: ArgumentParser) -> None:
    _shared_options(parser)
    parser.add_argument(
        "--plugin",
        metavar="DIR",
        help="claude, gemini: write a plugin marketplace folder, or an extension, there instead of merging",
    )
    parser.add_argument(
        "--allow-tools",
        action=BooleanOptionalAction,
        default=None,
        help="claude only: let it call limpet's tools without asking each time (default: you are asked on a terminal)",
    )


def _shared_options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("client", metavar="CLIENT", nargs="?", help=INSTALLED)
    add("--all", action="store_true", help="every client that is on this machine")
    add("--project", metavar="DIR", help="the files of this project instead of your own (. for the current folder)")
    add("--dry-run", action="store_true", help="show the changes as a diff, and make none")


def _install(args: Namespace) -> int:
    from ..agents.install.change import plan_install

    if args.plugin:
        from ..agents.install.plugin import PLUGINS

        if args.client not in PLUGINS or args.all or args.project or args.allow_tools:
            raise BadInput(
                f"--plugin goes with one client alone: {' or '.join(PLUGINS)}",
                hint="limpet install claude --plugin DIR",
            )
        folder = Path(args.plugin).absolute()
        place = _place(args)._replace(run=("limpet",))
        return _carry_out(args, [(args.client, PLUGINS[args.client](folder, place))], folder, {})
    place = _place(args)
    clients = _clients(args, place)
    if args.allow_tools is not None and "claude" not in clients:
        raise BadInput("--allow-tools goes with claude", hint="other clients keep such rules in their own settings")
    from ..agents.install.existing import completed

    place = place._replace(allow_tools=_allowed(args, clients, place))
    places = {client: completed(client, place) for client in clients}
    code = _each(args, plan_install, places)
    scope = os.environ.get("LIMPET_SCOPE", "")
    if scope and not args.json and not all("--scope" in _written(one) for one in places.values()):
        output.words(
            f"LIMPET_SCOPE ({scope}) is not written: one scope would hold for all projects; a client without it"
        )
        output.words(f"  takes the scope of its folder, --scope {scope} writes it")
    return code


def _written(place: Place) -> tuple[str, ...]:
    return (*place.options, *place.server_options, *place.hook_options)


def _uninstall(args: Namespace) -> int:
    from ..agents.install.change import plan_uninstall
    from ..agents.install.clients import is_granted

    place = _place(args)
    clients = _clients(args, place)
    # A permission goes too, if limpet put it there.
    place = place._replace(allow_tools="claude" in clients and is_granted(place))
    return _each(args, plan_uninstall, dict.fromkeys(clients, place))


def _allowed(args: Namespace, clients: list[str], place: Place) -> bool:
    """Whether the user lets Claude Code call limpet's tools: by the option, or by a yes on the terminal."""
    if args.allow_tools is not None or "claude" not in clients:
        return bool(args.allow_tools)
    from ..agents.install.clients import CLAUDE_TOOLS, is_granted

    if is_granted(place):
        return True
    if args.dry_run or args.json:
        return False
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        output.words("Claude Code asks before it calls limpet's tools; with --allow-tools it need not")
        return False
    try:
        said = input(f"Let Claude Code call limpet's tools without asking each time ({CLAUDE_TOOLS})? [y/N] ")
    except EOFError:
        return False
    return said.strip().lower() in ("y", "yes")


def _each(args: Namespace, plan: Callable[[Sequence[Part]], list[Change]], places: dict[str, Place]) -> int:
    from ..agents.install.clients import parts

    if list(places) == ["claude-desktop"] and args.project:
        raise BadInput("Claude Desktop has no files of a project", hint="limpet install claude-desktop --scope NAME")
    # Every plan before the first change: what cannot be read stops the whole command.
    plans = [(client, plan(parts(client, place))) for client, place in places.items()]
    return _carry_out(args, plans, _place(args).root, places)


def _carry_out(args: Namespace, plans: list[tuple[str, list[Change]]], root: Path, places: Mapping[str, Place]) -> int:
    from ..agents.install.change import apply

    if not args.dry_run:
        for _, changes in plans:
            apply(changes, root)
    for client, changes in plans:
        place = places.get(client)
        kept = [*(place.kept if place else ()), *(name for one in changes for name in one.kept)]
        dropped = [*(place.dropped if place else ()), *(name for one in changes for name in one.dropped)]
        if args.json:
            shown = [{"path": str(one.path), "what": one.what, "action": one.action} for one in changes]
            line = {"client": client, "dry_run": args.dry_run, "changes": shown, "kept": kept, "not_kept": dropped}
            output.object_line(line)
            continue
        if args.dry_run:
            for one in changes:
                _diff(one)
        else:
            output.table(
                ["client", "file", "what", "is"],
                [[client, str(one.path), one.what, _DONE[one.action]] for one in changes],
            )
        if kept:
            output.words(f"{client}: kept of what was there: {', '.join(kept)}")
        if dropped:
            why = "a project's files may come from anybody, so name what you want of it"
            output.words(f"{client}: not kept: {', '.join(dropped)}; {why}")
    return 0


def _diff(one: Change) -> None:
    import difflib

    before = (one.before or b"").decode("utf-8", "replace").splitlines()
    after = (one.after or b"").decode("utf-8", "replace").splitlines()
    names = (
        str(one.path) if one.before is not None else "/dev/null",
        str(one.path) if one.after is not None else "/dev/null",
    )
    for line in difflib.unified_diff(before, after, *names, lineterm=""):
        output.line(line)


def _place(args: Namespace) -> Place:
    from ..agents.install.clients import Place, program

    project = None
    if args.project:
        project = Path(args.project).resolve()
        if not project.is_dir():
            raise BadInput(f"{args.project} is not a folder")
    options: list[str] = []
    if args.store:
        options += ["--store", absolute(args.store)]
    if args.scope:
        options += ["--scope", args.scope]
    return Place(Path.home(), project, program(), tuple(options))


def _clients(args: Namespace, place: Place) -> list[str]:
    from ..agents.install.clients import CLIENTS, is_present

    if args.all and args.client:
        raise BadInput("give a client or --all, not both")
    if args.all:
        found = [one for one in CLIENTS if is_present(one, place)]
        if not found:
            output.words("no client was found on this machine")
        return found
    if args.client is None:
        raise BadInput("which client?", hint=f"one of: {INSTALLED}; or --all")
    if args.client not in CLIENTS:
        raise BadInput(f"unknown client: {args.client[:60]!r}", hint=f"one of: {INSTALLED}")
    return [args.client]


def _hook_options(parser: ArgumentParser) -> None:
    parser.add_argument("client", metavar="CLIENT", help=NAMES)
    parser.add_argument("event", metavar="EVENT", help="the client's own name of the event; its JSON comes on stdin")


def _hook(args: Namespace) -> int:
    """Reached when `limpet hook` was not started through `start.py`."""
    from ..agents.hooks.entry import run

    words = [args.client, args.event]
    for name in ("store", "scope"):
        if getattr(args, name):
            words += [f"--{name}", getattr(args, name)]
    sys.stdout.flush()
    run(words)


COMMANDS = {
    "install": Command(
        _install_options, _install,
        "limpet install claude\nlimpet install --all --dry-run\nlimpet install claude --plugin ./limpet-plugin",
    ),
    "uninstall": Command(_shared_options, _uninstall, "limpet uninstall claude\nlimpet uninstall --all --dry-run"),
    "hook": Command(
        _hook_options, _hook,
        'echo \'{"session_id": "s1", "prompt": "how do we deploy?"}\' | limpet hook claude UserPromptSubmit',
    ),
}  # fmt: skip
