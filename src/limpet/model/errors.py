"""Every error a user can meet, one small tree.

    LimpetError
    ├── NotFound            exit 1  the id, event or session is not there
    ├── BadInput            exit 2  what was given cannot be used; nothing was stored
    │   ├── AmbiguousId     exit 2  what was given names several memories (`candidates`)
    │   └── ChangedSince    exit 2  a memory was changed since the caller has read it
    ├── StoreError          exit 3  the store cannot be opened, read or written
    │   ├── StoreMissing    exit 1  there is no store, and what was asked for makes none
    │   ├── StoreDamaged    exit 3  the file is not a limpet store, or its content is broken
    │   ├── StoreOfAnotherVersion  exit 3  another version of limpet wrote it
    │   ├── StoreReadOnly   exit 3  a write on a store opened (or mounted) read-only
    │   ├── StoreLocked     exit 3  it is encrypted, and there is no key or no package that reads it
    │   └── StoreBusy       exit 3  another process held the write lock for longer than we wait
    └── EmbedderUnavailable exit 3  no vectors: a package is missing or its model is not what it should be

A message says what, which id, what to do next (`hint`). Boundaries (cli, mcp) translate; the core never prints.
"""

from __future__ import annotations

from collections.abc import Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class LimpetError(Exception):
    """Base of all limpet errors: `code` is stable and for programs, `hint` says what to do next."""

    code = "error"
    exit_code = 3

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        """Return the message with the hint: the last line of a traceback, in a notebook too."""
        return f"{self.message} (hint: {self.hint})" if self.hint else self.message

    def as_dict(self) -> dict[str, object]:
        """Return the `--json` form: {"error", "message", "hint"?}."""
        shown: dict[str, object] = {"error": self.code, "message": self.message}
        if self.hint:
            shown["hint"] = self.hint
        return shown


def counted(count: int, what: str, mark: str = "") -> str:
    """Return `1 memory`, `2 memories` for a message. `mark`: after the number, "+" for at least so many."""
    plural = f"{what[:-1]}ies" if what[-1] == "y" and what[-2] not in "aeiou" else f"{what}s"
    return f"{count:,}{mark} {what if count == 1 and not mark else plural}"


def message_of(error: Exception) -> str:
    """Return an error's message without its hint."""
    return error.message if isinstance(error, LimpetError) else str(error)


def package_missing(error: ModuleNotFoundError, extra: str | None = None) -> LimpetError:
    """Return the error for a missing package, which an extra installs or a reinstall of limpet."""
    install = f"pip install 'limpet[{extra}]'" if extra else "pip install --force-reinstall limpet"
    problem = LimpetError(f"the package {error.name} is not installed, which this needs", hint=install)
    problem.code = "package_missing"
    return problem


class NotFound(LimpetError):
    """The id or event is not there."""

    code = "not_found"
    exit_code = 1


class BadInput(LimpetError):
    """An input that cannot be used; nothing was changed."""

    code = "bad_input"
    exit_code = 2


class AmbiguousId(BadInput):
    """A name that fits several memories; `candidates` lists their ids, `texts` their short ids and contents."""

    code = "ambiguous_id"

    def __init__(self, typed: str, candidates: list[str], *, texts: Sequence[tuple[str, str]] = ()) -> None:
        self.typed, self.candidates = typed, candidates
        self.texts = [(id, " ".join(text.split())) for id, text in texts] or [(id, "") for id in candidates]
        lines = [f"{id} {text[:60]}".rstrip() for id, text in self.texts[:10]]
        shown = "; ".join(lines) + ("; ..." if len(self.texts) > 10 else "")
        super().__init__(f"{typed!r} names several memories: {shown}", hint="give the id of the one you mean")

    def __reduce__(self) -> tuple[Any, ...]:
        from functools import partial

        return partial(type(self), texts=self.texts), (self.typed, self.candidates)

    def as_dict(self) -> dict[str, object]:
        return super().as_dict() | {"candidates": self.candidates}


class ChangedSince(BadInput):
    """A memory was changed since the caller has read it; nothing was changed now."""

    code = "changed_since"


class StoreError(LimpetError):
    """The store cannot be opened, read or written."""

    code = "store_error"


class StoreMissing(StoreError):
    """A missing store, for a verb that makes none."""

    code = "store_missing"
    exit_code = 1


class StoreDamaged(StoreError):
    """The file is no limpet store, or its content is broken."""

    code = "store_damaged"


class StoreOfAnotherVersion(StoreError):
    """A store that another version of limpet wrote."""

    code = "store_of_another_version"

    def __init__(self, path: str, schema: int, known: int) -> None:
        super().__init__(
            f"another version of limpet made {path} (schema {schema}, not {known}); it was left untouched",
            hint="run `limpet export jsonl FILE` with the version that made it, and `limpet import jsonl FILE` here",
        )


class StoreReadOnly(StoreError):
    """A write on a store that cannot be written."""

    code = "store_read_only"


class StoreLocked(StoreError):
    """The store is encrypted, and its key, or the package that reads it, is not there."""

    code = "store_locked"


class StoreBusy(StoreError):
    """A write lock that another process held for over a minute."""

    code = "store_busy"


class EmbedderUnavailable(LimpetError):
    """A package of the embedder is missing, or its model is not what it should be."""

    code = "embedder_unavailable"
