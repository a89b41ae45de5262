-- The contacts whose presence an instance wants to know, and what they have shown last.
CREATE TABLE presence_subscriptions (
	instance_id TEXT NOT NULL REFERENCES instances (id) ON DELETE CASCADE,
	contact TEXT NOT NULL,
	jid TEXT NOT NULL,
	lid TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	ends_at BIGINT NOT NULL,
	presence TEXT NOT NULL,
	presence_at BIGINT NOT NULL,
	last_seen BIGINT NOT NULL,
	PRIMARY KEY (instance_id, contact)
);
CREATE INDEX presence_subscriptions_by_end ON presence_subscriptions (ends_at);
