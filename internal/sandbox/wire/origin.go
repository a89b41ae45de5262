package wire

import (
	"net"
	"net/http"
	"strings"
)

// Origin is how a client reached the server.
type Origin struct {
	Host  string // the name it used, with the port
	Plain string // a URL under which anybody reaches the same server
}

func originOf(r *http.Request) Origin {
	host := r.Host
	// Most clients use the host name of the real platform. Others can't reach this
	// server under that name, so the plain URL has its address.
	if name, _, _ := strings.Cut(host, ":"); strings.HasSuffix(name, "whatsapp.com") || strings.HasSuffix(name, "whatsapp.net") {
		if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
			host = local.String()
		}
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	return Origin{Host: r.Host, Plain: scheme + "://" + host}
}
