-- A SQLite file has one process, so there are no nodes.
SELECT 1;
