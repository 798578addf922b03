"""The command about devices: which there are, and which of them are trusted."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ...cli import output
from ...cli.options import Command, open_store
from ...model.errors import BadInput, counted


def _devices_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "action", metavar="ACTION", nargs="?", choices=("list", "trust", "distrust"), default="list",
        help="list (default); trust ID: it may also correct, replace and purge what others said; distrust ID",
    )  # fmt: skip
    parser.add_argument("id", metavar="ID", nargs="?", help="an id or its beginning; all: also devices that come")


def _devices(args: Namespace) -> int:
    if (args.id is None) != (args.action == "list"):
        raise BadInput(f"{args.action} takes {'no' if args.id else 'the'} id of a device", hint="see `limpet devices`")
    with open_store(args, create=args.action != "list") as memory:
        if args.action == "list":
            found = memory.devices()
        else:
            count = memory.trust_device(args.id, trusted=args.action == "trust")
    if args.action == "list":
        if args.json:
            output.object_line({"devices": [one.as_dict() for one in found]})
        else:
            words = ["this one" if one.own else "yes" if one.trusted else "no" for one in found]
            rows = [[one.id, word, f"{one.segments:,}"] for one, word in zip(found, words, strict=True)]
            output.table(["device", "trusted", "segments"], rows)
        return 0
    if args.json:
        output.object_line({"trusted": args.action == "trust", "devices": count})
    else:
        output.line(f"{args.action}ed: {counted(count, 'known device')}")
        if args.action == "trust":
            output.words("what it said of what others said comes with the next `limpet import segments`")
    return 0


COMMANDS = {"devices": Command(_devices_options, _devices, "limpet devices\nlimpet devices trust 3f2a")}
