-- When a message was edited last, and deleted; 0 for never. A deleted message
-- keeps its place and loses its content.
ALTER TABLE messages ADD COLUMN edited_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE messages ADD COLUMN deleted_at BIGINT NOT NULL DEFAULT 0;

-- What instances did to messages, under the identifiers that the platform knows
-- it by. kind is a gateway.ChangeKind; text is the new text, or the reaction.
CREATE TABLE sent_changes (
	instance_id TEXT NOT NULL REFERENCES instances (id) ON DELETE CASCADE,
	platform_id TEXT NOT NULL,
	message_id TEXT NOT NULL,
	kind BIGINT NOT NULL,
	by_jid TEXT NOT NULL,
	by_lid TEXT NOT NULL,
	by_name TEXT NOT NULL,
	text TEXT NOT NULL,
	payload BYTEA NOT NULL,
	at BIGINT NOT NULL,
	settled BOOLEAN NOT NULL,
	PRIMARY KEY (instance_id, platform_id)
);

CREATE INDEX sent_changes_by_age ON sent_changes (at);

-- What all processes on this database must agree on: the key that signs links.
CREATE TABLE secrets (
	name TEXT PRIMARY KEY,
	value BYTEA NOT NULL
);
