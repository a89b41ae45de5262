-- The labels of an account, and what they are on: a chat, or a message of it by the platform's
-- identifier, which may come later than its label.
CREATE TABLE labels (
	instance_id TEXT NOT NULL REFERENCES instances (id) ON DELETE CASCADE,
	id TEXT NOT NULL,
	name TEXT NOT NULL,
	color BIGINT NOT NULL,
	PRIMARY KEY (instance_id, id)
);
CREATE TABLE labelled (
	instance_id TEXT NOT NULL,
	chat_id TEXT NOT NULL,
	platform_id TEXT NOT NULL,
	label_id TEXT NOT NULL,
	PRIMARY KEY (instance_id, chat_id, platform_id, label_id),
	FOREIGN KEY (instance_id, chat_id) REFERENCES chats (instance_id, id) ON DELETE CASCADE,
	FOREIGN KEY (instance_id, label_id) REFERENCES labels (instance_id, id) ON DELETE CASCADE
);
CREATE INDEX labelled_by_label ON labelled (instance_id, label_id);
