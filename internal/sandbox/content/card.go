package content

import (
	"strings"

	"go.mau.fi/whatsmeow/proto/waE2E"

	"github.com/recado-project/recado/internal/sandbox/phonenumber"
)

// parseCard reads a contact card as phones show it. Its number is the one on the
// platform, if the card has it.
func parseCard(text string) Contact {
	var card Contact
	for _, line := range unfold(text) {
		head, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		property, parameters, _ := strings.Cut(head, ";")
		if _, after, grouped := strings.Cut(property, "."); grouped {
			property = after
		}
		switch strings.ToUpper(strings.TrimSpace(property)) {
		case "FN":
			card.FullName = unescapeCard(value)
		case "TEL":
			if card.PhoneNumber == "" {
				card.PhoneNumber = cardNumber(parameters, value)
			}
		case "ORG":
			card.Organization = unescapeCard(withoutUnits(value))
		}
	}
	return card
}

// CardAccounts returns the numbers that the cards in a message say are accounts, so that people can
// write to them.
func CardAccounts(m *waE2E.Message) (numbers []string) {
	inner := Unwrap(m)
	cards := []*waE2E.ContactMessage{inner.GetContactMessage()}
	for _, card := range append(cards, inner.GetContactsArrayMessage().GetContacts()...) {
		for _, line := range unfold(card.GetVcard()) {
			head, _, _ := strings.Cut(line, ":")
			for parameter := range strings.SplitSeq(head, ";") {
				if name, digits, _ := strings.Cut(parameter, "="); strings.EqualFold(name, "waid") {
					numbers = append(numbers, digits)
				}
			}
		}
	}
	return numbers
}

// unfold splits a card into its lines. A line that begins with a blank continues
// the one before.
func unfold(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if n := len(lines); n > 0 && (strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")) {
			lines[n-1] += line[1:]
			continue
		}
		lines = append(lines, line)
	}
	return lines
}

// cardNumber returns the digits of the parameter waid, or the number as it is
// written.
func cardNumber(parameters, value string) string {
	for parameter := range strings.SplitSeq(parameters, ";") {
		name, digits, _ := strings.Cut(parameter, "=")
		if strings.EqualFold(name, "waid") && phonenumber.IsDigits(digits) {
			return digits
		}
	}
	return unescapeCard(value)
}

// withoutUnits removes the empty parts after an organization's name.
func withoutUnits(value string) string {
	for strings.HasSuffix(value, ";") && !strings.HasSuffix(value, `\;`) {
		value = value[:len(value)-1]
	}
	return value
}

func unescapeCard(text string) string {
	return strings.NewReplacer(`\\`, `\`, `\,`, ",", `\;`, ";", `\n`, "\n", `\N`, "\n").Replace(text)
}

// writeCard is the inverse of parseCard.
func writeCard(card Contact) string {
	escape := strings.NewReplacer(`\`, `\\`, ",", `\,`, ";", `\;`, "\r", "", "\n", `\n`)
	lines := []string{
		"BEGIN:VCARD", "VERSION:3.0",
		"N:;" + escape.Replace(card.FullName) + ";;;", "FN:" + escape.Replace(card.FullName),
	}
	if card.Organization != "" {
		lines = append(lines, "ORG:"+escape.Replace(card.Organization))
	}
	lines = append(lines, "TEL;type=CELL;type=VOICE;waid="+card.PhoneNumber+":+"+card.PhoneNumber, "END:VCARD")
	return strings.Join(lines, "\n")
}
