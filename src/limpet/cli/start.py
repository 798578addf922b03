"""The command's first step: a hook and the version are answered here, everything else by `main`.

A client runs `limpet hook` with every message and tool call: argparse alone would be a tenth of what that may cost.
"""

from __future__ import annotations

import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def run() -> NoReturn:
    """Run `limpet`, as installed."""
    # A garbage collection over fresh imports costs a twentieth of a cold command.
    gc.set_threshold(100_000)
    # NumPy multiplies on one core, and loads sooner: on a busy machine threads that wait for each other take ten times
    # as long, and small products gain little from them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    argv = sys.argv[1:]
    place = command_place(argv)
    if argv[place : place + 1] == ["hook"] and not {"-h", "--help"}.intersection(argv):
        from ..agents.hooks.entry import run as hook

        hook(argv[:place] + argv[place + 1 :])
    if argv in (["version"], ["--version"], ["-V"]) and sys.stdout is not None:
        from .. import __version__

        try:
            print(f"limpet {__version__}", flush=True)
        except OSError:  # `main` says what is wrong with the output
            pass
        else:
            sys.exit(0)
    from .main import main

    sys.exit(main(argv))


def command_place(argv: list[str]) -> int:
    """Find where the command stands: behind the global options that are given before it."""
    place = 0
    while place < len(argv) and argv[place].startswith("-") and argv[place] != "-":
        place += 2 if argv[place] in ("--store", "--scope") else 1
    return place
