// Package phonenumber reads phone numbers: which ones can exist, which form an
// account is kept under, and how the phone of a number behaves.
package phonenumber

import (
	"strings"

	"github.com/nyaruka/phonenumbers"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/refusal"
)

const (
	minDigits = 7
	maxDigits = 15

	brazil      = "55"
	areaEnd     = 4  // country and area code
	shortBrazil = 12 // without the ninth digit
	longBrazil  = 13
)

// Parse reads a number as people write it, such as "+55 (11) 99999-0000", or a
// personal chat ID by number. It returns the canonical digits.
func Parse(raw string) (string, error) {
	text := strings.TrimSpace(raw)
	for _, suffix := range []string{"@" + types.DefaultUserServer, "@" + types.LegacyUserServer} {
		text = strings.TrimSuffix(text, suffix)
	}
	text = strings.TrimPrefix(text, "+")
	text = strings.Map(func(r rune) rune {
		if strings.ContainsRune(" .-()", r) {
			return -1
		}
		return r
	}, text)
	if len(text) < minDigits || len(text) > maxDigits || !IsDigits(text) {
		return "", refusal.Invalidf("number", "a phone number has %d to %d digits", minDigits, maxDigits)
	}
	if !CanExist(text) {
		return "", refusal.Invalidf("number", "no phone can have this number: it begins with a country code, such as 55, "+
			"and has as many digits as numbers of that country have")
	}
	return Canonical(text), nil
}

// CanExist reports whether a phone can have these digits as its number. They
// include the country code.
func CanExist(digits string) bool {
	if len(digits) < minDigits || len(digits) > maxDigits || !IsDigits(digits) {
		return false
	}
	if isValid(digits) {
		return true
	}
	// Brazilian mobile numbers without their ninth digit are not in the numbering
	// plan, but some accounts have such a number.
	return len(digits) == shortBrazil && strings.HasPrefix(digits, brazil) && isValid(digits[:areaEnd]+"9"+digits[areaEnd:])
}

func isValid(digits string) bool {
	number, err := phonenumbers.Parse("+"+digits, "")
	return err == nil && phonenumbers.IsValidNumber(number)
}

// Canonical returns the digits that the account of a number is kept under. It
// changes only Brazilian numbers: an account has thirteen digits if the last one is
// even, and twelve if it is odd, whichever form is asked for.
func Canonical(digits string) string {
	if !strings.HasPrefix(digits, brazil) || !IsDigits(digits) {
		return digits
	}
	even := (digits[len(digits)-1]-'0')%2 == 0
	switch {
	case len(digits) == shortBrazil && even:
		return digits[:areaEnd] + "9" + digits[areaEnd:]
	case len(digits) == longBrazil && !even && digits[areaEnd] == '9':
		return digits[:areaEnd] + digits[areaEnd+1:]
	default:
		return digits
	}
}

// IsDigits reports whether a text is digits, and at least one.
func IsDigits(text string) bool {
	for _, r := range text {
		if r < '0' || r > '9' {
			return false
		}
	}
	return text != ""
}

// Behaviour is what a phone does by itself. The end of its number decides it.
type Behaviour struct {
	Registered bool
	Online     bool
	Echoes     bool
	Reads      bool
}

// BehaviourOf returns how the phone of a number behaves.
func BehaviourOf(number string) Behaviour {
	b := Behaviour{Registered: true, Online: true, Reads: true}
	switch {
	case strings.HasSuffix(number, "0000"):
		b.Registered = false
	case strings.HasSuffix(number, "0001"):
		b.Echoes = true
	case strings.HasSuffix(number, "0002"):
		b.Online = false
	case strings.HasSuffix(number, "0003"):
		b.Reads = false
	}
	return b
}
