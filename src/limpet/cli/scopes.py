"""Commands about scopes: list, rename and merge them, move memories between them."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ..model.errors import BadInput, counted
from . import output
from .options import Command, open_store
from .receipt import receipt


def _scopes_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "action", metavar="ACTION", nargs="?", choices=("list", "rename", "merge"), default="list",
        help="list (default); rename SCOPE NAME, which no scope has; merge SCOPE INTO, which has memories too",
    )  # fmt: skip
    parser.add_argument(
        "names", metavar="SCOPE", nargs="*", help="of rename and merge: which scope, and what it becomes"
    )


def _scopes(args: Namespace) -> int:
    given = [name for name in args.names if not (args.action == "merge" and name.lower() == "into")]
    if args.action != "list" and len(given) != 2:
        raise BadInput(f"{args.action} takes two scopes", hint=f"limpet scopes {args.action} project:web project:shop")
    if args.action == "list" and given:
        raise BadInput(f"list takes no scope: {given[0]!r}", hint="`limpet list --scope NAME` lists its memories")
    with open_store(args) as memory:
        if args.action == "list":
            found, here = memory.scopes(), memory.scope
        else:
            change = (memory.rename_scope if args.action == "rename" else memory.merge_scopes)(*given)
            (done,) = memory.in_scope(change.scope).log(event=change.event)
            takes_back = "" if memory.scope == change.scope else f" {done.short} --scope {change.scope}"
    if args.action == "list":
        if args.json:
            output.object_line({"scopes": [one.as_dict() for one in found], "scope": here})
        else:
            rows = [[one.scope, f"{one.memories:,}", output.moment(one.last_at_us)] for one in found]
            output.table(["scope", "held now", "last stored"], rows)
            output.words(f"writes from here go to {here}")
        return 0
    if args.json:
        output.object_line(change.as_dict())
        return 0
    same = f", {len(change.merged):,} of which said what was there already" if change.merged else ""
    output.line(f"moved {counted(change.memories, 'memory')} from {change.was} to {change.scope}{same}")
    output.words(f"`limpet undo{takes_back}` takes it back")
    return 0


def _move_options(parser: ArgumentParser) -> None:
    parser.add_argument("ids", metavar="ID", nargs="+", help="which memories")
    parser.add_argument(
        "--from", dest="source", metavar="NAME", help="the scope that they are in (default: as for reads)"
    )


def _move(args: Namespace) -> int:
    if args.scope is None:
        raise BadInput("where to? --scope NAME names the scope", hint="`limpet scopes` lists those that there are")
    target, args.scope = args.scope, args.source
    with open_store(args) as memory:
        moved = memory.move(args.ids, target)
        if args.json:
            output.object_line({"moved": [one.as_dict() for one in moved]})
            return 0
        for one in moved:
            receipt(one, memory, as_json=False)
    return 0


COMMANDS = {
    "scopes": Command(
        _scopes_options,
        _scopes,
        "limpet scopes\nlimpet scopes rename project:web project:shop\nlimpet scopes merge project:web-old project:web",
    ),
    "move": Command(
        _move_options,
        _move,
        "limpet move 7rk2qm --scope global\nlimpet move 7rk2qm --from project:web --scope project:api",
    ),
}
