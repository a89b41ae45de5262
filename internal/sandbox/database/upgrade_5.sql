-- From version 4 to 5.

ALTER TABLE messages ADD COLUMN votes TEXT NOT NULL DEFAULT '{}';
