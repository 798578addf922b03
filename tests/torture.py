"""Kills without end, from where the last run stopped: `python -m tests.torture --to 10000 --seconds 600`.

Each round is a new store: `tests.certify.processes.kill` kills writers among writers and a reader, and looks for what was acknowledged. The sums
are in `benchmarks/results/torture.json`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

from tests.certify.processes import kill

RESULTS = Path(__file__).parent.parent / "benchmarks" / "results"
# A round takes some seconds, and the record is written after each.
ROUND_KILLS = 200


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=int, default=10_000, help="go on until there were so many kills in all")
    parser.add_argument("--seconds", type=float, default=3_600.0, help="begin no round after that")
    parser.add_argument("--folder", help="on the disk to be tried (default: that of temporary files)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        return torture(Path(folder), args)


def torture(folder, args):
    record, failed = RESULTS / "torture.json", []
    sums = {"rounds": 0, "kills": 0, "recoveries": 0, "acknowledged": 0, "lost": 0, "findings": 0, "seconds": 0.0}
    if record.exists():
        sums |= json.loads(record.read_text(encoding="utf-8"))
    ends = time.monotonic() + args.seconds
    while sums["kills"] < args.to and time.monotonic() < ends and not failed:
        started = time.monotonic()
        part = kill(folder / f"{sums['rounds']}", min(ROUND_KILLS, args.to - sums["kills"]), sums["rounds"], None)
        sums = {name: sums[name] + part.counts.get(name, 0) for name in sums}
        sums["rounds"] += 1
        sums["findings"] += len(part.problems)
        sums["seconds"] = round(sums["seconds"] + time.monotonic() - started, 1)
        record.write_text(json.dumps(sums, indent=1) + "\n", encoding="utf-8")
        print(f"{sums['kills']:,} kills, {sums['acknowledged']:,} acknowledged, {sums['lost']} lost", flush=True)
        failed += part.problems
    print(*failed, sep="\n", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
