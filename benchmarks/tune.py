"""Learn every number that is fitted, by one procedure over all development sets.

    python -m benchmarks.tune --locomo FILE --longmemeval FILE [--write] [--record] [--part PART]...

Parts, each building on what those before it wrote:

- `chats`: weights of turns of conversations (rank/weights.py), on both dev sets, each weighing the same
- `sessions`: weights of what a session is judged by (rank/session_weights.py), on both dev sets
- `notes`: weights of notes (rank/note_weights.py), on the tuning half of the project's own set
- `relevance`: when nothing found is relevant (rank/relevance_weights.py), on that half and LoCoMo
- `newer`: when the newer of two results comes first (rank/newer_weights.py), on training/written; only when asked for
- `rules`: the vectors of the bias rules' prototypes; only when asked for
- `embedder`: all that hangs on the file of our own model (`make embedder-figures`); only when asked for

Without `--write` nothing changes, and the figures are printed: in sample, and with whole groups (conversations,
haystacks, projects) left out of the fit. `--record` keeps them in benchmarks/results/.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from limpet.settings import DEFAULT_EMBEDDER

from .harness import provenance, save

PARTS = ("chats", "sessions", "notes", "relevance", "newer", "rules", "embedder")
USUAL = PARTS[:4]


def _run(part: str, options: argparse.Namespace) -> Any:
    # Each part is imported when the one before it has written what it reads.
    if part == "chats":
        from . import tune_chats

        return tune_chats.run(options.locomo, options.longmemeval, folds=options.folds, write=options.write)
    if part == "sessions":
        from . import tune_sessions

        return tune_sessions.run(options.locomo, options.longmemeval, folds=options.folds, write=options.write)
    if part == "embedder":
        from . import tune_embedder

        return tune_embedder.run(options.model, held_back=options.held_back, write=options.write)
    if part == "rules":
        from . import tune_rules

        return tune_rules.run(options.embedder, held_back=options.held_back, write=options.write)
    from . import embedding_cache, tune_newer, tune_notes

    embedder = embedding_cache.load(options.embedder)
    try:
        if part == "newer":
            return tune_newer.run(embedder, write=options.write)
        if part == "notes":
            return tune_notes.fit_weights(embedder, folds=options.folds, write=options.write)
        found = {
            name: tune_notes.fit_relevance(embedder, options.locomo, words=words)
            for name, words in (("RELEVANCE", False), ("RELEVANCE_BY_WORDS", True))
        }
        if options.write:
            tune_notes.write_relevance(found)
        return {name: figures for name, (_, _, figures) in found.items()}
    finally:
        embedder.save()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--locomo", metavar="FILE", help="its dev half")
    parser.add_argument("--longmemeval", metavar="FILE", help="its dev half")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this, repeatable (the first four)")
    parser.add_argument("--folds", type=int, default=5, help="of groups that are left out (5)")
    parser.add_argument("--embedder", default=DEFAULT_EMBEDDER, help=f"name of the embedder ({DEFAULT_EMBEDDER})")
    parser.add_argument("--held-back", action="store_true", help="rules: also the figures of the half held back")
    parser.add_argument("--model", metavar="FILE", help="embedder: the ONNX file that takes the place of ours")
    parser.add_argument("--write", action="store_true", help="put the numbers into the package")
    parser.add_argument("--json", metavar="OUT", help="write the figures here")
    parser.add_argument("--record", action="store_true", help="keep the figures in benchmarks/results/")
    options = parser.parse_args()
    parts = options.part or list(USUAL)
    both = ("locomo", "longmemeval")
    needed = {"chats": both, "sessions": both, "relevance": ("locomo",)}
    if missing := {name for part in parts for name in needed.get(part, ()) if getattr(options, name) is None}:
        parser.error(f"needs --{' --'.join(sorted(missing))}")
    figures: dict[str, Any] = {}
    for part in parts:
        print(f"-- {part}")
        if options.write and len(parts) > 1:
            # A process of its own: it reads what the last part wrote.
            figures[part] = _apart(part, options)
        else:
            figures[part] = _run(part, options)
    content = {"benchmark": "tune", "provenance": provenance(), "parts": parts, "figures": figures}
    for path in save("tune", content, out=options.json, keep=options.record):
        print(f"written: {path}", file=sys.stderr)


def _apart(part: str, options: argparse.Namespace) -> Any:
    from multiprocessing import get_context

    with get_context("spawn").Pool(1) as pool:
        return pool.apply(_run, (part, options))


if __name__ == "__main__":
    main()
