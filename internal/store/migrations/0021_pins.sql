-- Until when a message is pinned in its chat; 0: it is not.
ALTER TABLE messages ADD COLUMN pinned_until BIGINT NOT NULL DEFAULT 0;
