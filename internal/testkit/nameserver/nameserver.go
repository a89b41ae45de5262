// Package nameserver runs a name server for a test. Only tests import it.
package nameserver

import (
	"context"
	"net"
	"net/netip"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// Resolver returns a resolver that asks a name server of the test. The table maps names,
// with their final dot, to IPv4 addresses. The server ends with the test.
func Resolver(tb testing.TB, names map[string]string) *net.Resolver {
	tb.Helper()
	server, err := (&net.ListenConfig{}).ListenPacket(tb.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		query := make([]byte, 1500)
		for {
			n, from, err := server.ReadFrom(query)
			if err != nil {
				return
			}
			var message dnsmessage.Message
			if message.Unpack(query[:n]) != nil || len(message.Questions) != 1 {
				continue
			}
			message.Response, message.Additionals = true, nil
			question := message.Questions[0]
			address, known := names[question.Name.String()]
			switch {
			case !known:
				message.RCode = dnsmessage.RCodeNameError
			case question.Type == dnsmessage.TypeA:
				message.Answers = []dnsmessage.Resource{{
					Header: dnsmessage.ResourceHeader{Name: question.Name, Type: question.Type, Class: question.Class},
					Body:   &dnsmessage.AResource{A: netip.MustParseAddr(address).As4()},
				}}
			}
			if answer, err := message.Pack(); err == nil {
				_, _ = server.WriteTo(answer, from)
			}
		}
	}()
	tb.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
}
