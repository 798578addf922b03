"""Commands that look: recall, list, show, prepare, stats."""

from __future__ import annotations

import sys

from .. import registry
from ..model.clock import format_time
from ..model.errors import BadInput
from ..model.memory import KINDS, is_unconfirmed
from . import output, tables
from .verbs import (
    EVERY_DAY,
    ID,
    LOOK,
    TIME_FORMS,
    TIMES,
    Verb,
    agent_session,
    arg,
    given_text,
    is_at_terminal,
    open_every_day,
    pairs,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any

    from ..api import Limpet
    from ..every_day import EveryDay
    from ..recall.brief import Brief
    from .verbs import Argument

# Milliseconds that a recall at the command line may take, most of it for a cold embedder; and a brief.
DEADLINE_MS, BRIEF_DEADLINE_MS = 5_000.0, 2_000.0
# Names of the totals of `stats`.
COUNTED = {"memories": " in all scopes, whatever their state but purged"}
COUNTED |= dict.fromkeys(("by_kind", "by_scope"), " (active and superseded)")
# Scopes besides one and `global` that have memories; as many are named, and one more is asked for.
MOST_SCOPES = 3
_OTHERS = (
    "SELECT name FROM scope WHERE name NOT IN (?, 'global') AND EXISTS (SELECT 1 FROM memory m WHERE"
    f" m.scope = scope.num AND m.retired_at IS NULL AND m.state = 'active') ORDER BY name LIMIT {MOST_SCOPES + 1}"
)
# Exit codes: nothing was found; the deadline ended a search before it had looked.
NOTHING, UNSEEN = 1, 3  # as of a StoreError: docs/reference/settings.md promises both
# Which memories to look at; `filters` reads them.
FILTERS: tuple[Argument, ...] = (
    ("--kind KIND...", f"only this kind; repeat it: {', '.join(KINDS)}", {"choices": KINDS}),
    ("--topic TOPIC...", "only with this topic; repeated: with all of them", {}),
    ("--since TIME", f"only what began to hold then or later: {TIME_FORMS}", {}),
    ("--until TIME", "only what began to hold before then", {}),
    ("--session NAME", "only of this session", {}),
    ("--meta K=V...", "only with this value in its metadata; repeated: with all of them", {}),
    ("--all-scopes", "of every scope, not of this one and `global` alone", {}),
)


def filters(args: Namespace) -> dict[str, Any]:
    """Return the keyword arguments of `Limpet.recall` and `Limpet.list` that choose memories."""
    return {
        "kind": args.kind or (), "topics": args.topic or (), "since": args.since, "until": args.until,
        "session": args.session, "metadata": pairs(args.meta),
    }  # fmt: skip


def _recall(args: Namespace) -> int:
    from . import recall_output

    given = {
        "query": given_text(args.query), **filters(args), "as_of": args.as_of, "known_at": args.known_at,
        "budget_tokens": args.budget, "deadline_ms": args.deadline_ms,
    }  # fmt: skip
    if args.k is not None:
        given["k"] = args.k
    if args.form and args.sessions:
        raise BadInput("give --for or --sessions, not both")
    if args.form == "how":
        return _how(args, given)
    # Words alone are found faster here; a trace is not sent.
    served = None if args.lexical or args.explain or args.all_scopes or args.form else _from_server(args, given)
    remark = ""
    if served is not None and served[0].items:
        answer, short = served
    else:
        with open_every_day(args) as memory:
            seen = memory.in_all_scopes() if args.all_scopes else memory
            verb: Any = seen.recall_sessions if args.sessions else seen.recall
            if args.form:
                answer = registry.part("features.happened").errors(seen._context, **given)
            else:
                answer = verb(**given, lexical_only=args.lexical, explain=args.explain)
            short = [] if args.json else memory.abbreviate([item.id for item in answer.items])
            remark = "" if args.json or answer.items else _elsewhere(args, memory)
    if any(is_unconfirmed(item.origin, item.trust) for item in answer.items) and not is_at_terminal():
        with open_every_day(args) as memory:
            registry.call("recalled", memory._context, agent_session(), answer.items)
    code = 0 if answer.items else UNSEEN if "lexical" in answer.missing else NOTHING
    if args.json:
        output.result(answer)
        return code
    if args.sessions:
        recall_output.recalled_sessions(answer, short, args.budget)
    else:
        recall_output.recalled(answer, short, args.budget, scopes=args.all_scopes)
    if not answer.items and not answer.truncated:
        none = answer.note if args.form else "nothing found"
        remark = "the deadline came before anything was found" if code == UNSEEN else remark or none
    if remark:
        output.words(remark)
    return code


def _how(args: Namespace, given: dict[str, Any]) -> int:
    happened = registry.part("features.happened")
    with open_every_day(args) as memory:
        found = happened.commands(memory._context, **given, lexical_only=args.lexical)
    output.result(found) if args.json else tables.rows(found, happened.NOT_DONE)
    return 0 if found else NOTHING


def _elsewhere(args: Namespace, memory: EveryDay) -> str:
    """Return for a person who finds nothing which other scopes have memories."""
    rows = memory._context.store.database.rows
    if args.all_scopes or not is_at_terminal() or not (names := [row[0] for row in rows(_OTHERS, (memory.scope,))]):
        return ""
    more = " and others" if len(names) > MOST_SCOPES else ""
    have = "has" if len(names) == 1 else "have"
    shown = ", ".join(names[:MOST_SCOPES])
    return f"nothing found in {memory.scope}; {shown}{more} {have} memories (`--all-scopes`)"


def _from_server(args: Namespace, given: dict[str, Any]) -> tuple[Any, list[str]] | None:
    """Return the answer of a running limpet process with the embedder loaded, and its short ids; None without one."""
    from ..recall.answer import Recall
    from ..recall_client import ask
    from ..settings import read_settings

    verb, form = "recall", Recall.from_dict
    if args.sessions:
        from ..recall.sessions import SessionRecall

        verb, form = "recall_sessions", SessionRecall.from_dict  # type: ignore[assignment]
    answer = ask(read_settings(args.store, args.scope, None), verb, given, seconds=args.deadline_ms / 1000)
    return None if answer is None else (form(answer), answer["short"])


def _show(memory: Limpet, args: Namespace) -> dict[str, Any]:
    args.memory = memory.show(args.id)
    args.versions = memory.history(args.memory.id) if args.history else []
    shown: dict[str, Any] = args.memory.as_dict()
    return shown | ({"history": [version.as_dict() for version in args.versions]} if args.history else {})


def _shown(_: dict[str, Any], memory: Limpet, args: Namespace) -> None:
    from .recall_output import whole

    whole(args.memory, args.versions, memory)


def _list(args: Namespace) -> int:
    with open_every_day(args) as memory:
        seen = memory.in_all_scopes() if args.all_scopes else memory
        chosen = {**filters(args), "all_states": args.all}
        if args.related:
            related = memory.related(args.related, k=args.limit)
            if args.json:
                output.result(related.items)
            else:
                from .recall_output import recalled

                recalled(related, memory.abbreviate([item.id for item in related.items]))
                if not related.items:
                    output.words(related.note)
            return 0 if related.items else NOTHING
        if args.by:
            return _counts(args, seen, chosen)
        if args.count:
            count = seen.count(**chosen)
            output.result({"count": count}) if args.json else output.line(str(count))
            return 0
        page = seen.list(**chosen, sort=args.sort, limit=args.limit, cursor=args.cursor)
        if args.json:
            output.result(page.memories)
        else:
            tables.listed(page.memories, memory, scopes=args.all_scopes)
    if page.cursor:
        output.words(output.encode({"cursor": page.cursor}) if args.json else f"more: --cursor {page.cursor}")
    elif not page.memories and not args.json:
        output.words("nothing found")
    return 0 if page.memories else NOTHING


def _counts(args: Namespace, seen: EveryDay, chosen: dict[str, Any]) -> int:
    """Print the number of memories of each kind, topic, entity or month, the most first."""
    if args.by == "entity":
        counts = {entity.name: entity.count for entity in seen.graph.entities(limit=args.limit)}
    else:
        counts = {}
        for (value,), count in seen.count_by("day" if args.by == "month" else args.by, **chosen).items():
            name = value[:7] if args.by == "month" else value
            counts[name] = counts.get(name, 0) + count
    rows = sorted(counts.items(), key=lambda row: (-row[1], row[0]))[: args.limit]
    (output.result if args.json else tables.rows)([{args.by: value, "memories": count} for value, count in rows])
    return 0 if rows else NOTHING


def _brief(brief: Brief, memory: Limpet, args: Namespace) -> None:
    sys.stdout.write(output.printable(brief.text()))
    for signal in brief.missing:
        output.words(f"without {signal}: {brief.notes.get(signal, 'no reason given')}")
    if not brief.items:
        output.words("nothing to say")
    elif brief.truncated:
        output.words(f"more was found than fits into {brief.budget_tokens} tokens")


def _stats(memory: Limpet, args: Namespace) -> dict[str, Any]:
    if args.usefulness:
        args.stats = registry.part("features.usefulness").usefulness(memory)
        return dict(args.stats.as_dict())
    stats = memory.stats()
    shown = {name.removesuffix("_us"): value for name, value in stats._asdict().items()}
    times = {"oldest": format_time(stats.oldest), "newest": format_time(stats.newest)}
    return {"store": memory.path} | shown | times


def _stats_shown(stats: dict[str, Any], memory: Limpet, args: Namespace) -> None:
    if args.usefulness:
        registry.part("features.usefulness").show(args.stats, memory)
        return
    rows = []
    for name, value in stats.items():
        text = f"{value:,}" if isinstance(value, int) else str(value or "-")
        if isinstance(value, dict):
            ordered = sorted(value.items(), key=lambda row: (-row[1], row[0]))
            text = ", ".join(f"{part} {count:,}" for part, count in ordered) or "none"
        rows.append([name.replace("_", " "), text + COUNTED.get(name, "")])
    tables.table(["what", "how much"], rows)


VERBS = (
    Verb(
        name="recall", group=EVERY_DAY, about="find the memories that matter for a question, best first", run=_recall,
        arguments=(
            arg("QUERY", "what you want to know, in your own words; - reads stdin", words=True),
            arg("-k COUNT", "how many memories at most, or sessions (default: 10, of lists 20, sessions: 5)", type=int),
            arg("--sessions", "sessions in place of memories, each with its best three as evidence"),
            arg("--for WHAT", "error: where this message or trace occurred, and what ended it; how: commands that "
                "worked when this was asked for", choices=("error", "how"), dest="form"),
            *FILTERS, *TIMES,
            arg("--budget TOKENS", "fit the answer into so many tokens", type=int),
            arg("--deadline-ms MS", "answer with what is there after so many milliseconds", default=DEADLINE_MS),
            arg("--lexical", "words only: no embedder, fastest"),
            arg("--explain", "show how each score arose"),
        ),
        example='limpet recall "database is locked" -k 5 --topic sqlite\n'
        'limpet recall "rate limit" --known-at "3 days ago" --explain\n'
        'limpet recall "which concerts did we talk about?" --sessions\n'
        'make 2>&1 | limpet recall - --for error\nlimpet recall "run the tests" --for how',
    ),
    Verb(
        name="list", group=EVERY_DAY, about="memories page by page, newest first; or how many there are", run=_list,
        arguments=(
            *FILTERS,
            arg("--all", "also what is archived, retracted, purged or no longer true"),
            arg("--sort ORDER", "created, updated, used (last) or uses (how often); the newest or most comes first",
                choices=("created", "updated", "used", "uses"), default="created"),
            arg("--limit COUNT", "how many on a page", default=50),
            arg("--cursor CURSOR", "go on where the page that gave this cursor ended"),
            arg("--count", "only how many there are"),
            arg("--by WHAT", "how many of each kind, topic, entity (what texts name) or month, the most first",
                choices=("kind", "topic", "entity", "month")),
            arg("--related ID", "what is near this memory in meaning and words"),
        ),
        example='limpet list --kind lesson --since "2 weeks ago" --sort uses\n'
        "limpet list --meta ticket=7 --all-scopes\nlimpet list --by topic\nlimpet list --related 7rk2qm --limit 5",
    ),
    Verb(
        name="show", group=EVERY_DAY, about="one memory in full, and the memory counts as used",
        run=_show, show=_shown,
        arguments=(ID, arg("--history", "every version of it, oldest first")),
        example="limpet show 7rk2qm --history",
    ),
    Verb(
        name="prepare", group=LOOK, about="the brief for an agent before it answers a message",
        run=lambda memory, args: memory.prepare(
            given_text(args.message) if args.message else "", budget_tokens=args.budget, full=args.full,
            session=args.session, deadline_ms=args.deadline_ms, lexical_only=args.lexical,
        ),
        show=_brief,
        arguments=(
            arg("[MESSAGE]", "what the agent was asked; - reads stdin; may be empty", words=True),
            arg("--budget TOKENS", "fit the brief into so many tokens (default: 1500)", type=int),
            arg("--full", "also the newest, the most used, what was not seen for long, and counts"),
            arg("--session NAME", "the agent's own session: its news is left out"),
            arg("--deadline-ms MS", "answer with what is there after so many milliseconds", default=BRIEF_DEADLINE_MS),
            arg("--lexical", "words only: no embedder, fastest"),
        ),
        example='limpet prepare "the deploy hangs" --budget 800\nlimpet prepare --full',
    ),
    Verb(
        name="stats", group=LOOK, about="counts and sizes of the whole store, every scope",
        run=_stats, show=_stats_shown,
        arguments=(arg("--usefulness", "what agents were shown, what it cost, and how much of it was used"),),
        example="limpet stats --json\nlimpet stats --usefulness",
    ),
)  # fmt: skip
