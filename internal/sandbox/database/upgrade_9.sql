-- From version 8 to 9.

ALTER TABLE messages ADD COLUMN problems TEXT NOT NULL DEFAULT '';
