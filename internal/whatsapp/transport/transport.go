// Package transport makes the HTTP clients by which the connector reaches the platform
// and its media host, directly or through the proxy of an instance, and bounds the files
// that it transfers.
package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

const (
	dialTimeout   = 10 * time.Second
	websocketPath = "/ws/chat"
	// platformPage is where the messenger's platform is asked whether it is there. A
	// platform elsewhere is dialled whatever host is named.
	platformPage = "https://web.whatsapp.com" + websocketPath
)

// dialFunc connects to an address, as net.Dialer does.
type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// NewClient makes the client of all sessions without a proxy of their own. whatsmeow always
// asks for its own hosts by https. A platform elsewhere is reached by dialling its address,
// whatever host was asked for, and in plain TCP if its URL says ws.
func NewClient(platformURL string) (*http.Client, error) {
	client, err := newClient(platformURL, (&net.Dialer{Timeout: dialTimeout}).DialContext)
	if err == nil && platformURL == "" {
		client.Transport.(*http.Transport).Proxy = http.ProxyFromEnvironment
	} // else the address is meant as it stands
	return client, err
}

// newClient makes a client all of whose connections are made by dial.
func newClient(platformURL string, dial dialFunc) (*http.Client, error) {
	transport := &http.Transport{
		DialContext:         dial,
		TLSHandshakeTimeout: dialTimeout,
		IdleConnTimeout:     90 * time.Second,
		MaxIdleConnsPerHost: 16,
	}
	if platformURL == "" {
		return &http.Client{Transport: transport}, nil
	}
	elsewhere, err := redirect(platformURL, dial)
	if err != nil {
		return nil, err
	}
	transport.DialContext = elsewhere
	transport.DialTLSContext = elsewhere
	return &http.Client{Transport: transport}, nil
}

// redirect makes a dial that connects to the platform of a URL, whatever address is named.
func redirect(platformURL string, dial dialFunc) (dialFunc, error) {
	parsed, err := url.Parse(platformURL)
	if err != nil {
		return nil, fmt.Errorf("transport: platform URL: %w", err)
	}
	if parsed.Path != "" && parsed.Path != "/" && parsed.Path != websocketPath {
		return nil, fmt.Errorf("transport: platform URL: the path is always %s", websocketPath)
	}
	switch parsed.Scheme {
	case "ws":
		address := withPort(parsed, "80")
		return func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dial(ctx, network, address)
		}, nil
	case "wss":
		address := withPort(parsed, "443")
		secure := &tls.Config{ServerName: parsed.Hostname(), MinVersion: tls.VersionTLS12}
		return func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialTLS(ctx, network, address, dial, secure)
		}, nil
	default:
		return nil, fmt.Errorf("transport: platform URL: scheme %q is neither ws nor wss", parsed.Scheme)
	}
}

// dialTLS connects to an address and makes the connection a secure one.
func dialTLS(ctx context.Context, network, address string, dial dialFunc, secure *tls.Config) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, proxyTimeout+dialTimeout)
	defer cancel()
	conn, err := dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	client := tls.Client(conn, secure)
	if err := client.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return client, nil
}

func withPort(u *url.URL, standard string) string {
	if port := u.Port(); port != "" {
		standard = port
	}
	return net.JoinHostPort(u.Hostname(), standard)
}

// Check asks the platform for an answer, any one, through a client that NewProxyClient has
// made. Its error is a *gateway.ProxyError.
func Check(ctx context.Context, client *http.Client) error {
	ctx, cancel := context.WithTimeout(ctx, proxyTimeout+dialTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, platformPage, http.NoBody)
	if err != nil {
		return noPlatform(err)
	}
	response, err := client.Transport.RoundTrip(request)
	if err == nil {
		return response.Body.Close()
	}
	if _, known := errors.AsType[*gateway.ProxyError](err); known {
		return err
	}
	return noPlatform(err)
}
