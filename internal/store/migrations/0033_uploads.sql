-- Files that clients upload once and send many times. The content is where files of waiting messages are.
CREATE TABLE uploads (
	id TEXT PRIMARY KEY,
	account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
	mime_type TEXT NOT NULL,
	file_name TEXT NOT NULL,
	size BIGINT NOT NULL,
	sha256 BYTEA NOT NULL,
	created_at BIGINT NOT NULL,
	expires_at BIGINT NOT NULL
);
CREATE INDEX uploads_by_account ON uploads (account_id, created_at, id);
CREATE INDEX uploads_by_end ON uploads (expires_at);
