// The address of the server, where the standard library can't bind without listening.

//go:build !unix

package server

import (
	"fmt"
	"net"
)

// reserve listens at an address. Clients that come before it is served wait; answer has
// nothing to do.
func reserve(where *net.TCPAddr) (_ *net.TCPListener, answer func() error, err error) {
	listener, err := net.ListenTCP("tcp", where)
	if err != nil {
		return nil, nil, fmt.Errorf("server: %w", err)
	}
	return listener, func() error { return nil }, nil
}
