CREATE INDEX CONCURRENTLY events_between_messages ON events (instance_id, chat, happened_at) WHERE kind IN ('call.received', 'call.ended', 'group.updated')
