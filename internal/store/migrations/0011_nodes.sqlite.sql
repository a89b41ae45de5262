-- A SQLite file has one process, so there are no nodes; this is the one column that both
-- databases need.
ALTER TABLE instances ADD COLUMN status_epoch BIGINT NOT NULL DEFAULT 0;
