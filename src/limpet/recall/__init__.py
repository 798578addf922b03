"""The read path: plan, find candidates, compute features, fuse, fit a token budget. No language model, no writes."""
