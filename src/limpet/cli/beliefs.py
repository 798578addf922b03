"""Commands about what is believed and what waits for a person: fact, audit, review, session, scope."""

from __future__ import annotations

from functools import partial

from .. import registry
from ..model.clock import format_time
from ..model.errors import BadInput, NotFound, counted
from ..model.memory import ORIGINS
from ..store.records import MOST_WAITING
from . import beliefs_output as shown
from . import output
from .receipt import code, just_read, receipt
from .verbs import LOOK, PEOPLE, TIME_FORMS, TIMES, Verb, arg, given_text, open_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any

    from ..api import Limpet
    from ..remember.review import ReviewItem
    from ..remember.scopes import Scope, ScopeChange
    from ..remember.write import Receipt
    from ..store.records import SessionRow


def _fact(args: Namespace) -> int:
    reading = args.history or args.as_of is not None or args.known_at is not None
    if (args.value is not None) + args.end + reading > 1:
        raise BadInput("give a value to set, or --end one, or ask for one: one at a time")
    if (args.why or args.at) and not args.end:
        raise BadInput("--why and --at say how a value ends", hint="add --end; a new value ends the one before")
    if args.valid_from and args.value is None:
        raise BadInput("--valid-from says since when a new value holds", hint="with --end: --at; to ask: --as-of")
    with open_store(args, create=args.value is not None) as memory:
        if args.value is not None or args.end:
            done = _set_or_end(memory, args)
            if args.json:
                output.result(done)
            else:
                receipt(done, memory, args)
            return code(done)
        if args.history:
            found = memory.fact_history(args.key, known_at=args.known_at)
            if args.json:
                print(output.encode([one.as_dict() for one in found]))
            else:
                shown.facts(found)
            return 0
        fact = memory.fact(args.key, as_of=args.as_of, known_at=args.known_at)
    output.result(fact) if args.json else output.line(output.printable(fact.value))
    return 0


def _set_or_end(memory: Limpet, args: Namespace) -> Receipt:
    if args.end:
        return memory.end_fact(args.key, at=args.at, why=args.why, origin=args.origin)
    given = {name: value for name in ("origin", "source", "valid_from") if (value := getattr(args, name))}
    value = given_text(args.value)
    why = just_read(memory, given, f"{args.key} {value}") or just_read(memory, given, value)
    return memory.set_fact(args.key, value, **given).with_reason(why)


# -- review


def _review(memory: Limpet, args: Namespace) -> list[ReviewItem]:
    return memory.review(limit=MOST_WAITING if args.all else args.limit)


def _decide(memory: Limpet, args: Namespace, verb: str) -> list[Receipt]:
    """Accept or reject; an id that cannot be decided keeps none of the others from being decided."""
    from ..remember.write import rejected

    done = []
    for id in dict.fromkeys(args.id):
        try:
            done.append(getattr(memory, verb)(id))
        except (NotFound, BadInput) as error:
            if len(args.id) == 1:
                raise
            done.append(rejected(error, id))
    return done


def _sweep(args: Namespace) -> int:
    """Today's rules over yesterday's memories, and secrets that are stored; each finding a line."""
    with open_store(args) as memory, output.progress("sweep") as progress:
        secrets = memory.scan(redact=args.apply)
        swept = [one for one in memory.sweep(apply=args.apply, progress=progress) if one.rule != "secret"]
        names = memory.abbreviate([one.memory.id for one in swept])
    if args.json:
        output.result([*swept, *secrets])
        return 0 if swept or secrets else 1
    for one, name in zip(swept, names, strict=True):
        output.entry(name, one.rule, output.printable(one.reason))
        output.line(output.MARGIN + output.flat(str(one.as_dict()["content"])))
    for held in secrets:
        where = " ".join(filter(None, (held.place, held.id, f"in {held.scope}" if held.scope else None)))
        output.line(f"{held.outcome}  {output.printable(where)}: {', '.join(held.secrets)} ({', '.join(held.fields)})")
    count = len(swept) + len(secrets)
    if not count:
        output.words("nothing found")
        return 1
    if not args.apply:
        output.words(f"{count} found; --apply makes them no belief, and takes secrets out for good")
    elif secrets:
        output.words("backups and exports made before still hold these secrets: change them")
    return 0


# -- sessions and scopes


def _end(args: Namespace) -> int:
    with open_store(args) as memory:
        done = memory.session_end(args.name, summary=None if args.summary is None else given_text(args.summary))
        if args.json:
            output.result(done)
        elif done.id is not None:
            receipt(done, memory, args)
        else:
            output.line(f"{output.paint('ended' if done.event else 'ended already', output.GREEN)} {args.name}")
    return code(done)


def _session(memory: Limpet, args: Namespace) -> dict[str, Any]:
    kept = registry.part("features.usefulness").adherence(memory, args.name)
    args.rules = [one for one in kept if one.verdict != "unknown"]
    args.row, args.found = None, []
    try:
        args.row, args.found = memory.session(args.name), memory.session_memories(args.name)
    except NotFound:  # one that only the journal knows
        if not args.rules:
            raise
    session = {} if args.row is None else _row(args.row)
    return session | {"items": [one.as_dict() for one in args.found], "rules": [one.as_dict() for one in args.rules]}


def _session_shown(_: dict[str, Any], memory: Limpet, args: Namespace) -> None:
    row: SessionRow | None = args.row
    if row is not None:
        ended = f", ended {output.moment(row.ended_at)}" if row.ended_at else ""
        output.line(f"{output.printable(row.name)}  {output.printable(row.title or '')}".rstrip())
        count = counted(row.memories, "memory")
        output.line(f"{output.MARGIN}started {output.moment(row.started_at)}{ended}, {count}")
    output.listed(args.found, memory)
    shown.rules(args.rules)


def _row(row: SessionRow) -> dict[str, Any]:
    times = {name: format_time(getattr(row, name)) for name in ("started_at", "ended_at")}
    return {"name": row.name, "scope": row.scope, "title": row.title, **times, "memories": row.memories}


def _started(row: dict[str, Any], memory: Limpet, args: Namespace) -> None:
    output.line(f"{output.paint('started', output.GREEN)} {output.printable(row['name'])}")


def _sessions(rows: list[dict[str, Any]], memory: Limpet, args: Namespace) -> None:
    cells = [
        [row["name"], row["started_at"][:10], (row["ended_at"] or "")[:10], str(row["memories"]), row["title"] or ""]
        for row in rows
    ]
    output.table(["session", "began", "ended", "memories", "title"], cells, "no sessions yet")


def _scopes(found: list[Scope], memory: Limpet, args: Namespace) -> None:
    rows = [[one.scope, f"{one.memories:,}", output.moment(one.last_at_us)] for one in found]
    output.table(["scope", "held now", "last stored"], rows)
    output.words(f"writes from here go to {memory.scope}")


def _moved(change: ScopeChange, memory: Limpet, args: Namespace) -> None:
    same = f", {len(change.merged):,} of which said what was there already" if change.merged else ""
    output.line(f"moved {counted(change.memories, 'memory')} from {change.was} to {change.scope}{same}")
    output.words(f"`limpet --scope {change.scope} undo` takes it back")


_NAME = arg("NAME", "the session; `limpet session list` shows them")
_SUMMARY = arg("--summary TEXT", "what happened, in your words; - reads stdin")
_IDS = arg("ID...", "what `limpet review` shows")
VERBS = (
    Verb(
        name="audit", group=LOOK,
        about="what is believed about something: how sure, since when, from whom, against what",
        run=lambda memory, args: memory.audit(args.about, limit=args.limit, as_of=args.as_of, known_at=args.known_at),
        show=shown.audit, code=lambda found: 0 if found.beliefs else 1,
        arguments=(arg("ABOUT", "an id, a key such as user.city, or words"), *TIMES,
                   arg("--limit COUNT", "beliefs at most", default=10)),
        example='limpet audit "rate limit"\nlimpet audit user.city --known-at "3 days ago"',
    ),
    Verb(
        name="fact", group=PEOPLE, about="a keyed fact: read it, set it, end it, see its history", run=_fact,
        arguments=(
            arg("SUBJECT.ATTRIBUTE", "such as user.city", dest="key"),
            arg("[VALUE]", "set this value; - reads stdin. Without it the value is read"),
            arg("--end", "the value holds no more and nothing replaces it"),
            arg("--history", "every value along the time in which it held"),
            *TIMES,
            arg("--valid-from TIME", f"since when the new value holds: {TIME_FORMS} (default: now)"),
            arg("--at TIME", "with --end: when it ceased to hold (default: now)"),
            arg("--why TEXT", "with --end: why"),
            arg("--origin ORIGIN", f"who says so: {', '.join(ORIGINS)} (default: agent)", choices=ORIGINS),
            arg("--source WHERE", "where it comes from: file:line, URL"),
        ),
        example="limpet fact user.city Tampa\nlimpet fact user.city --as-of 2026-01-01\n"
        "limpet fact user.city --history",
    ),
    Verb(
        name="review", group=PEOPLE, about="what waits for a person; accept or reject it",
        example="limpet review\nlimpet review list --all\nlimpet review accept 4a51c0 9be233\nlimpet review sweep",
    ),
    Verb(
        name="review list", group=PEOPLE, about="what waits, in groups", run=_review, show=shown.review,
        arguments=(arg("--limit COUNT", "items at most", default=20), arg("--all", "all items")),
    ),
    Verb(
        name="review accept", group=PEOPLE, about="say yes to items", run=partial(_decide, verb="accept"), show=receipt,
        code=lambda done: max(map(code, done)),
        arguments=(_IDS,),
    ),
    Verb(name="review reject", group=PEOPLE, about="say no to items", run=partial(_decide, verb="reject"), show=receipt,
         code=lambda done: max(map(code, done)), arguments=(_IDS,)),
    Verb(
        name="review sweep", group=PEOPLE, run=_sweep,
        about="what would not be stored so today: by a rule, as an instruction, for a secret in any scope",
        arguments=(
            arg("--apply", "keep what a rule speaks against as episodes, instructions out of recall until reviewed, "
                "and purge secrets, which cannot be undone; else all is listed"),
        ),
    ),
    Verb(
        name="session", group=PEOPLE, about="runs of an agent: start, end, list, show, compress into an episode",
        example='limpet session start fix-limits --title "Rate limits"\nlimpet session compress fix-limits',
    ),
    Verb(
        name="session start", group=PEOPLE, about="begin a session, or go on with one",
        run=lambda memory, args: _row(memory.session_start(args.name, title=args.title)), show=_started, create=True,
        arguments=(arg("[NAME]", "the session (default: a new name)"), arg("--title TEXT", "what it is about")),
    ),
    Verb(name="session end", group=PEOPLE, about="end a session; a summary becomes its episode", run=_end,
         arguments=(_NAME, _SUMMARY)),
    Verb(
        name="session list", group=PEOPLE, about="sessions, the one with the latest memory first",
        run=lambda memory, args: [_row(one) for one in memory.sessions(limit=args.limit)], show=_sessions,
        arguments=(arg("--limit COUNT", "sessions at most", default=20),),
    ),
    Verb(name="session show", group=PEOPLE, about="what was stored in a session, and which rules it kept or broke",
         run=_session, show=_session_shown, arguments=(_NAME,)),
    Verb(
        name="session compress", group=PEOPLE, about="sum a session up in an episode", show=receipt, code=code,
        run=lambda memory, args: memory.compress(
            args.name, summary=None if args.summary is None else given_text(args.summary)
        ),
        arguments=(_NAME, _SUMMARY),
    ),
    Verb(
        name="scope", group=PEOPLE, about="the scopes there are, with how many memories; rename and merge them",
        example="limpet scope\nlimpet scope rename project:web project:shop\n"
        "limpet scope merge project:web-old project:web",
    ),
    Verb(name="scope list", group=PEOPLE, about="every scope of the store", run=lambda memory, args: memory.scopes(),
         show=_scopes),
    Verb(
        name="scope rename", group=PEOPLE, about="give a scope a name that no scope has",
        run=lambda memory, args: memory.rename_scope(args.name, args.new), show=_moved,
        arguments=(arg("NAME", "the scope"), arg("NEW", "its new name")),
    ),
    Verb(
        name="scope merge", group=PEOPLE, about="put all memories of a scope into another one that has some",
        run=lambda memory, args: memory.merge_scopes(args.name, args.into), show=_moved,
        arguments=(arg("NAME", "the scope"), arg("INTO", "the other one")),
    ),
)  # fmt: skip
