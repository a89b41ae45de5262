// Package sqlerror says what an error of one of the two databases means, where
// the callers act on it.
package sqlerror

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlitelib "modernc.org/sqlite/lib"
)

// PostgreSQL's codes (its manual, appendix A) that are about the values of a
// statement, and about the rules of the schema.
const (
	dataExceptionClass   = "22"    // invalid UTF-8, U+0000, a number out of range
	programLimitExceeded = "54000" // a value too long for an index
	uniqueViolation      = "23505"
	foreignKeyViolation  = "23503"
	readOnly             = "25006" // a standby that was or will be the primary
	lockNotAvailable     = "55P03"
	deadlockDetected     = "40P01"
)

// tenureOver is the code of our own function hold_tenures.
const tenureOver = "RT001"

// IsData reports whether the database refused the values that it was given: the
// same values are refused each time, while other ones are taken. An outage, a
// full disk or a lost race are not of this kind.
func IsData(err error) bool {
	if failure, ok := errors.AsType[*pgconn.PgError](err); ok {
		return strings.HasPrefix(failure.Code, dataExceptionClass) || failure.Code == programLimitExceeded
	}
	if failure, ok := errors.AsType[*sqlite.Error](err); ok {
		switch failure.Code() & 0xff { // the low byte is the kind, the rest details
		case sqlitelib.SQLITE_TOOBIG, sqlitelib.SQLITE_MISMATCH, sqlitelib.SQLITE_RANGE:
			return true
		}
	}
	return false
}

// IsTaken reports whether the database refused a row because another one has a value that
// must be unique.
func IsTaken(err error) bool {
	return breaks(err, uniqueViolation, sqlitelib.SQLITE_CONSTRAINT_UNIQUE, sqlitelib.SQLITE_CONSTRAINT_PRIMARYKEY)
}

// IsOrphan reports whether the database refused a row because the one that it refers to
// is not there.
func IsOrphan(err error) bool {
	return breaks(err, foreignKeyViolation, sqlitelib.SQLITE_CONSTRAINT_FOREIGNKEY)
}

// IsTenureOver reports whether PostgreSQL refused a write because the tenure that it stands
// on is over.
func IsTenureOver(err error) bool {
	failure, ok := errors.AsType[*pgconn.PgError](err)
	return ok && failure.Code == tenureOver
}

// IsLocked reports whether PostgreSQL has given a statement up because of a lock: it waited for
// longer than lock_timeout, or for somebody who waited for it.
func IsLocked(err error) bool {
	failure, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (failure.Code == lockNotAvailable || failure.Code == deadlockDetected)
}

// IsAway reports whether the database can't work at the moment, and the same may succeed later:
// PostgreSQL could not be reached, has ended the connection, or has no resources for the statement;
// SQLite's disk is full, can't be written, or fails. It does not say whether a commit of PostgreSQL
// that was under way took place.
func IsAway(err error) bool {
	if failure, ok := errors.AsType[*sqlite.Error](err); ok {
		switch failure.Code() & 0xff { // the low byte is the kind, the rest details
		case sqlitelib.SQLITE_FULL, sqlitelib.SQLITE_READONLY, sqlitelib.SQLITE_CANTOPEN, sqlitelib.SQLITE_BUSY:
			return true
		case sqlitelib.SQLITE_IOERR: // what was written may be there, if it could not be synced
			return failure.Code() != sqlitelib.SQLITE_IOERR_FSYNC && failure.Code() != sqlitelib.SQLITE_IOERR_DIR_FSYNC
		}
	}
	if failure, ok := errors.AsType[*pgconn.PgError](err); ok && isAwayCode(failure.Code) {
		return true
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	for _, lost := range []error{driver.ErrBadConn, pgconn.ErrConnClosed, io.EOF, io.ErrUnexpectedEOF, context.DeadlineExceeded} {
		if errors.Is(err, lost) {
			return true
		}
	}
	return pgconn.SafeToRetry(err)
}

// isAwayCode reports whether PostgreSQL says by a code that it can't work at the moment.
func isAwayCode(code string) bool {
	for _, class := range []string{"08", "53", "57P"} { // connection, resources, shutdown
		if strings.HasPrefix(code, class) {
			return true
		}
	}
	return code == readOnly
}

// breaks reports whether an error has PostgreSQL's code or one of those of SQLite.
func breaks(err error, ofPostgres string, ofSQLite ...int) bool {
	if failure, ok := errors.AsType[*pgconn.PgError](err); ok {
		return failure.Code == ofPostgres
	}
	failure, ok := errors.AsType[*sqlite.Error](err)
	return ok && slices.Contains(ofSQLite, failure.Code())
}
