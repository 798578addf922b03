"""The read path: plan, gather signals, fuse, fit a budget. No language model, no writes."""
