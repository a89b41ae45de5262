-- Messages that an account has prepared, each in one language. What they are made of is JSON.
CREATE TABLE templates (
	id TEXT PRIMARY KEY,
	account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
	name TEXT NOT NULL,
	language TEXT NOT NULL,
	category TEXT NOT NULL,
	parameters TEXT NOT NULL,
	components TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	UNIQUE (account_id, name, language)
);
