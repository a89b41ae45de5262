// The way to the platform, tried as far as a session goes before it says who it is.

package transport

import (
	"context"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // RFC 6455 has it
	"encoding/base64"
	"fmt"
	"net/http"
	"time"
)

const (
	// origin is what whatsmeow names as the origin of a websocket.
	origin = "https://web.whatsapp.com"
	// websocketGUID is that of RFC 6455.
	websocketGUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
)

// Handshake reaches the platform through a client that NewClient or NewProxyClient has made,
// and begins a websocket there, as a session does: the name, TCP, TLS and the websocket. It says
// nothing on it, and closes it. It returns the platform's clock, the zero time if the platform
// does not tell. An error on the way through a proxy has a *gateway.ProxyError in its chain.
func Handshake(ctx context.Context, client *http.Client) (clock time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, proxyTimeout+dialTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, platformPage, http.NoBody)
	if err != nil {
		return clock, fmt.Errorf("transport: %w", err)
	}
	var nonce [16]byte
	_, _ = rand.Read(nonce[:]) // it never fails
	key := base64.StdEncoding.EncodeToString(nonce[:])
	for name, value := range map[string]string{
		"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": key, "Origin": origin,
	} {
		request.Header.Set(name, value)
	}
	response, err := client.Transport.RoundTrip(request)
	if err != nil {
		return clock, fmt.Errorf("transport: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if told, err := http.ParseTime(response.Header.Get("Date")); err == nil {
		clock = told
	}
	sum := sha1.Sum([]byte(key + websocketGUID)) //nolint:gosec // as above
	if response.StatusCode != http.StatusSwitchingProtocols ||
		response.Header.Get("Sec-WebSocket-Accept") != base64.StdEncoding.EncodeToString(sum[:]) {
		return clock, fmt.Errorf("transport: it answers %d, and not as the platform does", response.StatusCode)
	}
	return clock, nil
}
