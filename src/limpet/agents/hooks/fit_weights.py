"""Whether a memory fits a message by meaning: log-odds, see agents/hooks/fit.py.

Written by `python -m benchmarks.tune --part hooks --write`: without the judge fitted on 2456 messages and
906 questions of training/ that no model was trained on; with it on 1227 messages, beside the embedder before this one:
fitted anew it is no better (docs/log.md). Guarded by tests/quality/test_prompts.py.
"""

FITS: dict[str, float] = {
    "one": -5.3238,
    "cosine": 4.6883,
    "behind": -0.7269,
    "alone": 2.4733,
    "length": 0.1389,
}
FITS_JUDGED: dict[str, float] = {
    "one": -2.7575,
    "behind": -0.6128,
    "alone": 2.2851,
    "length": 0.1307,
    "judge": 0.3643,
}
# From which probability on a memory is shown, and from which share of the best one's.
SHOWN_FROM, SHOWN_FROM_JUDGED, SHARE_OF_BEST = 0.4, 0.28, 0.5
