-- What becomes of calls of people: whether they are rejected, and the text for the callers.
ALTER TABLE instances ADD COLUMN calls_reject BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE instances ADD COLUMN calls_text TEXT NOT NULL DEFAULT '';
