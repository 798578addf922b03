"""The commands that put limpet into agent clients, and take it out again."""

from __future__ import annotations

import difflib
import os
from argparse import BooleanOptionalAction, Namespace
from pathlib import Path

from ...cli import output, tables
from ...cli.verbs import AGENTS, Verb, arg
from ...folders import absolute
from ...model.errors import BadInput
from ...work import languages
from .change import Change, apply, plan_install, plan_uninstall
from .clients import CLIENTS, Place, completed, is_granted, is_present, parts, program

_DONE = {"create": "created", "change": "changed", "restore": "restored", "remove": "removed", "keep": "unchanged"}


def _install(args: Namespace) -> int:
    place = _place(args)
    clients = _clients(args, place)
    if args.allow_tools is not None and "claude" not in clients:
        raise BadInput("--allow-tools goes with claude", hint="other clients keep such rules in their own settings")
    allowed = is_granted(place) if args.allow_tools is None else args.allow_tools
    place = place._replace(allow_tools="claude" in clients and allowed)
    if "claude" in clients and not allowed and args.allow_tools is None and not (args.dry_run or args.json):
        output.words("Claude Code asks before it calls limpet's tools; with --allow-tools it need not")
    # All plans before the first change: an unreadable file stops the whole command.
    plans = [(client, plan_install(parts(client, completed(client, place)))) for client in clients]
    done = _carry_out(args, plans, place.root)
    if not (args.dry_run or args.json) and any(each.action != "keep" for _, changes in plans for each in changes):
        local = f"these files name {place.run[0]}, a path of this machine: commit them only if all have it; "
        if not os.environ.get("LIMPET_EMBEDDER"):
            output.words(f"for memories that are not in English: {languages.OFFER}; {languages.HOW}")
        output.words("`limpet start` reads what your agents have kept on this machine so far; it asks first")
        output.words(f"{local if args.project else ''}restart the client, so that it reads them")
    return done


def _uninstall(args: Namespace) -> int:
    place = _place(args)
    clients = _clients(args, place)
    # A permission goes too, if limpet put it there.
    place = place._replace(allow_tools="claude" in clients and is_granted(place))
    plans = [(client, plan_uninstall(parts(client, place))) for client in clients]
    return _carry_out(args, plans, place.root)


def _carry_out(args: Namespace, plans: list[tuple[str, list[Change]]], root: Path) -> int:
    """Make the planned changes and print them; with --dry-run print them as a diff."""
    if not args.dry_run:
        for _, changes in plans:
            apply(changes, root)
    for client, changes in plans:
        if args.json:
            shown = [{"path": str(each.path), "what": each.what, "action": each.action} for each in changes]
            output.result({"client": client, "dry_run": args.dry_run, "changes": shown})
            continue
        if args.dry_run:
            for each in changes:
                texts = (each.before, each.after)
                before, after = ((text or b"").decode("utf-8", "replace").splitlines() for text in texts)
                old, new = (str(each.path) if text is not None else "/dev/null" for text in texts)
                for line in difflib.unified_diff(before, after, old, new, lineterm=""):
                    output.line(line)
        else:
            rows = [[client, each.what, _DONE[each.action], str(each.path)] for each in changes]
            tables.table(["client", "what", "is", "file"], rows)
    return 0


def _place(args: Namespace) -> Place:
    project = Path(args.project).resolve() if args.project else None
    if project and not project.is_dir():
        raise BadInput(f"{args.project} is not a folder")
    options = ["--store", absolute(args.store)] if args.store else []
    options += ["--scope", args.scope] if args.scope else []
    return Place(Path.home(), project, program(), tuple(options))


def _clients(args: Namespace, place: Place) -> list[str]:
    if bool(args.client) == args.all or (args.client and args.client not in CLIENTS):
        raise BadInput(f"which client? {args.client or ''}"[:80], hint=f"one of: {', '.join(CLIENTS)}; or --all")
    if args.client == "claude-desktop" and args.project:
        raise BadInput("Claude Desktop has no files of a project", hint="limpet install claude-desktop --scope NAME")
    clients = [client for client in CLIENTS if is_present(client, place)] if args.all else [args.client]
    if not clients:
        output.words("no client was found on this machine")
    return clients


_CLIENT = (
    arg("[CLIENT]", ", ".join(CLIENTS)),
    arg("--all", "every client that is on this machine"),
    arg("--project DIR", "the files of this project instead of your own (. for the current folder)"),
    arg("--dry-run", "show the changes as a diff, and make none"),
)
VERBS = (
    Verb(
        name="install", group=AGENTS, about="put limpet into an agent client: MCP server, hooks, instructions",
        run=_install,
        arguments=(
            *_CLIENT,
            arg("--allow-tools", "claude only: let it call limpet's tools without asking each time",
                action=BooleanOptionalAction),
        ),
        example="limpet install claude\nlimpet install --all --dry-run",
    ),
    Verb(
        name="uninstall", group=AGENTS, about="take limpet out of an agent client again", run=_uninstall,
        arguments=_CLIENT, example="limpet uninstall claude\nlimpet uninstall --all --dry-run",
    ),
)  # fmt: skip
