"""Commands over the typed graph: link, unlink, why, impact, path, timeline, and so on, and `limpet graph QUERY`."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from typing import Any

from ..model.edges import STORED_TYPES
from ..model.encode import plain
from ..model.memory import EDGE_TYPES
from . import graph_output as shown
from . import output
from .options import ID_HELP, TIME_FORMS, Command, global_options, id_argument, open_store
from .receipt import receipt


def _ends(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("a", metavar="A", help=f"the memory that the sentence `A TYPE B` begins with: {ID_HELP}")
    add("type", metavar="TYPE", help=", ".join(STORED_TYPES))
    add("b", metavar="B", help="the other memory")


def _link_options(parser: ArgumentParser) -> None:
    _ends(parser)
    parser.add_argument(
        "weight", metavar="WEIGHT", type=float, nargs="?", help="how strong the link is, from 0 to 1000 (default: 1)"
    )


def _link(args: Namespace) -> int:
    with open_store(args) as memory:
        return receipt(memory.link(args.a, args.type, args.b, args.weight), memory, as_json=args.json)


def _unlink(args: Namespace) -> int:
    with open_store(args) as memory:
        return receipt(memory.unlink(args.a, args.type, args.b), memory, as_json=args.json)


def asks(query: str, show: Callable[[Any, Any], None], given: str, found: str = "") -> Callable[[Namespace], int]:
    """What a command over the graph runs: a query of `memory.graph`, answered as JSON or by `show`.

    `given`: the arguments by name, as the query names them; None leaves it to the query. `found`: the attribute of the
    answer without which the exit code is 1.
    """

    def run(args: Namespace) -> int:
        with open_store(args) as memory:
            words = {name: value for name in given.split() if (value := getattr(args, name)) is not None}
            answer = getattr(memory.graph, query)(**words)
            if args.json:
                output.object_line(plain(answer))
            else:
                show(answer, memory)
        return 0 if not found or getattr(answer, found) else 1

    return run


def times(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("--as-of", metavar="TIME", help=f"what was true then: {TIME_FORMS} (default: now)")
    add("--known-at", metavar="TIME", help="as the store knew it then (default: now)")


def limit(parser: ArgumentParser, default: int, what: str) -> None:
    parser.add_argument(
        "--limit", type=int, default=default, metavar="COUNT", help=f"{what} at most (default: {default})"
    )


def depth(parser: ArgumentParser, default: int, what: str) -> None:
    parser.add_argument("--depth", type=int, default=default, metavar="STEPS", help=f"{what} (default: {default})")


def types(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--type", dest="types", action="append", choices=EDGE_TYPES, metavar="TYPE",
        help="only links of this type; repeat it (default: all)",
    )  # fmt: skip


def everything(parser: ArgumentParser, what: str) -> None:
    parser.add_argument("--all", dest="everything", action="store_true", help=what)


def _reason_options(parser: ArgumentParser) -> None:
    id_argument(parser)
    depth(parser, 5, "how far to go")
    limit(parser, 200, "how many memories")
    everything(parser, "also what was superseded, retracted or purged")
    times(parser)


def _path_options(parser: ArgumentParser) -> None:
    parser.add_argument("a", metavar="A", help=f"one memory: {ID_HELP}")
    parser.add_argument("b", metavar="B", help="the other")
    types(parser)
    depth(parser, 8, "how long it may be")
    everything(parser, "also through what was superseded, retracted or purged")
    times(parser)


def _timeline_options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "what", metavar="WHAT", nargs="?",
        help="a memory's id, a key (SUBJECT.ATTRIBUTE) or words (default: the newest of all)",
    )  # fmt: skip
    add("--reach", type=int, default=5, metavar="COUNT", help="of an id: neighbours in its session (default: 5)")
    types(parser)
    limit(parser, 50, "how many entries")
    times(parser)


def _contradictions_options(parser: ArgumentParser) -> None:
    everything(parser, "also those that were decided")
    limit(parser, 200, "how many pairs")
    times(parser)


def _gaps_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--gap", dest="kind", action="append", metavar="GAP",
        help="only this one; repeat it: unjustified_decision, single_source_inference, weak_foundation, "
        "superseded_often, stale",
    )  # fmt: skip
    limit(parser, 20, "how many of each")
    times(parser)


def _diff_options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("start", metavar="T1", help=f"the earlier moment: {TIME_FORMS}")
    add("end", metavar="T2", nargs="?", help="the later one (default: now)")
    add("--as-of", metavar="TIME", help="beliefs about this one instant (default: each moment about itself)")
    limit(parser, 200, "how many of each")


def _context_options(parser: ArgumentParser) -> None:
    parser.add_argument("ids", metavar="ID", nargs="+", help=ID_HELP)
    types(parser)
    depth(parser, 2, "how far to go")
    limit(parser, 200, "how many memories")
    everything(parser, "also what was superseded, retracted or purged")
    times(parser)


def _centrality_options(parser: ArgumentParser) -> None:
    types(parser)
    limit(parser, 20, "how many memories")
    times(parser)


def _ground_options(parser: ArgumentParser) -> None:
    parser.add_argument("claim", metavar="CLAIM", help="what may be so, in words")
    limit(parser, 20, "how many beliefs")
    times(parser)


def _revise_options(parser: ArgumentParser) -> None:
    parser.add_argument("claim", metavar="CLAIM", help="what would be so, in words")
    parser.add_argument("--against", action="append", metavar="ID", help="a belief that it contradicts; repeat it")
    depth(parser, 5, "how far to follow what rests on it")
    limit(parser, 20, "how many beliefs")
    times(parser)


def _consolidate_options(parser: ArgumentParser) -> None:
    limit(parser, 50, "how many proposals of each kind")
    times(parser)


def _graph_options(parser: ArgumentParser) -> None:
    from .main import COMMANDS as ABOUT

    queries = parser.add_subparsers(
        title="queries", metavar="QUERY", dest="query", required=True, help="what to ask; each has its own --help"
    )
    for name, (help, command) in (QUERIES | {name: (ABOUT[name][1], COMMANDS[name]) for name in NAMED}).items():
        example = "\n".join("  " + line for line in command.example.splitlines())
        said = f"{help[0].upper()}{help[1:]}."
        made = queries.add_parser(name, help=help, description=said, epilog=f"example:\n{example}")
        command.options(made)
        global_options(made)
        made.set_defaults(query_run=command.run)


TIMES = "as_of known_at"
REASONS = f"id depth limit everything {TIMES}"
# Query: (what it answers, the command).
QUERIES: dict[str, tuple[str, Command]] = {
    "context": (
        "what surrounds some memories, and the links among all of it",
        Command(
            _context_options,
            asks("context", shown.subgraph, f"ids types depth limit everything {TIMES}"),
            "limpet graph context 7rk2qm c04vxn --depth 1",
        ),
    ),
    "centrality": (
        "the memories on which most turns",
        Command(
            _centrality_options,
            asks("centrality", shown.centrality, f"types limit {TIMES}"),
            "limpet graph centrality --type caused_by",
        ),
    ),
    "ground": (
        "which beliefs support a claim, and which speak against it",
        Command(
            _ground_options,
            asks("ground", shown.ground, f"claim limit {TIMES}"),
            'limpet graph ground "the gateway allows 100 requests a minute"',
        ),
    ),
    "revise": (
        "what would have to give if a claim were true; changes nothing",
        Command(
            _revise_options,
            asks("revise", shown.revise, f"claim against depth limit {TIMES}"),
            'limpet graph revise "the gateway allows 500 requests a minute"',
        ),
    ),
    "consolidate": (
        "what could be merged, summarised or compressed; changes nothing",
        Command(
            _consolidate_options, asks("consolidate", shown.consolidate, f"limit {TIMES}"), "limpet graph consolidate"
        ),
    ),
}
# Queries that are commands too.
NAMED = ("why", "impact", "path", "timeline", "contradictions", "gaps", "diff")
COMMANDS = {
    "link": Command(
        _link_options, _link, "limpet link 7rk2qm caused_by c04vxn\nlimpet link c04vxn supports 7rk2qm 0.8"
    ),
    "unlink": Command(_ends, _unlink, "limpet unlink 7rk2qm caused_by c04vxn"),
    "why": Command(
        _reason_options,
        asks("why", shown.why, REASONS),
        'limpet why 7rk2qm\nlimpet why 7rk2qm --known-at "3 days ago" --all',
    ),
    "impact": Command(_reason_options, asks("impact", shown.impact, REASONS), "limpet impact c04vxn --depth 3"),
    "path": Command(
        _path_options,
        asks("path", shown.path, f"a b types depth everything {TIMES}", found="found"),
        "limpet path 7rk2qm c04vxn --type caused_by --type supports",
    ),
    "timeline": Command(
        _timeline_options,
        asks("timeline", shown.timeline, f"what types reach limit {TIMES}"),
        "limpet timeline user.city\nlimpet timeline 7rk2qm --reach 10",
    ),
    "contradictions": Command(
        _contradictions_options,
        asks("contradictions", shown.contradictions, f"everything limit {TIMES}"),
        "limpet contradictions",
    ),
    "gaps": Command(
        _gaps_options,
        asks("gaps", shown.gaps, f"kind limit {TIMES}"),
        "limpet gaps --gap unjustified_decision --limit 50",
    ),
    "diff": Command(
        _diff_options,
        asks("diff", shown.diff, "start end as_of limit"),
        'limpet diff "2 weeks ago"\nlimpet diff 2026-01-01 2026-02-01',
    ),
    "graph": Command(
        _graph_options,
        lambda args: int(args.query_run(args)),
        'limpet graph centrality\nlimpet graph ground "the gateway allows 100 requests a minute"',
    ),
}
