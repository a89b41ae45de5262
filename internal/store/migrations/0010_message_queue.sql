-- Messages that wait to be sent. Where file_size is not 0, a file is kept under the id.
CREATE TABLE queued_messages (
	id TEXT PRIMARY KEY,
	instance_id TEXT NOT NULL REFERENCES instances (id) ON DELETE CASCADE,
	platform_id TEXT NOT NULL,
	recipient TEXT NOT NULL,
	type TEXT NOT NULL,
	text TEXT NOT NULL,
	quoted_id TEXT NOT NULL,
	payload BYTEA NOT NULL,
	file_size BIGINT NOT NULL,
	due_at BIGINT NOT NULL,
	created_at BIGINT NOT NULL
);

CREATE INDEX queued_messages_in_order ON queued_messages (instance_id, created_at, id);

-- The chats that an instance began of late, if it may begin only so many.
CREATE TABLE new_chats (
	instance_id TEXT NOT NULL REFERENCES instances (id) ON DELETE CASCADE,
	chat TEXT NOT NULL,
	began_at BIGINT NOT NULL,
	PRIMARY KEY (instance_id, chat)
);
