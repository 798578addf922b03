"""`limpet graph QUERY`: every query over the typed graph, those without a command of their own among them."""

from __future__ import annotations

from argparse import ArgumentParser

from . import graph_group_output as shown
from .graph import COMMANDS as NAMED
from .graph import TIMES, asks, depth, everything, limit, times, types
from .options import Command, global_options, id_argument


def options(parser: ArgumentParser) -> None:
    from .main import COMMANDS

    queries = parser.add_subparsers(
        title="queries", metavar="QUERY", dest="query", required=True, help="what to ask; each has its own --help"
    )
    every = QUERIES | {name: (COMMANDS[name][1], command) for name, command in NAMED.items() if name != "graph"}
    for name, (help, command) in every.items():
        example = "\n".join("  " + line for line in command.example.splitlines())
        said = f"{help[0].upper()}{help[1:]}."
        made = queries.add_parser(name, help=help, description=said, epilog=f"example:\n{example}")
        command.options(made)
        global_options(made)
        made.set_defaults(query_run=command.run)


def _chain_options(parser: ArgumentParser) -> None:
    id_argument(parser)
    limit(parser, 200, "how many memories")
    times(parser)


def _context_options(parser: ArgumentParser) -> None:
    parser.add_argument("ids", metavar="ID", nargs="+", help="ids, or @1 to @9 of the last listing")
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


# Query: (what it answers, the command).
QUERIES: dict[str, tuple[str, Command]] = {
    "chain": (
        "the corrections that led to a memory, and those that replaced it",
        Command(_chain_options, asks("chain", shown.chain, f"id limit {TIMES}"), "limpet graph chain 7rk2qm"),
    ),
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
