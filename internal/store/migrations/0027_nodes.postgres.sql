-- What the nodes must agree about, each as it says of itself: hashes of the secrets that it knows, that
-- which it signs with first; and the name of its place of files. Empty: an earlier version did not say.
ALTER TABLE nodes ADD COLUMN secrets TEXT NOT NULL DEFAULT '', ADD COLUMN files TEXT NOT NULL DEFAULT '';
