"""Write `docs/benchmarks.md` and its plots from what the benchmarks recorded: `python -m benchmarks.page`.

Nothing is measured here, and nothing on the page is written by hand. Of each benchmark the newest record in `results/`
is shown; of those that ask what comes back, the newest of each embedder.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .harness import RESULTS, ROOT
from .public import PUBLIC
from .retrieval import BY_BEST_TURN, SESSION_LINES

PAGE = ROOT / "docs" / "benchmarks.md"
PLOTS = ROOT / "docs" / "benchmarks"

# Operations whose growth is shown: name in speed.json -> words.
GROWTH = {
    "hybrid": "recall, hybrid",
    "lexical": "recall, words only",
    "filtered": "recall, kind + topic",
    "prepare": "prepare",
    "list_page": "list, a page of 50",
    "show_by_prefix": "show by id prefix",
    "single_write": "one durable write",
}


# Benchmarks of which every embedder's record is shown.
BY_EMBEDDER = ("locomo", "longmemeval", "own")


def read(folders: Iterable[Path]) -> dict[str, Any]:
    """Every result by its name, those of BY_EMBEDDER as lists, an embedder each; the newest of each, newest first."""
    results: dict[str, Any] = {}
    for folder in sorted(folders, reverse=True):
        for path in sorted(folder.glob("*.json")):
            record = json.loads(path.read_text(encoding="utf-8"))
            if path.stem not in BY_EMBEDDER:
                results.setdefault(path.stem, record)
                continue
            several = results.setdefault(path.stem, [])
            if all(one["settings"]["embedder"] != record["settings"]["embedder"] for one in several):
                several.append(record)
    return results


def sizes(results: Mapping[str, Any]) -> dict[int, dict[str, Any]]:
    """The figures of every speed run by size; a later run of the same size counts."""
    runs = sorted(
        (one for one in results.values() if isinstance(one, dict) and one.get("benchmark") == "speed"),
        key=lambda one: str(one["provenance"]["at"]),
    )
    found = {int(size): figures for run in runs for size, figures in run["figures"].items()}
    return {size: found[size] for size in sorted(found)}


def exponent(points: Iterable[tuple[int, float]]) -> float:
    """Of the least-squares line through the logarithms: 0 does not grow, 1 grows as the store does."""
    logs = [(math.log(size), math.log(value)) for size, value in points]
    mean_x = sum(x for x, _ in logs) / len(logs)
    mean_y = sum(y for _, y in logs) / len(logs)
    return sum((x - mean_x) * (y - mean_y) for x, y in logs) / sum((x - mean_x) ** 2 for x, _ in logs)


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = ["| " + " | ".join(header) + " |", "|---" + "|---:" * (len(header) - 1) + "|"]
    lines += ["| " + " | ".join("" if cell is None else str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def short(value: float | None) -> str | None:
    if value is None:
        return None
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def percent(share: float) -> str:
    return f"{100 * share:.1f}"


# Sections: each gives Markdown, or nothing where it was not measured.


def found(results: Mapping[str, Any]) -> str:
    rows = []
    for name, what, line in (
        ("locomo", "LoCoMo, development half, turns, categories 1-4", "1-4"),
        ("longmemeval", "LongMemEval, development half, turns", "all"),
    ):
        for record in results.get(name, ()):
            rates = next(iter(record["figures"].values()))["turn"][line]
            embedder = record["settings"]["embedder"]
            figures = (percent(rates[k]) for k in ("any@5", "any@10", "all@10"))
            fitted = " (ranking fitted on it too)" if (name, embedder) == ("longmemeval", "limpet") else ""
            rows.append((what + fitted, embedder, rates["questions"], *figures))
    for record in results.get("own", ()):
        for part, words in (("tuning", "weights fitted on it"), ("held-back", "held back")):
            rates = record["figures"].get(part, {}).get("all")
            if rates:
                rows.append(
                    (
                        f"own set: notes of coding agents ({words})",
                        record["settings"]["embedder"],
                        rates["questions"],
                        *(percent(rates[k]) for k in ("any@5", "any@10", "all@10")),
                    )
                )
    head = ("share of questions, %", "embedder", "questions", "any@5", "any@10", "all@10")
    return table(head, rows) if rows else ""


def sessions(results: Mapping[str, Any]) -> str:
    """Sessions as `recall --sessions` ranks them, and by their best turn alone; LoCoMo's as the mean of its stores."""
    rows = []
    for name, what, over in (("locomo", "LoCoMo", "macro"), ("longmemeval", "LongMemEval", "micro")):
        for record, way, line in _session_lines(results.get(name, ())):
            figures, embedder = record["figures"], record["settings"]["embedder"]
            how = "`recall --sessions`" if line == "session" else "by its best turn"
            shown = f"{embedder}, {how}" if way == next(iter(figures)) else f"{way}, {how}"
            rates = figures[way][line][over]
            rows.append((f"{what}: {shown}", *(percent(rates[k]) for k in ("any@1", "any@10", "all@5", "all@10"))))
    if not rows:
        return ""
    return "Whole sessions, the same questions (LoCoMo: the mean of its stores):\n\n" + table(
        ("sessions, %", "any@1", "any@10", "all@5", "all@10"), rows
    )


def _session_lines(records: Iterable[dict[str, Any]]) -> Iterable[tuple[dict[str, Any], str, str]]:
    """Each record with its ways and their lines, but an older one's: it has the figure by the best turn under another
    name."""
    for record in records:
        for way, summary in record["figures"].items():
            for line in SESSION_LINES:
                if line in summary and (line != "session" or BY_BEST_TURN in summary):
                    yield record, way, line


def hooks(results: Mapping[str, Any]) -> str:
    """What a hook brings to a message, with a running process and without one."""
    rows = []
    for name, how in (("injection", "with a running process"), ("injection-cold", "by words alone")):
        for half, words in (("tuning", "tuning half"), ("held_back", "held back")):
            shares = results.get(name, {}).get("figures", {}).get(half, {}).get("all")
            if shares:
                rows.append((f"{how}, {words}", *(percent(shares[k]) for k in ("right", "nothing", "precision"))))
    return (
        table(
            (
                "of 180 messages, %",
                "right memory where one helps",
                "nothing where none does",
                "of the memories shown, right",
            ),
            rows,
        )
        if rows
        else ""
    )


def peers(results: Mapping[str, Any]) -> str:
    if "peers" not in results:
        return ""
    run = results["peers"]
    parts = []
    if run["quality"]:
        parts += [
            "What comes back, LoCoMo development half, turns, the same vectors for all:",
            table(
                ("%", "any@5", "any@10", "all@10"),
                [
                    (name, *(percent(one[k]) for k in ("any@5", "any@10", "all@10")))
                    for name, one in run["quality"].items()
                ],
            ),
        ]
    for size, each in run["speed"].items():
        parts += [f"{int(size):,} memories, vectors given:", _beside(each, "limpet")]
    own = results.get("peers-own-models", {"speed": {}, "configured": {}})
    for size, each in own["speed"].items():
        ours = "limpet with its model"
        parts += [f"{int(size):,} memories, each with its own model in every recall and write:", _beside(each, ours)]
    parts += [
        "How each was configured:",
        "\n".join(f"- **{name}**: {words}" for name, words in {**run["configured"], **own["configured"]}.items()),
    ]
    return "\n\n".join(parts)


def _beside(each: Mapping[str, Any], ours: str) -> str:
    return table(
        ("", "recall p50 ms", "p95 ms", "limpet is", "durable write p50 ms", "stored rows/s", "bytes a memory"),
        [
            (
                name,
                short(one["recall"]["p50_ms"]),
                short(one["recall"]["p95_ms"]),
                "" if name == ours else _compared(one["recall"]["p50_ms"] / each[ours]["recall"]["p50_ms"]),
                short(one["write"]["p50_ms"]),
                short(one["rows_per_second"]),
                short(one["bytes_per_memory"]),
            )
            for name, one in each.items()
        ],
    )


def _compared(times: float) -> str:
    return f"{times:.1f}x faster" if times >= 1 else f"{1 / times:.1f}x slower"


def growth(by_size: Mapping[int, dict[str, Any]]) -> str:
    rows = []
    for name, words in GROWTH.items():
        points = [(size, one["limpet"][name]["p50_ms"]) for size, one in by_size.items() if name in one["limpet"]]
        if len(points) > 1:
            shown = dict(points)
            rows.append((words, *(short(shown.get(size)) for size in by_size), f"{exponent(points):.2f}"))
    for name, words in (
        ("bytes_per_memory", "bytes a memory"),
        ("first_recall_after_open_ms", "first recall after open"),
    ):
        rows.append((words, *(short(one["limpet"].get(name)) for one in by_size.values()), ""))
    ahead = [one["limpet"].get("read_ahead_ms") for one in by_size.values()]
    rows.append(("until all is read ahead, ms", *(short(one) for one in ahead), ""))
    if any("memory" in one["limpet"] for one in by_size.values()):
        resident = [one["limpet"].get("memory", {}).get("resident_mb") for one in by_size.values()]
        rows.append(("resident after 50 recalls, MB", *(short(one) for one in resident), ""))
        nearest = [one["limpet"].get("vector_recall", {}).get("worst") for one in by_size.values()]
        rows.append(
            ("of the exact ten nearest, worst query, %", *(one is not None and percent(one) for one in nearest), "")
        )
        alone = [one["limpet"].get("index_recall", {}) for one in by_size.values()]
        for part, words in (("mean", "mean"), ("worst", "worst query")):
            rows.append(
                (
                    f"... by the vector index alone, {words}, %",
                    *(part in one and percent(one[part]) for one in alone),
                    "",
                )
            )
        beside = [one["limpet"].get("beside_embedding", {}).get("ratio") for one in by_size.values()]
        rows.append(("recall p95 beside embedding, times idle", *(short(one) for one in beside), ""))
        fresh = [one["limpet"].get("refresh", {}).get("refresh_p50_ms") for one in by_size.values()]
        rows.append(("refresh after another process wrote, ms", *(short(one) for one in fresh), ""))
    return table(("p50 ms, memories", *(f"{size:,}" for size in by_size), "exponent"), rows) if rows else ""


def room(results: Mapping[str, Any]) -> str:
    if "size" not in results:
        return ""
    run = results["size"]
    shown = ", ".join(f"{name} {short(one)}" for name, one in run["bytes_per_memory"].items())
    return f"Bytes a memory of {run['words']} words with its vector, {run['memories']:,} memories: {shown}."


def graph(results: Mapping[str, Any]) -> str:
    if "graph" not in results:
        return ""
    run = results["graph"]
    rows = [
        (name, f"{one['p50_ms']:.1f} ms" if "p50_ms" in one else f"{one['seconds']:.1f} s")
        for name, one in run["figures"].items()
    ]
    return f"{run['memories']:,} memories, {run['edges']:,} links.\n\n" + table(
        ("query", "p50, or the whole store"), rows
    )


def web(results: Mapping[str, Any]) -> str:
    """Server time of `limpet ui` over its largest store, and what a browser took."""
    if "pages-100k" not in results:
        return ""
    from .pages import HELD, LIMITS, PAIRS, ROUNDS

    run = results["pages-100k"]
    shown = (*LIMITS, "graph of 2,000")
    rows = [
        (name, *(f"{one[k]:.0f} ms" for k in ("median_ms", "p95_ms")),
         f"{LIMITS[name]} ms" if name in LIMITS else "none", f"{one['bytes'] / 1_000:.0f}")
        for name, one in ((name, run["server"][name]) for name in shown)
    ]  # fmt: skip
    first = [one["cold_ms"] / 1_000 for one in run["server"].values()]
    parts = [
        "Server time of `limpet ui`, from a request to the last byte, over "
        f"{run['memories']:,} memories with vectors, {PAIRS + HELD} items waiting for review; median and p95 of "
        f"{ROUNDS - 1}, after the first, which takes {min(first):.2g} to {max(first):.2g} s: what is slow to count is "
        "shown as it was, marked so, while it is counted anew. The store is made by the benchmark: words of these "
        "pages in the order of Zipf, 8 to 60 a memory.",
        table(("page", "median", "p95", "limit of p95", "kB"), rows),
    ]
    if "first_paint_ms" in run:
        paints, moved = run["first_paint_ms"].values(), run["graph_moved"]
        parts.append(
            f"In Chromium pages first paint after {min(paints) / 1_000:.2f} to {max(paints) / 1_000:.2f} s (median of "
            f"five each); a drawing of {moved['nodes']:,} memories, moved for 120 frames, took "
            f"{moved['frames_ms']['median']:.1f} ms a frame (p95 {moved['frames_ms']['p95']:.1f})."
        )
    return "\n\n".join(parts)


# Plots


def plot(results: Mapping[str, Any], by_size: Mapping[int, dict[str, Any]]) -> list[tuple[str, str]]:
    """Draws what there is; file names and what they show. Without matplotlib the pictures stay as they are."""
    drawn = []
    if len(by_size) > 1:
        drawn.append(("growth.svg", "milliseconds by memories in the store, both logarithmic"))
    if results.get("peers", {}).get("speed"):
        drawn.append(("peers.svg", "hybrid recall beside other stores, logarithmic"))
    try:
        import matplotlib
    except ImportError:
        print("the pictures stay as they are: pip install matplotlib draws them anew", file=sys.stderr)
        return [one for one in drawn if (PLOTS / one[0]).exists()]
    matplotlib.use("svg")
    matplotlib.rcParams |= {
        "svg.hashsalt": "limpet",
        "font.size": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
    PLOTS.mkdir(exist_ok=True)
    names = [name for name, _ in drawn]
    if "growth.svg" in names:
        _lines(by_size)
    if "peers.svg" in names:
        _bars(results["peers"]["speed"])
    return drawn


def _lines(by_size: Mapping[int, dict[str, Any]]) -> None:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 4.5))
    for name, words in GROWTH.items():
        points = [(size, one["limpet"][name]["p50_ms"]) for size, one in by_size.items() if name in one["limpet"]]
        if points:
            axes.plot(*zip(*points, strict=True), marker="o", label=words)
    theirs = [(size, one["memori"]["hybrid"]["p50_ms"]) for size, one in by_size.items() if one.get("memori")]
    if theirs:
        axes.plot(*zip(*theirs, strict=True), marker="s", linestyle="--", color="grey", label="py-memori, hybrid")
    axes.set(xscale="log", yscale="log", xlabel="memories", ylabel="p50, ms")
    axes.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    _write(figure, "growth.svg")


def _bars(speed: Mapping[str, Any]) -> None:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(speed), figsize=(5 * len(speed), 3), squeeze=False)
    for place, (size, each) in zip(axes[0], speed.items(), strict=True):
        names = list(each)[::-1]
        times = [each[name]["recall"]["p50_ms"] for name in names]
        bars = place.barh(names, times, color=["tab:blue" if name == "limpet" else "lightgrey" for name in names])
        place.bar_label(bars, [short(one) for one in times], padding=3, fontsize=8)
        place.set(xscale="log", xlabel="recall p50, ms", title=f"{int(size):,} memories")
    _write(figure, "peers.svg")


def _write(figure: Any, name: str) -> None:
    from matplotlib import pyplot

    figure.savefig(PLOTS / name, bbox_inches="tight", metadata={"Date": None})
    pyplot.close(figure)


def compose(results: Mapping[str, Any], drawn: Sequence[tuple[str, str]]) -> str:
    pictures = {name: f"![{words}](benchmarks/{name})" for name, words in drawn}
    records = [one for several in results.values() for one in (several if isinstance(several, list) else [several])]
    newest = max((one["provenance"] for one in records if "provenance" in one), key=lambda one: str(one["at"]))
    versions = ", ".join(f"{name} {version}" for name, version in newest["versions"].items())
    parts = [
        "# Benchmarks",
        "Written by `python -m benchmarks.page` from the recorded results; every result names its commit, machine and "
        "versions. Compare within a table, not between runs.",
        f"Machine: {newest['machine']}. Versions: {versions}.",
        "## What comes back",
        "The memory that answers a question is among the first k (any), or all that are needed are (all). No language "
        "model, one configuration. [The embedder](reference/embedder.md#figures) has the figures of the model in the "
        "package beside MiniLM's.",
        found(results),
        sessions(results),
        "## What hooks bring",
        "To 90 messages of each half that one of three stores has a memory for, and 90 that want none: "
        "tests/quality/injection, written by hand. Thresholds were chosen on the tuning half.",
        hooks(results),
        "## Beside other local stores",
        peers(results),
        pictures.get("peers.svg", ""),
        "## Growth",
        growth(sizes(results)),
        "The exponent is that of size in a least-squares fit: 0 does not grow, 1 grows as the store does. Texts and "
        "vectors of these rows are synthetic: written sentences in any order, vectors in clusters.",
        room(results),
        pictures.get("growth.svg", ""),
        "## Queries over the graph",
        graph(results),
        "## The web page",
        web(results),
        "## Repeat it",
        "\n".join(f"- {data.where()}" for data in PUBLIC),
        "LoCoMo's development half is its first five conversations. LongMemEval's was 160 questions with haystacks of "
        "50 sessions that were drawn anew: the published file is read too, and gives other figures.",
        "```\n"
        "python -m benchmarks.speed --sizes 1000,10000,100000,1000000 --peer memori --record\n"
        "python -m benchmarks.size --peer memori --record\n"
        "python -m benchmarks.locomo --data locomo10.json --limit 5 --record\n"
        "python -m benchmarks.longmemeval --data longmemeval_s_cleaned.json --record\n"
        "python -m benchmarks.own --record\n"
        "python -m benchmarks.injection --record\n"
        "python -m benchmarks.injection --cold --record\n"
        "python -m benchmarks.graph --record\n"
        "python -m benchmarks.peers --sizes 10000 --data locomo10.json --limit 5 --record\n"
        "python -m benchmarks.peers --sizes 2000 --only 'pmb-ai,limpet with its model' --pmb PYTHON"
        " --name peers-own-models --record\n"
        "python -m benchmarks.pages 100000 --browser --out pages-100k.json\n"
        "python -m benchmarks.page\n"
        "```",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path, help="of results (all)")
    options = parser.parse_args()
    folders = options.folders or [path for path in RESULTS.iterdir() if path.is_dir()]
    results = read(folders)
    if not results:
        raise SystemExit("no results there")
    PAGE.write_text(compose(results, plot(results, sizes(results))), encoding="utf-8")
    print(f"written: {PAGE}", file=sys.stderr)


if __name__ == "__main__":
    main()
