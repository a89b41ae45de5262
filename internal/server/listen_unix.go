// The address of the server, where a socket can be bound without listening.

//go:build unix

package server

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// backlog is how many connections may wait to be accepted; the system has a bound of its
// own.
const backlog = 1 << 15

// reserve takes an address without listening at it: clients are refused until answer is
// called, and nobody else can have the address. Of two programs that reserve one address
// at the same time, Linux tells the slower one at answer.
func reserve(where *net.TCPAddr) (_ *net.TCPListener, answer func() error, err error) {
	file, err := bindAny(where)
	if err != nil {
		return nil, nil, fmt.Errorf("server: %w", &net.OpError{Op: "listen", Net: "tcp", Addr: where, Err: err})
	}
	made, err := net.FileListener(file)
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, nil, fmt.Errorf("server: %w", err)
	}
	listener := made.(*net.TCPListener) // the file is a TCP socket
	return listener, func() error {
		raw, err := listener.SyscallConn()
		if err != nil {
			return fmt.Errorf("server: %w", err)
		}
		var failed error
		if err := cmp.Or(raw.Control(func(fd uintptr) {
			failed = os.NewSyscallError("listen", unix.Listen(int(fd), backlog))
		}), failed); err != nil {
			return fmt.Errorf("server: %w", &net.OpError{Op: "listen", Net: "tcp", Addr: where, Err: err})
		}
		return nil
	}, nil
}

// bindAny binds a socket to an address as net.Listen would: an address that stands for all
// of the machine's gets IPv4 and IPv6 in one socket, where there is IPv6.
func bindAny(where *net.TCPAddr) (*os.File, error) {
	all := where.IP == nil || where.IP.IsUnspecified()
	if four := where.IP.To4(); four != nil && !all {
		return bind(unix.AF_INET, &unix.SockaddrInet4{Port: where.Port, Addr: [4]byte(four)}, where)
	}
	six := &unix.SockaddrInet6{Port: where.Port}
	if !all {
		six.Addr = [16]byte(where.IP.To16())
	}
	if where.Zone != "" {
		part, err := net.InterfaceByName(where.Zone)
		if err != nil {
			return nil, err
		}
		six.ZoneId = uint32(part.Index) //nolint:gosec // indexes are small
	}
	file, err := bind(unix.AF_INET6, six, where)
	if all && (errors.Is(err, unix.EAFNOSUPPORT) || errors.Is(err, unix.EADDRNOTAVAIL)) {
		return bind(unix.AF_INET, &unix.SockaddrInet4{Port: where.Port}, where)
	}
	return file, err
}

func bind(family int, address unix.Sockaddr, where *net.TCPAddr) (*os.File, error) {
	syscall.ForkLock.RLock() // a child that starts now must not inherit the socket
	fd, err := unix.Socket(family, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	file := os.NewFile(uintptr(fd), where.String())
	set := func(level, option, value int) {
		if err == nil {
			err = os.NewSyscallError("setsockopt", unix.SetsockoptInt(fd, level, option, value))
		}
	}
	if where.Port != 0 {
		// Connections of a program that has just ended do not keep its port.
		set(unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	}
	if family == unix.AF_INET6 {
		only := 1
		if where.IP == nil || where.IP.IsUnspecified() {
			only = 0
		}
		set(unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, only)
	}
	if err == nil {
		err = os.NewSyscallError("bind", unix.Bind(fd, address))
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}
