package wire_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"

	"github.com/recado-project/recado/internal/whatsapp/wire"
)

func TestWhatThePlatformClientSaysNamesNobody(t *testing.T) {
	t.Parallel()
	answer := waBinary.Node{Tag: "iq", Attrs: waBinary.Attrs{"id": "12.3-4"}, Content: []waBinary.Node{{Tag: "name", Content: "Marina Oliveira"}}}
	for _, c := range []struct{ text, want string }{
		{"Handler for AC0123456789ABCDEF012345 failed", "Handler for AC0123456789ABCDEF012345 failed"},
		{"Failed to send receipt for 3EB0C431C26A1916E07A: EOF", "Failed to send receipt for 3EB0C431C26A1916E07A: EOF"},
		{"No LID found for 5511988887766@s.whatsapp.net", "No LID found for …@s.whatsapp.net"},
		{"can't send to 123456789012345:7@lid", "can't send to …:7@lid"},
		{"the picture of 120363041234567890@g.us", "the picture of …@g.us"},
		{"waited for 5.2s, status 404", "waited for 5.2s, status 404"},
		{"Failed to parse <bot> node in 3EB0C431C26A1916E07A: EOF", "Failed to parse <bot> node in 3EB0C431C26A1916E07A: EOF"},
		{fmt.Sprintf("asked: %v", answer), "asked: <iq …"},
		{`Unknown failure: <name>Marina</name>`, "Unknown failure: <name …"},
		{(&whatsmeow.IQError{RawNode: &answer}).Error(), "info query returned unexpected response: <iq …"},
	} {
		if got := wire.Anonymous(c.text); got != c.want {
			t.Errorf("%q becomes %q, want %q", c.text, got, c.want)
		}
	}
	err := wire.Failure(fmt.Errorf("no session with 5511988887766.0: %w", errors.ErrUnsupported))
	if !errors.Is(err, errors.ErrUnsupported) || strings.Contains(err.Error(), "5511988887766") {
		t.Errorf("the failure is %v: want one that is the same and names nobody", err)
	}
}
