-- From version 5 to 6.

ALTER TABLE accounts ADD COLUMN privacy TEXT NOT NULL DEFAULT '';
ALTER TABLE accounts ADD COLUMN business TEXT NOT NULL DEFAULT '';
