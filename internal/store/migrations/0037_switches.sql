-- Settings that are on or off, as JSON with those that are on; empty where none is.
ALTER TABLE instances ADD COLUMN switches TEXT NOT NULL DEFAULT '';

-- Messages whose senders are still to be told that they were read, because their instance is set so.
CREATE TABLE due_reads (
	message_id TEXT NOT NULL PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE,
	instance_id TEXT NOT NULL
);

CREATE INDEX due_reads_of_instance ON due_reads (instance_id, message_id);
