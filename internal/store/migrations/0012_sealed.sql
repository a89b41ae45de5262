-- The keys that values are sealed with, each sealed with the master key. complete says that
-- no value is left that is plain, or sealed with an earlier one.
CREATE TABLE data_keys (
	generation BIGINT PRIMARY KEY,
	wrapped BYTEA NOT NULL,
	complete BOOLEAN NOT NULL,
	created_at BIGINT NOT NULL
);

-- The generation of the key that the value beside it is sealed with; 0 for a plain one.
ALTER TABLE device_keys ADD COLUMN value_seal BIGINT NOT NULL DEFAULT 0;
ALTER TABLE secrets ADD COLUMN value_seal BIGINT NOT NULL DEFAULT 0;
ALTER TABLE webhooks ADD COLUMN secret_seal BIGINT NOT NULL DEFAULT 0;
ALTER TABLE webhooks ADD COLUMN previous_secret_seal BIGINT NOT NULL DEFAULT 0;
ALTER TABLE instances ADD COLUMN proxy_seal BIGINT NOT NULL DEFAULT 0;
