-- The place where files are kept, if it is not the data folder alone: the name that is in its
-- file "owner" too. There is one row at most.
CREATE TABLE file_place (
	place BIGINT PRIMARY KEY,
	owner TEXT NOT NULL
);
