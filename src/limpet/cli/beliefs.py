"""Commands about what is believed and what waits for a person: fact, audit, review, session."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from functools import partial

from ..model.errors import BadInput, NotFound, counted
from ..model.memory import KINDS, ORIGINS
from ..store.records import MOST_WAITING
from . import beliefs_output as shown
from . import output
from .options import TIME_FORMS, Command, given_text, open_store
from .receipt import just_read, receipt, with_reason

# -- fact


def _fact_options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("key", metavar="SUBJECT.ATTRIBUTE", help="such as user.city")
    add("value", metavar="VALUE", nargs="?", help="set this value; - reads stdin. Without it the value is read")
    add("--end", action="store_true", help="the value holds no more and nothing replaces it")
    add("--history", action="store_true", help="every value along the time in which it held")
    add("--as-of", metavar="TIME", help=f"the value that held then: {TIME_FORMS} (default: now)")
    add("--known-at", metavar="TIME", help="as the store knew it then (default: now)")
    add("--valid-from", metavar="TIME", help="since when the new value holds (default: now)")
    add("--at", metavar="TIME", help="with --end: when it ceased to hold (default: now)")
    add("--why", metavar="TEXT", help="with --end: why")
    add("--origin", choices=ORIGINS, metavar="ORIGIN", help=f"who says so: {', '.join(ORIGINS)} (default: agent)")
    add("--source", metavar="WHERE", help="where it comes from: file:line, URL")


def _fact(args: Namespace) -> int:
    reading = args.history or args.as_of is not None or args.known_at is not None
    if args.value is not None and (reading or args.end):
        raise BadInput("give a value to set, or ask for one: not both", hint="--as-of, --known-at, --history, --end")
    if (args.why or args.at) and not args.end:
        raise BadInput(
            "--why and --at say how a value ends", hint="add --end; a new value by itself ends the one before"
        )
    if args.valid_from and args.value is None:
        raise BadInput(
            "--valid-from says since when a new value holds",
            hint=f"--at {args.valid_from} says when it ceased to hold"
            if args.end
            else "give the value, or ask --as-of",
        )
    if args.end and reading:
        raise BadInput("--end changes the fact; --as-of, --known-at and --history read it")
    with open_store(args, create=args.value is not None) as memory:
        if args.value is not None:
            given = {name: value for name in ("origin", "source", "valid_from") if (value := getattr(args, name))}
            value = given_text(args.value)
            told = just_read(memory, given, f"{args.key} {value}") or just_read(memory, given, value)
            done = with_reason(memory.set_fact(args.key, value, **given), told)
            return receipt(done, memory, as_json=args.json, named=args.scope is not None)
        if args.end:
            return receipt(
                memory.end_fact(args.key, at=args.at, why=args.why, origin=args.origin), memory, as_json=args.json
            )
        if args.history:
            found = memory.fact_history(args.key, known_at=args.known_at)
            if args.json:
                output.object_line([one.as_dict() for one in found])
            else:
                shown.facts(found)
            return 0
        fact = memory.fact(args.key, as_of=args.as_of, known_at=args.known_at)
    if args.json:
        output.object_line(fact.as_dict())
    else:
        output.line(output.printable(fact.value))
    return 0


# -- audit


def _audit_options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("about", metavar="ABOUT", help="an id, a key such as user.city, or words")
    add("--as-of", metavar="TIME", help=f"what was true then: {TIME_FORMS} (default: now)")
    add("--known-at", metavar="TIME", help="as the store knew it then (default: now)")
    add("--limit", type=int, default=10, metavar="COUNT", help="beliefs at most (default: 10)")


def _audit(args: Namespace) -> int:
    with open_store(args) as memory:
        found = memory.audit(args.about, limit=args.limit, as_of=args.as_of, known_at=args.known_at)
        if args.json:
            output.object_line(found.as_dict())
        else:
            shown.audit(found, memory)
    return 0 if found.beliefs else 1


# -- review


def _review_options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("action", metavar="ACTION", nargs="?", choices=("list", "accept", "reject"), default="list",
        help="list (default), accept or reject")  # fmt: skip
    add("ids", metavar="ID", nargs="*",
        help="with accept and reject: what `list` shows; that of a group decides all of it")  # fmt: skip
    add("--older", action="store_true", help="accept: of a contradiction, the older is right")
    add("--limit", type=int, default=20, metavar="COUNT", help="list: items at most (default: 20)")
    add("--all", action="store_true", help="list: all items, and all of a group")


def _review(args: Namespace) -> int:
    if args.older and args.action != "accept":
        raise BadInput("--older belongs to accept", hint="limpet review accept ID --older")
    if args.action == "list":
        if args.ids:
            raise BadInput("list takes no ids", hint="limpet review accept ID")
        return _list_review(args)
    if not args.ids:
        raise BadInput(f"{args.action} needs an id", hint="`limpet review` lists what waits")
    from ..remember.write import rejected

    code = 0
    with open_store(args) as memory:
        decide = partial(memory.accept, older=args.older) if args.action == "accept" else memory.reject
        ids = shown.expanded(args.ids, memory.review(limit=MOST_WAITING))
        for id in ids:
            try:
                receipt(decide(id), memory, as_json=args.json)
            except (NotFound, BadInput) as error:
                if len(ids) == 1:
                    raise
                # One that is decided already keeps none of the others from being decided.
                receipt(rejected(error, id), memory, as_json=args.json)
                code = code or error.exit_code
    return code


def _list_review(args: Namespace) -> int:
    most = MOST_WAITING if args.all else args.limit
    with open_store(args) as memory:
        items = memory.review(limit=most)  # which also says what is wrong with a limit
        if args.json:
            for item in items:
                output.object_line(item.as_dict())
            return 0

        shown.review(items if args.all else memory.review(limit=MOST_WAITING), memory, limit=most)
    return 0


# -- session


def _session_options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("action", metavar="ACTION", choices=("start", "end", "list", "show", "compress", "rules"),
        help="start, end, list, show or compress; rules: which rules it kept or broke, by what it did")  # fmt: skip
    add("name", metavar="NAME", nargs="?", help="the session; start without one makes a name")
    add("--title", metavar="TEXT", help="with start: what it is about")
    add("--summary", metavar="TEXT", help="with end and compress: what happened, in your words; - reads stdin")
    add("--limit", type=int, default=20, metavar="COUNT", help="with list: sessions at most (default: 20)")


def _session(args: Namespace) -> int:
    if args.name is None and args.action in ("end", "show", "compress", "rules"):
        raise BadInput(f"session {args.action} needs a name", hint="`limpet session list` shows them")
    summary = None if args.summary is None else given_text(args.summary)
    with open_store(args, create=args.action == "start") as memory:
        if args.action == "end":
            done = memory.session_end(args.name, summary=summary)
            if args.json or done.id is not None:
                return receipt(done, memory, as_json=args.json)
            output.line(f"{output.paint('ended' if done.event else 'ended already', output.GREEN)} {args.name}")
            return 0
        if args.action == "compress":
            return receipt(memory.compress(args.name, summary=summary), memory, as_json=args.json)
        if args.action == "rules":
            judged = memory.adherence(args.name)
            if args.json:
                output.object_line({"rules": [one.as_dict() for one in judged]})
            else:
                shown.rules(judged)
            return 0
        if args.action == "list":
            rows = memory.sessions(limit=args.limit)
            if args.json:
                for row in rows:
                    output.object_line(shown.session_dict(row))
            else:
                shown.sessions(rows)
            return 0
        if args.action == "start":
            row = memory.session_start(args.name, title=args.title)
            if args.json:
                output.object_line(shown.session_dict(row))
            else:
                output.line(f"{output.paint('started', output.GREEN)} {output.printable(row.name)}")
            return 0
        row, found = memory.session(args.name), memory.session_memories(args.name)
        if args.json:
            output.object_line(shown.session_dict(row) | {"items": [one.as_dict() for one in found]})
        else:
            ended = f", ended {output.moment(row.ended_at)}" if row.ended_at else ""
            count = counted(row.memories, "memory")
            output.line(
                f"{output.printable(row.name)}  {output.printable(row.title or '')}\n"
                f"{output.MARGIN}started {output.moment(row.started_at)}{ended}, {count}"
            )
            output.listed(found, memory)
    return 0


# -- sweep


def _sweep_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--apply",
        action="store_true",
        help="keep what is found as episodes, and secrets and instructions out of recall until reviewed; else it is "
        "listed",
    )


def _sweep(args: Namespace) -> int:
    with open_store(args) as memory, output.progress("sweep") as progress:
        found = memory.sweep(apply=args.apply, progress=progress)
        short = memory.abbreviate([one.memory.id for one in found])
    for one, name in zip(found, short, strict=True):
        if args.json:
            output.object_line(one.as_dict())
        else:
            shown.swept(one, name)
    if not args.json:
        done = "are episodes or wait for review now" if args.apply else "found; --apply makes them no belief"
        output.words(f"{len(found)} {done}" if found else "nothing found")
    return 0


# -- scan


def _scan_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--redact",
        action="store_true",
        help="purge such memories and store what is left of them again, erase such lines of the journal; cannot be "
        "undone",
    )


def _scan(args: Namespace) -> int:
    with open_store(args) as memory:
        found = memory.scan(redact=args.redact)
    for one in found:
        if args.json:
            output.object_line(one.as_dict())
        else:
            where = " ".join(filter(None, (one.place, one.id, f"in {one.scope}" if one.scope else None)))
            output.line(f"{one.outcome}  {output.printable(where)}: {', '.join(one.secrets)} ({', '.join(one.fields)})")
    if not args.json:
        hint = "" if args.redact else "; --redact takes them out for good"
        output.words(f"{len(found)} found{hint}" if found else "nothing found")
        if found and args.redact:
            output.words("backups and exports made before still hold them; change these secrets")
        if any(one.outcome == "left" for one in found):
            output.words("what is left is in names of scopes or sessions")
    return 0 if found else 1


# -- retention


def _retention_options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("--days", metavar="N", type=float, default=365.0, help="neither stated nor used for so long (default: 365)")
    add("--kind", action="append", choices=KINDS, metavar="KIND",
        help="of this kind (default: episode); repeat it")  # fmt: skip
    add("--no-fold", action="store_true", help="do not sum up the sessions that lose three memories or more")
    add("--apply", action="store_true", help="do it; without this it is only said. `limpet undo` takes it back")


def _retention(args: Namespace) -> int:
    with open_store(args) as memory:
        found = memory.retention(days=args.days, kind=args.kind or ["episode"], fold=not args.no_fold, apply=args.apply)
        if args.json:
            output.object_line(found.as_dict())
        else:
            shown.retention(found, memory)
    return 0


COMMANDS = {
    "fact": Command(
        _fact_options,
        _fact,
        "limpet fact user.city Tampa\nlimpet fact user.city --as-of 2026-01-01\nlimpet fact user.city --history",
    ),
    "audit": Command(
        _audit_options, _audit, 'limpet audit "rate limit"\nlimpet audit user.city --known-at "3 days ago"'
    ),
    "review": Command(
        _review_options, _review, "limpet review\nlimpet review list --all\nlimpet review accept 4a51c0 9be233"
    ),
    "sweep": Command(_sweep_options, _sweep, "limpet sweep\nlimpet sweep --apply"),
    "scan": Command(_scan_options, _scan, "limpet scan\nlimpet scan --redact"),
    "retention": Command(
        _retention_options, _retention, "limpet retention --days 180\nlimpet retention --days 180 --apply"
    ),
    "session": Command(
        _session_options,
        _session,
        'limpet session start fix-limits --title "Rate limits"\nlimpet session compress fix-limits',
    ),
}
