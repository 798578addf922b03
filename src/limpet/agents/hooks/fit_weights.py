"""Whether a memory fits a message by meaning: log-odds, see agents/hooks/fit.py.

Written by `python -m benchmarks.tune --part hooks --write`, fitted on 7997 messages and
7035 questions of training/written; with the judge on 1227 and
906 that it was not trained on. Guarded by tests/quality/test_prompts.py.
"""

FITS: dict[str, float] = {
    "one": -5.0592,
    "cosine": 3.8771,
    "behind": -0.6699,
    "alone": 2.3448,
    "length": 0.1511,
}
FITS_JUDGED: dict[str, float] = {
    "one": -2.7575,
    "behind": -0.6128,
    "alone": 2.2851,
    "length": 0.1307,
    "judge": 0.3643,
}
# From which probability on a memory is shown, and from which share of the best one's.
SHOWN_FROM, SHARE_OF_BEST = 0.28, 0.5
