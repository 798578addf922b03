"""Other formats in and out. One module a format; each reads or writes through the store's ledger."""
