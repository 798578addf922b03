"""The other end of `peers.OfPmb`, for the Python that has pmb-ai: `peer_pmb.py HOME [MODEL]`; JSON lines in and out."""

import json
import os
import sys
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

from pmb.core.engine import Engine

SECONDS = 3600


def main() -> None:
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the package prints is no answer
    home = Path(sys.argv[1])
    home.mkdir(parents=True, exist_ok=True)
    engine = Engine(pmb_home=home, cwd=home, embedding_model=sys.argv[2] if len(sys.argv) > 2 and sys.argv[2] else None)
    places: dict[str, int] = {}
    for line in sys.stdin:
        asked = json.loads(line)
        answer: object = True
        if "fill" in asked:
            done = engine.record_batch_bulk([{"type": "fact", "content": text} for text in asked["fill"]])
            places.update((one["ulid"], place) for place, one in enumerate(done["results"]) if "ulid" in one)
            engine.recall(asked["fill"][0], top_k=1)  # loads its model, which the queue waits for
            engine.wait_for_embed_queue(timeout_seconds=SECONDS)
        elif "add" in asked:
            done = engine.record_batch([{"type": "fact", "content": asked["add"]}])
            places.update((one["ulid"], asked["place"]) for one in done["results"] if "ulid" in one)
        elif "find" in asked:
            answer = [
                places[one.ulid] for one in engine.recall(asked["find"], top_k=asked["k"]).results if one.ulid in places
            ]
        print(json.dumps(answer), file=out, flush=True)
    engine.close()


if __name__ == "__main__":
    main()
