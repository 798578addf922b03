"""Try what stores survive on a disk: lost power, kills, a full disk, many processes. See README.md beside this file.

python -m tests.certify FOLDER [--quick | --whole] [--seed NUMBER] [--json] [--record]
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import sys
from argparse import ArgumentParser
from pathlib import Path

from limpet.model.errors import LimpetError
from tests.certify import service

SHOWN, MOST = 5, 100  # findings of a part on the terminal, and in the JSON
FOUND = 3
RECORD = Path(__file__).parents[2] / "benchmarks" / "results" / "certify.json"


def main() -> int:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="on the disk to be tried")
    extent = parser.add_mutually_exclusive_group()
    extent.add_argument("--quick", action="store_true", help="a few points of each, in seconds")
    extent.add_argument("--whole", action="store_true", help="power lost at every step of 2,000 operations; an hour")
    parser.add_argument("--seed", type=int, default=0, metavar="NUMBER", help="another choice of what goes wrong when")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--record", action="store_true", help=f"keep the figures in {RECORD.name}")
    args = parser.parse_args()

    def tell(part):
        print(part.name, part.tried, *part.problems[:SHOWN], sep="\n  ", file=sys.stderr, flush=True)

    wanted = service.QUICK if args.quick else service.WHOLE if args.whole else service.USUAL
    try:
        done = service.certify(
            args.folder, wanted, seed=args.seed, progress=lambda _: contextlib.nullcontext(), tell=tell
        )
    except LimpetError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    shown = dataclasses.asdict(done) | {"ok": done.ok}
    for part in shown["parts"]:
        part["problems"] = part["problems"][:MOST]
    if args.record:
        public = {name: value for name, value in shown.items() if name not in ("folder", "kept")}
        RECORD.write_text(json.dumps(public, indent=1) + "\n", encoding="utf-8")
    if args.json:
        print(json.dumps(shown))
    print("ok" if done.ok else f"FOUND; files kept in {done.kept}", file=sys.stderr)
    return 0 if done.ok else FOUND


if __name__ == "__main__":
    sys.exit(main())
