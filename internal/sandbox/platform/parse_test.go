package platform

import (
	"strings"
	"testing"

	waBinary "go.mau.fi/whatsmeow/binary"
)

func TestParseCard(t *testing.T) {
	t.Parallel()
	card := parseCard("BEGIN:VCARD\r\nVERSION:3.0\r\nN:Doe;Jane\r\nFN:Jane Doe\r\nORG:Acme;\r\n" +
		"item1.TEL;type=CELL;waid=4915100000014:+49 151 00000014\r\nTEL:second\r\nEND:VCARD\r\n")
	if want := (Contact{FullName: "Jane Doe", PhoneNumber: "4915100000014", Organization: "Acme"}); card != want {
		t.Errorf("read as %+v", card)
	}
}

func FuzzParseCard(f *testing.F) {
	f.Add("BEGIN:VCARD\nFN:Jane\nitem1.TEL;waid=1:+1\nEND:VCARD")
	f.Add(":\n;\n.TEL:")
	f.Fuzz(func(_ *testing.T, text string) { parseCard(text) })
}

func FuzzContactJID(f *testing.F) {
	f.Add([]byte("+4915100000014@c.us"))
	f.Add([]byte("+4915100000014"))
	f.Fuzz(func(t *testing.T, query []byte) {
		if jid := contactJID(query); jid.Device != 0 || jid.Server != "s.whatsapp.net" {
			t.Errorf("%q became %v", query, jid)
		}
	})
}

func FuzzParseBundle(f *testing.F) {
	f.Add(make([]byte, 4), make([]byte, 3), make([]byte, 32), make([]byte, 64))
	f.Add([]byte{1}, []byte{}, []byte{2}, []byte{3})
	f.Fuzz(func(t *testing.T, registration, id, key, signature []byte) {
		part := func(tag string, content []byte) waBinary.Node { return waBinary.Node{Tag: tag, Content: content} }
		keys := waBinary.Node{Tag: "keys", Content: []waBinary.Node{
			part("identity", key),
			{Tag: "skey", Content: []waBinary.Node{part("id", id), part("value", key), part("signature", signature)}},
			{Tag: "key", Content: []waBinary.Node{part("id", id), part("value", key)}},
		}}
		bundle, err := parseBundle(registration, keys)
		if err == nil && (len(key) != 32 || bundle.PreKey == nil) {
			t.Errorf("accepted %+v", bundle)
		}
	})
}

func FuzzWriteCard(f *testing.F) {
	f.Add("Doe, Jane", "A; B\\")
	f.Add("two\nlines", ";")
	f.Fuzz(func(t *testing.T, name, organization string) {
		// What no line of a card can hold is not kept: blanks around, other breaks.
		for _, text := range []string{name, organization} {
			if strings.ContainsAny(text, "\r") || strings.TrimSpace(text) != text {
				return
			}
		}
		card := Contact{FullName: name, PhoneNumber: "4915100000014", Organization: organization}
		if got := parseCard(writeCard(card)); got != card {
			t.Errorf("%+v became %+v", card, got)
		}
	})
}

func TestParseCardUnfoldsAndUnescapes(t *testing.T) {
	t.Parallel()
	card := parseCard("BEGIN:VCARD\nFN:Jane\\, the\n  second\nORG:A\\;B;;\nTEL;waid=49151000;type=CELL:+49 151 000\nEND:VCARD")
	if want := (Contact{FullName: "Jane, the second", PhoneNumber: "49151000", Organization: "A;B"}); card != want {
		t.Errorf("read as %+v", card)
	}
}
