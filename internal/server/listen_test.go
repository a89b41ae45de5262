//go:build unix

package server //nolint:testpackage // an address that is reserved can't be seen from outside

import (
	"errors"
	"log/slog"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// A client that connects to a program that is not ready yet is refused at once, and tries again,
// instead of waiting for something that may never come.
func TestAnAddressAnswersOnlyWhenItIsServed(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"127.0.0.1:0", "localhost:0", ":0", "0.0.0.0:0", "[::1]:0", "[::]:0"} {
		t.Run(address, func(t *testing.T) {
			t.Parallel()
			where, err := net.ResolveTCPAddr("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			usual, usualErr := net.ListenTCP("tcp", where)
			listener, answer, err := reserve(where)
			if (err == nil) != (usualErr == nil) {
				t.Fatalf("error %v; the library's is %v", err, usualErr)
			}
			if err != nil {
				return // a machine without IPv6
			}
			defer func() { _ = listener.Close() }()
			defer func() { _ = usual.Close() }()
			bound := listener.Addr().(*net.TCPAddr)
			if !bound.IP.Equal(usual.Addr().(*net.TCPAddr).IP) {
				t.Errorf("bound to %s, the library to %s", bound, usual.Addr())
			}
			dial := func() (net.Conn, error) {
				return (&net.Dialer{}).DialContext(t.Context(), "tcp", bound.String())
			}
			if early, err := dial(); !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("an early client got %v, %v", early, err)
			}
			if err := answer(); err != nil {
				t.Fatal(err)
			}
			client, err := dial()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = client.Close() }()
			accepted, err := listener.Accept()
			if err != nil {
				t.Fatal(err)
			}
			_ = accepted.Close()

			// It can't be had a second time: neither by binding nor, at the latest, by listening.
			second, again, err := reserve(bound)
			if err == nil {
				defer func() { _ = second.Close() }()
				err = again()
			}
			if failed, ok := errors.AsType[*net.OpError](err); !ok || !errors.Is(err, syscall.EADDRINUSE) || failed.Addr.String() != bound.String() {
				t.Errorf("a second program got %v", err)
			}
		})
	}
}

// While the data is opened, which takes long where much has to be migrated, nobody gets a
// connection that leads nowhere.
func TestNobodyConnectsWhileTheDataIsOpened(t *testing.T) {
	t.Parallel()
	free, _, err := reserve(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	connect := func() error {
		client, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		if err == nil {
			_ = client.Close()
		}
		return err
	}
	var tries atomic.Int64
	made, err := New(t.Context(), Config{
		Listen: address, DataDir: t.TempDir(), Logger: slog.New(slog.DiscardHandler),
		Now: func() time.Time { // the parts ask for the time while they are opened
			if err := connect(); tries.Add(1) == 1 && !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("an early client got %v", err)
			}
			return time.Now()
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = made.Close() }()
	if tries.Load() == 0 {
		t.Error("nobody tried to connect")
	}
	if err := connect(); err != nil {
		t.Errorf("a client got %v", err)
	}
}
