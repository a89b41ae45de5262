package whatsapp_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/testkit/proxyserver"
	"github.com/recado-project/recado/internal/whatsapp"
)

// openAs opens the session of an instance with settings, and starts it.
func (w world) openAs(t *testing.T, instance gateway.Instance) (gateway.SupervisedSession, *recorder) {
	t.Helper()
	e := newRecorder()
	session, err := w.connector.Open(t.Context(), instance, e, e)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.Close)
	session.Start()
	return session, e
}

// Sessions that are linked at the same time each show their own label.
func TestLabels(t *testing.T) {
	t.Parallel()
	w := newWorld(t, whatsapp.Config{})
	var linking sync.WaitGroup
	for n, c := range []struct {
		label      gateway.DeviceLabel
		name, kind string
	}{
		{gateway.DeviceLabel{}, "Recado", "DESKTOP"},
		{gateway.DeviceLabel{Name: "Recepção 1", Kind: gateway.DeviceFirefox}, "Recepção 1", "FIREFOX"},
		{gateway.DeviceLabel{Name: "Loja"}, "Loja", "DESKTOP"},
		{gateway.DeviceLabel{Kind: gateway.DeviceTablet}, "Recado", "ANDROID_TABLET"},
	} {
		number := fmt.Sprintf("551199999030%d", n)
		_, e := w.openAs(t, gateway.Instance{ID: fmt.Sprintf("0199a0c4-7f6e-7000-8000-00000000010%d", n), Label: c.label})
		linking.Go(func() {
			if err := w.box.Linking.Scan(t.Context(), number, e.await(t, "code").code.Code); err != nil {
				t.Error(err)
				return
			}
			e.await(t, "connected")
			phone, err := w.box.Profiles.Get(t.Context(), number)
			if err != nil || len(phone.LinkedDevices) != 1 || phone.LinkedDevices[0].Name != c.name || phone.LinkedDevices[0].Kind != c.kind {
				t.Errorf("%+v: the phone lists %+v (%v)", c.label, phone.LinkedDevices, err)
			}
		})
	}
	linking.Wait()
}

// A session with a proxy links, sends, receives, and transfers files through it alone, and
// does not connect without it.
func TestSessionByProxy(t *testing.T) {
	t.Parallel()
	var log lockedBuffer
	w := newWorld(t, whatsapp.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	proxy := proxyserver.SOCKS(t, proxyserver.Options{User: "ana", Password: "segredo"})
	parsed, err := gateway.ParseProxy(proxy.URL())
	if err != nil {
		t.Fatal(err)
	}
	session, e := w.openAs(t, gateway.Instance{ID: instanceID, Proxy: parsed})
	if err := w.box.Linking.Scan(t.Context(), ownNumber, e.await(t, "code").code.Code); err != nil {
		t.Fatal(err)
	}
	e.await(t, "connected")
	linked := len(proxy.Asked())
	if linked < 2 { // before the link and after it
		t.Errorf("%d connections went through the proxy", linked)
	}
	if _, err := w.send(t, session, "Oi!"); err != nil {
		t.Fatal(err)
	}
	w.say(t, peerNumber, content.Outgoing{To: ownNumber, Type: "text", Text: "Olá!"})
	e.await(t, "message")
	file := []byte(strings.Repeat("a file ", 1000))
	uploaded, err := session.Files().Upload(t.Context(), ownNumber+"@s.whatsapp.net", gateway.TypeDocument, gateway.File{Content: bytes.NewReader(file)})
	if err != nil {
		t.Fatal(err)
	}
	through := proxy.Asked()
	if len(through) <= linked {
		t.Errorf("the file at %s did not go through the proxy", uploaded.DirectPath)
	}
	if came := w.conns.Load(); came != int64(len(through)) {
		t.Errorf("the platform got %d connections, of which %d through the proxy", came, len(through))
	}
	// The file goes past nobody: with the proxy dead it can't be left with the platform.
	proxy.Close()
	e.await(t, "lost")
	if _, err := session.Files().Upload(t.Context(), ownNumber+"@s.whatsapp.net", gateway.TypeDocument, gateway.File{Content: bytes.NewReader(file)}); err == nil {
		t.Error("a file was uploaded past the proxy")
	}
	for range 5 {
		e.await(t, "lost")
	}
	if came := w.conns.Load(); came != int64(len(through)) {
		t.Errorf("with the proxy dead, %d more connections came", came-int64(len(through)))
	}
	if strings.Contains(log.String(), "segredo") {
		t.Errorf("the log has the password: %s", log.String())
	}
}
