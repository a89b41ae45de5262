package store

import (
	"encoding/json"
	"strings"
)

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
	// forUpdate ends a SELECT whose row must not change before the transaction
	// ends. SQLite has no row locks and needs none: its write transactions exclude each other.
	forUpdate string
	// skipLocked is forUpdate that leaves out rows that another transaction has.
	skipLocked string
	// addTenure adds the tenure of a new instance, whose node is its second parameter, or
	// nobody's if that is empty. SQLite has none.
	addTenure string
	// each is the set of texts in the second parameter, which holds a JSON array, for
	// the right side of IN: one constant query for lists of every length.
	each string
}

const sqliteName = "sqlite"

func sqliteDialect() dialect {
	return dialect{
		name: sqliteName, title: "SQLite", each: "(SELECT value FROM json_each($2))",
		size: "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
	}
}

func postgresDialect() dialect {
	return dialect{
		name: "postgres", title: "PostgreSQL", size: "SELECT pg_database_size(current_database())",
		forUpdate:  " FOR UPDATE",
		skipLocked: " FOR UPDATE SKIP LOCKED",
		addTenure:  "INSERT INTO tenures (instance_id, node, epoch) VALUES ($1, NULLIF($2, ''), $3)",
		each:       "(SELECT json_array_elements_text($2::json))",
	}
}

// in returns the set of texts in the JSON array that is the second parameter.
func (d dialect) in() string { return d.each }

// inFirst is in for the first parameter.
func (d dialect) inFirst() string { return strings.ReplaceAll(d.each, "$2", "$1") }

const noTexts = "[]"

// texts makes the value of such a parameter.
func texts[T ~string](values []T) (string, error) {
	if len(values) == 0 {
		return noTexts, nil // a nil slice would be encoded as null
	}
	encoded, err := json.Marshal(values)
	return string(encoded), err
}
