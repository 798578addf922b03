"""Slow work that writes leave behind: a durable queue in the store, drained by any process that lives long enough."""
