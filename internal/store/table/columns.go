// Columns, with what is written into them and where what is read goes.

package table

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// Column is a column of a table whose rows are a T each.
type Column[T any] struct {
	name  string
	value func(row *T) any // what is written
	field func(row *T) any // where what was read goes
}

// Columns are columns in an order: those that a statement writes, or reads. They never change.
type Columns[T any] struct {
	columns []Column[T]
	// Names are the names of the columns, with commas.
	Names string
}

// Of makes columns.
func Of[T any](columns ...Column[T]) *Columns[T] {
	c := &Columns[T]{columns: columns}
	c.Names = c.list(func(_ int, name string) string { return name })
	return c
}

// And are the columns with more behind them.
func (c *Columns[T]) And(more ...Column[T]) *Columns[T] { return Of(slices.Concat(c.columns, more)...) }

// Part are the columns of what is a part of each row.
func Part[T, P any](columns *Columns[P], part func(row *T) *P) []Column[T] {
	all := make([]Column[T], len(columns.columns))
	for i, column := range columns.columns {
		all[i] = Column[T]{
			column.name,
			func(row *T) any { return column.value(part(row)) },
			func(row *T) any { return column.field(part(row)) },
		}
	}
	return all
}

// Custom is a column with its own conversion: value returns what is written, field a pointer or a
// sql.Scanner for what is read.
func Custom[T any](name string, value, field func(row *T) any) Column[T] {
	return Column[T]{name, value, field}
}

// Flag is a column of truth values.
func Flag[T any](name string, field func(row *T) *bool) Column[T] {
	return Column[T]{name, func(row *T) any { return *field(row) }, func(row *T) any { return field(row) }}
}

// Number is a column of whole numbers.
func Number[T any, N ~int | ~int64](name string, field func(row *T) *N) Column[T] {
	return Column[T]{name, func(row *T) any { return int64(*field(row)) }, func(row *T) any { return field(row) }}
}

// Text is a column of texts.
func Text[T any, S ~string](name string, field func(row *T) *S) Column[T] {
	return Column[T]{name, func(row *T) any { return string(*field(row)) }, func(row *T) any { return field(row) }}
}

// TextOrNull is a column of texts that is NULL for an empty one.
func TextOrNull[T any](name string, field func(row *T) *string) Column[T] {
	return Column[T]{name, func(row *T) any {
		if text := field(row); *text != "" {
			return *text
		}
		return nil
	}, func(row *T) any { return (*nullText)(field(row)) }}
}

// Bytes is a column of bytes. An empty one is nil when it is read.
func Bytes[T any](name string, field func(row *T) *[]byte) Column[T] {
	return Column[T]{name, func(row *T) any { return NotNull(*field(row)) }, func(row *T) any { return (*orNil)(field(row)) }}
}

// Moment is a column of times.
func Moment[T any](name string, field func(row *T) *time.Time) Column[T] {
	return Column[T]{name, func(row *T) any { return Millis(*field(row)) }, func(row *T) any { return IntoTime(field(row)) }}
}

// JSON is a column with a list as JSON, which people look at and nothing depends on: empty for an empty list, and what is damaged
// there reads as one.
func JSON[T, E any](name string, field func(row *T) *[]E) Column[T] {
	return Custom(name, func(row *T) any { return Encoded(*field(row)) }, func(row *T) any { return IntoList(field(row)) })
}

// Encoded is the value of a column of JSON.
func Encoded[E any](list []E) string {
	if len(list) == 0 {
		return ""
	}
	encoded, err := json.Marshal(list)
	if err != nil {
		return ""
	}
	return string(encoded)
}

// IntoList reads a column of JSON.
func IntoList[E any](list *[]E) sql.Scanner { return (*encodedList[E])(list) }

type encodedList[E any] []E

// Scan reads the column.
func (l *encodedList[E]) Scan(source any) error {
	stored, err := Stored(source)
	if err != nil {
		return err
	}
	*l = nil
	if json.Unmarshal(stored, (*[]E)(l)) != nil {
		*l = nil
	}
	return nil
}

// Object is a column with a struct as JSON: empty for the zero value. What an older program does not know of it
// is lost when that program writes it.
func Object[T any, O comparable](name string, field func(row *T) *O) Column[T] {
	return Custom(name, func(row *T) any { return encodedObject(*field(row)) }, func(row *T) any { return intoObject[O]{field(row)} })
}

func encodedObject[O comparable](object O) string {
	if object == *new(O) {
		return ""
	}
	encoded, err := json.Marshal(object)
	if err != nil {
		panic(err) // the columns are of plain values
	}
	return string(encoded)
}

type intoObject[O comparable] struct{ object *O }

// Scan reads the column.
func (i intoObject[O]) Scan(source any) error {
	*i.object = *new(O)
	stored, err := Stored(source)
	if err != nil || len(stored) == 0 {
		return err
	}
	return json.Unmarshal(stored, i.object)
}

// Span is a column of durations, as whole numbers of a unit.
func Span[T any](name string, unit time.Duration, field func(row *T) *time.Duration) Column[T] {
	return Column[T]{name, func(row *T) any { return int64(*field(row) / unit) }, func(row *T) any { return &span{field(row), unit} }}
}

// Parameters are the parameters of the columns, with commas, the first of which is $1.
func (c *Columns[T]) Parameters() string {
	return c.list(func(n int, _ string) string { return Parameter(n) })
}

// Assignments set the columns to their parameters.
func (c *Columns[T]) Assignments() string {
	return c.list(func(n int, name string) string { return name + " = " + Parameter(n) })
}

// Excluded sets the columns to what an INSERT that has met a conflict would have written.
func (c *Columns[T]) Excluded() string {
	return c.list(func(_ int, name string) string { return name + " = excluded." + name })
}

// Insert is the statement that adds a row. Its values in more columns stand behind the others.
func (c *Columns[T]) Insert(into string, more ...string) string {
	names, parameters := c.with(more)
	return "INSERT INTO " + into + " (" + names + ") VALUES (" + parameters + ")"
}

// InsertIf is Insert that adds nothing unless a condition holds. Its parameters are behind those of
// more columns.
func (c *Columns[T]) InsertIf(into, condition string, more ...string) string {
	names, parameters := c.with(more)
	return "INSERT INTO " + into + " (" + names + ") SELECT " + parameters + " WHERE " + condition
}

func (c *Columns[T]) with(more []string) (names, parameters string) {
	names, parameters = c.Names, c.Parameters()
	for i, name := range more {
		names, parameters = names+", "+name, parameters+", "+c.Next(i+1)
	}
	return names, parameters
}

func (c *Columns[T]) list(item func(n int, name string) string) string {
	items := make([]string, len(c.columns))
	for i, column := range c.columns {
		items[i] = item(i+1, column.name)
	}
	return strings.Join(items, ", ")
}

// Parameter is the parameter with a number.
func Parameter(n int) string { return "$" + strconv.Itoa(n) }

// Parameter is that of the column with the name.
func (c *Columns[T]) Parameter(name string) string { return Parameter(c.index(name) + 1) }

// Next is the nth parameter behind those of the columns, from 1.
func (c *Columns[T]) Next(n int) string { return Parameter(len(c.columns) + n) }

// Only are the columns with the names, in their order.
func (c *Columns[T]) Only(names ...string) *Columns[T] {
	some := make([]Column[T], len(names))
	for i, name := range names {
		some[i] = c.columns[c.index(name)]
	}
	return Of(some...)
}

// Without are all columns but those with the names.
func (c *Columns[T]) Without(names ...string) *Columns[T] {
	return Of(slices.DeleteFunc(slices.Clone(c.columns), func(column Column[T]) bool { return slices.Contains(names, column.name) })...)
}

// index panics for a column that is not there: a statement of the program is wrong.
func (c *Columns[T]) index(name string) int {
	n := slices.IndexFunc(c.columns, func(column Column[T]) bool { return column.name == name })
	if n < 0 {
		panic("table: there is no column " + name)
	}
	return n
}

// Values are what a row has in the columns, and more values behind them.
func (c *Columns[T]) Values(row *T, more ...any) []any {
	values := make([]any, 0, len(c.columns)+len(more))
	for _, column := range c.columns {
		values = append(values, column.value(row))
	}
	return append(values, more...)
}

// Fields are where the columns of a row go, and more behind them.
func (c *Columns[T]) Fields(row *T, more ...any) []any {
	fields := make([]any, 0, len(c.columns)+len(more))
	for _, column := range c.columns {
		fields = append(fields, column.field(row))
	}
	return append(fields, more...)
}

// Scan reads a row of the columns.
func (c *Columns[T]) Scan(from Scanner) (T, error) {
	var row T
	err := from.Scan(c.Fields(&row)...)
	return row, err
}

// Find reads the columns of at most one row, which from selects, and reports whether there was one.
func (c *Columns[T]) Find(ctx context.Context, q Querier, from string, args ...any) (T, bool, error) {
	return Find(ctx, q, c.Scan, "SELECT "+c.Names+" "+from, args...)
}

// Collect reads the columns of all rows that from selects. It returns nil for no rows.
func (c *Columns[T]) Collect(ctx context.Context, q Querier, from string, args ...any) ([]T, error) {
	return Collect(ctx, q, c.Scan, "SELECT "+c.Names+" "+from, args...)
}

// List reads the columns of one page of the rows that from selects, as List does.
func (c *Columns[T]) List(ctx context.Context, q Querier, request gateway.PageRequest, from string, args ...any) (gateway.Page[T], error) {
	return List(ctx, q, c.Scan, request, c.Names, from, args...)
}

// IntoTime takes a time that is read.
func IntoTime(t *time.Time) sql.Scanner { return (*moment)(t) }

// The following read what a column has.
type (
	nullText string
	orNil    []byte
	moment   time.Time
	span     struct {
		into *time.Duration
		unit time.Duration
	}
)

// Stored returns a text or bytes that a column has; nil for NULL. It may belong to the driver, until the
// next row is read.
func Stored(source any) ([]byte, error) {
	switch stored := source.(type) {
	case nil:
		return nil, nil
	case []byte:
		return stored, nil
	case string:
		return []byte(stored), nil
	}
	return nil, fmt.Errorf("a text or bytes are stored as %T", source)
}

// Scan reads a text.
func (t *nullText) Scan(source any) error {
	stored, err := Stored(source)
	*t = nullText(stored)
	return err
}

// Scan reads bytes.
func (b *orNil) Scan(source any) error {
	stored, err := Stored(source)
	*b = bytes.Clone(OrNil(stored))
	return err
}

// Scan reads a time.
func (m *moment) Scan(source any) error {
	millis, err := number(source)
	*m = moment(Time(millis))
	return err
}

// Scan reads a duration.
func (s *span) Scan(source any) error {
	units, err := number(source)
	*s.into = time.Duration(units) * s.unit
	return err
}

func number(source any) (int64, error) {
	n, ok := source.(int64)
	if !ok {
		return 0, fmt.Errorf("a number is stored as %T", source)
	}
	return n, nil
}
