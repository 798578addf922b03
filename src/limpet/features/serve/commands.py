"""Commands for a team: the server, the tokens of those who may use it, and the devices that are trusted."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ...cli import output
from ...cli.options import Command, open_store
from ...model.clock import MICROSECONDS_PER_SECOND, format_time, parse_duration
from ...model.errors import BadInput, counted, package_missing

if TYPE_CHECKING:
    from .tokens import Tokens

# As in serve/tokens.py, whose import would cost every command of this module.
ROLES = ("read", "write", "review", "admin")


def _serve_options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("--listen", "--port", default="127.0.0.1:8766", metavar="HOST:PORT",
        help="where, or a port of 127.0.0.1 (default: 127.0.0.1:8766); beyond it: tokens and --url")  # fmt: skip
    add("--url", action="append", metavar="URL", help="how clients reach it: https://memory.example.org; repeat it")
    add("--page", action="store_true", help="the web page too: a person logs in there with a token")
    _tokens_option(parser)
    add("--issuer", metavar="URL", help="the provider of logins (OAuth 2.1), whose signed tokens are taken too")
    add("--keys", metavar="WHERE", help="the issuer's key set, a file or URL (default: ISSUER/.well-known/jwks.json)")
    add("--log", choices=("text", "json", "off"), default="text", metavar="FORM",
        help="a line for each request on stderr: text (default), json, off")  # fmt: skip


def _tokens_option(parser: ArgumentParser) -> None:
    parser.add_argument("--tokens", metavar="FILE", help="the file of tokens (default: the store's name and .tokens)")


def _serve(args: Namespace) -> int:
    given = f"127.0.0.1:{args.listen}" if args.listen.isdigit() else args.listen
    host, _, port = given.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65_535:
        raise BadInput(f"not HOST:PORT: {args.listen!r:.100}", hint="such as 127.0.0.1:8766")
    if args.keys and not args.issuer:
        raise BadInput("--keys are those of an --issuer")
    try:
        from .process import serve
    except ModuleNotFoundError as error:
        raise package_missing(error, "serve") from error
    serve(
        args.store, args.scope, host=host, port=int(port), urls=args.url or [], tokens=args.tokens,
        issuer=args.issuer, keys=args.keys, log=args.log, page=args.page,
    )  # fmt: skip
    return 0


def _token_options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("action", metavar="ACTION", choices=("create", "list", "revoke"), help="create NAME, list, revoke NAME")
    add("name", metavar="NAME", nargs="?", help="whose token it is; to revoke one, its name or id")
    add(
        "--role",
        choices=ROLES,
        metavar="ROLE",
        help="read, write, review or admin; each may do what those before it may",
    )
    add("--scope", action="append", dest="scopes", metavar="SCOPE",
        help="a scope that it is for; repeat it, the first is the usual one; '*': every scope")  # fmt: skip
    add("--expires", default="90d", metavar="AGE", help="how long it holds: 12h, 90d (default), 52w, never")
    add("--subject", metavar="SUB", help="for a login at the --issuer instead of a token: its `sub`")
    _tokens_option(parser)


def _token(args: Namespace) -> int:
    from ...settings import read_settings
    from .tokens import tokens_of

    tokens = tokens_of(read_settings(args.store, "global", None).path, args.tokens)
    if (args.name is None) != (args.action == "list"):
        raise BadInput(f"{args.action} takes {'no' if args.name else 'a'} name", hint="see `limpet token list`")
    if args.action == "create":
        return _create(args, tokens)
    found = tokens.grants() if args.action == "list" else tokens.revoke(args.name)
    if args.action == "revoke" and not args.json:
        output.line(f"revoked: {counted(len(found), 'token')}")
        return 0
    output.answer_table(
        args, "tokens", found, ["id", "name", "role", "scopes", "holds"],
        lambda one: [one.id, one.name, one.role, " ".join(one.scopes), _until(one.expires_at, one.revoked_at)],
        "there are no tokens",
    )  # fmt: skip
    return 0


def _until(expires_at: int | None, revoked_at: int | None) -> str:
    if revoked_at is not None:
        return f"revoked {format_time(revoked_at)}"
    return "for ever" if expires_at is None else f"until {format_time(expires_at)}"


def _create(args: Namespace, tokens: Tokens) -> int:
    if args.role is None:
        raise BadInput("say what the token may do", hint=f"--role {'|'.join(ROLES)}")
    # One of less than a second would have ended before it is read.
    seconds = None if args.expires == "never" else max(1, parse_duration(args.expires) // MICROSECONDS_PER_SECOND)
    scopes = args.scopes or ([args.scope] if args.scope else [])
    grant, token = tokens.create(args.name, role=args.role, scopes=scopes, seconds=seconds, subject=args.subject)
    if args.json:
        output.object_line(grant.as_dict() | ({"token": token} if token else {}))
        return 0
    if token:
        output.line(token)
        output.words("it is shown this once; in the file is its digest")
    else:
        output.line(f"{grant.id} for the login {args.subject}")
    return 0


def _devices_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "action", metavar="ACTION", nargs="?", choices=("list", "trust", "distrust"), default="list",
        help="list (default); trust ID: it may also correct, replace and purge what others said; distrust ID",
    )  # fmt: skip
    parser.add_argument("id", metavar="ID", nargs="?", help="an id or its beginning; all: also devices that come")


def _devices(args: Namespace) -> int:
    if (args.id is None) != (args.action == "list"):
        raise BadInput(f"{args.action} takes {'no' if args.id else 'the'} id of a device", hint="see `limpet devices`")
    with open_store(args, create=args.action != "list") as memory:
        if args.action == "list":
            found = memory.devices()
        else:
            count = memory.trust_device(args.id, trusted=args.action == "trust")
    if args.action == "list":
        output.answer_table(
            args, "devices", found, ["device", "trusted", "segments"],
            lambda one: [one.id, "this one" if one.own else "yes" if one.trusted else "no", f"{one.segments:,}"],
            "no device is known",
        )  # fmt: skip
        return 0
    if args.json:
        output.object_line({"trusted": args.action == "trust", "devices": count})
    else:
        output.line(f"{args.action}ed: {counted(count, 'known device')}")
        if args.action == "trust":
            output.words("what it said of what others said comes with the next `limpet import segments`")
    return 0


COMMANDS = {
    "devices": Command(_devices_options, _devices, "limpet devices\nlimpet devices trust 3f2a"),
    "serve": Command(
        _serve_options, _serve,
        "limpet serve\nlimpet serve --listen 0.0.0.0:8766 --url https://memory.example.org --log json",
    ),
    "token": Command(
        _token_options, _token,
        "limpet token create ana --role write --scope project:api --expires 90d\nlimpet token list\n"
        "limpet token revoke ana",
    ),
}  # fmt: skip
