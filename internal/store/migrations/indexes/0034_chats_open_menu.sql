CREATE INDEX CONCURRENTLY chats_open_menu ON chats (instance_id, open_menu) WHERE open_menu > ''
