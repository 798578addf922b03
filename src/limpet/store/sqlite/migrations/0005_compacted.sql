-- Sessions whose context was compacted: of what was put before them, rows of `surfaced` up to `through` are gone from it.
CREATE TABLE compacted (session TEXT PRIMARY KEY, through INTEGER NOT NULL) WITHOUT ROWID;
