"""Commands over the typed graph: link, unlink, why, impact, path, timeline, contradictions, gaps, diff."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable

from ..model.edges import STORED_TYPES
from ..model.memory import EDGE_TYPES
from . import graph_output as shown
from . import output
from .options import TIME_FORMS, Command, id_argument, open_store


def _ends(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("a", metavar="A", help="the memory that the sentence `A TYPE B` begins with: an id or a prefix of it")
    add("type", metavar="TYPE", help=", ".join(STORED_TYPES))
    add("b", metavar="B", help="the other memory")


def _link_options(parser: ArgumentParser) -> None:
    _ends(parser)
    parser.add_argument(
        "weight", metavar="WEIGHT", type=float, nargs="?", help="how strong the link is, from 0 to 1000 (default: 1)"
    )


def _link(args: Namespace) -> int:
    with open_store(args) as memory:
        return output.receipt(memory.link(args.a, args.type, args.b, args.weight), as_json=args.json)


def _unlink(args: Namespace) -> int:
    with open_store(args) as memory:
        return output.receipt(memory.unlink(args.a, args.type, args.b), as_json=args.json)


def _times(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("--as-of", metavar="TIME", help=f"what was true then: {TIME_FORMS} (default: now)")
    add("--known-at", metavar="TIME", help="as the store knew it then (default: now)")


def _limit(parser: ArgumentParser, default: int, what: str) -> None:
    parser.add_argument(
        "--limit", type=int, default=default, metavar="COUNT", help=f"{what} at most (default: {default})"
    )


def _types(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--type", action="append", choices=EDGE_TYPES, metavar="TYPE",
        help="only links of this type; repeat it (default: all)",
    )  # fmt: skip


def _everything(parser: ArgumentParser, what: str) -> None:
    parser.add_argument("--all", action="store_true", help=what)


def _reason_options(parser: ArgumentParser) -> None:
    id_argument(parser)
    parser.add_argument("--depth", type=int, default=5, metavar="STEPS", help="how far to go (default: 5)")
    _limit(parser, 200, "how many memories")
    _everything(parser, "also what was superseded, retracted or purged")
    _times(parser)


def _reasons(verb: str) -> Callable[[Namespace], int]:
    def run(args: Namespace) -> int:
        given = {
            "depth": args.depth, "limit": args.limit, "everything": args.all,
            "as_of": args.as_of, "known_at": args.known_at,
        }  # fmt: skip
        with open_store(args) as memory:
            if verb == "why":
                why = memory.why(args.id, **given)
                if args.json:
                    output.object_line(why.as_dict())
                else:
                    shown.why(why, memory)
                return 0
            found = memory.impact(args.id, **given)
            if args.json:
                output.object_line(found.as_dict())
            else:
                shown.impact(found, memory)
        return 0

    return run


def _path_options(parser: ArgumentParser) -> None:
    parser.add_argument("a", metavar="A", help="one memory: an id or a prefix of it")
    parser.add_argument("b", metavar="B", help="the other")
    _types(parser)
    parser.add_argument("--depth", type=int, default=8, metavar="STEPS", help="how long it may be (default: 8)")
    _everything(parser, "also through what was superseded, retracted or purged")
    _times(parser)


def _path(args: Namespace) -> int:
    """Exit 1 when there is no path."""
    with open_store(args) as memory:
        found = memory.path_between(
            args.a, args.b, types=args.type or (), depth=args.depth, everything=args.all,
            as_of=args.as_of, known_at=args.known_at,
        )  # fmt: skip
        if args.json:
            output.object_line(found.as_dict())
        else:
            shown.path(found, memory)
    return 0 if found.found else 1


def _timeline_options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "what", metavar="WHAT", nargs="?",
        help="a memory's id, a key (SUBJECT.ATTRIBUTE) or words (default: the newest of all)",
    )  # fmt: skip
    add("--reach", type=int, default=5, metavar="COUNT", help="of an id: neighbours in its session (default: 5)")
    _types(parser)
    _limit(parser, 50, "how many entries")
    _times(parser)


def _timeline(args: Namespace) -> int:
    with open_store(args) as memory:
        found = memory.timeline(
            args.what, types=args.type or (), reach=args.reach, limit=args.limit,
            as_of=args.as_of, known_at=args.known_at,
        )  # fmt: skip
        if args.json:
            output.object_line(found.as_dict())
        else:
            shown.timeline(found, memory)
    return 0


def _contradictions_options(parser: ArgumentParser) -> None:
    _everything(parser, "also those that were settled")
    _limit(parser, 200, "how many pairs")
    _times(parser)


def _contradictions(args: Namespace) -> int:
    with open_store(args) as memory:
        found = memory.contradictions(everything=args.all, limit=args.limit, as_of=args.as_of, known_at=args.known_at)
        if args.json:
            output.object_line(found.as_dict())
        else:
            shown.contradictions(found, memory)
    return 0


def _gaps_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--gap", action="append", metavar="GAP",
        help="only this one; repeat it: unjustified_decision, single_source_inference, weak_foundation, "
        "superseded_often, stale",
    )  # fmt: skip
    _limit(parser, 20, "how many of each")
    _times(parser)


def _gaps(args: Namespace) -> int:
    with open_store(args) as memory:
        found = memory.gaps(kinds=args.gap or (), limit=args.limit, as_of=args.as_of, known_at=args.known_at)
        if args.json:
            output.object_line(found.as_dict())
        else:
            shown.gaps(found, memory)
    return 0


def _diff_options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("start", metavar="T1", help=f"the earlier moment: {TIME_FORMS}")
    add("end", metavar="T2", nargs="?", help="the later one (default: now)")
    add("--as-of", metavar="TIME", help="beliefs about this one instant (default: each moment about itself)")
    _limit(parser, 200, "how many of each")


def _diff(args: Namespace) -> int:
    with open_store(args) as memory:
        found = memory.diff(args.start, args.end, as_of=args.as_of, limit=args.limit)
        if args.json:
            output.object_line(found.as_dict())
        else:
            shown.diff(found, memory)
    return 0


COMMANDS = {
    "link": Command(
        _link_options,
        _link,
        "limpet link 019e3f2a caused_by 019e3f1b\nlimpet link 019e3f2c supports 019e3f2a 0.8",
    ),
    "unlink": Command(_ends, _unlink, "limpet unlink 019e3f2a caused_by 019e3f1b"),
    "why": Command(
        _reason_options,
        _reasons("why"),
        'limpet why 019e3f2a\nlimpet why 019e3f2a --known-at "3 days ago" --all',
    ),
    "impact": Command(_reason_options, _reasons("impact"), "limpet impact 019e3f1b --depth 3"),
    "path": Command(_path_options, _path, "limpet path 019e3f2a 019e3f1b --type caused_by --type supports"),
    "timeline": Command(_timeline_options, _timeline, "limpet timeline user.city\nlimpet timeline 019e3f2a --reach 10"),
    "contradictions": Command(_contradictions_options, _contradictions, "limpet contradictions"),
    "gaps": Command(_gaps_options, _gaps, "limpet gaps --gap unjustified_decision --limit 50"),
    "diff": Command(_diff_options, _diff, 'limpet diff "2 weeks ago"\nlimpet diff 2026-01-01 2026-02-01'),
}
