"""Properties of a text by itself: its normal form, its dates, its secrets. No I/O."""
