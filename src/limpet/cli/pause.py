"""Commands for not now: pause, resume, incognito, ignore, status."""

from __future__ import annotations

import os
import time
from argparse import ArgumentParser, Namespace
from contextlib import suppress
from pathlib import Path

from .. import pause
from ..folders import beside, is_there, shown
from ..model.clock import parse_duration
from ..model.errors import BadInput, LimpetError
from . import output
from .options import Command, no_options

HERE = "only in this folder and below, by a file .limpet that says so"


def _pause_options(parser: ArgumentParser) -> None:
    parser.add_argument("--for", dest="span", metavar="TIME", help="end it by itself after 30m, 2h, 1h30m or 1d")
    parser.add_argument("--here", action="store_true", help=HERE)


def _resume_options(parser: ArgumentParser) -> None:
    parser.add_argument("--here", action="store_true", help=HERE.replace("says so", "said so"))


def _incognito_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--session", metavar="ID", help="the client's id of the session (default: the one this runs in)"
    )


def _ignore_options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("patterns", nargs="*", metavar="PATTERN", help="words, or a path with * or ?; none: show what is ignored")
    add("--remove", action="store_true", help="no longer ignore them")


def _pause(args: Namespace) -> int:
    if args.here:
        if args.span:
            raise BadInput("--here and --for do not go together", hint="limpet resume --here ends it")
        _write_here(off=True)
    else:
        now = _now()
        until = "" if args.span is None else f" {now + _microseconds(args.span)}"
        pause.append(_store(args), [f"pause {now}{until}"])
    return _status(args)


def _resume(args: Namespace) -> int:
    if args.here:
        _write_here(off=False)
    elif pause.read_pauses(_store(args)).at(_now()):
        pause.append(_store(args), [f"resume {_now()}"])
    return _status(args)


def _incognito(args: Namespace) -> int:
    from ..agents.calls import SESSION_VARIABLES

    session = args.session or next(filter(None, map(os.environ.get, SESSION_VARIABLES)), "")
    if not session.strip():
        raise BadInput(
            "which session? this shell does not say",
            hint="type `limpet incognito` as a message to the agent, or set LIMPET_INCOGNITO=1 before it starts",
        )
    pause.append(_store(args), [f"incognito {session}"])
    if args.json:
        output.object_line({"incognito": session})
    else:
        output.words("off for this session: nothing of it is noted, stored or shown from here on")
    return 0


def _ignore(args: Namespace) -> int:
    wanted = [one for one in (" ".join(text.split()) for text in args.patterns) if one]
    if args.remove and not wanted:
        raise BadInput("ignore what no longer?", hint="`limpet ignore` shows what is ignored")
    before = pause.read_pauses(_store(args)).ignore
    if wanted:
        pause.append(_store(args), [f"{'unignore' if args.remove else 'ignore'} {one}" for one in wanted])
    known = pause.read_pauses(_store(args)).ignore
    if args.json:
        output.object_line({"ignore": list(known)})
    else:
        for one in known:
            output.line(output.printable(one))
        if not known:
            output.words("nothing is ignored")
        for one in wanted if args.remove else ():
            if one not in before:
                output.words(f"{one!r} was not ignored")
    return 0


def _status(args: Namespace) -> int:
    from ..agents.calls import SESSION_VARIABLES
    from ..settings import read_settings

    settings = read_settings(args.store, args.scope, None)
    session = next(filter(None, map(os.environ.get, SESSION_VARIABLES)), "")
    state = pause.look(settings.path, str(Path.cwd()), session, _now())
    ignored = (*pause.read_pauses(settings.path).ignore, *pause.ignored_in(str(Path.cwd())))
    there, store = is_there(settings.path), shown(settings.path)
    scope = settings.scope
    if there and settings.checkout is not None:  # another checkout of this name may have it
        import limpet

        with suppress(LimpetError), limpet.open(args.store, read_only=True) as memory:
            scope = memory.scope
    if args.json:
        output.object_line(
            {"on": not state.why, "why": state.why or None, "store": store, "store_exists": there,
             "scope": scope, "ignore": list(ignored)}
        )  # fmt: skip
        return 0
    output.line(f"off: {output.printable(state.why)} -> {state.hint}" if state.why else "on")
    output.line(output.printable(f"store  {store}{'' if there else ' (not there yet)'}"))
    output.line(output.printable(f"scope  {scope}"))
    if ignored:
        output.line(output.printable(f"ignored  {', '.join(ignored)}"))
    if warning := slip():
        output.words(output.printable(f"warning: {warning}"))
    return 0


def slip() -> str:
    """What is to be said of lines of this folder's `.limpet` that mean nothing; "" where all are known."""
    file, lines = pause.read_folder(str(Path.cwd()))
    unknown = pause.slips(lines)
    if not unknown:
        return ""
    return f"{file} has a line that means nothing: {unknown[0][:40]!r} (`off`, or `ignore PATTERN`)"


def _store(args: Namespace) -> str:
    from ..settings import read_settings

    store = read_settings(args.store, args.scope, None).path
    Path(beside(store)).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return store


def _write_here(*, off: bool) -> None:
    """Put the line `off` into the `.limpet` of the current folder, or take it out; other lines stay."""
    from ..model.errors import StoreError
    from ..store.files import write_own

    file = Path.cwd() / pause.FOLDER_FILE
    if not off:
        found, lines = pause.read_folder(str(Path.cwd()))
        if "off" not in lines:
            return
        file = Path(found)
    try:
        lines_kept = [line for line in _text_of(file).splitlines() if line.strip() != "off"]
        text = "\n".join([*(["off"] if off else []), *lines_kept])
        if not text.strip():
            file.unlink(missing_ok=True)
            return
        write_own(file, f"{text}\n".encode())
    except OSError as error:
        raise StoreError(f"cannot write {file}: {error.strerror}") from None


def _text_of(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""


def _microseconds(text: str) -> int:
    """A number alone is minutes."""
    text = text.strip()
    return parse_duration(f"{text}m" if text.replace(".", "", 1).isdecimal() else text)


def _now() -> int:
    return time.time_ns() // 1_000


COMMANDS = {
    "pause": Command(_pause_options, _pause, "limpet pause --for 2h\nlimpet pause --here"),
    "resume": Command(_resume_options, _resume, "limpet resume"),
    "incognito": Command(_incognito_options, _incognito, "limpet incognito"),
    "ignore": Command(_ignore_options, _ignore, "limpet ignore '*.env' 'project nightjar'"),
    "status": Command(no_options, _status, "limpet status"),
}
