package gateway_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/recado-project/recado/internal/gateway"
)

// What the program lacks for now is said so, with when to come back; everything else is left as it is.
func TestShortage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		says string // empty: it is none
	}{
		{nil, ""},
		{errors.New("a fault"), ""},
		{syscall.EACCES, ""},
		{fmt.Errorf("store: %w", gateway.ErrDatabaseAway), "the database can't be reached"},
		{fmt.Errorf("media: make temporary file: %w", &fs.PathError{Op: "open", Err: syscall.ENOSPC}), "the disk of the gateway is full"},
		{&fs.PathError{Op: "write", Err: syscall.EDQUOT}, "the disk of the gateway is full"},
		{&fs.PathError{Op: "open", Err: syscall.EROFS}, "the disk of the gateway can't be written"},
		{&fs.PathError{Op: "open", Err: syscall.EMFILE}, "the gateway can't open more files"},
		{&fs.PathError{Op: "open", Err: syscall.ENFILE}, "the gateway can't open more files"},
		{errors.Join(gateway.Errorf(gateway.Internal, gateway.CodeInternal, "it was sent"), syscall.ENOSPC), ""},
	} {
		shortage := gateway.Shortage(c.err)
		if (shortage != nil) != (c.says != "") {
			t.Errorf("%v: %v", c.err, shortage)
			continue
		}
		if shortage != nil && (!strings.HasPrefix(shortage.Message, c.says) || shortage.Kind != gateway.Unavailable || shortage.RetryAfter <= 0 || !errors.Is(shortage, c.err)) {
			t.Errorf("%v: %v", c.err, shortage)
		}
	}
}
