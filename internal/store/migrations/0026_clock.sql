-- What the clock said when the program worked last, and for how much longer nothing is removed
-- because it was set. There is one row at most.
CREATE TABLE clock (
	clock BIGINT PRIMARY KEY,
	seen_at BIGINT NOT NULL,
	quiet_ms BIGINT NOT NULL
);

-- The order in which messages came, within their instance.
ALTER TABLE queued_messages ADD COLUMN position BIGINT NOT NULL DEFAULT 0;
