-- Whether the owner of the account has starred a message. Few are: they have an index of their own, in
-- the folder of indexes.
ALTER TABLE messages ADD COLUMN starred BOOLEAN NOT NULL DEFAULT FALSE;
