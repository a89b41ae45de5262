-- One webhook an instance: what its owner saved, and how far delivery is. Every
-- event up to cursor was delivered, is a dead letter, or belongs to a blocked
-- chat.
CREATE TABLE webhooks (
	instance_id TEXT PRIMARY KEY REFERENCES instances (id) ON DELETE CASCADE,
	id TEXT NOT NULL,
	url TEXT NOT NULL,
	secret TEXT NOT NULL,
	previous_secret TEXT NOT NULL,
	previous_secret_until BIGINT NOT NULL,
	active BOOLEAN NOT NULL,
	created_at BIGINT NOT NULL,
	updated_at BIGINT NOT NULL,
	status TEXT NOT NULL,
	reason TEXT NOT NULL,
	cursor BIGINT NOT NULL,
	failures BIGINT NOT NULL,
	failing_since BIGINT NOT NULL,
	next_try_at BIGINT NOT NULL,
	attempts BIGINT NOT NULL
);

-- Only chats with an event that fails while others succeed. through is the last
-- event of the chat that the cursor has passed.
CREATE TABLE webhook_blocked_chats (
	instance_id TEXT NOT NULL REFERENCES webhooks (instance_id) ON DELETE CASCADE,
	chat TEXT NOT NULL,
	sequence BIGINT NOT NULL,
	through BIGINT NOT NULL,
	event_id TEXT NOT NULL,
	kind TEXT NOT NULL,
	failures BIGINT NOT NULL,
	since BIGINT NOT NULL,
	next_try_at BIGINT NOT NULL,
	answer_status BIGINT NOT NULL,
	error TEXT NOT NULL,
	PRIMARY KEY (instance_id, chat)
);

CREATE TABLE webhook_dead_letters (
	instance_id TEXT NOT NULL REFERENCES webhooks (instance_id) ON DELETE CASCADE,
	sequence BIGINT NOT NULL,
	event_id TEXT NOT NULL,
	kind TEXT NOT NULL,
	chat TEXT NOT NULL,
	answer_status BIGINT NOT NULL,
	error TEXT NOT NULL,
	died_at BIGINT NOT NULL,
	PRIMARY KEY (instance_id, sequence)
);

-- The recent attempts, for people. slot is number modulo a hundred, so that a
-- new one takes the place of the oldest.
CREATE TABLE webhook_attempts (
	instance_id TEXT NOT NULL REFERENCES webhooks (instance_id) ON DELETE CASCADE,
	slot BIGINT NOT NULL,
	number BIGINT NOT NULL,
	sequence BIGINT NOT NULL,
	event_id TEXT NOT NULL,
	kind TEXT NOT NULL,
	chat TEXT NOT NULL,
	attempted_at BIGINT NOT NULL,
	duration_ms BIGINT NOT NULL,
	answer_status BIGINT NOT NULL,
	error TEXT NOT NULL,
	answer TEXT NOT NULL,
	PRIMARY KEY (instance_id, slot)
);
