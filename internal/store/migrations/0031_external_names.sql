-- What the account's programs call an instance; empty: nothing. No two of an account have the same.
ALTER TABLE instances ADD COLUMN external_name TEXT NOT NULL DEFAULT '';
CREATE UNIQUE INDEX instances_by_external_name ON instances (account_id, external_name) WHERE external_name <> '';
