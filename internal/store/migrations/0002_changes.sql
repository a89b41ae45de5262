-- When a message was edited last, and deleted; 0 for never. A deleted message
-- keeps its place and loses its content.
ALTER TABLE messages ADD COLUMN edited_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE messages ADD COLUMN deleted_at BIGINT NOT NULL DEFAULT 0;

-- What all processes on this database must agree on: the key that signs links.
CREATE TABLE secrets (
	name TEXT PRIMARY KEY,
	value BYTEA NOT NULL
);
