-- Whether the owner of the account has starred a message. Few are: they have an index of their own.
ALTER TABLE messages ADD COLUMN starred BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX messages_starred ON messages (chat_id, created_at, id) WHERE starred;
