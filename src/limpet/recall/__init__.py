"""The read path: plan, find candidates, compute features, score, fit a token budget. It changes no memory; texts that
wait for their vector are embedded first, as time allows."""
