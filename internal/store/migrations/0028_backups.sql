-- When a backup of this database was finished last. There is one row at most.
CREATE TABLE last_backup (
	one BIGINT PRIMARY KEY,
	finished_at BIGINT NOT NULL
);
