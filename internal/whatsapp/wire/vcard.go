package wire

import (
	"strings"

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
	lines = append(lines,
		"TEL;type=CELL;type=VOICE;waid="+card.PhoneNumber+":+"+card.PhoneNumber,
		"END:VCARD")
	return strings.Join(lines, "\n")
}

// vcardText escapes what has a meaning in a card.
func vcardText(text string) string {
	return strings.NewReplacer(`\`, `\\`, "\r\n", `\n`, "\n", `\n`, "\r", `\n`, ",", `\,`, ";", `\;`).Replace(text)
}

// parseVCard reads the name, the number that can be written to and the organization of a
// card. A part that it lacks stays empty.
func parseVCard(text string) gateway.ContactCard {
	var card gateway.ContactCard
	written := false // whether the number is one that can be written to
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		if !ok {
			continue
		}
		property, parameters, _ := strings.Cut(name, ";")
		// A group in front, as in "item1.TEL", says which properties belong together.
		property = property[strings.LastIndexByte(property, '.')+1:]
		switch strings.ToUpper(property) {
		case "FN":
			card.FullName = vcardValue(value)
		case "ORG":
			card.Organization = strings.TrimRight(vcardValue(value), ";")
		case "TEL":
			if waid := vcardParameter(parameters, "waid"); waid != "" && !written {
				card.PhoneNumber, written = digitsOf(waid), true
			} else if card.PhoneNumber == "" {
				card.PhoneNumber = digitsOf(value)
			}
		}
	}
	return card
}

func vcardValue(text string) string {
	return strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\N`, "\n", `\,`, ",", `\;`, ";").Replace(text)
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
