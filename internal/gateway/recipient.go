// Whom a message goes to: numbers and chat IDs in the forms that clients write.

package gateway

import (
	"errors"
	"strings"
)

const (
	minNumberDigits = 7
	maxNumberDigits = 15

	brazil             = "55"
	brazilMobileDigits = 11
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

// ParseNumber reads a phone number into digits with country code. Blanks, dots,
// dashes and parentheses are dropped. A Brazilian mobile number without its
// country code gets it, unless a leading + says that the number is complete. A
// number that begins with 0, as it is dialled within a country, is refused. It reports
// whether text is a number.
func ParseNumber(text string) (string, bool) {
	text = strings.TrimSpace(text)
	rest, international := strings.CutPrefix(text, "+")
	var digits strings.Builder
	for _, c := range []byte(rest) {
		switch {
		case c >= '0' && c <= '9':
			digits.WriteByte(c)
		case strings.IndexByte(" .-()", c) >= 0:
		default:
			return "", false
		}
	}
	number := digits.String()
	if len(number) < minNumberDigits || len(number) > maxNumberDigits || number[0] == '0' {
		return "", false // no country code begins with 0
	}
	if !international && isBrazilianMobile(number) {
		number = brazil + number
	}
	return number, true
}

// NumberForms returns the forms of a number, in digits with country code, under which the
// platform may have its account: Brazilian mobile numbers are registered with their first 9
// or without it, by their age. The given form comes first.
func NumberForms(number string) []string {
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

// explainNumber returns the error that says why a text is no number.
func explainNumber(text string) error {
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
