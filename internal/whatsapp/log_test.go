package whatsapp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
)

// What the platform client writes names the instance and the message, and neither people nor what
// they have written; that a connection has ended is no fault.
func TestLinesOfThePlatformClient(t *testing.T) {
	t.Parallel()
	customer := types.NewJID("5511988887766", types.DefaultUserServer)
	message := &waBinary.Node{Tag: "message", Attrs: waBinary.Attrs{"id": "3EB0C431C26A1916E07A", "from": customer, "notify": "Marina Oliveira"}, Content: []waBinary.Node{
		{Tag: "enc", Attrs: waBinary.Attrs{"type": "pkmsg"}, Content: []byte{0x33, 0x0a, 0x21, 0x05, 0x8d}},
	}}
	notification := &waBinary.Node{Tag: "notification", Attrs: waBinary.Attrs{"id": "3141592653", "notify": "Marina Oliveira"}}
	for _, c := range []struct {
		format string
		args   []any
		want   string
	}{
		{"Node handling took %s for %s", []any{5*time.Second + 230*time.Millisecond, message}, `WARN detail="Node handling took 5.23s for message 3EB0C431C26A1916E07A"`},
		{"Node handling is taking long for %s (started %s ago)", []any{notification, 30 * time.Second}, `WARN detail="Node handling is taking long for notification 3141592653 (started 30s ago)"`},
		{"Handler for %s failed", []any{"AC0123456789ABCDEF012345"}, `WARN detail="Handler for AC0123456789ABCDEF012345 failed"`},
		{"No LID found for %s", []any{customer}, `WARN detail="No LID found for …@s.whatsapp.net"`},
		{"Failed to fetch prekeys for %v with no existing session: %v", []any{[]types.JID{customer}, &whatsmeow.IQError{RawNode: message}}, "WARN detail=\"Failed to fetch prekeys for […@s.whatsapp.net] with no existing session: info query returned unexpected response: <message …\""},
		{"Error parsing presence event: %+v", []any{[]error{errors.New("5511988887766 is no time")}}, `WARN detail="Error parsing presence event: [… is no time]"`},
		{"Failed to marshal fingerprint of app state sync key %X", []any{[]byte{1, 0xab}}, `WARN detail="Failed to marshal fingerprint of app state sync key 01AB"`},
		{"Error reading from websocket: %v", []any{io.ErrUnexpectedEOF}, `DEBUG detail="Error reading from websocket: unexpected EOF"`},
		{"Failed to send acknowledgement for %s %s: %v", []any{"message", "3EB0C431C26A1916E07A", fmt.Errorf("frame: %w", whatsmeow.ErrNotConnected)}, `DEBUG detail="Failed to send acknowledgement for message 3EB0C431C26A1916E07A: frame: websocket not connected"`},
	} {
		var line bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&line, &slog.HandlerOptions{Level: slog.LevelDebug}))
		log{sessionLogger(logger, "shop-1")}.Warnf(c.format, c.args...)
		level, detail, _ := strings.Cut(c.want, " ")
		if got := line.String(); !strings.Contains(got, "level="+level) || !strings.Contains(got, "instance_id=shop-1") || !strings.Contains(got, detail) {
			t.Errorf("%q becomes %s want %s", c.format, got, c.want)
		}
	}
}
