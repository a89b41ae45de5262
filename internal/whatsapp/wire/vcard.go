package wire

import (
	"bytes"
	"io"
	"mime/quotedprintable"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"github.com/recado-project/recado/internal/gateway"
)

// vcard writes a card as the platform's clients do (vCard 3.0, RFC 2426): the
// parameter waid makes the number one that can be written to.
func vcard(card gateway.ContactCard) string {
	lines := []string{
		"BEGIN:VCARD",
		"VERSION:3.0",
		"N:;" + vcardText(card.FullName) + ";;;",
		"FN:" + vcardText(card.FullName),
	}
	if card.Organization != "" {
		lines = append(lines, "ORG:"+vcardText(card.Organization))
	}
	account := ""
	if card.Account != "" {
		account = ";waid=" + card.Account
	}
	lines = append(lines, "TEL;type=CELL;type=VOICE"+account+":+"+card.PhoneNumber, "END:VCARD")
	return strings.Join(lines, "\n")
}

// vcardText escapes what has a meaning in a card.
func vcardText(text string) string {
	return strings.NewReplacer(`\`, `\\`, "\r\n", `\n`, "\n", `\n`, "\r", `\n`, ",", `\,`, ";", `\;`).Replace(text)
}

// maxCardLines bounds the numbers, the e-mail addresses and the addresses of a card, each.
const maxCardLines = 50

// parseVCard reads what a card tells of somebody. A part that it lacks stays empty. Cards come from
// all kinds of programs: lines are folded as vCard 3.0 and 4.0 have it or as 2.1 has it, and texts
// are quoted-printable in cards of version 2.1.
func parseVCard(text string) gateway.ContactCard {
	var card gateway.ContactCard
	var named string
	for _, line := range unfold(text) {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		property, parameters, _ := strings.Cut(name, ";")
		// A group in front, as in "item1.TEL", says which properties belong together.
		property = property[strings.LastIndexByte(property, '.')+1:]
		value = plainValue(parameters, value)
		switch strings.ToUpper(strings.TrimSpace(property)) {
		case "FN":
			card.FullName = vcardValue(value)
		case "N":
			named = wholeName(value)
		case "ORG":
			card.Organization = strings.TrimRight(vcardValue(value), ";")
		case "EMAIL":
			if address := strings.TrimSpace(vcardValue(value)); address != "" && len(card.Emails) < maxCardLines {
				card.Emails = append(card.Emails, address)
			}
		case "ADR":
			if address := joined(value, ", "); address != "" && len(card.Addresses) < maxCardLines {
				card.Addresses = append(card.Addresses, address)
			}
		case "TEL":
			addNumber(&card, parameters, value)
		}
	}
	if card.FullName == "" {
		card.FullName = named
	}
	return card
}

// addNumber adds a number to a card. The first that can be written to is the card's own, or else the
// first.
func addNumber(card *gateway.ContactCard, parameters, value string) {
	number := gateway.CardNumber{Number: digitsOf(strings.TrimPrefix(value, "tel:")), Label: labelOf(parameters)}
	if waid := digitsOf(vcardParameter(parameters, "waid")); waid != "" {
		number.Number, number.Writable = waid, true
	}
	if number.Number == "" {
		return
	}
	written := slices.ContainsFunc(card.Numbers, func(n gateway.CardNumber) bool { return n.Writable })
	if card.PhoneNumber == "" || number.Writable && !written {
		card.PhoneNumber = number.Number
	}
	if len(card.Numbers) < maxCardLines {
		card.Numbers = append(card.Numbers, number)
	}
}

// unfold returns the lines of a card whole: one that begins with a blank goes on with the line
// before it, and so does one of quoted-printable text that ends in "=".
func unfold(text string) (lines []string) {
	var whole []byte              // the line that may go on
	begun, quoted := false, false // quoted: it is quoted-printable
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case quoted && bytes.HasSuffix(whole, []byte("=")):
			whole = append(whole[:len(whole)-1], line...)
		case begun && line != "" && (line[0] == ' ' || line[0] == '\t'):
			whole = append(whole, line[1:]...)
		default:
			if begun {
				lines = append(lines, string(whole))
			}
			whole, begun = append(whole[:0], line...), true
			name, _, _ := strings.Cut(line, ":")
			quoted = isQuotedPrintable(name)
		}
	}
	if begun {
		lines = append(lines, string(whole))
	}
	return lines
}

func isQuotedPrintable(parameters string) bool {
	return strings.Contains(strings.ToUpper(parameters), "QUOTED-PRINTABLE")
}

// plainValue undoes the encoding of a value, which is UTF-8 unless it says Latin-1. One that can't
// be read stays as it is.
func plainValue(parameters, value string) string {
	if isQuotedPrintable(parameters) {
		if plain, err := io.ReadAll(quotedprintable.NewReader(strings.NewReader(value))); err == nil {
			value = string(plain)
		}
	}
	if !utf8.ValidString(value) {
		if plain, err := charmap.Windows1252.NewDecoder().String(value); err == nil {
			value = plain
		}
	}
	return value
}

// wholeName is a name from its parts: the family name, the given one, further ones, what stands in
// front and behind.
func wholeName(value string) string {
	parts := append(fields(value), "", "", "", "", "")
	return strings.Join(strings.Fields(strings.Join([]string{parts[3], parts[1], parts[2], parts[0], parts[4]}, " ")), " ")
}

// joined writes the parts of a value that are not empty in one line.
func joined(value, separator string) string {
	return strings.Join(slices.DeleteFunc(fields(value), func(part string) bool { return part == "" }), separator)
}

// fields returns the parts of a value between semicolons that are not escaped.
func fields(value string) (parts []string) {
	from := 0
	for n := 0; n <= len(value); n++ {
		switch {
		case n < len(value) && value[n] == '\\':
			n++
		case n == len(value) || value[n] == ';':
			parts = append(parts, strings.TrimSpace(vcardValue(value[from:n])))
			from = n + 1
		}
	}
	if from < len(value) { // it ends in a backslash
		parts = append(parts, strings.TrimSpace(vcardValue(value[from:])))
	}
	return parts
}

// labelOf is what a number is for: the first type that says something.
func labelOf(parameters string) string {
	for parameter := range strings.SplitSeq(parameters, ";") {
		key, value, named := strings.Cut(parameter, "=")
		if named && !strings.EqualFold(key, "type") {
			continue
		}
		if !named {
			value = key // as version 2.1 writes it
		}
		for one := range strings.SplitSeq(strings.Trim(value, `"`), ",") {
			if one = strings.ToUpper(strings.TrimSpace(one)); one != "" && one != "VOICE" && one != "PREF" && one != "INTERNET" {
				return one
			}
		}
	}
	return ""
}

func vcardValue(text string) string {
	return strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\N`, "\n", `\,`, ",", `\;`, ";", `\:`, ":").Replace(text)
}

// vcardParameter returns the value of a parameter, empty where it is not there.
func vcardParameter(parameters, name string) string {
	for parameter := range strings.SplitSeq(parameters, ";") {
		if key, value, _ := strings.Cut(parameter, "="); strings.EqualFold(key, name) {
			return strings.Trim(value, `"`)
		}
	}
	return ""
}

func digitsOf(text string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, text)
}
