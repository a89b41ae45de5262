// Package phonenumber reads phone numbers: which ones can exist, which form an
// account is kept under, and how the phone of a number behaves.
package phonenumber

import (
	"strings"

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
	if inPlan(digits) {
		return true
	}
	// Brazilian mobile numbers without their ninth digit, and Mexican ones with a 1, are not in the
	// numbering plan, but some accounts have such a number.
	if len(digits) == shortBrazil && strings.HasPrefix(digits, brazil) && inPlan(digits[:areaEnd]+"9"+digits[areaEnd:]) {
		return true
	}
	if short, ok := without(digits, mexico); ok {
		return inPlan(short)
	}
	return isForTests(digits)
}

// forTests are the numbers that nobody has, and that people therefore use in tests and films: those
// of North America with 555, of the United Kingdom that Ofcom keeps for it, and of Brazil in blocks
// that Anatel has given to nobody.
const forTests = `^(1(555[0-9]{7}|[2-9][0-9]{2}555[0-9]{4})` +
	`|44(7700900[0-9]{3}|2079460[0-9]{3}|1632960[0-9]{3}|1(1[3-8]|[2-6]1)4960[0-9]{3}|29(18|20)180[0-9]{3}|2896496[0-9]{3}|1914980[0-9]{3}|8081570[0-9]{3}|9098790[0-9]{3}|3069990[0-9]{3})` +
	`|55[1-9]{2}(9[0-9]{8}|[2-5][0-9]{7}))$`

func isForTests(digits string) bool { return pattern(forTests).MatchString(digits) }

// The countries whose accounts may have a digit after the country code that people do not dial.
const mexico, argentina = "521", "549"

// without returns a number of such a country without the digit.
func without(digits, country string) (short string, ok bool) {
	const local = 10 // digits
	if len(digits) != len(country)+local || !strings.HasPrefix(digits, country) {
		return "", false
	}
	return country[:2] + digits[len(country):], true
}

// with returns a number of such a country with the digit.
func with(digits, country string) (long string, ok bool) {
	const local = 10 // digits
	if len(digits) != len(country)-1+local || !strings.HasPrefix(digits, country[:2]) {
		return "", false
	}
	return country + digits[2:], true
}

// Canonical returns the digits that the account of a number is kept under. It
// changes only numbers of Brazil, Mexico and Argentina: an account has thirteen digits if the last
// one is even, and twelve if it is odd, whichever form is asked for.
func Canonical(digits string) string {
	if !IsDigits(digits) {
		return digits
	}
	even := (digits[len(digits)-1]-'0')%2 == 0
	for _, country := range []string{mexico, argentina} {
		change := without
		if even {
			change = with
		}
		if changed, ok := change(digits, country); ok {
			return changed
		}
	}
	switch {
	case !strings.HasPrefix(digits, brazil):
		return digits
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
