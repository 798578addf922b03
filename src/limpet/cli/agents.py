"""Commands about agents: mcp, hook; and to switch limpet off: pause, resume, ignore, status."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from .. import pause
from ..agents.hooks.client_adapters import CLIENT_ADAPTERS
from ..checkout import FOLDER_FILE
from ..folders import beside, is_there, shown
from ..model.clock import SystemClock
from ..model.errors import BadInput, LimpetError, StoreError
from ..model.times import parse_duration
from ..settings import read_settings
from . import output, tables
from .verbs import AGENTS, PLUMBING, Verb, agent_session, arg, how_to_join

if TYPE_CHECKING:
    from argparse import Namespace

    from ..settings import Settings


def _mcp(args: Namespace) -> int:
    import gc

    if sys.stdin is None or sys.__stdout__ is None:
        raise BadInput("stdin or stdout is closed", hint="a client that starts this server speaks with it over both")
    if sys.stdin.isatty():
        output.words("limpet's MCP server, for agent clients (`limpet install` sets one up); Ctrl-C or Ctrl-D ends it")
    # Imported modules stay: a garbage collection over them would take a tenth of the start.
    gc.disable()
    from ..agents.mcp import serve

    gc.freeze()
    gc.enable()
    serve(args.store, args.scope)
    return 0


# -- not now


def _pause(args: Namespace) -> int:
    if args.folder:
        if args.span:
            raise BadInput("--folder and --for do not go together", hint="limpet resume --folder ends it")
        _write_folder(off=True)
    elif args.session is not None:
        if not (session := args.session or agent_session()).strip():
            raise BadInput(
                "which session? this shell does not say",
                hint="name it, or set LIMPET_INCOGNITO=1 before the agent starts",
            )
        pause.append(_store(args), [f"incognito {session}"])
        output.result({"incognito": session}) if args.json else output.words(
            "off for this session: nothing of it is noted, stored or shown from here on"
        )
        return 0
    else:
        now, until = SystemClock().now(), ""
        if args.span is not None:
            text = args.span.strip()  # a number alone is minutes
            until = f" {now + parse_duration(f'{text}m' if text.replace('.', '', 1).isdecimal() else text)}"
        pause.append(_store(args), [f"pause {now}{until}"])
    return _status(args)


def _resume(args: Namespace) -> int:
    if args.folder:
        _write_folder(off=False)
    elif pause.read_pauses(_store(args)).at(now := SystemClock().now()):
        pause.append(_store(args), [f"resume {now}"])
    return _status(args)


def _ignore(args: Namespace) -> int:
    wanted = [pattern for pattern in (" ".join(text.split()) for text in args.pattern) if pattern]
    if args.remove and not wanted:
        raise BadInput("ignore what no longer?", hint="`limpet ignore` shows what is ignored")
    if wanted:
        pause.append(_store(args), [f"{'unignore' if args.remove else 'ignore'} {pattern}" for pattern in wanted])
    known = pause.read_pauses(_store(args)).ignore
    if args.json:
        output.result({"ignore": list(known)})
    else:
        tables.table(["ignored"], [[pattern] for pattern in known], "nothing is ignored")
    return 0


def _status(args: Namespace) -> int:
    settings = read_settings(args.store, args.scope, None)
    state = pause_state(settings.path, agent_session())
    ignored = (*pause.read_pauses(settings.path).ignore, *pause.ignored_in(str(Path.cwd())))
    there, store, scope, join = is_there(settings.path), shown(settings.path), settings.scope, ""
    around: tuple[str, ...] = ()
    if there and settings.checkout is not None:  # another checkout of this name may have it
        import limpet

        with suppress(LimpetError), limpet.open(args.store, read_only=True) as memory:
            scope, join, around = memory.scope, how_to_join(memory, settings), memory._context.around
    if args.json:
        output.result(
            {"on": not state.why, "why": state.why or None, "store": store, "store_exists": there,
             "scope": scope, "scope_by": where_am_i(settings), "around": list(around), "ignore": list(ignored)}
        )  # fmt: skip
        return 0
    output.line(output.printable(f"off: {state.why} -> {state.hint}" if state.why else "on"))
    if state.why:
        output.words("for agents: what you type yourself is stored and shown as always")
    rows = [["store", f"{store}{'' if there else ' (not there yet)'}"], ["scope", f"{scope}, {where_am_i(settings)}"]]
    rows += [["also seen", ", ".join(around)]] if around else []
    for name, text in [*rows, *([["ignored", ", ".join(ignored)]] if ignored else [])]:
        output.line(output.printable(f"{name}  {text}"))
    if join:
        output.words(join)
    if slip := pause_slip():
        output.words(f"warning: {slip}")
    return 0


def where_am_i(settings: Settings) -> str:
    """Return what the scope of this folder was told by, one of the signs of docs/how-to/scopes.md."""
    here = settings.checkout
    if here is None:
        return "named by --scope or LIMPET_SCOPE"
    if here.by == "git":
        return f"the git checkout {here.root} (remote {here.remote or 'none: by its first commit'})"
    return f"the folder with {FOLDER_FILE}, {here.root}" if here.by == FOLDER_FILE else f"the folder {here.root}"


def pause_state(store: str, session: str) -> pause.State:
    """Return whether limpet is off here and now."""
    return pause.look(store, str(Path.cwd()), session, SystemClock().now())


def pause_slip() -> str:
    """Return a warning about lines of this folder's `.limpet` that mean nothing; "" where all are known."""
    file, lines = pause.read_folder(str(Path.cwd()))
    if not (unknown := pause.slips(lines)):
        return ""
    known = "`off`, `ignore PATTERN`, `scope NAME` or `part FOLDER`"
    return f"{file} has a line that means nothing: {unknown[0][:40]!r} ({known})"


def _store(args: Namespace) -> str:
    store = read_settings(args.store, args.scope, None).path
    Path(beside(store)).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return store


def _write_folder(*, off: bool) -> None:
    """Put the line `off` into the `.limpet` of the current folder, or take it out; other lines stay."""
    from ..store.files import write_own

    file = Path.cwd() / FOLDER_FILE
    if not off:
        path, lines = pause.read_folder(str(Path.cwd()))
        if "off" not in lines:
            return
        file = Path(path)
    try:
        before = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
        kept = [line for line in before.splitlines() if line.strip() != "off"]
        text = "\n".join(["off", *kept] if off else kept)
        if not text.strip():
            file.unlink(missing_ok=True)
            return
        write_own(file, f"{text}\n".encode())
    except OSError as error:
        raise StoreError(f"cannot write {file}: {error.strerror}") from None


_FOLDER = arg("--folder", "only in this folder and below, by a file .limpet with the line `off`")
VERBS = (
    Verb(
        name="pause", group=AGENTS,
        about="not now: nothing is noted, stored or shown by agents; for a time, in a session, or in a folder",
        run=_pause,
        arguments=(
            arg("--for TIME", "end it by itself after 30m, 2h, 1h30m or 1d", dest="span"), _FOLDER,
            arg("--session [ID]", "only in this session of a client (default: the one this runs in); for good",
                nargs="?", const=""),
        ),
        example="limpet pause --for 2h\nlimpet pause --folder\nlimpet pause --session",
    ),
    Verb(name="resume", group=AGENTS, about="on again", run=_resume, arguments=(_FOLDER,), example="limpet resume"),
    Verb(
        name="ignore", group=AGENTS, about="words and paths that are never journaled or organized", run=_ignore,
        arguments=(arg("[PATTERN...]", "words, or a path with * or ?; none: show what is ignored"),
                   arg("--remove", "no longer ignore them")),
        example="limpet ignore '*.env' 'project nightjar'",
    ),
    Verb(name="status", group=AGENTS, about="is limpet on here, and which store and scope", run=_status,
         example="limpet status"),
    Verb(
        name="mcp", group=PLUMBING, about="serve the store to an agent over stdin and stdout (Model Context Protocol)",
        run=_mcp, example="claude mcp add limpet -- limpet mcp",
    ),
    Verb(
        name="hook", group=PLUMBING, about="what agent clients call at their events; always ends with 0",
        run=lambda args: 0,  # start.py answers it without this table
        arguments=(arg("CLIENT", ", ".join(CLIENT_ADAPTERS)),
                   arg("EVENT", "the client's own name of the event; its JSON comes on stdin")),
        example='echo \'{"session_id": "s1", "prompt": "how do we deploy?"}\' | limpet hook claude UserPromptSubmit',
    ),
)  # fmt: skip
