package postgres

import (
	"errors"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// limitUnacknowledged makes a TCP connection fail when what was sent is not acknowledged within
// Patience. The system's own limit is some 15 minutes.
func limitUnacknowledged(network, _ string, socket syscall.RawConn) error {
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	var failed error
	err := socket.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(Patience.Milliseconds()))
	})
	return errors.Join(err, failed)
}
