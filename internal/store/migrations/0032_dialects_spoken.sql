-- Which languages of other tools programs with a key have spoken, and what was refused to them: JSON; empty: none.
ALTER TABLE api_keys ADD COLUMN spoken TEXT NOT NULL DEFAULT '';
