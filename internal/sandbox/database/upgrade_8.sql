-- From version 7 to 8.

ALTER TABLE accounts ADD COLUMN username TEXT NOT NULL DEFAULT '';
