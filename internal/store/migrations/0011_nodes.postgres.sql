-- Several processes, called nodes, may work with one database. A node works for an instance
-- under a tenure; its epoch tells it from the earlier ones. Times are milliseconds by the
-- clock of this server, because those of the nodes may differ.
CREATE TABLE nodes (
	id TEXT PRIMARY KEY,
	name TEXT NOT NULL,
	address TEXT NOT NULL,
	version TEXT NOT NULL,
	started_at BIGINT NOT NULL,
	lease_until BIGINT NOT NULL,
	draining BOOLEAN NOT NULL
);

CREATE TABLE tenures (
	instance_id TEXT PRIMARY KEY REFERENCES instances (id) ON DELETE CASCADE,
	node TEXT REFERENCES nodes (id),
	epoch BIGINT NOT NULL
);

CREATE INDEX tenures_by_node ON tenures (node);

INSERT INTO tenures (instance_id, node, epoch) SELECT id, NULL, 0 FROM instances;

-- The epoch under which the status was written: one that an earlier node has written may
-- not be true any more.
ALTER TABLE instances ADD COLUMN status_epoch BIGINT NOT NULL DEFAULT 0;

CREATE FUNCTION now_ms() RETURNS BIGINT LANGUAGE sql AS
	'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT';

-- Fails unless all these tenures last; they then last until the transaction ends at least.
-- A function, so that a transaction can be sent with its COMMIT in one go.
CREATE FUNCTION hold_tenures(nodes TEXT[], instances TEXT[], epochs BIGINT[]) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
	held BIGINT;
BEGIN
	PERFORM 1 FROM unnest(nodes, instances, epochs) AS wanted (node, instance_id, epoch)
		JOIN tenures t ON t.instance_id = wanted.instance_id
		WHERE t.node = wanted.node AND t.epoch = wanted.epoch FOR SHARE OF t;
	GET DIAGNOSTICS held = ROW_COUNT;
	IF held < cardinality(instances) THEN
		RAISE EXCEPTION 'a tenure is over' USING ERRCODE = 'RT001';
	END IF;
END
$$;
