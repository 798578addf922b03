"""Whether a memory fits a message by meaning: log-odds, see agents/hooks/fit.py.

Written by `python -m benchmarks.tune --part hooks --write`, fitted on 4176 messages and
941 questions of training/, with the judge on 4176 and 941,
that no model was trained on. Guarded by tests/quality/test_prompts.py.
"""

FITS: dict[str, float] = {
    "one": -5.3242,
    "cosine": 4.9362,
    "behind": -0.6933,
    "alone": 2.2696,
    "length": 0.1346,
}
FITS_JUDGED: dict[str, float] = {
    "one": -1.8238,
    "behind": -0.6332,
    "alone": 1.9308,
    "length": 0.0704,
    "judge": 0.4315,
}
# From which probability on a memory is shown, and from which share of the best one's.
SHOWN_FROM, SHOWN_FROM_JUDGED, SHARE_OF_BEST = 0.4, 0.28, 0.5
