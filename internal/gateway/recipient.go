// Whom a message goes to: numbers and chat IDs in the forms that clients write.

package gateway

import (
	"errors"
	"strings"
	"unicode"
)

const (
	minNumberDigits = 7
	maxNumberDigits = 15

	brazil             = "55"
	brazilMobileDigits = 11

	mexico         = "52"
	argentina      = "54"
	nationalDigits = 10 // of both
)

// Recipient is the chat that a message goes to: either a number that the platform has to
// look up, or a chat ID that is used as it is.
type Recipient struct {
	Number string // digits with country code; empty for a chat ID
	Chat   JID    // empty for a number
}

// IsPerson reports whether the recipient is somebody: no group, no channel, and not all who see
// status posts.
func (r Recipient) IsPerson() bool {
	return !r.Chat.IsGroup() && !r.Chat.IsChannel() && !r.Chat.IsStatus()
}

// ErrRecipient says what a recipient has to look like.
var ErrRecipient = errors.New("must be a phone number with country code (7 to 15 digits), " +
	"a Brazilian mobile number of 11 digits, or a chat ID ending in @" +
	PersonalSuffix + ", @" + GroupSuffix + ", @" + ChannelSuffix + " or @" + LIDSuffix)

// leadingZeroError is ErrRecipient for a number as it is dialled within a country.
type leadingZeroError struct{}

// Error says what to write instead.
func (leadingZeroError) Error() string {
	return "must not begin with 0: leave it out and write the country code in front (Brazil: 55)"
}

// Is reports that it is an ErrRecipient.
func (leadingZeroError) Is(target error) bool { return target == ErrRecipient }

// ParseRecipient reads a recipient in every format of the contract
// ("Recipient and phone-number formats"). It returns ErrRecipient for anything
// else.
func ParseRecipient(text string) (Recipient, error) {
	if strings.Contains(text, "@") {
		chat, ok := ParseJID(strings.TrimSpace(text))
		if !ok || chat.IsStatus() {
			return Recipient{}, ErrRecipient
		}
		return Recipient{Chat: chat}, nil
	}
	number, ok := ParseNumber(text)
	if !ok {
		return Recipient{}, explainNumber(text)
	}
	return Recipient{Number: number}, nil
}

// spreadsheetError is ErrRecipient for a number that a spreadsheet has written as a decimal.
type spreadsheetError struct{}

// Error says what to write instead.
func (spreadsheetError) Error() string {
	return "must not end in .0, as spreadsheets write numbers: format the column as text"
}

// Is reports that it is an ErrRecipient.
func (spreadsheetError) Is(target error) bool { return target == ErrRecipient }

// ParseNumber reads a phone number into digits with country code. Blanks, dots, dashes,
// parentheses and characters that can't be seen are dropped, and a 0 in parentheses behind the
// country code. A Brazilian mobile number without its
// country code gets it, unless a leading + says that the number is complete. A
// number that begins with 0, as it is dialled within a country, is refused. It reports
// whether text is a number.
func ParseNumber(text string) (string, bool) {
	text = strings.Map(func(r rune) rune {
		if isBetweenDigits(r) {
			return -1
		}
		return r
	}, text)
	rest, international := strings.CutPrefix(text, "+")
	if isDecimal(rest) {
		return "", false
	}
	if code, local, found := strings.Cut(rest, "(0)"); found && code != "" { // it is dialled within the country alone
		rest = code + local
	}
	number := strings.NewReplacer(".", "", "(", "", ")", "").Replace(rest)
	if strings.Trim(number, "0123456789") != "" {
		return "", false
	}
	if len(number) < minNumberDigits || len(number) > maxNumberDigits || number[0] == '0' {
		return "", false // no country code begins with 0
	}
	if !international && isBrazilianMobile(number) {
		number = brazil + number
	}
	return number, true
}

// IsOfNumber reports whether ParseNumber takes a character.
func IsOfNumber(r rune) bool {
	return '0' <= r && r <= '9' || strings.ContainsRune("+.()", r) || isBetweenDigits(r)
}

// isBetweenDigits reports whether a character says nothing in a number.
func isBetweenDigits(r rune) bool {
	return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Pd, r) || r == '\u2212' // which is a minus
}

// isDecimal reports whether a text is a whole number with decimal places.
func isDecimal(text string) bool {
	whole, places, found := strings.Cut(text, ".")
	return found && len(whole) >= minNumberDigits && places != "" && strings.Trim(places, "0") == ""
}

// NumberForms returns the forms of a number, in digits with country code, under which the
// platform may have its account: Brazilian mobile numbers are registered with their first 9
// or without it, Mexican ones with a 1 behind the country code or without it, by their age, and
// Argentinian ones with a 9, which people write as a 15 behind the area code. The given form comes
// first.
func NumberForms(number string) []string {
	if local, ok := strings.CutPrefix(number, mexico); ok {
		return append([]string{number}, withDigit(mexico, "1", local)...)
	}
	if local, ok := strings.CutPrefix(number, argentina); ok {
		return append([]string{number}, argentinian(local)...)
	}
	local, brazilian := strings.CutPrefix(number, brazil)
	switch {
	case brazilian && isBrazilianMobile(local):
		return []string{number, brazil + local[:2] + local[3:]}
	case brazilian && len(local) == brazilMobileDigits-1 && isBrazilianAreaCode(local[:2]):
		return []string{number, brazil + local[:2] + "9" + local[2:]}
	default:
		return []string{number}
	}
}

// withDigit returns the other form of a number of ten digits, which may have one more in front.
func withDigit(country, digit, local string) []string {
	switch rest, has := strings.CutPrefix(local, digit); {
	case has && len(rest) == nationalDigits:
		return []string{country + rest}
	case len(local) == nationalDigits:
		return []string{country + digit + local}
	default:
		return nil
	}
}

// argentinian returns the other forms of a mobile number of Argentina.
func argentinian(local string) (forms []string) {
	for area := 2; area <= 4 && len(local) == nationalDigits+2; area++ {
		if local[area:area+2] == "15" {
			forms = append(forms, argentina+"9"+local[:area]+local[area+2:])
		}
	}
	return append(forms, withDigit(argentina, "9", local)...)
}

// explainNumber returns the error that says why a text is no number.
func explainNumber(text string) error {
	if isDecimal(strings.TrimLeft(strings.TrimSpace(text), "+")) {
		return spreadsheetError{}
	}
	digits := strings.TrimLeft(text, " +.-()")
	if rest, zero := strings.CutPrefix(digits, "0"); zero {
		if _, ok := ParseNumber(strings.TrimLeft(rest, "0")); ok {
			return leadingZeroError{}
		}
	}
	return ErrRecipient
}

// isBrazilianMobile reports whether number is an area code of Brazil, a 9 and
// eight digits.
func isBrazilianMobile(number string) bool {
	return len(number) == brazilMobileDigits && number[2] == '9' && isBrazilianAreaCode(number[:2])
}

// isBrazilianAreaCode knows the 67 area codes in use (ANATEL's numbering plan):
// of each ten, the second digits listed.
func isBrazilianAreaCode(code string) bool {
	inUse := map[byte]string{
		'1': "123456789",
		'2': "12478",
		'3': "1234578",
		'4': "123456789",
		'5': "1345",
		'6': "123456789",
		'7': "134579",
		'8': "123456789",
		'9': "123456789",
	}
	return strings.IndexByte(inUse[code[0]], code[1]) >= 0
}
