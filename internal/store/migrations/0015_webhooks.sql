-- An instance has several webhooks. Each has a cursor, blocked chats, dead letters and
-- attempts of its own, and takes only the events that its filters let through; an empty list
-- lets all through. place is what its secrets are sealed for, and says which one the
-- contract's webhook-config is: the instance's id for that one, its own id for all others.
CREATE TABLE new_webhooks (
	id TEXT PRIMARY KEY,
	instance_id TEXT NOT NULL REFERENCES instances (id) ON DELETE CASCADE,
	place TEXT NOT NULL UNIQUE,
	url TEXT NOT NULL,
	secret TEXT NOT NULL,
	secret_seal BIGINT NOT NULL,
	previous_secret TEXT NOT NULL,
	previous_secret_seal BIGINT NOT NULL,
	previous_secret_until BIGINT NOT NULL,
	headers TEXT NOT NULL,
	headers_seal BIGINT NOT NULL,
	kinds TEXT NOT NULL,
	chats TEXT NOT NULL,
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

INSERT INTO new_webhooks (id, instance_id, place, url, secret, secret_seal, previous_secret, previous_secret_seal,
	previous_secret_until, headers, headers_seal, kinds, chats, active, created_at, updated_at,
	status, reason, cursor, failures, failing_since, next_try_at, attempts)
SELECT id, instance_id, instance_id, url, secret, secret_seal, previous_secret, previous_secret_seal,
	previous_secret_until, '', 0, '[]', '[]', active, created_at, updated_at,
	status, reason, cursor, failures, failing_since, next_try_at, attempts FROM webhooks;

CREATE TABLE new_webhook_blocked_chats (
	webhook_id TEXT NOT NULL REFERENCES new_webhooks (id) ON DELETE CASCADE,
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
	PRIMARY KEY (webhook_id, chat)
);

INSERT INTO new_webhook_blocked_chats (webhook_id, chat, sequence, through, event_id, kind, failures, since, next_try_at, answer_status, error)
SELECT w.id, b.chat, b.sequence, b.through, b.event_id, b.kind, b.failures, b.since, b.next_try_at, b.answer_status, b.error
FROM webhook_blocked_chats b JOIN webhooks w ON w.instance_id = b.instance_id;

CREATE TABLE new_webhook_dead_letters (
	webhook_id TEXT NOT NULL REFERENCES new_webhooks (id) ON DELETE CASCADE,
	sequence BIGINT NOT NULL,
	event_id TEXT NOT NULL,
	kind TEXT NOT NULL,
	chat TEXT NOT NULL,
	answer_status BIGINT NOT NULL,
	error TEXT NOT NULL,
	died_at BIGINT NOT NULL,
	PRIMARY KEY (webhook_id, sequence)
);

INSERT INTO new_webhook_dead_letters (webhook_id, sequence, event_id, kind, chat, answer_status, error, died_at)
SELECT w.id, d.sequence, d.event_id, d.kind, d.chat, d.answer_status, d.error, d.died_at
FROM webhook_dead_letters d JOIN webhooks w ON w.instance_id = d.instance_id;

CREATE TABLE new_webhook_attempts (
	webhook_id TEXT NOT NULL REFERENCES new_webhooks (id) ON DELETE CASCADE,
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
	PRIMARY KEY (webhook_id, slot)
);

INSERT INTO new_webhook_attempts (webhook_id, slot, number, sequence, event_id, kind, chat, attempted_at, duration_ms, answer_status, error, answer)
SELECT w.id, a.slot, a.number, a.sequence, a.event_id, a.kind, a.chat, a.attempted_at, a.duration_ms, a.answer_status, a.error, a.answer
FROM webhook_attempts a JOIN webhooks w ON w.instance_id = a.instance_id;

DROP TABLE webhook_attempts;
DROP TABLE webhook_dead_letters;
DROP TABLE webhook_blocked_chats;
DROP TABLE webhooks;
ALTER TABLE new_webhooks RENAME TO webhooks;
ALTER TABLE new_webhook_blocked_chats RENAME TO webhook_blocked_chats;
ALTER TABLE new_webhook_dead_letters RENAME TO webhook_dead_letters;
ALTER TABLE new_webhook_attempts RENAME TO webhook_attempts;

CREATE INDEX webhooks_by_instance ON webhooks (instance_id);
