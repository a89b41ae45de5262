package copying_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/copying"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/seal"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// filled is a SQLite file with something in it, and what it has.
func filled(t *testing.T, messages int) (config store.Config, instance gateway.Instance) {
	t.Helper()
	config = store.Config{Path: filepath.Join(t.TempDir(), "recado.db"), Logger: slog.New(slog.DiscardHandler), Master: seal.NewKey()}
	s, err := store.Open(t.Context(), config)
	check(t, err)
	now := time.Now().UTC().Truncate(time.Millisecond)
	account := gateway.Account{ID: uuid.NewString(), Name: "default", CreatedAt: now}
	check(t, s.CreateAccount(t.Context(), account))
	instance = gateway.Instance{ID: uuid.NewString(), AccountID: account.ID, Name: "a shop, \t\"ação\" 🍞", Proxy: "socks5://a:b@c", CreatedAt: now, UpdatedAt: now}
	instance.Sending.Typing = true
	check(t, s.CreateInstance(t.Context(), instance))
	for n := range messages {
		check(t, s.AcceptMessage(t.Context(), gateway.Message{
			ID: fmt.Sprintf("%05d", n), InstanceID: instance.ID, PlatformID: fmt.Sprint(n), Type: gateway.TypeText, Payload: []byte{0, 1, 0xff, byte(n)},
			SentAt: now, CreatedAt: now,
		}, nil)())
	}
	for n := range 3 {
		_, err := s.Devices.AddDevice(t.Context(), fmt.Sprintf("55119999901%02d:1@s.whatsapp.net", n), []gateway.DeviceKey{{Kind: "session", Name: "a", Value: []byte{0, byte(n)}}})
		check(t, err)
	}
	check(t, s.Close())
	return config, instance
}

// Every table of the store is copied, or is one of those that are not.
func TestEveryTableIsCopied(t *testing.T) {
	t.Parallel()
	known := append(copying.Tables(), "schema_migrations", "nodes", "tenures", "last_backup")
	// The index of words is made anew from the messages.
	known = append(known, "search_progress", "message_words", "message_words_data", "message_words_idx", "message_words_docsize", "message_words_config")
	for name, config := range cases.Sorted(map[string]store.Config{
		"SQLite":     {Path: filepath.Join(t.TempDir(), "recado.db"), Logger: slog.New(slog.DiscardHandler)},
		"PostgreSQL": {URL: postgres.Start(t), Logger: slog.New(slog.DiscardHandler)},
	}) {
		_, err := store.Migrate(t.Context(), config)
		check(t, err)
		source, err := copying.OpenSource(t.Context(), config)
		check(t, err)
		found, err := source.Tables(t.Context())
		check(t, err)
		for _, table := range found {
			if !slices.Contains(known, table) {
				t.Errorf("%s: nobody has said whether the table %s is copied", name, table)
			}
		}
		for _, table := range copying.Tables() {
			if columns, err := source.Columns(t.Context(), table); err != nil || len(columns) == 0 {
				t.Errorf("%s: the table %s has the columns %v (%v)", name, table, columns, err)
			}
		}
		check(t, source.Close(t.Context()))
	}
}

// Everything is in PostgreSQL after a move, and is used there under the same master key. A
// second move is refused.
func TestMove(t *testing.T) {
	t.Parallel()
	from, instance := filled(t, 300)
	to := store.Config{URL: postgres.Start(t), Logger: from.Logger, Master: from.Master}
	moved, err := copying.Move(t.Context(), from, to)
	check(t, err)
	if !slices.Contains(moved, copying.Moved{Table: "messages", Rows: 300}) || !slices.Contains(moved, copying.Moved{Table: "devices", Rows: 4}) {
		t.Errorf("moved %v", moved)
	}
	s, err := store.Open(t.Context(), to)
	check(t, err)
	if got, err := s.GetInstance(t.Context(), instance.ID); err != nil || !reflect.DeepEqual(got, instance) {
		t.Errorf("the instance is %+v (%v), was %+v", got, err, instance)
	}
	if page, err := s.Chats.ListMessages(t.Context(), instance.ID, gateway.MessageFilter{OldestFirst: true}, gateway.PageRequest{Page: 1, Limit: 10}); err != nil || page.Total != 300 || !bytes.Equal(page.Items[0].Payload[:3], []byte{0, 1, 0xff}) {
		t.Errorf("there are %d messages (%v)", page.Total, err)
	}
	number, found, err := s.Devices.FindDevice(t.Context(), "5511999990102:1@s.whatsapp.net")
	value, keyErr := s.Devices.FindDeviceKey(t.Context(), number, "session", "a")
	if err != nil || keyErr != nil || !found || !bytes.Equal(value, []byte{0, 2}) {
		t.Errorf("the key of a device is %v (%v, %v)", value, err, keyErr)
	}
	next, err := s.Devices.AddDevice(t.Context(), "5511999990199:1@s.whatsapp.net", nil)
	if err != nil || next != number+1 {
		t.Errorf("the next device has the number %d (%v)", next, err)
	}
	if free, err := s.Nodes.AnyFree(t.Context(), 0); err != nil || !free {
		t.Errorf("no node can take the instance over (%v)", err)
	}
	check(t, s.Close())

	if _, err := os.Stat(from.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is still there (%v)", err)
	}
	if _, err := copying.Move(t.Context(), from, to); err == nil {
		t.Error("it was moved twice")
	}
	if s, err := store.Open(t.Context(), from); err == nil {
		_ = s.Close()
		t.Error("a gateway begins anew beside the one that was moved")
	}
	other, _ := filled(t, 1)
	if _, err := copying.Move(t.Context(), other, to); !errors.Is(err, copying.ErrNotEmpty) {
		t.Errorf("a move into a database with data is answered %v", err)
	}
}

// A source is as it was when it was opened, whatever is written while it is read.
func TestSourceIsOfOneMoment(t *testing.T) {
	t.Parallel()
	for name, config := range cases.Sorted(map[string]store.Config{
		"SQLite":     {Path: filepath.Join(t.TempDir(), "recado.db"), Logger: slog.New(slog.DiscardHandler)},
		"PostgreSQL": {URL: postgres.Start(t), Logger: slog.New(slog.DiscardHandler)},
	}) {
		s, err := store.Open(t.Context(), config)
		check(t, err)
		source, err := copying.OpenSource(t.Context(), config)
		check(t, err)
		for range 2 {
			id := uuid.NewString()
			check(t, s.CreateAccount(t.Context(), gateway.Account{ID: id, Name: id, CreatedAt: time.Now()}))
			columns, err := source.Columns(t.Context(), "accounts")
			check(t, err)
			if sum, err := copying.SumTable(t.Context(), source, "accounts", columns); err != nil || sum.Rows != 0 {
				t.Errorf("%s: %d rows are seen that came later (%v)", name, sum.Rows, err)
			}
		}
		check(t, source.Close(t.Context()))
		check(t, s.Close())
	}
}

// A move that is interrupted has moved nothing, or can be finished by calling it again.
func TestMoveIsAllOrNothing(t *testing.T) {
	t.Parallel()
	from, _ := filled(t, 300)
	to := store.Config{URL: postgres.Start(t), Logger: from.Logger}
	for looks := range 12 {
		ctx := cutAfter(t.Context(), 4*looks)
		if _, err := copying.Move(ctx, from, to); err == nil {
			break // there was time enough
		}
		target, err := copying.OpenTarget(t.Context(), to)
		check(t, err)
		if version, err := target.Version(t.Context()); err != nil || version > 0 {
			if empty, err := copying.Empty(t.Context(), target); err != nil || !empty {
				t.Fatalf("after an interruption, the database is empty: %t (%v)", empty, err)
			}
		}
		check(t, target.Close(t.Context()))
	}
	if _, err := os.Stat(from.Path); err == nil {
		_, err := copying.Move(t.Context(), from, to)
		check(t, err)
	}
	check(t, os.Rename(from.Path+".moved", from.Path)) // killed between the commit and the new name
	moved, err := copying.Move(t.Context(), from, to)
	if err != nil || !slices.Contains(moved, copying.Moved{Table: "messages", Rows: 300}) {
		t.Errorf("called again: %v (%v)", moved, err)
	}
}

// cutContext ends after some looks at it.
type cutContext struct {
	context.Context //nolint:containedctx // it is one

	left atomic.Int64
}

// cutAfter makes a context that ends after that many looks.
func cutAfter(ctx context.Context, looks int) *cutContext {
	cut := &cutContext{Context: ctx}
	cut.left.Store(int64(looks))
	return cut
}

// Err counts a look; drivers look from goroutines of their own.
func (c *cutContext) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return c.Context.Err()
}

// lossy is a target that loses the last row, or changes it.
type lossy struct {
	copying.Target

	change func(row copying.Row) copying.Row // nil: lose it
}

// Fill loses or changes a row.
func (l lossy) Fill(ctx context.Context, table string, columns []copying.Column, rows copying.Rows) error {
	return l.Target.Fill(ctx, table, columns, func(yield func(copying.Row, error) bool) {
		n := 0
		for row, err := range rows {
			n++
			if n == 3 {
				if l.change == nil {
					continue
				}
				row = l.change(slices.Clone(row))
			}
			if !yield(row, err) {
				return
			}
		}
	})
}

// A row that is lost or changed on the way is noticed before anything lasts.
func TestFillTableCompares(t *testing.T) {
	t.Parallel()
	from, _ := filled(t, 5)
	source, err := copying.OpenSource(t.Context(), from)
	check(t, err)
	columns, err := source.Columns(t.Context(), "devices")
	check(t, err)
	fill := func(damage func(copying.Target) copying.Target) error {
		to := store.Config{Path: filepath.Join(t.TempDir(), "recado.db"), Logger: from.Logger}
		_, err := store.Migrate(t.Context(), to)
		check(t, err)
		target, err := copying.OpenTarget(t.Context(), to)
		check(t, err)
		_, filling := copying.FillTable(t.Context(), damage(target), "devices", columns, source.Rows(t.Context(), "devices", columns))
		check(t, target.Close(t.Context()))
		return filling
	}
	check(t, fill(func(target copying.Target) copying.Target { return target }))
	if err := fill(func(target copying.Target) copying.Target { return lossy{Target: target} }); err == nil {
		t.Error("a lost row was not noticed")
	}
	if err := fill(func(target copying.Target) copying.Target {
		return lossy{Target: target, change: func(row copying.Row) copying.Row {
			row[1] = "another"
			return row
		}}
	}); err == nil {
		t.Error("a changed row was not noticed")
	}
	check(t, source.Close(t.Context()))
}

// A row is read as it was written, and two tables have the same sum only if they have the
// same rows.
func TestRows(t *testing.T) {
	t.Parallel()
	rows := []copying.Row{
		{int64(-5), "ação\x00", []byte{0, 0xff}, true, nil}, {int64(1 << 62), "", []byte{}, false, "x"}, {nil, nil, nil, nil, nil},
	}
	var encoded []byte
	var forth, back, other copying.Sum
	for i, row := range rows {
		var err error
		encoded, err = copying.AppendRow(encoded, row)
		check(t, errors.Join(err, forth.Add(row), back.Add(rows[len(rows)-1-i]), other.Add(rows[0])))
	}
	from := bufio.NewReader(bytes.NewReader(encoded))
	for _, row := range rows {
		if got, err := copying.ReadRow(from, len(row)); err != nil || !reflect.DeepEqual(got, row) {
			t.Errorf("read %v (%v), want %v", got, err, row)
		}
	}
	if _, err := copying.ReadRow(from, 5); !errors.Is(err, io.EOF) {
		t.Errorf("after the last row: %v", err)
	}
	if forth != back || forth == other || forth.Text() == other.Text() || forth.Rows != 3 {
		t.Errorf("the sums are %s, %s and %s", forth.Text(), back.Text(), other.Text())
	}
	if _, err := copying.AppendRow(nil, copying.Row{1.5}); err == nil {
		t.Error("a value without a kind was written")
	}
}

// Bytes of anybody are read as rows, or refused.
func FuzzReadRow(f *testing.F) {
	whole, err := copying.AppendRow(nil, copying.Row{int64(7), "text", []byte("bytes"), true, nil})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add([]byte{5, 2, 0xff, 0xff, 0xff, 0xff, 3})
	f.Fuzz(func(t *testing.T, content []byte) {
		row, err := copying.ReadRow(bufio.NewReader(bytes.NewReader(content)), 5)
		if err != nil {
			return
		}
		again, err := copying.AppendRow(nil, row)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := copying.ReadRow(bufio.NewReader(bytes.NewReader(again)), 5); err != nil || !reflect.DeepEqual(got, row) {
			t.Errorf("read %v (%v), then %v", row, err, got)
		}
	})
}
