package server_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/whatsapp"
)

// A platform that takes the connection and then says nothing must not keep an
// operator from stopping, restarting or deleting an instance.
func TestSilentPlatformHoldsNoCommand(t *testing.T) {
	t.Parallel()
	for _, silent := range []string{"upgrade", "handshake", "login"} {
		t.Run(silent, func(t *testing.T) {
			t.Parallel()
			g := testkit.Start(t, testkit.Options{})
			id := g.Link(t, "5511999990700")
			g.Phones.Faults(t, map[string]any{"silent": silent})
			g.Phones.Disconnect(t, "")
			g.AwaitStatus(t, id, gateway.StatusConnecting)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			for what, command := range cases.Sorted(map[string]func() error{
				"restart": func() error { return g.Client.RestartInstance(ctx, id) },
				"stop":    func() error { return g.Partner.StopInstance(ctx, id) },
			}) {
				if err := command(); err != nil {
					t.Fatalf("%s: %v", what, err)
				}
			}
			g.Phones.Faults(t, map[string]any{})
			if err := g.Client.RestartInstance(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			g.AwaitStatus(t, id, gateway.StatusConnected)
		})
	}
}

// It is given up after a while, and said so, and tried again.
func TestSilentPlatformIsGivenUp(t *testing.T) {
	t.Parallel()
	var log lockedLog
	g := testkit.Start(t, testkit.Options{
		Log: &log, Platform: whatsapp.Config{ConnectTimeout: time.Second, ReconnectMin: time.Millisecond, ReconnectMax: time.Millisecond},
	})
	id := g.Link(t, "5511999990701")
	g.Phones.Faults(t, map[string]any{"silent": "upgrade"})
	g.Phones.Disconnect(t, "")
	testkit.Await(t, "the platform to be given up twice", func() bool {
		return strings.Count(log.String(), "platform not reached") > 1
	})
	g.Phones.Faults(t, map[string]any{})
	g.AwaitStatus(t, id, gateway.StatusConnected)
}

// A media host that stalls, or sends more than was announced, ends in an answer.
func TestMediaHostMisbehaves(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{
		Blobs: media.BlobsConfig{MaxFile: 1 << 20}, Platform: whatsapp.Config{SilenceTimeout: 2 * time.Second},
	})
	id := g.Link(t, "5511999990702")
	for fault, want := range cases.Sorted(map[string]struct {
		value  any
		status int
		code   string
	}{
		"stallMediaAfterBytes": {10, http.StatusGatewayTimeout, gateway.CodePlatformTimeout},
		"mediaPaddingBytes":    {2 << 20, http.StatusRequestEntityTooLarge, gateway.CodePayloadTooLarge},
	}) {
		messageID := g.Phones.Send(t, "5511988880702", map[string]any{
			"to": "5511999990702", "type": "document", "media": "data:text/plain;base64,b2ksIHR1ZG8gYmVtPw==", "fileName": "a.txt",
		})
		g.Phones.Faults(t, map[string]any{fault: want.value})
		testkit.Await(t, "the message to be kept", func() bool {
			_, err := g.Client.GetMediaDownloadLink(t.Context(), id, messageID)
			return err == nil || !strings.Contains(err.Error(), gateway.CodeMessageNotFound)
		})
		_, err := g.Client.GetMediaDownloadLink(t.Context(), id, messageID)
		testkit.Refused(t, err, want.status, want.code)
		g.Phones.Faults(t, map[string]any{})
		if _, err := g.Client.GetMediaDownloadLink(t.Context(), id, messageID); err != nil {
			t.Errorf("after %s: %v", fault, err)
		}
	}
}

// lockedLog is a log that is read while it is written.
type lockedLog struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
