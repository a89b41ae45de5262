CREATE INDEX CONCURRENTLY messages_starred ON messages (chat_id, created_at, id) WHERE starred
