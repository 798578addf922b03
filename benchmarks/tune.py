"""Learn every number that is fitted, by one procedure over all development sets.

    python -m benchmarks.tune --longmemeval FILE [--write] [--record] [--part PART]... [--embedder NAME]

Parts, each building on what those before it wrote:

- `weights`: of ranking (rank/weights.py), on the written stores (training/written), LongMemEval (all in one store) and
  the tuning half of the project's own set
- `sessions`: weights of what a session is judged by (rank/session_weights.py), on LongMemEval's haystacks
- `relevance`: when nothing found is relevant (rank/relevance_weights.py), on the tuning half and the written stores
- `newer`: when the newer of two results comes first (rank/newer_weights.py), on training/written
- `hooks`: which memories a message is shown (agents/hooks/fit_weights.py), on messages that no model has seen
- `judged`: `relevance` where the judge is asked, after another judge, and nothing else; only when asked for
- `embedder`: all that hangs on the file of our own model (`make embedder-figures`); only when asked for

LoCoMo is not among them: its licence allows no use of what is learned from it. It measures.

Without `--write` nothing changes, and the figures are printed: in sample, and with whole groups (stores, questions,
projects) left out of the fit; written stores that the embedder was not trained on are never in it. `--record` keeps
them in benchmarks/results/. All cosines are those of the embedder named, as `vectors/calibration.py` moves them.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from limpet.settings import DEFAULT_EMBEDDER

from . import public
from .harness import provenance, save

PARTS = ("weights", "sessions", "relevance", "newer", "hooks", "embedder", "judged")
USUAL = PARTS[:5]


def _run(part: str, options: argparse.Namespace) -> Any:
    # Each part is imported when the one before it has written what it reads.
    if part == "embedder":
        from . import tune_embedder

        return tune_embedder.run(write=options.write)
    from . import embedding_cache

    embedder = embedding_cache.load(options.embedder)
    try:
        if part == "newer":
            from . import tune_newer

            return tune_newer.run(embedder, write=options.write)
        if part == "hooks":
            from . import tune_hooks

            return tune_hooks.run(embedder, write=options.write)
        if part == "weights":
            from . import tune_weights

            return tune_weights.run(embedder, options.longmemeval, folds=options.folds, write=options.write)
        if part == "sessions":
            from . import tune_sessions

            return tune_sessions.run(embedder, options.longmemeval, folds=options.folds, write=options.write)
        from . import tune_relevance

        # After another judge its constants alone: what is told without it does not change by it.
        wanted = [tune_relevance.JUDGED] if part == "judged" else list(tune_relevance.NAMES)
        found = {by: tune_relevance.fit_relevance(embedder, by) for by in wanted}
        if options.write:
            tune_relevance.write_relevance(found)
        return {name: figures for name, (_, _, figures) in found.items()}
    finally:
        embedder.save()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--longmemeval", metavar="FILE", help="its dev half")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this, repeatable (the first five)")
    parser.add_argument("--folds", type=int, default=5, help="of groups that are left out (5)")
    parser.add_argument("--embedder", default=DEFAULT_EMBEDDER, help=f"name of the embedder ({DEFAULT_EMBEDDER})")
    parser.add_argument("--model", metavar="FILE", help="embedder: the ONNX file that takes the place of ours")
    parser.add_argument("--write", action="store_true", help="put the numbers into the package")
    parser.add_argument("--json", metavar="OUT", help="write the figures here")
    parser.add_argument("--record", action="store_true", help="keep the figures in benchmarks/results/")
    options = parser.parse_args()
    parts = options.part or list(USUAL)
    if {"weights", "sessions"} & set(parts):
        public.read(public.LONGMEMEVAL, options.longmemeval)  # before the hours that the first parts take
    figures: dict[str, Any] = {}
    for part in parts:
        print(f"-- {part}")
        if part == "embedder" and options.write:
            from . import tune_embedder

            tune_embedder.put(options.model)
        if options.write:
            # A process of its own: it reads what was written just before.
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
