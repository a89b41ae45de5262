-- Webhooks of an account hear all its instances. Each instance has a webhook of its own that
-- follows one of them: with its settings, and a cursor, dead letters and attempts of its own.
CREATE TABLE account_webhooks (
	id TEXT PRIMARY KEY,
	account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
	url TEXT NOT NULL,
	secret TEXT NOT NULL,
	secret_seal BIGINT NOT NULL,
	previous_secret TEXT NOT NULL,
	previous_secret_seal BIGINT NOT NULL,
	previous_secret_until BIGINT NOT NULL,
	headers TEXT NOT NULL,
	headers_seal BIGINT NOT NULL,
	kinds TEXT NOT NULL,
	chats TEXT NOT NULL,
	media_links BOOLEAN NOT NULL,
	active BOOLEAN NOT NULL,
	created_at BIGINT NOT NULL,
	updated_at BIGINT NOT NULL
);

CREATE INDEX account_webhooks_by_account ON account_webhooks (account_id);

ALTER TABLE webhooks ADD COLUMN account_webhook_id TEXT REFERENCES account_webhooks (id) ON DELETE CASCADE;

CREATE INDEX webhooks_by_account_webhook ON webhooks (account_webhook_id);
