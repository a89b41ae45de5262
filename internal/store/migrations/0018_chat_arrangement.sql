-- How the owner of the account has arranged a chat. muted_until is 0 for not at all, and -1 for
-- without an end; disappearing is in seconds, 0 for never.
ALTER TABLE chats ADD COLUMN archived BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE chats ADD COLUMN pinned BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE chats ADD COLUMN muted_until BIGINT NOT NULL DEFAULT 0;
ALTER TABLE chats ADD COLUMN marked_unread BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE chats ADD COLUMN disappearing BIGINT NOT NULL DEFAULT 0;
