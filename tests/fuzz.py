"""Hostile inputs without end, from where the last run stopped: `python -m tests.fuzz --to 100000 --seconds 600 readers mcp ...`

In this process: `readers` of every import format, `transcripts`, `hooks`, `mcp` handlers, `mirror` files, `dates`, full-text `queries`, a ledger's
`lines`. With real processes: `cli`, `http`, `socket`, `stdio`. An input is told by its kind and number, so that `--only 4711 readers` has it again.
How many there were, what was not handled and the peak of memory are added up in `benchmarks/results/fuzz.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import sys
import tempfile
import time
import traceback
from pathlib import Path

import tests.fuzz_inside as inside
import tests.fuzz_outside as outside

RECORD = Path(__file__).parent.parent / "benchmarks" / "results" / "fuzz.json"
KINDS = inside.KINDS | outside.KINDS
# A few thousand inputs of the fastest kind; the record is written after each.
BATCH_SECONDS = 10.0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="KIND", default=list(KINDS))
    parser.add_argument("--to", type=int, default=1_000, help="go on until a kind has had so many in all")
    parser.add_argument("--seconds", type=float, default=60.0, help="at most so long for a kind")
    parser.add_argument("--only", type=int, help="this input alone, not recorded")
    args = parser.parse_args()
    # Nothing of this user is read or written, and no scope comes from a folder.
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {
            "HOME": home,
            "XDG_DATA_HOME": f"{home}/data",
            "XDG_CONFIG_HOME": f"{home}/config",
            "OMP_NUM_THREADS": "1",
        }
        failed = 0
        for kind in args.kinds:
            failed += run(kind, args, Path(home) / kind)
    sys.exit(1 if failed else 0)


def run(kind, args, folder):
    folder.mkdir()
    record = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    one = record.setdefault(kind, {"inputs": 0, "unhandled": 0, "seconds": 0.0, "peak_mb": 0})
    ends = time.monotonic() + args.seconds
    failures = []
    with KINDS[kind](folder) as target:
        if args.only is not None:
            return attempt(target, kind, args.only, failures)
        while one["inputs"] < args.to and time.monotonic() < ends:
            started, first = time.monotonic(), one["inputs"]
            while one["inputs"] < args.to and time.monotonic() < min(started + BATCH_SECONDS, ends):
                one["unhandled"] += attempt(target, kind, one["inputs"], failures)
                one["inputs"] += 1
            one["unhandled"] += attempt(target, kind, None, failures)
            one["seconds"] = round(one["seconds"] + time.monotonic() - started, 1)
            one["peak_mb"] = max(one["peak_mb"], round(peak_mb(target)))
            keep(kind, one)
            print(
                f"{kind}: {one['inputs']:,} (from {first:,}), {one['unhandled']} unhandled, {one['peak_mb']} MB",
                flush=True,
            )
    return len(failures)


def attempt(target, kind, number, failures):
    """1 if input `number` was not handled, told on stderr; None: what is looked at after a batch."""
    try:
        if number is None:
            target.check()
        else:
            target.try_one(random.Random(f"{kind} {number}"))
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        failures.append(number)
        print(f"{kind} {number}: {''.join(traceback.format_exception(error))[-3_000:]}", file=sys.stderr, flush=True)
        return 1
    return 0


def peak_mb(target):
    if getattr(target, "process", None) is not None:
        return target.peak_mb()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def keep(kind, one):
    """Beside what other runs have written meanwhile."""
    record = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    record[kind] = one
    fresh = RECORD.with_suffix(".json.new")
    fresh.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    fresh.replace(RECORD)


if __name__ == "__main__":
    main()
