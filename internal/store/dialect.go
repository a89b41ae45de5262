package store

import "fmt"

// dialect holds the few pieces of SQL that differ between the two databases. Everything
// else is SQL that both accept: parameters numbered in
// the order of their first appearance, ON CONFLICT, RETURNING; ids are text,
// times BIGINT, and BYTEA is a type name that SQLite accepts for its blobs.
type dialect struct {
	// name is part of the file names of migrations for one database only:
	// 0002_name.sqlite.sql.
	name string
	// title is the name of the database as people write it, size the query for how many
	// bytes it takes.
	title, size string
	// addTenure adds the tenure of a new instance, whose node is its second parameter, or
	// nobody's if that is empty. SQLite has none.
	addTenure string
	// each is the set of texts in the parameter whose number it lacks.
	each string
}

const sqliteName = "sqlite"

func sqliteDialect() dialect {
	return dialect{
		name: sqliteName, title: "SQLite", each: "(SELECT value FROM json_each($%d))",
		size: "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
	}
}

func postgresDialect() dialect {
	return dialect{
		name: "postgres", title: "PostgreSQL", size: "SELECT pg_database_size(current_database())",
		addTenure: "INSERT INTO tenures (instance_id, node, epoch) VALUES ($1, NULLIF($2, ''), $3)",
		each:      "(SELECT json_array_elements_text($%d::json))",
	}
}

// In is the set of texts in a parameter that holds a JSON array, for the right side of IN: one
// constant query for lists of every length.
func (d dialect) In(parameter int) string { return fmt.Sprintf(d.each, parameter) }

// SQLite reports whether it is the dialect of SQLite.
func (d dialect) SQLite() bool { return d.name == sqliteName }

// ForUpdate ends a SELECT whose row must not change before the transaction ends. SQLite has no row
// locks and needs none: its write transactions exclude each other.
func (d dialect) ForUpdate() string {
	if d.SQLite() {
		return ""
	}
	return " FOR UPDATE"
}

// SkipLocked is ForUpdate that leaves out rows that another transaction has.
func (d dialect) SkipLocked() string {
	if d.SQLite() {
		return ""
	}
	return " FOR UPDATE SKIP LOCKED"
}
