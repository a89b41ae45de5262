-- Every index costs a page of the database for each row that is added. What comes from
-- this program itself is not repeated, and has no source key.
DROP INDEX events_by_source;
CREATE UNIQUE INDEX events_by_source ON events (instance_id, source_key) WHERE source_key <> '';

-- Deliveries of the same message have the same platform identifier, so the index of
-- those finds them too.
DROP INDEX messages_by_wire_key;
