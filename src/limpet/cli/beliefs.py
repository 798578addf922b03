"""Commands about what is believed and what waits for a person: fact, audit, review, session, scope, journal."""

from __future__ import annotations

from functools import partial

from .. import registry
from ..checkout import FOLDER_FILE, checkout_of
from ..model.clock import format_time
from ..model.errors import BadInput, NotFound, counted
from ..model.memory import valued
from . import output, tables
from .output import day, flat, in_a_line, line, moment, printable, receipt, short, words
from .remember import refuse_tainted, taint, tainted
from .tables import detail
from .verbs import LOOK, ORIGIN, PEOPLE, TIME_FORMS, TIMES, Verb, arg, given_text, is_a_person, open_store, origin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence
    from typing import Any

    from ..api import Limpet
    from ..features.policy import Swept
    from ..features.upkeep import HeldSecret
    from ..features.usefulness import Exposure
    from ..history.evidence import Audit
    from ..model.memory import Memory
    from ..remember.journal import Dropped, JournalLine
    from ..remember.review import ReviewItem
    from ..remember.scopes import ScopeChange
    from ..remember.write import Receipt
    from ..store.records import SessionRow

NO_LINE = "no such line in the journal of this scope"
NOTHING_SHOWN = "nothing was surfaced yet; `limpet install CLIENT` sets an agent's client up"
# Characters of a text on the review list.
MOST_CHARACTERS = 400


def _fact(args: Namespace) -> int:
    reading = args.history or args.as_of is not None or args.known_at is not None
    if (args.value is not None) + args.end + reading > 1:
        raise BadInput("give a value to set, or --end one, or ask for one: one at a time")
    if args.valid_from and args.value is None:
        raise BadInput("--valid-from says since when a new value holds", hint="give the value; to ask: --as-of")
    with open_store(args, create=args.value is not None) as memory:
        if args.value is not None or args.end:
            done = _set_or_end(memory, args)
            output.result(done) if args.json else receipt(done, memory, args)
            return 0
        if not args.history:
            fact = memory.fact(args.key, as_of=args.as_of, known_at=args.known_at)
            output.result(fact) if args.json else line(printable(fact.value))
            return 0
        values = memory.fact_history(args.key, known_at=args.known_at)
    if args.json:
        print(output.encode([value.as_dict() for value in values]))
        return 0
    for value in values:
        # With the time of day if one held for less than a day.
        form = moment if day(value.valid_from) == day(value.valid_to) else day
        until = form(value.valid_to) if value.valid_to is not None else "now"
        line(f"{form(value.valid_from)} to {until:<10}  {printable(value.value)}  ({tables.who(value.origin)})")
    return 0


def _set_or_end(memory: Limpet, args: Namespace) -> Receipt:
    if args.end:
        return memory.end_fact(args.key, origin=origin(args, None))
    given = {"origin": origin(args), **({"valid_from": args.valid_from} if args.valid_from else {})}
    value = given_text(args.value)
    why = taint(memory, given, value)
    return tainted(memory, memory.set_fact(args.key, value, **given), why)


def _audit(answer: Audit, memory: Limpet, args: Namespace) -> None:
    """Print one belief after the other, the one that was asked about first."""
    if not answer.beliefs:
        words("nothing is believed about that")
        return
    then = f" as known {moment(answer.known_at)}" if answer.known_at is not None else ""
    # A search by words finds near memories, which need not be about this.
    near = "nearest to" if answer.by == "text" else "about"
    line(f"{counted(len(answer.beliefs), 'belief')} {near} {printable(answer.about)}{then}")
    for belief in answer.beliefs:
        node = belief.node
        line("")
        tables.entry(short(node.id), node.kind, "" if node.standing == "held" else f"[{node.standing}]")
        for text in output.wrapped(valued(node.key, node.content)):
            line(text)
        until = f" to {moment(node.valid_to)}" if node.valid_to is not None else ""
        trusted = f"trusted as {tables.who(belief.trust)}" if belief.trust != node.origin else None
        session = f"session {node.session}" if node.session else None
        sources = (tables.who(node.origin), trusted, belief.speaker, belief.source, session)
        detail("confidence", f"{node.confidence_word}, on {counted(belief.observations, 'day')}")
        detail("holds", f"from {moment(node.valid_from)}{until}")
        detail("known since", moment(node.recorded_at))
        detail("from", ", ".join(source for source in sources if source))
        rests, before = belief.rests_on_it, belief.rested_before
        for label, nodes in (
            ("replaced", belief.replaced), ("replaced by", belief.replaced_by), ("because", belief.reasons),
            ("conflicts", belief.conflicts), ("also said", belief.merged),
            ("rests on it", [each.node for each in rests]), ("to look at", [each.node for each in before]),
        ):  # fmt: skip
            for other in nodes:
                state = f"[{other.standing}] " if other.standing not in ("held", "superseded") else ""
                why = belief.corrections.get(other.id)
                falls = "  would fall" * any(each.falls and each.node.id == other.id for each in rests)
                mark = falls if label == "rests on it" else f"  ({why})" if why else ""
                detail(label, f"{short(other.id)}  {state}{in_a_line(other)}{mark}")


# -- review


def _reviewed(items: list[ReviewItem], memory: Limpet, args: Namespace) -> None:
    """Print each item with both texts."""

    def text(memory: Memory) -> str:
        return f"{day(memory.valid_from)}  {output.cut(in_a_line(memory), MOST_CHARACTERS)}"

    for item in items:
        tables.entry(short(item.id), item.kind, item.question)
        if item.other is not None:
            detail("older", text(item.other))
        detail("text" if item.other is None else "newer", text(item.memory))
        detail("reason", item.reason)
    words("limpet review accept ID..., or reject ID..." if items else "nothing waits for review")
    if len(items) == args.limit:
        words("there may be more; --limit shows more")


def _decide(memory: Limpet, args: Namespace, verb: str) -> list[Receipt]:
    """Accept or reject; an id that cannot be decided keeps none of the others from being decided."""
    from ..remember.write import rejected

    if verb == "accept":
        refuse_tainted(memory, "saying yes")
    done = []
    for id in dict.fromkeys(args.id):
        try:
            done.append(getattr(memory, verb)(id))
        except (NotFound, BadInput) as error:
            if len(args.id) == 1:
                raise
            done.append(rejected(error, id))
    return done


def _decided(done: list[Receipt]) -> int:
    return 2 if any(each.status == "rejected" for each in done) else 0


def _sweep(memory: Limpet, args: Namespace) -> list[Swept | HeldSecret]:
    """Find memories that today's rules would not store, and secrets that are stored."""
    upkeep = registry.part("features.upkeep")
    with output.progress("sweep") as progress:
        secrets = upkeep.scan(memory, redact=args.apply)
        swept = upkeep.sweep(memory, apply=args.apply, progress=progress)
    return [*(each for each in swept if each.rule != "secret"), *secrets]


def _swept(findings: list[Any], memory: Limpet, args: Namespace) -> None:
    """Print a line for each finding."""
    secrets = [each for each in findings if hasattr(each, "secrets")]
    broken = [each for each in findings if not hasattr(each, "secrets")]
    for each, name in zip(broken, memory.abbreviate([each.memory.id for each in broken]), strict=True):
        tables.entry(name, each.rule, printable(each.reason))
        line(output.MARGIN + flat(str(each.as_dict()["content"])))
    for held in secrets:
        where = " ".join(filter(None, (held.place, held.id, f"in {held.scope}" if held.scope else None)))
        line(f"{held.outcome}  {printable(where)}: {', '.join(held.secrets)} ({', '.join(held.fields)})")
    if not findings:
        words("nothing found")
    elif not args.apply:
        words(f"{len(findings)} found; --apply makes them no belief, and takes secrets out for good")
    elif secrets:
        words("backups and exports made before still hold these secrets: change them")


# -- sessions and scopes


def _session(memory: Limpet, args: Namespace) -> dict[str, Any]:
    args.row, args.memories = memory.session(args.name), memory.session_memories(args.name)
    return _row(args.row) | {"items": [each.as_dict() for each in args.memories]}


def _session_shown(_: dict[str, Any], memory: Limpet, args: Namespace) -> None:
    row: SessionRow = args.row
    ended = f", ended {moment(row.ended_at)}" if row.ended_at else ""
    line(f"{printable(row.name)}  {printable(row.title or '')}".rstrip())
    line(f"{output.MARGIN}started {moment(row.started_at)}{ended}, {counted(row.memories, 'memory')}")
    tables.listed(args.memories, memory)


def _row(row: SessionRow) -> dict[str, Any]:
    times = {name: format_time(getattr(row, name)) for name in ("started_at", "ended_at")}
    return {"name": row.name, "scope": row.scope, "title": row.title, **times, "memories": row.memories}


def _moved(change: ScopeChange, memory: Limpet, args: Namespace) -> None:
    same = f", {len(change.merged):,} of which said what was there already" if change.merged else ""
    line(f"moved {counted(change.memories, 'memory')} from {change.was} to {change.scope}{same}")
    back = f"`limpet --scope {change.scope} undo` takes it back"
    words(back if change.event else f"this folder shares {change.scope} from now on")


def _allow(memory: Limpet, args: Namespace) -> dict[str, Any]:
    """Let a folder have what its `.limpet` asks for: only a person says so, whoever wrote the file is not asked."""
    known, project = memory._context.store.checkouts, checkout_of(args.folder or ".")
    if project.wish is None:
        raise BadInput(
            f"no {FOLDER_FILE} in {project.root} asks for a scope", hint="its line is `scope NAME` or `share FOLDER`"
        )
    if not args.off and not is_a_person():
        raise BadInput("only a person allows that, at a terminal", hint=f"read {project.root}/{FOLDER_FILE} first")
    known.allow(project, memory._context.now(), off=args.off)
    scope, *around = known.scopes_of(project)
    team = registry.call("team", memory._in_project(project))
    shared = {} if team is None else {"shared": team.as_dict()}
    return {"folder": project.root, "scope": scope, "around": around, "allowed": not args.off, **shared}


def _allowed(done: dict[str, Any], memory: Limpet, args: Namespace) -> None:
    sees = f", and sees {', '.join(done['around'])}" if done["around"] else ""
    line(printable(f"{done['folder']} has the scope {done['scope']}{sees}"))
    if team := done.get("shared"):
        line(printable(f"{team['new']:,} new from the team in {team['folder']}"))


# -- the journal


def _journal(memory: Limpet, args: Namespace) -> Sequence[JournalLine | Exposure]:
    if args.shown:
        shown: Sequence[Exposure] = registry.part("features.usefulness").exposures(
            memory, session=args.session, limit=args.limit
        )
        return shown
    return memory.journal(args.number, **_chosen(args), limit=args.limit)


def _chosen(args: Namespace) -> dict[str, str | None]:
    return {"session": args.session, "match": args.match}


def _drop(memory: Limpet, args: Namespace) -> Dropped:
    # Lines that numbers name are erased at once; those that options choose are only shown without --confirm.
    args.dry_run = any(_chosen(args).values()) and not args.confirm
    return memory.drop_from_journal(args.number, **_chosen(args), dry_run=args.dry_run)


def _dropped(dropped: Dropped, memory: Limpet, args: Namespace) -> None:
    tables.rows(dropped.lines, NO_LINE)
    if dropped.lines:
        after = "would be erased for good; --confirm does it" if args.dry_run else "erased for good"
        words(f"{counted(len(dropped.lines), 'line')} {after}: `limpet undo` does not bring them back")
        if not dropped.erased and not args.dry_run:
            words(output.STILL_READ)


_NAME = arg("NAME", "the session; `limpet session list` shows them")
_IDS = arg("ID...", "what `limpet review` shows")
_LINES = (
    arg("[NUMBER...]", "lines, by their numbers", type=int),
    arg("--session NAME", "of one session only"),
    arg("--match WORDS", "only lines that have all these words, whole"),
)
VERBS = (
    Verb(
        name="audit", group=LOOK,
        about="what is believed about something: how sure, since when, from whom, against what",
        run=lambda memory, args: memory.audit(args.about, as_of=args.as_of, known_at=args.known_at),
        show=_audit, code=lambda audit: 0 if audit.beliefs else 1,
        arguments=(arg("ABOUT", "an id, a key such as user.city, a file, a name in code, words", words=True),
                   *TIMES),
        example='limpet audit "rate limit"\nlimpet audit user.city --known-at "3 days ago"\n'
        "limpet audit src/cart.ts",
    ),
    Verb(
        name="fact", group=PEOPLE, about="a keyed fact: read it, set it, end it, see its history", run=_fact,
        arguments=(
            arg("SUBJECT.ATTRIBUTE", "such as user.city", dest="key"),
            arg("[VALUE]", "set this value; - reads stdin. Without it the value is read", words=True),
            arg("--end", "the value holds no more and nothing replaces it"),
            arg("--history", "every value along the time in which it held"),
            *TIMES,
            arg("--valid-from TIME", f"since when the new value holds: {TIME_FORMS} (default: now)"),
            ORIGIN,
        ),
        example="limpet fact user.city Tampa\nlimpet fact user.city --as-of 2026-01-01\n"
        "limpet fact user.city --history",
    ),
    Verb(
        name="review", group=PEOPLE, about="what waits for a person; accept or reject it",
        example="limpet review\nlimpet review accept 4a51c0 9be233\nlimpet review sweep",
    ),
    Verb(
        name="review list", group=PEOPLE, about="what waits", show=_reviewed,
        run=lambda memory, args: memory.review(limit=args.limit),
        arguments=(arg("--limit COUNT", "items at most", default=20),),
    ),
    Verb(name="review accept", group=PEOPLE, about="say yes to items", run=partial(_decide, verb="accept"),
         show=receipt, code=_decided, arguments=(_IDS,)),
    Verb(name="review reject", group=PEOPLE, about="say no to items", run=partial(_decide, verb="reject"), show=receipt,
         code=_decided, arguments=(_IDS,)),
    Verb(
        name="review sweep", group=PEOPLE, run=_sweep, show=_swept, code=lambda findings: 0 if findings else 1,
        about="what would not be stored so today: by a rule, as an instruction, for a secret in any scope",
        arguments=(
            arg("--apply", "keep what a rule speaks against as episodes, instructions out of recall until reviewed, "
                "and purge secrets, which cannot be undone; else all is listed"),
        ),
    ),
    Verb(
        name="session", group=PEOPLE, about="runs of an agent: start, end, list, show, compress into an episode",
        example="limpet session start fix-limits\nlimpet session compress fix-limits",
    ),
    Verb(
        name="session start", group=PEOPLE, about="begin a session, or go on with one",
        run=lambda memory, args: _row(memory.session_start(args.name)), create=True,
        show=lambda row, *_: line(f"started {printable(row['name'])}"),
        arguments=(arg("[NAME]", "the session (default: a new name)"),),
    ),
    Verb(
        name="session end", group=PEOPLE, about="end a session; a summary becomes its episode", show=receipt,
        run=lambda memory, args: memory.session_end(args.name, summary=args.summary and given_text(args.summary)),
        arguments=(_NAME, arg("--summary TEXT", "what happened, in your words; - reads stdin")),
    ),
    Verb(
        name="session list", group=PEOPLE, about="sessions, the one with the latest memory first",
        run=lambda memory, args: [_row(session) for session in memory.sessions(limit=args.limit)],
        show=lambda rows, *_: tables.rows(rows, "no sessions yet"),
        arguments=(arg("--limit COUNT", "sessions at most", default=20),),
    ),
    Verb(name="session show", group=PEOPLE, about="what was stored in a session", run=_session, show=_session_shown,
         arguments=(_NAME,)),
    Verb(name="session compress", group=PEOPLE, about="sum a session up in an episode",
         run=lambda memory, args: memory.compress(args.name), show=receipt, arguments=(_NAME,)),
    Verb(
        name="scope", group=PEOPLE, about="the scopes there are, with how many memories; rename and merge them",
        example="limpet scope\nlimpet scope rename project:web project:shop\n"
        "limpet scope merge project:web-old project:web",
    ),
    Verb(name="scope list", group=PEOPLE, about="every scope of the store", run=lambda memory, args: memory.scopes(),
         show=lambda scopes, *_: tables.rows(scopes)),
    Verb(
        name="scope rename", group=PEOPLE, about="give a scope a name that no scope has",
        run=lambda memory, args: memory.rename_scope(args.name, args.new), show=_moved,
        arguments=(arg("NAME", "the scope"), arg("NEW", "its new name")),
    ),
    Verb(
        name="scope allow", group=PEOPLE, about="let a folder have the scope and parts that its .limpet names",
        run=_allow, create=True, show=_allowed,
        arguments=(arg("[FOLDER]", "the folder (default: this one)"), arg("--off", "no longer")),
    ),
    Verb(
        name="scope merge", group=PEOPLE, about="put all memories of a scope, and its folder, into another scope",
        run=lambda memory, args: memory.rename_scope(args.name, args.into, merge=True), show=_moved,
        arguments=(arg("NAME", "the scope"), arg("INTO", "the other one")),
    ),
    Verb(
        name="journal", group=PEOPLE, about="what was asked, done and answered in sessions; drop lines of it",
        run=_journal, code=lambda lines: 0 if lines else 1,
        show=lambda lines, _, args: tables.rows(lines, NOTHING_SHOWN if args.shown else NO_LINE),
        arguments=(
            *_LINES, arg("--limit N", "the last N", default=50),
            arg("--shown", "what was put before agents: when, to whom, at how many tokens, and was it used"),
        ),
        example="limpet journal --session s1\nlimpet journal --match deploy\n"
        "limpet journal --shown --limit 5\nlimpet journal drop 3 4",
    ),
    Verb(
        name="journal drop", group=PEOPLE, about="erase lines for good", run=_drop, show=_dropped,
        code=lambda dropped: 0 if dropped.lines else 1,
        arguments=(*_LINES, arg("--confirm", "do it; without this what options choose is only shown")),
    ),
)  # fmt: skip
