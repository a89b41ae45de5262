-- What a program calls the options of a poll that it has sent, as JSON; empty where it calls them nothing.
ALTER TABLE messages ADD COLUMN menu TEXT NOT NULL DEFAULT '';
ALTER TABLE queued_messages ADD COLUMN menu TEXT NOT NULL DEFAULT '';

-- The account's last message in a chat, if that is such a poll; else empty. Few chats have one: they have an index of
-- their own, in the folder of indexes.
ALTER TABLE chats ADD COLUMN open_menu TEXT NOT NULL DEFAULT '';

-- Who has answered such a poll, by a vote or by a text. Each person's first answer is told, and no other.
CREATE TABLE menu_answers (
	message_id TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
	person TEXT NOT NULL,
	by_jid TEXT NOT NULL,
	by_lid TEXT NOT NULL,
	PRIMARY KEY (message_id, person)
);

-- Whether buttons and lists, which programs send in the languages of other tools, are refused, or become such polls.
ALTER TABLE instances ADD COLUMN buttons_refuse BOOLEAN NOT NULL DEFAULT FALSE;
