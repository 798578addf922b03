"""Whether a memory fits a message by meaning: log-odds, see agents/hooks/fit.py.

Written by `python -m benchmarks.tune --part hooks --write`, fitted on 4176 messages and
941 questions of training/, with the judge on 4176 and 941,
that no model was trained on. Guarded by tests/quality/test_prompts.py.
"""

FITS: dict[str, float] = {
    "one": -5.2878,
    "cosine": 4.6758,
    "behind": -0.7367,
    "alone": 2.3881,
    "length": 0.1363,
}
FITS_JUDGED: dict[str, float] = {
    "one": -1.8148,
    "behind": -0.6569,
    "alone": 1.8966,
    "length": 0.0731,
    "judge": 0.4633,
}
# From which probability on a memory is shown, and from which share of the best one's.
SHOWN_FROM, SHOWN_FROM_JUDGED, SHARE_OF_BEST = 0.4, 0.28, 0.5
