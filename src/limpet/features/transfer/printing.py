"""Print what an import brought: the report, what was not understood, how to take it back."""

from __future__ import annotations

from ...cli.output import embedded, result, short, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Collection, Sequence

    from ...api import Limpet
    from ...model.encode import JsonForm
    from .records import TransferReport

# Rejected lines that are printed, unless each is a file's; --json has all.
SHOWN_REJECTIONS = 20


def imported(memory: Limpet, args: Namespace, report: JsonForm, show: Callable[[], object], *, code: int) -> int:
    """Print what was imported (`show`: in words), make its vectors; return the exit code."""
    if not args.json:
        show()
    more = embedded(memory, args)
    if args.json:
        result(report.as_dict() | more)
    return code


def undone_by(operation: str | None, scopes: Collection[str] = ()) -> None:
    """Print how to take back what one run stored. `scopes`: those that only an undo in them reaches."""
    if operation is None:
        return
    for scope in sorted(scopes):
        words(f"`limpet undo {short(operation)} --scope {scope}` takes back what went there")
    if not scopes:
        words(f"`limpet undo` takes it all back; later, `limpet undo {short(operation)}`")


def notes(report: TransferReport) -> None:
    """Print what was kept in another way, and what was not understood, on stderr."""
    for what, count in sorted(report.notes.items()):
        words(f"{count:,} x {what}")
    rejected(report.rejected, report.more_rejected, most=len(report.rejected) if report.by_name else SHOWN_REJECTIONS)


def rejected(lines: Sequence[tuple[str, str]], more: int, most: int = SHOWN_REJECTIONS) -> None:
    """Print what an import could not read, the first ones one by one, on stderr."""
    for place, reason in lines[:most]:
        words(f"{place}: {reason}")
    if (count := len(lines) - most + more) > 0:
        words(f"... and {count:,} more; --json lists all")
