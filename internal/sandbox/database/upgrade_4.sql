-- From version 3 to 4.

ALTER TABLE accounts ADD COLUMN passkey TEXT NOT NULL DEFAULT '';
