-- What the program that sends a message calls it, such as the number of an order; NULL where it calls it nothing.
ALTER TABLE messages ADD COLUMN client_data TEXT;
ALTER TABLE queued_messages ADD COLUMN client_data TEXT;
