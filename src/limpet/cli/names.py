"""How a person names a memory without its id: @3 of the last listing, --last, --match WORDS.

The ids of the last listing, and that of what was stored last, are kept in the user's state folder, with the path of the
store: a file for each store and terminal.
"""

from __future__ import annotations

import contextlib
import os
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence

from ..folders import user_folder
from ..model.errors import AmbiguousId, BadInput, LimpetError, NotFound
from ..model.memory import GLOBAL_SCOPE, valued

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..api import Limpet
    from ..model.memory import Memory

# Results that have a number, and how long a listing is meant by it.
NUMBERED, STALE_AFTER_HOURS = 9, 12
LAST, MATCH = "@last", "@match "
# Arguments that name memories; in the second list also what is no id.
_ABOUT, _OR_WORDS = ("id", "a", "b", "ids"), ("about", "what")
_IDS = (*_ABOUT, "because", "against")


def options(parser: ArgumentParser, *, gone: bool = False, out: bool = False, of_two: bool = False) -> None:
    """--last and --match in place of an ID; `arrange` puts them there, `arrange_in_place` for one `of_two` memories.

    `gone`: also of what is no longer held. `out`: only of what was archived or retracted, the last one of which is that
    to which this happened last.
    """
    place = "A or B" if of_two else "ID"
    last = "archived or retracted last" if out else "stored last"
    parser.add_argument("--last", action="store_true", help=f"in place of {place}: the memory {last}")
    parser.add_argument(
        "--match",
        metavar="WORDS",
        help=f"in place of {place}: the one memory that has these words, whole; several are listed",
    )
    if not of_two:
        parser.set_defaults(gone=gone, out=out)


def arrange(words: list[str]) -> list[str]:
    """--last and --match WORDS as the first argument, where the ID stands: argparse knows no choice of the two."""
    rest: list[str] = []
    found: list[str] = []
    _replace(words, found.append, rest)
    if len(found) > 1:
        raise BadInput("give one of ID, --last and --match")
    return [*found, *rest]


def arrange_in_place(words: list[str]) -> list[str]:
    """--last and --match WORDS as arguments where they are said: one of two memories."""
    arranged: list[str] = []
    _replace(words, arranged.append, arranged)
    return arranged


def _replace(words: list[str], found: Callable[[str], None], rest: list[str]) -> None:
    left = iter(words)
    for word in left:
        name, mark, value = word.partition("=")
        if word == "--":
            rest += [word, *left]
        elif word == "--last":
            found(LAST)
        elif name == "--match":
            said = value if mark else next(left, None)
            if said is None:
                raise BadInput("--match needs words", hint='such as --match "staging limit"')
            found(MATCH + said)
        else:
            rest.append(word)


def resolve(args: Namespace, memory: Limpet) -> str | None:
    """Put ids where arguments name memories in another way. Returns the scope in which these are, if reads from here do
    not see it and no scope was named. Raises NotFound, AmbiguousId, BadInput."""
    scope = _scope_listed(args, memory)
    for name, value in vars(args).items():
        if name in _IDS and isinstance(value, list):
            setattr(args, name, [_id(one, memory, args) for one in value])
        elif isinstance(value, str) and (name in _IDS or (name in _OR_WORDS and is_reference(value))):
            setattr(args, name, _id(value, memory, args))
    return scope


def _scope_listed(args: Namespace, memory: Limpet) -> str | None:
    """The other scope of what @1 to @9 name, of a listing of all scopes."""
    given = [value for name, value in vars(args).items() if name in (*_ABOUT, *_OR_WORDS)]
    texts = [text for value in given for text in (value if isinstance(value, list) else [value])]
    numbers = [text.strip() for text in texts if isinstance(text, str) and _number(text) is not None]
    if not numbers or args.scope is not None:
        return None
    scopes = {text: _listed(int(text[1:]), memory)[1] for text in numbers}
    others = {one for one in scopes.values() if one not in (None, memory.scope, GLOBAL_SCOPE)}
    if not others:
        return None
    if len(set(scopes.values()) - {GLOBAL_SCOPE}) > 1:
        told = ", ".join(f"{number} in {scope}" for number, scope in scopes.items())
        raise BadInput(f"these are of several scopes: {told}", hint="name those of one scope at a time")
    return others.pop()


def as_typed(text: str) -> str:
    """A name of a memory as it is typed at the command line."""
    return "--last" if text == LAST else f'--match "{text.removeprefix(MATCH)}"' if text.startswith(MATCH) else text


def say_how_words_are_given(error: LimpetError, args: Namespace) -> None:
    """Words may have been given for an id: then the hint says how they are."""
    given = [value for name, value in vars(args).items() if name in _IDS]
    texts = [
        str(text) for value in given for text in (value if isinstance(value, list) else [value]) if text is not None
    ]
    words = " ".join(texts)
    if "match" not in args or not 0 < len(words) <= 60:
        return
    found_by = f'words are found by --match "{words}"'
    if error.message.startswith("not an id"):
        error.hint = found_by
    elif words.replace(" ", "").isalpha():  # so are one in ten ids
        error.hint = f"{error.hint}; {found_by}" if error.hint else found_by


def is_reference(text: str) -> bool:
    return text == LAST or (_number(text) is not None and text == text.strip())


def _id(text: str, memory: Limpet, args: Namespace) -> str:
    if text == LAST:
        return _last(memory, out=getattr(args, "out", False))
    if text.startswith(MATCH):
        return _matching(text.removeprefix(MATCH), memory, args)
    number = _number(text)
    return text if number is None else _listed(number, memory)[0]


def _number(text: str) -> int | None:
    """Return the number of @1 to @9, None for any other text."""
    text = text.strip()
    return int(text[1:]) if text.startswith("@") and text[1:].isdecimal() else None


def _last(memory: Limpet, *, out: bool) -> str:
    if not out:
        # Whatever has become of it: another one in its place would be a guess.
        found = memory.list(limit=1, all_states=True).memories
        if not found:
            raise NotFound("nothing is stored yet")
        _check_ours(found[0], memory)
        return found[0].id
    cursor = None
    while True:
        page = memory.list(limit=100, all_states=True, sort="updated", cursor=cursor)
        for one in filter(_is_out, page.memories):
            return one.id
        if (cursor := page.cursor) is None:
            raise NotFound("nothing is archived or retracted", hint="`limpet redo` does again what was undone")


def _check_ours(newest: Memory, memory: Limpet) -> None:
    """Raises AmbiguousId where something was stored from this terminal, and another process stored since."""
    try:
        id, scope = _kept(memory.path, "stored", "id", "scope")
        if id == newest.id or scope != memory.scope:
            return
        ours = memory.get(id)
    except (OSError, ValueError, KeyError, TypeError, NotFound):
        return  # nothing was stored from here
    both = (ours, newest)
    texts = _texts(both, memory)
    raise AmbiguousId(
        "--last", [one.id for one in both], texts=texts,
        hint="the first was stored last from here, the second by another process since: give the id of one",
    )  # fmt: skip


def _is_out(one: Memory) -> bool:
    """Whether it was archived or retracted: what an undo took away comes back by a redo."""
    return one.state == "archived" or (one.state == "retracted" and one.reason != "undone")


def _matching(words: str, memory: Limpet, args: Namespace) -> str:
    gone, out = getattr(args, "gone", False), getattr(args, "out", False)

    def having(*, whole: bool) -> list[Memory]:
        found = memory.matching(words, all_states=gone or out, whole=whole)
        return list(filter(_is_out, found)) if out else found

    found = having(whole=True)
    if not found:
        where = " that is archived or retracted" if out else "" if gone else " that is held"
        near = having(whole=False)
        hint = (
            f"a longer word has them: {valued(near[0].key, near[0].content)[:60]!r}"
            if near
            else "`limpet recall` finds by meaning too"
        )
        raise NotFound(f"no memory{where} has the words {words!r}", hint=hint)
    if len(found) > 1:
        raise AmbiguousId(
            words, [one.id for one in found], texts=_texts(found, memory), hint="give more words, or the id of one"
        )
    return found[0].id


def _texts(several: Sequence[Memory], memory: Limpet) -> list[tuple[str, str]]:
    """(short id, text) of each."""
    texts = [valued(one.key, one.content) for one in several]
    return list(zip(memory.abbreviate([one.id for one in several]), texts, strict=True))


def _listed(number: int, memory: Limpet) -> tuple[str, str | None]:
    """The id of a result of the last listing, and its scope."""
    try:
        ids, scopes, command, at = _kept(memory.path, "listed", "ids", "scopes", "command", "at")
        hours = (time.time() - at) / 3600
    except (OSError, ValueError, KeyError, TypeError):
        raise NotFound(
            f"@{number}: nothing was listed in this terminal yet",
            hint="`limpet list` and `limpet recall` number them",
        ) from None
    if hours > STALE_AFTER_HOURS:
        raise NotFound(f"@{number}: the last listing is {hours:.0f} hours old", hint=f"run `limpet {command}` again")
    if not 1 <= number <= min(len(ids), NUMBERED):
        most = min(len(ids), NUMBERED)
        raise NotFound(f"@{number}: the last listing (`limpet {command}`) numbered {most or 'no'} results")
    return str(ids[number - 1]), scopes[number - 1] if scopes else None


def note(store: str, command: str, ids: Sequence[str], scopes: Sequence[str] = ()) -> None:
    """Keep what a listing of a store (its path) showed, for @1 to @9. `scopes`: of each, where they may differ."""
    _keep(store, "listed", command=command, ids=list(ids[:NUMBERED]), scopes=list(scopes[:NUMBERED]))


def note_stored(store: str, id: str, scope: str) -> None:
    """Keep what was stored last from here, for --last."""
    _keep(store, "stored", id=id, scope=scope)


def _kept(path: str, what: str, *names: str) -> list[Any]:
    """Values that were kept for a store. Raises OSError, ValueError, KeyError, TypeError: nothing was."""
    import json

    with open(_file(path, what), encoding="utf-8") as file:
        kept = json.load(file)
    if kept["store"] != os.path.realpath(path):
        raise ValueError("of another store whose name has the same checksum")
    return [kept[name] for name in names]


def _keep(store: str, what: str, **values: Any) -> None:
    """What cannot be written is not kept."""
    if store == ":memory:":
        return
    import json

    place = _file(store, what)
    with contextlib.suppress(OSError):
        os.makedirs(os.path.dirname(place), mode=0o700, exist_ok=True)
        _forget_old(os.path.dirname(place))
        # Removed first: ext4 flushes a file that is replaced, which takes longer than the command.
        with contextlib.suppress(FileNotFoundError):
            os.unlink(place)
        with os.fdopen(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
            json.dump({"store": os.path.realpath(store), "at": time.time(), **values}, file)


def _forget_old(folder: str) -> None:
    with os.scandir(folder) as files:
        for file in files:
            with contextlib.suppress(OSError):
                if time.time() - file.stat().st_mtime > 2 * STALE_AFTER_HOURS * 3600:
                    os.unlink(file)


def _file(path: str, what: str) -> str:
    import zlib  # enough to tell stores apart, and hashlib takes a cold command 4 ms

    terminal = os.getsid(0) if hasattr(os, "getsid") else os.getppid()
    name = zlib.crc32(os.fsencode(os.path.realpath(path)))
    return os.path.join(user_folder("state"), "listings", f"{name:08x}-{terminal}-{what}.json")
