-- What an instance keeps to when it writes: 0 and false mean off, times are milliseconds.
ALTER TABLE instances ADD COLUMN pace_gap BIGINT NOT NULL DEFAULT 0;
ALTER TABLE instances ADD COLUMN pace_jitter BIGINT NOT NULL DEFAULT 0;
ALTER TABLE instances ADD COLUMN pace_per_minute BIGINT NOT NULL DEFAULT 0;
ALTER TABLE instances ADD COLUMN new_chats_per_hour BIGINT NOT NULL DEFAULT 0;
ALTER TABLE instances ADD COLUMN new_chats_per_day BIGINT NOT NULL DEFAULT 0;
ALTER TABLE instances ADD COLUMN typing BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE instances ADD COLUMN number_checks_per_hour BIGINT NOT NULL DEFAULT 0;
ALTER TABLE instances ADD COLUMN number_checks_per_day BIGINT NOT NULL DEFAULT 0;

-- What the platform has said of a restriction of the account; 0 for nothing.
ALTER TABLE instances ADD COLUMN restricted_since BIGINT NOT NULL DEFAULT 0;
ALTER TABLE instances ADD COLUMN restricted_until BIGINT NOT NULL DEFAULT 0;
ALTER TABLE instances ADD COLUMN restricted_reported BIGINT NOT NULL DEFAULT 0;

-- How many numbers the platform was asked about, by the minute that ended at that time.
-- The rows of the last day are kept.
CREATE TABLE number_checks (
	instance_id TEXT NOT NULL REFERENCES instances (id) ON DELETE CASCADE,
	at BIGINT NOT NULL,
	numbers BIGINT NOT NULL,
	PRIMARY KEY (instance_id, at)
);
