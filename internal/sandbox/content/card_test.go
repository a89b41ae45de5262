package content

import (
	"strings"
	"testing"
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

func FuzzWriteCard(f *testing.F) {
	f.Add("Doe, Jane", "A; B\\")
	f.Add("two\nlines", ";")
	f.Fuzz(func(t *testing.T, name, organization string) {
		// Some texts can't be kept in a card's lines: those with blanks around
		// them, and with other line breaks.
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
