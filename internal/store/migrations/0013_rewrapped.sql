-- Whether the master key was changed, and no gateway was started with the new one since.
ALTER TABLE data_keys ADD COLUMN rewrapped BOOLEAN NOT NULL DEFAULT FALSE;
