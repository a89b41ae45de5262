-- A webhook may have a link to the file of each message in its events.
ALTER TABLE webhooks ADD COLUMN media_links BOOLEAN NOT NULL DEFAULT FALSE;
