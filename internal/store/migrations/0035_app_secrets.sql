-- The app secret of an account signs deliveries as Meta's Cloud API does; empty: there is none.
ALTER TABLE accounts ADD COLUMN app_secret TEXT NOT NULL DEFAULT '';
ALTER TABLE accounts ADD COLUMN app_secret_seal BIGINT NOT NULL DEFAULT 0;
ALTER TABLE accounts ADD COLUMN app_secret_at BIGINT NOT NULL DEFAULT 0;
