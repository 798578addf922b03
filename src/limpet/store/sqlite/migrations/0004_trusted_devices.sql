-- Whose word holds here, and copies that are made by themselves.

-- Devices that may also speak of what others said; an empty id: every device. Those that were synced with before are.
CREATE TABLE trusted (device BLOB PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO trusted SELECT DISTINCT device, 0 FROM segment;
-- Backups that are made when they are due: where, how often (microseconds), how many stay. One row, or none.
CREATE TABLE backup_plan (folder TEXT NOT NULL, every INTEGER NOT NULL, keep INTEGER NOT NULL, done_at INTEGER NOT NULL);
