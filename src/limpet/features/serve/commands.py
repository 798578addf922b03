"""Commands for a team: the server, the tokens of those who may use it, and the devices that are trusted."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any

from ...cli import output, tables
from ...cli.verbs import AGENTS, Verb, arg
from ...model.clock import MICROSECONDS_PER_SECOND, format_time
from ...model.errors import BadInput, counted, package_missing
from ...model.times import parse_duration
from ..transfer import devices, trust_device

if TYPE_CHECKING:
    from ..transfer import DeviceInfo
    from .tokens import Grant, Tokens

# As in serve/tokens.py, whose import would slow down every command.
ROLES = ("read", "write", "review", "admin")


def _serve(args: Namespace) -> int:
    given = f"127.0.0.1:{args.listen}" if args.listen.isdigit() else args.listen
    host, _, port = given.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65_535:
        raise BadInput(f"not HOST:PORT: {args.listen!r:.100}", hint="such as 127.0.0.1:8766")
    try:
        from .process import serve
    except ModuleNotFoundError as error:
        raise package_missing(error, "serve") from error
    serve(args.store, args.scope, host=host, port=int(port), urls=args.url or [], page=args.page)
    return 0


def _tokens(args: Namespace) -> Tokens:
    from ...settings import read_settings
    from .tokens import tokens_of

    return tokens_of(read_settings(args.store, "global", None).path)


def _create(args: Namespace) -> int:
    # One of less than a second would have ended before it is read.
    seconds = None if args.expires == "never" else max(1, parse_duration(args.expires) // MICROSECONDS_PER_SECOND)
    scopes = args.scopes or ([args.scope] if args.scope else [])
    grant, token = _tokens(args).create(args.name, role=args.role, scopes=scopes, seconds=seconds)
    if args.json:
        output.result(grant.as_dict() | {"token": token})
    else:
        output.line(token)
        output.words("it is shown this once; in the file is its digest")
    return 0


def _list(args: Namespace) -> int:
    known = _tokens(args).grants()
    if args.json:
        output.result(known)
    else:
        rows = [[grant.id, grant.name, grant.role, " ".join(grant.scopes), _until(grant)] for grant in known]
        tables.table(["id", "name", "role", "scopes", "holds"], rows, "there are no tokens")
    return 0


def _revoke(args: Namespace) -> int:
    revoked = _tokens(args).revoke(args.name)
    output.result(list(revoked)) if args.json else output.line(f"revoked: {counted(len(revoked), 'token')}")
    return 0


def _until(grant: Grant) -> str:
    if grant.revoked_at is not None:
        return f"revoked {format_time(grant.revoked_at)}"
    return "for ever" if grant.expires_at is None else f"until {format_time(grant.expires_at)}"


def _devices(devices: list[DeviceInfo], *_: object) -> None:
    rows = [
        [row.id, "this one" if row.own else "yes" if row.trusted else "no", f"{row.segments:,}"] for row in devices
    ]  # fmt: skip
    tables.table(["device", "trusted", "segments"], rows, "no device is known")


def _trusted(done: dict[str, Any], *_: object) -> None:
    output.line(f"{'trusted' if done['trusted'] else 'distrusted'}: {counted(done['devices'], 'known device')}")
    if done["trusted"]:
        output.words("its segments come in with the next `limpet import segments`")


VERBS = (
    Verb(
        name="serve", group=AGENTS, run=_serve,
        about="serve the store to a team by MCP over HTTP, with a token for each user",
        arguments=(
            arg("--listen HOST:PORT", "where, or a port of 127.0.0.1; beyond it --url is needed",
                default="127.0.0.1:8766"),
            arg("--url URL...", "how clients reach it: https://memory.example.org; repeat it"),
            arg("--page", "the web page too: a person logs in there with a token"),
        ),
        example="limpet serve\nlimpet serve --listen 0.0.0.0:8766 --url https://memory.example.org",
    ),
    Verb(
        name="serve token", group=AGENTS, about="who may use `limpet serve`: create, list, revoke tokens",
        example="limpet serve token create ana --role write --scope project:api --expires 90d\n"
        "limpet serve token list\nlimpet serve token revoke ana",
    ),
    Verb(
        name="serve token create", group=AGENTS, about="make a token for a user", run=_create,
        arguments=(
            arg("NAME", "whose token it is"),
            arg("--role ROLE", "read, write, review or admin; each may do what those before it may", choices=ROLES,
                required=True),
            arg("--scope SCOPE...", "a scope that it is for; repeat it, the first is the usual one; '*': every scope",
                dest="scopes"),
            arg("--expires AGE", "how long it holds: 12h, 52w, never", default="90d"),
        ),
    ),
    Verb(name="serve token list", group=AGENTS, about="the tokens there are", run=_list),
    Verb(name="serve token revoke", group=AGENTS, about="end a token", run=_revoke,
         arguments=(arg("NAME", "its name or id"),)),
    Verb(
        name="serve device", group=AGENTS, about="the devices that segments come from; trust one, or no more",
        example="limpet serve device\nlimpet serve device trust 3f2a",
    ),
    Verb(name="serve device list", group=AGENTS, about="the devices that are known",
         run=lambda memory, _: devices(memory), show=_devices),
    Verb(
        name="serve device trust", group=AGENTS, create=True, show=_trusted,
        about="take in what a device says: until then its segments wait",
        run=lambda memory, args: {
            "trusted": not args.off, "devices": trust_device(memory, args.id, trusted=not args.off)
        },
        arguments=(arg("ID", "an id or its beginning; all: also devices that come"), arg("--off", "no longer")),
    ),
)  # fmt: skip
