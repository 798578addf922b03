"""Commands that look: recall, show, list, related, count, stats, prepare."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from ..model.clock import format_time
from ..model.dataclass import replace
from ..model.errors import BadInput, counted
from ..model.memory import GLOBAL_SCOPE
from ..store.records import MOST_LISTED, StoreStats
from . import output
from .options import TIME_FORMS, Command, filter_options, filters, given_text, id_argument, open_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..api import Limpet
    from ..history.names import Thread
    from ..recall.answer import Item, Recall
    from ..recall.sessions import SessionRecall

# How long a recall at the command line may take; its cold embedder needs most of it.
DEADLINE_MS = 5_000.0
# What a search or a list without a result ends with; and a search that the deadline ended before it had looked.
NOTHING, UNSEEN = 1, 3  # as of a StoreError: docs/reference/settings.md promises both


def _recall_options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("query", metavar="QUERY", help="what you want to know, in your own words")
    add("-k", type=int, metavar="COUNT", help="how many memories at most, or sessions (default: 10; sessions: 5)")
    add("--sessions", action="store_true", help="sessions in place of memories, each with its best three as evidence")
    filter_options(parser)
    add("--as-of", metavar="TIME", help=f"what was true then: {TIME_FORMS} (default: now)")
    add("--known-at", metavar="TIME", help="as the store knew it then (default: now)")
    add("--budget", type=int, metavar="TOKENS", help="fit the answer into so many tokens")
    add(
        "--deadline-ms", type=float, default=DEADLINE_MS, metavar="MS",
        help="answer with what is there after so many milliseconds (default: 5000)",
    )  # fmt: skip
    add("--lexical", action="store_true", help="words only: no embedder, fastest")
    add("--explain", action="store_true", help="show how each score arose")
    add(
        "--rerank",
        metavar="NAME",
        help="let a reranker put the first results in order: judge, or an installed one (default: none)",
    )


def _recall(args: Namespace) -> int:
    if args.query == "-":
        args.query = given_text(args.query)
    given = {
        "query": args.query,
        **filters(args),
        "as_of": args.as_of,
        "known_at": args.known_at,
        "budget_tokens": args.budget,
        "deadline_ms": args.deadline_ms,
    }
    if args.k is not None:
        given["k"] = args.k
    if args.sessions:
        return _recall_sessions(args, given)
    given["rerank"] = args.rerank
    # Words alone are found faster here; a trace is not sent.
    served = None if args.lexical or args.explain or args.all_scopes else _recalled_by_server(args, given)
    if served is not None and served[0].items:
        found, short = served
    else:
        with open_store(args) as memory:
            seen = memory.in_all_scopes() if args.all_scopes else memory
            found = seen.recall(**given, lexical_only=args.lexical, explain=args.explain)
            short = [] if args.json else memory.abbreviate([item.id for item in found.items])
            if not found.items and not found.truncated:
                _nothing(memory, args, found)
    found, short, left_out = _for_people(args, found, short)
    from .recall_output import recalled

    recalled(found, short, as_json=args.json, budget_tokens=args.budget, scopes=args.all_scopes, left_out=left_out)
    _of_another_scope(args, found.items)
    if not found.relevant and not args.json:
        from ..settings import read_settings
        from .receipt import asked_language

        asked_language(given["query"], read_settings(args.store, args.scope, None).embedder)
    return 0 if found.items else _code(found)


def _for_people(args: Namespace, found: Recall, short: list[str]) -> tuple[Recall, list[str], int]:
    """What a person is shown, and how much more there is: of what is no answer the nearest, unless it was narrowed."""
    wanted = args.json or args.k is not None or args.budget or args.explain or any(filters(args).values())
    if found.relevant or wanted or not sys.stdout.isatty():
        return found, short, 0
    from ..rank.relevance import NEAREST

    return replace(found, items=found.items[:NEAREST]), short[:NEAREST], len(found.items[NEAREST:])


def _recall_sessions(args: Namespace, given: dict[str, Any]) -> int:
    if args.rerank:
        raise BadInput("--sessions goes without --rerank")
    from ..recall.sessions import SessionRecall

    here = args.lexical or args.explain or args.all_scopes
    answer = None if here else _from_server(args, "recall_sessions", given)
    if answer is not None and answer["sessions"]:
        found, short = SessionRecall.from_dict(answer), answer["short"]
    else:
        with open_store(args) as memory:
            seen = memory.in_all_scopes() if args.all_scopes else memory
            found = seen.recall_sessions(**given, lexical_only=args.lexical, explain=args.explain)
            short = [] if args.json else memory.abbreviate([item.id for item in found.items])
            if not found.sessions and not found.truncated:
                _nothing(memory, args, found)
    from .recall_output import recalled_sessions

    recalled_sessions(found, short, as_json=args.json, budget_tokens=args.budget)
    _of_another_scope(args, found.items)
    return 0 if found.sessions else _code(found)


def _code(found: Recall | SessionRecall) -> int:
    """Of an answer without a result."""
    return UNSEEN if "lexical" in found.missing else NOTHING


def _nothing(memory: Limpet, args: Namespace, found: Recall | SessionRecall) -> None:
    if _code(found) == NOTHING:
        from .elsewhere import nothing

        nothing(memory, args)
    elif not args.json:
        output.words("the deadline came before anything was found; whether there is something is not known")
        output.words("  hint: a longer --deadline-ms")


def _of_another_scope(args: Namespace, items: Sequence[Item]) -> None:
    """A word where a scope was named that holds nothing itself: all that was found is of `global`."""
    if not items or args.known_at or any(one.scope != GLOBAL_SCOPE for one in items):
        return
    from .elsewhere import elsewhere, named_scope

    if named_scope(args) not in (None, "", GLOBAL_SCOPE):
        with open_store(args) as memory:
            elsewhere(memory, args)


def _recalled_by_server(args: Namespace, given: dict[str, Any]) -> tuple[Recall, list[str]] | None:
    """The answer of a running limpet process that has the embedder loaded, if there is one."""
    from ..recall.answer import Recall

    answer = _from_server(args, "recall", given)
    return None if answer is None else (Recall.from_dict(answer), answer["short"])


def _from_server(args: Namespace, verb: str, given: dict[str, Any]) -> dict[str, Any] | None:
    from ..recall_client import ask
    from ..settings import read_settings

    settings = read_settings(args.store, args.scope, None)
    return ask(settings, verb, given, seconds=args.deadline_ms / 1000)


def _show_options(parser: ArgumentParser) -> None:
    id_argument(parser)
    parser.add_argument("--history", action="store_true", help="every version of it, oldest first")


def _show(args: Namespace) -> int:
    with open_store(args) as memory:
        found = memory.show(args.id)
        versions = memory.history(found.id) if args.history else []
        if args.json:
            shown = found.as_dict()
            if args.history:
                shown["history"] = [one.as_dict() for one in versions]
            output.object_line(shown)
            return 0
        from . import show_output

        show_output.whole(found, memory)
        show_output.versions(versions)
    return 0


def _list_options(parser: ArgumentParser) -> None:
    filter_options(parser, states=True)
    add = parser.add_argument
    add(
        "--sort", choices=("created", "updated", "used", "uses"), default="created", metavar="ORDER",
        help="created, updated, used (last) or uses (how often); the newest or most comes first (default: created)",
    )  # fmt: skip
    add("--ascending", action="store_true", help="the oldest or least first")
    add("--limit", type=int, default=50, metavar="COUNT", help="how many on a page (default: 50)")
    add("--cursor", metavar="CURSOR", help="go on where the page that gave this cursor ended")


def _list(args: Namespace) -> int:
    with open_store(args) as memory:
        seen = memory.in_all_scopes() if args.all_scopes else memory
        chosen = filters(args)
        page = seen.list(**chosen, sort=args.sort, limit=args.limit, cursor=args.cursor, ascending=args.ascending)
        count = seen.count(**chosen) if page.cursor and not args.json else 0
        if args.json:
            for one in page.memories:
                output.object_line(one.as_dict())
        else:
            output.listed(page.memories, memory, scopes=args.all_scopes)
            days = [output.day(one.valid_from) for one in page.memories]
            if args.sort == "created" and days != sorted(days, reverse=not args.ascending):
                output.words("the dates say since when each holds; the order is that in which they were stored")
        if all(one.scope != memory.scope for one in page.memories):
            from .elsewhere import elsewhere, nothing

            (elsewhere if page.memories else nothing)(memory, args)
    if page.cursor and args.json:
        sys.stdout.flush()
        print(output.encode({"cursor": page.cursor}), file=sys.stderr)
    elif page.cursor:
        whole = f"--limit {count} shows all, " if count <= MOST_LISTED else ""
        output.words(
            f"{len(page.memories):,} of {counted(count, 'memory')}; {whole}the same command with this the next:"
        )
        output.words(f"more: --cursor {page.cursor}")
    return 0 if page.memories else NOTHING


def _related_options(parser: ArgumentParser) -> None:
    id_argument(parser)
    parser.add_argument("-k", type=int, default=10, metavar="COUNT", help="how many memories at most (default: 10)")


def _related(args: Namespace) -> int:
    with open_store(args) as memory:
        found = memory.related(args.id, k=args.k)
        short = memory.abbreviate([item.id for item in found.items])
    from .recall_output import recalled

    recalled(found, short, as_json=args.json)
    if not found.items and not args.json:
        output.words(found.note)
    return 0


def _count_options(parser: ArgumentParser) -> None:
    filter_options(parser, states=True)


def _count(args: Namespace) -> int:
    from .elsewhere import elsewhere, nothing

    with open_store(args) as memory:
        found = (memory.in_all_scopes() if args.all_scopes else memory).count(**filters(args))
        if not found and not memory.count():
            nothing(memory, args)
        else:
            elsewhere(memory, args)
    if args.json:
        output.object_line({"count": found})
    else:
        output.line(str(found))
    return 0


def _stats_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--usefulness", action="store_true", help="what agents were shown, what it cost, and how much of it was used"
    )


def _listing_options(parser: ArgumentParser) -> None:
    parser.add_argument("--limit", type=int, default=50, metavar="COUNT", help="how many at most (default: 50)")


def _topics(args: Namespace) -> int:
    with open_store(args) as memory:
        found = memory.topics(limit=args.limit)
    output.answer_table(
        args, "topics", found, ["topic", "memories"], lambda one: [one.topic, f"{one.count:,}"], "no memory has a topic"
    )
    return 0


def _threads(args: Namespace) -> int:
    with open_store(args) as memory:
        found = memory.threads(limit=args.limit)

    def row(one: Thread) -> list[str]:
        counts = [f"{count:,}" for count in (len(one.sessions), one.memories, len(one.goals))]
        return [one.topic, *counts, output.day(one.began_at), output.day(one.last_at), output.cut(one.content, 60)]

    columns = ["topic", "sessions", "memories", "open goals", "from", "to", "latest"]
    output.answer_table(args, "threads", found, columns, row, "no topic has memories of two sessions")
    return 0


def _entities(args: Namespace) -> int:
    with open_store(args) as memory:
        found = memory.entities(limit=args.limit)
    output.answer_table(
        args, "entities", found, ["name", "kind", "memories"], lambda one: [one.name, one.kind, f"{one.count:,}"],
        "no memory names anything",
    )  # fmt: skip
    return 0


def _stats(args: Namespace) -> int:
    if args.usefulness:
        from .journal import usefulness

        return usefulness(args)
    with open_store(args) as memory:
        stats, path = memory.stats(), memory.path
    if args.json:
        shown = {name.removesuffix("_us"): value for name, value in stats._asdict().items()}
        output.object_line(
            {"store": path} | shown | {"oldest": format_time(stats.oldest), "newest": format_time(stats.newest)}
        )
        return 0
    output.table(["what", "how much"], _stat_rows(stats, path))
    return 0


def _stat_rows(stats: StoreStats, path: str) -> list[list[str]]:
    def split(counts: dict[str, int]) -> str:
        return ", ".join(
            f"{name} {count:,}" for name, count in sorted(counts.items(), key=lambda one: (-one[1], one[0]))
        )

    queue = f"{stats.waiting_jobs:,} waiting" + (f", {stats.dead_jobs:,} failed for good" if stats.dead_jobs else "")
    return [
        ["store", path],
        ["size", f"{stats.file_bytes / 1e6:,.2f} MB, {stats.free_bytes / 1e6:,.2f} MB of it free"],
        ["memories", f"{stats.memories:,} in all scopes, whatever their state but purged"],
        ["by kind", f"{split(stats.by_kind) or 'none'} (active and superseded)"],
        ["by scope", f"{split(stats.by_scope) or 'none'} (active and superseded)"],
        ["by state", f"{split(stats.by_state) or 'none'}"],
        ["versions", f"{stats.versions:,}"],
        ["events", f"{stats.events:,}"],
        ["sessions", f"{stats.sessions:,}"],
        ["vectors", f"{stats.vectors:,}"],
        ["queue", queue],
        ["oldest", output.moment(stats.oldest) or "-"],
        ["newest", output.moment(stats.newest) or "-"],
    ]


# -- the brief of an agent

# How long a brief at the command line may take; a cold embedder needs most of it.
BRIEF_DEADLINE_MS = 2_000.0


def _prepare_options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "message",
        metavar="MESSAGE",
        nargs="?",
        default="",
        help="what the agent was asked; - reads stdin; may be empty",
    )
    add("--budget", type=int, metavar="TOKENS", help="fit the brief into so many tokens (default: 1500)")
    add("--full", action="store_true", help="also the newest, the most used, what was not seen for long, and counts")
    add("--session", metavar="NAME", help="the agent's own session: its news is left out")
    add(
        "--deadline-ms", type=float, default=BRIEF_DEADLINE_MS, metavar="MS",
        help="answer with what is there after so many milliseconds (default: 2000)",
    )  # fmt: skip
    add("--lexical", action="store_true", help="words only: no embedder, fastest")


def _prepare(args: Namespace) -> int:
    message = given_text(args.message) if args.message else ""
    with open_store(args) as memory:
        brief = memory.prepare(
            message,
            budget_tokens=args.budget,
            full=args.full,
            session=args.session,
            deadline_ms=args.deadline_ms,
            lexical_only=args.lexical,
        )
    if args.json:
        output.object_line(brief.as_dict())
        return 0
    sys.stdout.write(output.printable(brief.text()))
    for signal in brief.missing:
        output.words(f"without {signal}: {brief.notes.get(signal, 'no reason given')}")
    if not brief.items:
        output.words("nothing to say")
    elif brief.truncated:
        output.words(f"more was found than fits into {brief.budget_tokens} tokens")
    return 0


COMMANDS = {
    "prepare": Command(
        _prepare_options, _prepare, 'limpet prepare "the deploy hangs" --budget 800\nlimpet prepare --full'
    ),
    "recall": Command(
        _recall_options,
        _recall,
        'limpet recall "database is locked" -k 5 --topic sqlite\n'
        'limpet recall "rate limit" --known-at "3 days ago" --explain\n'
        'limpet recall "which concerts did we talk about?" --sessions',
    ),
    "show": Command(_show_options, _show, "limpet show 7rk2qm --history"),
    "list": Command(
        _list_options,
        _list,
        'limpet list --kind lesson --since "2 weeks ago" --sort uses\n'
        "limpet list --clock stored --since yesterday --ascending\nlimpet list --meta ticket=7 --all-scopes",
    ),
    "related": Command(_related_options, _related, "limpet related 7rk2qm -k 5"),
    "count": Command(_count_options, _count, "limpet count --topic sqlite"),
    "topics": Command(_listing_options, _topics, "limpet topics --limit 20"),
    "threads": Command(_listing_options, _threads, "limpet threads"),
    "entities": Command(_listing_options, _entities, "limpet entities --json"),
    "stats": Command(_stats_options, _stats, "limpet stats --json\nlimpet stats --usefulness"),
}
