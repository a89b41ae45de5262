package whatsapp_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/sandbox"
	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/sandbox/scan"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/whatsapp"
)

// BenchmarkReceive is the way of a text from the platform to the handler, which
// keeps nothing. The messages wait on the platform before the clock starts, so
// that what the sandbox does for them is not measured but for bringing them.
func BenchmarkReceive(b *testing.B) {
	quiet := slog.New(slog.DiscardHandler)
	box, err := sandbox.New(b.Context(), sandbox.Config{
		Path: filepath.Join(b.TempDir(), "sandbox.db"), Seed: &[32]byte{1}, Logger: quiet,
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- box.Run(ctx) }()
	web := httptest.NewServer(box.Handler(scan.None{}))
	defer func() {
		cancel()
		web.Close()
		if err := <-ran; err != nil {
			b.Error(err)
		}
		_ = box.Close() // nothing is read from it any more
	}()
	kept, err := store.Open(b.Context(), store.Config{Path: filepath.Join(b.TempDir(), "recado.db"), Logger: quiet})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = kept.Close() }()
	rootKey := box.RootKey()
	connector, err := whatsapp.New(whatsapp.Config{
		Keys:        kept.Devices,
		PlatformURL: "ws://" + web.Listener.Addr().String(), RootKey: &rootKey, Logger: quiet,
	})
	if err != nil {
		b.Fatal(err)
	}
	defer connector.Close()
	e := newRecorder()
	session, err := connector.Open(b.Context(), gateway.Instance{ID: instanceID}, e, e)
	if err != nil {
		b.Fatal(err)
	}
	session.Start()
	await := func(what string) recorded {
		for call := range e.calls {
			if call.what == what {
				return call
			}
		}
		return recorded{}
	}
	if err := box.Linking.Scan(b.Context(), ownNumber, await("code").code.Code); err != nil {
		b.Fatal(err)
	}
	device := await("pairing").device
	await("connected")
	say := func(text string) {
		message := content.Outgoing{To: ownNumber, Type: "text", Text: text}
		if _, err := box.Phones.SendMessage(b.Context(), peerNumber, message); err != nil {
			b.Fatal(err)
		}
	}
	say("hello")
	await("message")
	session.Close()
	for n := range b.N {
		say(strconv.Itoa(n))
	}
	if session, err = connector.Open(b.Context(), gateway.Instance{ID: instanceID, Device: device}, e, e); err != nil {
		b.Fatal(err)
	}
	defer session.Close()
	b.ResetTimer()
	session.Start()
	for range b.N {
		await("message")
	}
	b.StopTimer()
}
