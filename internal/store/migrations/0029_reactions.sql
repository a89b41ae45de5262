-- How people react to a message: one row for each person, also for one who has taken it back, so that an
-- older reaction that comes late does not return. person is the person's address.
CREATE TABLE reactions (
	message_id TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
	person TEXT NOT NULL,
	by_jid TEXT NOT NULL,
	by_lid TEXT NOT NULL,
	by_name TEXT NOT NULL,
	reaction TEXT NOT NULL,
	reacted_at BIGINT NOT NULL,
	PRIMARY KEY (message_id, person)
);
