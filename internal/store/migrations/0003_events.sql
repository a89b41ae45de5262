-- What happened in each instance, in the order in which it was written down.
-- There is no reference to the instance: to check it would cost every event a
-- row lock in PostgreSQL. Whoever deletes an instance deletes its events.
CREATE TABLE events (
	instance_id TEXT NOT NULL,
	sequence BIGINT NOT NULL,
	id TEXT NOT NULL,
	kind TEXT NOT NULL,
	chat TEXT NOT NULL,
	source_key TEXT NOT NULL,
	happened_at BIGINT NOT NULL,
	created_at BIGINT NOT NULL,
	data BYTEA NOT NULL,
	PRIMARY KEY (instance_id, sequence)
);

CREATE UNIQUE INDEX events_by_source ON events (instance_id, source_key);

-- Messages that a stop of the program left on their way.
CREATE INDEX messages_pending ON messages (created_at) WHERE status = 0;
