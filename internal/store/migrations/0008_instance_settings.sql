-- What an instance is set to: the URL of its proxy with the credentials, and what the
-- phone shows of its device. Empty means the default.
ALTER TABLE instances ADD COLUMN proxy TEXT NOT NULL DEFAULT '';
ALTER TABLE instances ADD COLUMN device_name TEXT NOT NULL DEFAULT '';
ALTER TABLE instances ADD COLUMN device_kind TEXT NOT NULL DEFAULT '';
