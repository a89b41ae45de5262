-- Who voted for what in a poll. voter is the person's address; choices are the hashes of the
-- options, one after another.
CREATE TABLE poll_votes (
	message_id TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
	voter TEXT NOT NULL,
	voter_jid TEXT NOT NULL,
	voter_lid TEXT NOT NULL,
	voter_name TEXT NOT NULL,
	choices BYTEA NOT NULL,
	voted_at BIGINT NOT NULL,
	PRIMARY KEY (message_id, voter)
);
