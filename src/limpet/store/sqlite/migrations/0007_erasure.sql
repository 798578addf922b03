-- What a purge has to look at besides the store itself.

-- Copies that were written of what is stored: exports, backups, folders of segments. Not ledger.
CREATE TABLE copy (path TEXT PRIMARY KEY, kind TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
