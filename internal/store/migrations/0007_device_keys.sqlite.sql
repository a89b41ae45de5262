-- The devices that instances are linked as, and the keys that the connector keeps for
-- them. Number 0 stands for what all devices share.
CREATE TABLE devices (
	number INTEGER PRIMARY KEY,
	jid TEXT NOT NULL UNIQUE
);

INSERT INTO devices (number, jid) VALUES (0, '');

CREATE TABLE device_keys (
	device BIGINT NOT NULL REFERENCES devices (number) ON DELETE CASCADE,
	kind TEXT NOT NULL,
	name TEXT NOT NULL,
	value BYTEA NOT NULL,
	PRIMARY KEY (device, kind, name)
) WITHOUT ROWID;
