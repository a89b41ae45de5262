-- The chats of an instance. A person has one chat, under both addresses. There is no index of
-- the order: it would be paid for by every message. last_id may name a message that is gone.
-- Messages that were stored until read_at are read; unread counts those that came later.
CREATE TABLE chats (
	instance_id TEXT NOT NULL REFERENCES instances (id) ON DELETE CASCADE,
	id TEXT NOT NULL,
	jid TEXT NOT NULL,
	lid TEXT NOT NULL,
	name TEXT NOT NULL,
	last_id TEXT NOT NULL,
	last_at BIGINT NOT NULL,
	unread BIGINT NOT NULL,
	read_at BIGINT NOT NULL,
	PRIMARY KEY (instance_id, id)
) WITH (fillfactor = 70);

CREATE UNIQUE INDEX chats_by_jid ON chats (instance_id, jid) WHERE jid <> '';
CREATE UNIQUE INDEX chats_by_lid ON chats (instance_id, lid) WHERE lid <> '';

ALTER TABLE messages ADD COLUMN chat_id TEXT NOT NULL DEFAULT '';

-- The chats of the messages that are there. The key of a chat is the LID that was last seen
-- with its number, or the only address.
CREATE TABLE old_chats AS
	SELECT instance_id, chat_jid AS jid, chat_lid AS lid, MAX(created_at) AS at, ''::text AS key, ''::text AS id
	FROM messages GROUP BY instance_id, chat_jid, chat_lid;
CREATE INDEX old_chats_by_jid ON old_chats (instance_id, jid, lid);
UPDATE old_chats SET key = COALESCE(
	(SELECT other.lid FROM old_chats AS other WHERE other.instance_id = old_chats.instance_id AND other.jid = old_chats.jid
		AND other.jid <> '' AND other.lid <> '' ORDER BY other.at DESC, other.lid LIMIT 1),
	NULLIF(lid, ''), jid);
CREATE INDEX old_chats_by_key ON old_chats (instance_id, key);
INSERT INTO chats (instance_id, id, jid, lid, name, last_id, last_at, unread, read_at)
	SELECT instance_id, replace(gen_random_uuid()::text, '-', ''),
		COALESCE((SELECT old.jid FROM old_chats AS old WHERE old.instance_id = keys.instance_id AND old.key = keys.key
			AND old.jid <> '' ORDER BY old.at DESC, old.jid LIMIT 1), ''),
		CASE WHEN key LIKE '%@lid' THEN key ELSE '' END, '', '', 0, 0, 0
	FROM (SELECT DISTINCT instance_id, key FROM old_chats) AS keys;
UPDATE old_chats SET id = COALESCE(
	(SELECT chats.id FROM chats WHERE chats.instance_id = old_chats.instance_id AND chats.lid = old_chats.key AND chats.lid <> ''),
	(SELECT chats.id FROM chats WHERE chats.instance_id = old_chats.instance_id AND chats.jid = old_chats.key AND chats.jid <> ''), '');
UPDATE messages SET
	chat_id = (SELECT old.id FROM old_chats AS old WHERE old.instance_id = messages.instance_id
		AND old.jid = messages.chat_jid AND old.lid = messages.chat_lid),
	-- Those from before the link stand by their time.
	created_at = CASE WHEN wire_key IS NULL AND source <> 'api' AND sent_at > 0 AND sent_at < created_at THEN sent_at ELSE created_at END;
DROP TABLE old_chats;

CREATE INDEX messages_of_chat ON messages (chat_id, created_at, id);

UPDATE chats SET
	last_id = COALESCE((SELECT id FROM messages WHERE chat_id = chats.id ORDER BY created_at DESC, id DESC LIMIT 1), ''),
	last_at = COALESCE((SELECT MAX(created_at) FROM messages WHERE chat_id = chats.id), 0),
	read_at = COALESCE((SELECT MAX(created_at) FROM messages WHERE chat_id = chats.id), 0),
	name = COALESCE(
		(SELECT chat_name FROM messages WHERE chat_id = chats.id AND chat_name <> '' ORDER BY created_at DESC, id DESC LIMIT 1),
		(SELECT sender_name FROM messages WHERE chat_id = chats.id AND sender_name <> '' AND NOT from_me AND chats.jid NOT LIKE '%@g.us'
			ORDER BY created_at DESC, id DESC LIMIT 1), '');

-- The words of messages, for the search.
CREATE TABLE message_words (
	message_id TEXT PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE,
	words TSVECTOR NOT NULL
);

CREATE INDEX message_words_in_order ON message_words USING GIN (words);

-- Messages from before this table are put into it by and by, those with the highest
-- identifiers first. Nothing is left to do when there is no message before this one.
CREATE TABLE search_progress (before_id TEXT NOT NULL);
INSERT INTO search_progress (before_id) VALUES ('g');
