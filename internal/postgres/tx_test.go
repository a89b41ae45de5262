package postgres_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"go.uber.org/goleak"

	"github.com/recado-project/recado/internal/groupcommit"
	"github.com/recado-project/recado/internal/postgres"
	"github.com/recado-project/recado/internal/testkit/cases"
	server "github.com/recado-project/recado/internal/testkit/postgres"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	addNumber   = "INSERT INTO numbers (n) VALUES ($1)"
	addIfAbsent = addNumber + " ON CONFLICT DO NOTHING"
	setNext     = "UPDATE numbers SET next = $1 WHERE n <= $2"
	allNumbers  = "SELECT n FROM numbers WHERE n >= $1 ORDER BY n"
)

var errRefused = errors.New("refused")

// numbers is a database with one table and one connection. The table begins with 1. A
// transaction that leaves something open keeps the next one from its connection.
type numbers struct {
	*postgres.DB

	trips func() int64 // so far
}

func open(t *testing.T) numbers {
	t.Helper()
	through, trips := server.RoundTrips(t, server.Start(t))
	db, err := postgres.Open(t.Context(), postgres.Config{URL: through, Conns: 1, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	n := numbers{DB: db, trips: trips}
	n.execute(t, "CREATE TABLE numbers (n BIGINT PRIMARY KEY, next BIGINT NOT NULL DEFAULT 0)", "INSERT INTO numbers (n) VALUES (1)")
	return n
}

func (n numbers) execute(t *testing.T, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := n.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

// are fails the test if the table holds others.
func (n numbers) are(t *testing.T, want ...int64) {
	t.Helper()
	var got []int64
	err := n.Transact(t.Context(), func(tx *postgres.Tx) (err error) {
		got, err = read(t, tx)
		return err
	})
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("the table holds %v, want %v; error %v", got, want, err)
	}
}

// read reads the numbers in a transaction.
func read(t *testing.T, tx *postgres.Tx) (found []int64, err error) {
	t.Helper()
	rows, err := tx.QueryContext(t.Context(), allNumbers, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var one int64
		if err := rows.Scan(&one); err != nil {
			return nil, err
		}
		found = append(found, one)
	}
	return found, rows.Err()
}

// queue queues a statement, which must not fail at once, and returns how to ask for the
// number of rows.
func queue(t *testing.T, tx *postgres.Tx, query string, args ...any) (changed func() int64) {
	t.Helper()
	result, err := tx.ExecContext(t.Context(), query, args...)
	if err != nil {
		t.Error(err)
	}
	return func() int64 {
		rows, err := result.RowsAffected()
		if err != nil {
			t.Error(err)
		}
		return rows
	}
}

// The server is asked only where its answer is needed, and then for everything at once.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	db := open(t)
	var none, one func() int64
	for name, c := range cases.Sorted(map[string]struct {
		trips int64
		fn    func(tx *postgres.Tx) error
	}{
		"nothing": {0, func(*postgres.Tx) error { return nil }},
		"what nobody asks about": {1, func(tx *postgres.Tx) error {
			queue(t, tx, addIfAbsent, 1)
			none, one = queue(t, tx, addIfAbsent, 1), queue(t, tx, setNext, 7, 1)
			return nil
		}},
		"a query that is read at the commit": {1, func(tx *postgres.Tx) error {
			queue(t, tx, addIfAbsent, 1)
			return tx.QueryLater(func(rows pgx.Rows) error {
				var n int64
				if !rows.Next() || rows.Scan(&n) != nil || n != 1 {
					t.Errorf("read %d", n)
				}
				return nil
			}, allNumbers, 0)
		}},
		"a query": {2, func(tx *postgres.Tx) error {
			queue(t, tx, addIfAbsent, 1)
			found, err := read(t, tx)
			if !slices.Equal(found, []int64{1}) {
				t.Errorf("found %v", found)
			}
			return err
		}},
		"the number of rows": {2, func(tx *postgres.Tx) error {
			changed, added := queue(t, tx, setNext, 7, 1), queue(t, tx, addIfAbsent, 1)
			if changed() != 1 || added() != 0 {
				t.Error("the numbers of rows are wrong")
			}
			queue(t, tx, setNext, 7, 1)
			return nil
		}},
		"what is refused before anything is sent": {0, func(tx *postgres.Tx) error {
			queue(t, tx, addNumber, 2)
			return errRefused
		}},
	}) {
		run := func() {
			if err := db.Transact(t.Context(), c.fn); err != nil && !errors.Is(err, errRefused) {
				t.Errorf("%s: %v", name, err)
			}
		}
		run() // the first time prepares the statements
		before := db.trips()
		run()
		if got := db.trips() - before; got != c.trips {
			t.Errorf("%s takes %d round trips, want %d", name, got, c.trips)
		}
	}
	if none() != 0 || one() != 1 {
		t.Error("after the commit, the numbers of rows are wrong")
	}
	db.are(t, 1)
}

// Statements take effect in the order of the calls, those of a very long queue too.
func TestOrder(t *testing.T) {
	t.Parallel()
	db := open(t)
	const steps = 1_500
	err := db.Transact(t.Context(), func(tx *postgres.Tx) error {
		for n := range steps {
			queue(t, tx, addNumber, 2+n%2)
			queue(t, tx, "DELETE FROM numbers WHERE n = $1", 2+n%2)
		}
		queue(t, tx, addNumber, 5)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	db.are(t, 1, 5)
}

// Wherever the error of a queued statement shows first, nothing is written.
func TestFailedStatement(t *testing.T) {
	t.Parallel()
	db := open(t)
	for name, fn := range cases.Sorted(map[string]func(tx *postgres.Tx) error{
		"at the commit": func(*postgres.Tx) error { return nil },
		"although it is ignored": func(tx *postgres.Tx) error {
			_, _ = read(t, tx)
			return nil
		},
		"at a query": func(tx *postgres.Tx) error {
			_, err := read(t, tx)
			return err
		},
		"at a query for a row": func(tx *postgres.Tx) error {
			var n int64
			return tx.QueryRowContext(t.Context(), allNumbers, 0).Scan(&n)
		},
		"at a number of rows": func(tx *postgres.Tx) error {
			result, err := tx.ExecContext(t.Context(), setNext, 1, 1)
			if err == nil {
				_, err = result.RowsAffected()
			}
			return err
		},
		"at a script": func(tx *postgres.Tx) error {
			_, err := tx.ExecContext(t.Context(), "SELECT 1; SELECT 2")
			return err
		},
	}) {
		for _, begun := range []bool{false, true} {
			err := db.Transact(t.Context(), func(tx *postgres.Tx) error {
				queue(t, tx, addNumber, 2)
				if begun {
					if _, err := read(t, tx); err != nil {
						t.Error(err)
					}
				}
				queue(t, tx, addNumber, 1)
				queue(t, tx, addNumber, 3)
				return fn(tx)
			})
			if !taken(err) {
				t.Errorf("%s: the error is %v", name, err)
			}
			db.are(t, 1)
		}
	}
}

// taken reports whether the error says that a number was there already.
func taken(err error) bool {
	failure, ok := errors.AsType[*pgconn.PgError](err)
	return ok && failure.Code == "23505"
}

// Whatever a transaction does, its connection is good for the next one, or is replaced.
func TestNothingStaysOpen(t *testing.T) {
	t.Parallel()
	db := open(t)
	for name, fn := range cases.Sorted(map[string]func(tx *postgres.Tx, end func()) error{
		"rows that are open": func(tx *postgres.Tx, _ func()) error {
			rows, err := tx.QueryContext(t.Context(), allNumbers, 0)
			if err != nil || !rows.Next() {
				t.Errorf("there are no rows: %v", err)
			}
			return errRefused
		},
		"a panic": func(tx *postgres.Tx, _ func()) error {
			if _, err := read(t, tx); err != nil {
				return err
			}
			panic("no")
		},
		"a script with a mistake": func(tx *postgres.Tx, _ func()) error {
			_, err := tx.ExecContext(t.Context(), "SELECT 1; no SQL")
			return err
		},
		"the end of the context": func(_ *postgres.Tx, end func()) error {
			end()
			return nil
		},
		"the end of the context in a transaction": func(tx *postgres.Tx, end func()) error {
			_, err := read(t, tx)
			end()
			return err
		},
		"the end of the connection": func(tx *postgres.Tx, _ func()) error {
			queue(t, tx, "SELECT pg_terminate_backend(pg_backend_pid()) WHERE $1", true)
			return nil
		},
	}) {
		func() {
			ctx, end := context.WithCancel(t.Context())
			defer end()
			defer func() {
				if panicked := recover() != nil; panicked != (name == "a panic") {
					t.Errorf("%s: the caller sees a panic: %v", name, panicked)
				}
			}()
			err := db.Transact(ctx, func(tx *postgres.Tx) error {
				queue(t, tx, addNumber, 9)
				return fn(tx, end)
			})
			if err == nil {
				t.Errorf("%s: there is no error", name)
			}
		}()
		db.are(t, 1)
	}
}

// An error at the commit belongs to one of the writes that share it. That one gets it, and
// the others succeed, even those that are told of it first.
func TestErrorReachesItsWrite(t *testing.T) {
	t.Parallel()
	db := open(t)
	group := groupcommit.New(func(run func(tx *postgres.Tx) error) error { return db.Transact(t.Context(), run) }, nil)
	defer group.Close()
	const writes = 40
	bad := func(n int) bool { return n == 13 || n == 29 }
	var want []int64
	var pending []groupcommit.Pending
	for n := range writes {
		value := 1 // which is taken
		if !bad(n) {
			value = n + 2
			want = append(want, int64(value))
		}
		fn := func(tx *postgres.Tx) error {
			queue(t, tx, addNumber, value)
			if n%8 != 7 {
				return nil
			}
			_, err := read(t, tx) // this one waits for the answers to those before it
			return err
		}
		pending = append(pending, group.Begin(t.Context(), func(_ context.Context, tx *postgres.Tx) error { return fn(tx) }, nil))
	}
	for n, write := range pending {
		if err := write.Wait(); taken(err) != bad(n) || (err != nil) != bad(n) {
			t.Errorf("write %d: %v", n, err)
		}
	}
	db.are(t, append([]int64{1}, want...)...)
}

// Values that the client can't send are a mistake of their write alone.
func TestUnsendableValue(t *testing.T) {
	t.Parallel()
	db := open(t)
	err := db.Transact(t.Context(), func(tx *postgres.Tx) error {
		queue(t, tx, addNumber, 2)
		queue(t, tx, addNumber, "no number")
		return nil
	})
	if _, spoiled := errors.AsType[*groupcommit.SpoiledError](err); !spoiled {
		t.Errorf("the error is %v", err)
	}
	db.are(t, 1)
}

// A caller has to know whether a transaction whose connection was lost may have been committed.
func TestUncertainCommit(t *testing.T) {
	t.Parallel()
	db := open(t)
	db.execute(t,
		"CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(60); RETURN NULL; END $$",
		"CREATE CONSTRAINT TRIGGER wait AFTER INSERT ON numbers DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.n > 100) EXECUTE FUNCTION wait()")
	for name, c := range cases.Sorted(map[string]struct {
		patience time.Duration
		fn       func(tx *postgres.Tx)
		want     bool
	}{
		"the server ends the connection before the commit": {time.Minute, func(tx *postgres.Tx) {
			queue(t, tx, "SELECT pg_terminate_backend(pg_backend_pid()) WHERE $1", true)
			queue(t, tx, addNumber, 9)
		}, false},
		"no answer to the commit": {3 * time.Second, func(tx *postgres.Tx) { queue(t, tx, addNumber, 101) }, true},
		"a value that is taken":   {time.Minute, func(tx *postgres.Tx) { queue(t, tx, addNumber, 1) }, false},
	}) {
		ctx, end := context.WithTimeout(t.Context(), c.patience)
		err := db.Transact(ctx, func(tx *postgres.Tx) error {
			c.fn(tx)
			return nil
		})
		end()
		if _, uncertain := errors.AsType[*postgres.UncertainError](err); err == nil || uncertain != c.want {
			t.Errorf("%s: uncertain %v: %v", name, uncertain, err)
		}
	}
	_, err := db.Exec(t.Context(), "SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(60)")
	if _, uncertain := errors.AsType[*postgres.UncertainError](err); !uncertain {
		t.Errorf("a statement whose connection is lost: %v", err)
	}
	db.are(t, 1)
}
