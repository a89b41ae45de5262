CREATE TABLE accounts (
	id TEXT PRIMARY KEY,
	name TEXT NOT NULL UNIQUE,
	created_at BIGINT NOT NULL
);

CREATE TABLE api_keys (
	id TEXT PRIMARY KEY,
	account_id TEXT NOT NULL REFERENCES accounts (id),
	name TEXT NOT NULL,
	hash BYTEA NOT NULL UNIQUE,
	instance_ids TEXT NOT NULL,
	partner BOOLEAN NOT NULL,
	created_at BIGINT NOT NULL,
	expires_at BIGINT NOT NULL,
	revoked_at BIGINT NOT NULL,
	last_used_at BIGINT NOT NULL
);

CREATE INDEX api_keys_by_account ON api_keys (account_id, created_at, id);

CREATE TABLE instances (
	id TEXT PRIMARY KEY,
	account_id TEXT NOT NULL REFERENCES accounts (id),
	name TEXT NOT NULL,
	status TEXT NOT NULL,
	reason TEXT NOT NULL,
	device TEXT NOT NULL,
	profile_jid TEXT NOT NULL,
	profile_lid TEXT NOT NULL,
	profile_name TEXT NOT NULL,
	profile_picture_url TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	updated_at BIGINT NOT NULL
);

CREATE INDEX instances_by_account ON instances (account_id, created_at, id);

-- wire_key is NULL for messages that did not come by the wire. status is the
-- rank, so that "further" is "greater"; status_at is when the platform said so.
CREATE TABLE messages (
	id TEXT PRIMARY KEY,
	instance_id TEXT NOT NULL REFERENCES instances (id) ON DELETE CASCADE,
	platform_id TEXT NOT NULL,
	chat_jid TEXT NOT NULL,
	chat_lid TEXT NOT NULL,
	chat_name TEXT NOT NULL,
	sender_jid TEXT NOT NULL,
	sender_lid TEXT NOT NULL,
	sender_name TEXT NOT NULL,
	from_me BOOLEAN NOT NULL,
	source TEXT NOT NULL,
	type TEXT NOT NULL,
	text TEXT NOT NULL,
	quoted_id TEXT NOT NULL,
	status BIGINT NOT NULL,
	status_at BIGINT NOT NULL,
	sent_at BIGINT NOT NULL,
	payload BYTEA NOT NULL,
	wire_key TEXT,
	created_at BIGINT NOT NULL
);

-- One index for each question that is asked while messages flow, and one for
-- lists. A list of one chat filters the list of the instance: people ask for it,
-- and every further index is paid for by every message.
CREATE UNIQUE INDEX messages_by_wire_key ON messages (instance_id, wire_key) WHERE wire_key IS NOT NULL;
CREATE INDEX messages_by_platform_id ON messages (instance_id, platform_id);
CREATE INDEX messages_in_order ON messages (instance_id, created_at, id);

CREATE TABLE registrations (
	number TEXT PRIMARY KEY,
	jid TEXT NOT NULL,
	lid TEXT NOT NULL,
	checked_at BIGINT NOT NULL
);

CREATE TABLE idempotency (
	key_id TEXT NOT NULL,
	key TEXT NOT NULL,
	request_hash BYTEA NOT NULL,
	instance_id TEXT NOT NULL,
	message_id TEXT NOT NULL,
	failure TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	PRIMARY KEY (key_id, key)
);

CREATE INDEX idempotency_by_age ON idempotency (created_at);
