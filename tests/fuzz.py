"""Hostile inputs, from where the last run stopped: `python -m tests.fuzz [--to 100000] [--seconds 600] readers mcp ...`

In this process: `readers` of every import format, `transcripts`, `hooks`, `mcp` handlers, `mirror` files, `dates`, what reads
`texts`, full-text `queries`, a ledger's `lines`. With real processes: `cli`, `http`, `socket`, `stdio`. Without --to each kind goes
up to its share of the whole campaign: a million in process, ten thousand of each other kind.

An input is told by its kind and number. What it is given to is made anew after a block of inputs, so that
`--only 4711 readers`, which goes through the block up to there, has the same again. `benchmarks/results/fuzz.json` keeps of each kind:
`inputs`; `taken` of them, by what reads them, and not refused; `unhandled`; `peak_mb` of memory, which may not pass MOST_MB; `seconds`
of processor without a server's, and those of the `slowest`; `mended`, numbers that were once not handled and are tried again, with all of their block, when a run begins.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

import tests.fuzz_cli as command_line
import tests.fuzz_inside as inside
import tests.fuzz_outside as outside

RECORD = Path(__file__).parent.parent / "benchmarks" / "results" / "fuzz.json"
KINDS = inside.KINDS | command_line.KINDS | outside.KINDS
NEW = {"inputs": 0, "taken": 0, "unhandled": [], "mended": [], "seconds": 0.0, "slowest": 0.0, "peak_mb": 0}
# An input that takes longer of the processor, or by the clock, and a process that grows larger, count as not handled.
INPUT_SECONDS, CLOCK_SECONDS, MOST_MB = 60, 900, 400


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="KIND", default=list(KINDS), help=", ".join(KINDS))
    parser.add_argument("--to", type=int, help="go on until a kind has had so many in all")
    parser.add_argument("--seconds", type=float, default=3_600.0, help="at most so long for a kind")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="blocks at a time")
    parser.add_argument("--only", type=int, help="this input alone, after those before it in its block; not recorded")
    args = parser.parse_args()
    if len(args.kinds) > 1:  # each in a process of its own, whose peak of memory is its own
        given = ["--seconds", str(args.seconds), "--jobs", str(args.jobs), *(["--to", str(args.to)] if args.to else [])]
        argv = [sys.executable, "-m", "tests.fuzz", *given]
        sys.exit(max(subprocess.run([*argv, kind], check=False).returncode for kind in args.kinds))
    for one in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(one, _too_long)
    # Nothing of this user is read or written, and no scope comes from a folder.
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {
            "HOME": home,
            "XDG_DATA_HOME": f"{home}/data",
            "XDG_CONFIG_HOME": f"{home}/config",
            "OMP_NUM_THREADS": "1",
            "LIMPET_WORK": "off",
        }
        (kind,) = args.kinds
        if args.only is not None:
            sys.exit(1 if block((kind, args.only, args.only + 1, Path(home)))["unhandled"] else 0)
        sys.exit(1 if run(kind, args, Path(home)) else 0)


def run(kind, args, home):
    """Blocks, several at a time, written down in their order. Returns the numbers that are not handled."""
    if kind == "cli":
        command_line.load()  # here, and not in each process of the pool
    one = NEW | kept().get(kind, {})
    for number in list(one["unhandled"]):
        if number not in block((kind, number, number + 1, home))["unhandled"]:
            one["unhandled"].remove(number)
            one["mended"] = sorted({*one["mended"], number})
            keep(kind, one)
    _, size, share = KINDS[kind]
    to, ends = args.to or share, time.monotonic() + args.seconds
    starts = [one["inputs"], *range(one["inputs"] // size * size + size, to, size)] if one["inputs"] < to else []
    asked = [(kind, first, min(to, first // size * size + size), home) for first in starts]
    with multiprocessing.get_context("fork").Pool(args.jobs) as pool:
        for done in pool.imap(block, asked):
            one |= {name: one[name] + done[name] for name in ("inputs", "taken", "unhandled")}
            one |= {name: max(one[name], done[name]) for name in ("slowest", "peak_mb")}
            one["seconds"] = round(one["seconds"] + done["seconds"], 1)
            keep(kind, one)
            print(f"{kind}: {', '.join(f'{value} {name}' for name, value in one.items())}", flush=True)
            if time.monotonic() > ends:
                break
        pool.terminate()
    return one["unhandled"]


def block(asked):
    """(kind, first, end, a folder): a fresh target is given the inputs of a block from its start up to `end`. Returns what the
    record holds of those from `first` on; the number of the last is also that of what was found in the end."""
    kind, first, end, home = asked
    opened, size, _ = KINDS[kind]
    one = NEW | {"inputs": end - first, "unhandled": []}
    folder, began = Path(tempfile.mkdtemp(dir=home)), _used()
    with opened(folder, first // size) as target:
        before = peak_mb(target)  # of this process, whatever it did until now
        for number in range(first // size * size, end):
            taken, seconds = attempt(kind, number, target.try_one, random.Random(f"{kind} {number}"))
            if number >= first:
                one["taken"] += taken or 0
                one["slowest"] = max(one["slowest"], round(seconds, 1))
                one["unhandled"] += [number] if taken is None else []
        ended = attempt(kind, end - 1, target.check)[0]
        one["peak_mb"] = round(peak_mb(target))
    shutil.rmtree(folder, ignore_errors=True)
    if (ended is None or one["peak_mb"] > max(MOST_MB, before + 1)) and end - 1 not in one["unhandled"]:
        one["unhandled"].append(end - 1)
    return one | {"seconds": _used() - began}


def attempt(kind, number, act, *given):
    """(how many `act` says, the seconds of processor it took); None when it raises, which is told on stderr."""
    started = _used()
    signal.alarm(CLOCK_SECONDS)
    signal.setitimer(signal.ITIMER_PROF, INPUT_SECONDS)
    try:
        return int(act(*given) or 0), _used() - started
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        print(f"{kind} {number}: {''.join(traceback.format_exception(error))[-3_000:]}", file=sys.stderr, flush=True)
        return None, _used() - started
    finally:
        signal.alarm(0)
        signal.setitimer(signal.ITIMER_PROF, 0)


def _used():
    """Seconds of processor that this process and the commands it started have taken; a server's are not among them."""
    return sum(os.times()[:4])


def _too_long(*_):
    raise TimeoutError(f"an input took more than {INPUT_SECONDS} s of the processor, or {CLOCK_SECONDS} s")


def peak_mb(target):
    """Of a server, of the largest command, or of this process."""
    if getattr(target, "process", None) is not None:
        return target.peak_mb()
    who = resource.RUSAGE_CHILDREN if isinstance(target, command_line.Cli) else resource.RUSAGE_SELF
    return resource.getrusage(who).ru_maxrss / 1024


def kept():
    return json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}


def keep(kind, one):
    """Beside what other runs have written meanwhile."""
    fresh = RECORD.with_suffix(f".{kind}.new")
    fresh.write_text(json.dumps(kept() | {kind: one}, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    fresh.replace(RECORD)


if __name__ == "__main__":
    main()
