-- From version 1 to 2. schema.sql creates the new tables.

ALTER TABLE messages ADD COLUMN media_sha256 TEXT NOT NULL DEFAULT '';
ALTER TABLE messages ADD COLUMN media_size INTEGER NOT NULL DEFAULT 0;
ALTER TABLE messages ADD COLUMN media_forgotten INTEGER NOT NULL DEFAULT 0;
ALTER TABLE accounts ADD COLUMN picture TEXT NOT NULL DEFAULT '';
