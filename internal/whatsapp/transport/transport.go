// Package transport makes the HTTP clients by which the connector reaches the platform
// and its media host, and bounds the files that it transfers.
package transport

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

const (
	dialTimeout   = 10 * time.Second
	websocketPath = "/ws/chat"
)

// NewClient makes the client of all sessions. whatsmeow always asks for its
// own hosts by https. A platform elsewhere is reached by dialling its address,
// whatever host was asked for, and in plain TCP if its URL says ws.
func NewClient(platformURL string) (*http.Client, error) {
	transport := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		TLSHandshakeTimeout: dialTimeout,
		IdleConnTimeout:     90 * time.Second,
		MaxIdleConnsPerHost: 16,
	}
	if platformURL == "" {
		transport.DialContext = (&net.Dialer{Timeout: dialTimeout}).DialContext
		return &http.Client{Transport: transport}, nil
	}
	dial, err := dialer(platformURL)
	if err != nil {
		return nil, err
	}
	transport.Proxy = nil // the address is meant as it stands
	transport.DialContext = dial
	transport.DialTLSContext = dial
	return &http.Client{Transport: transport}, nil
}

func dialer(platformURL string) (func(ctx context.Context, network, _ string) (net.Conn, error), error) {
	parsed, err := url.Parse(platformURL)
	if err != nil {
		return nil, fmt.Errorf("transport: platform URL: %w", err)
	}
	if parsed.Path != "" && parsed.Path != "/" && parsed.Path != websocketPath {
		return nil, fmt.Errorf("transport: platform URL: the path is always %s", websocketPath)
	}
	plain := &net.Dialer{Timeout: dialTimeout}
	switch parsed.Scheme {
	case "ws":
		address := withPort(parsed, "80")
		return func(ctx context.Context, network, _ string) (net.Conn, error) {
			return plain.DialContext(ctx, network, address)
		}, nil
	case "wss":
		address := withPort(parsed, "443")
		secure := &tls.Dialer{NetDialer: plain, Config: &tls.Config{ServerName: parsed.Hostname(), MinVersion: tls.VersionTLS12}}
		return func(ctx context.Context, network, _ string) (net.Conn, error) {
			return secure.DialContext(ctx, network, address)
		}, nil
	default:
		return nil, fmt.Errorf("transport: platform URL: scheme %q is neither ws nor wss", parsed.Scheme)
	}
}

func withPort(u *url.URL, standard string) string {
	if port := u.Port(); port != "" {
		standard = port
	}
	return net.JoinHostPort(u.Hostname(), standard)
}
