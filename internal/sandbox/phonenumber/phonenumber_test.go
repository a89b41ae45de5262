package phonenumber

import (
	"errors"
	"testing"

	"github.com/recado-project/recado/internal/sandbox/refusal"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestCanonical(t *testing.T) {
	t.Parallel()
	for number, want := range cases.Sorted(map[string]string{
		"5511933330014":  "5511933330014",  // even: with the ninth digit
		"551133330014":   "5511933330014",  // even, asked without
		"5511933330015":  "551133330015",   // odd, asked with
		"551133330015":   "551133330015",   // odd: without the ninth digit
		"5511833330015":  "5511833330015",  // the fifth digit is no ninth digit
		"55119333300":    "55119333300",    // too short for either form
		"55119333300145": "55119333300145", // too long
		"4915100000015":  "4915100000015",  // not from Brazil
		"5215512345678":  "5215512345678",  // Mexico, even: with the 1
		"525512345678":   "5215512345678",  // even, asked without
		"5215512345679":  "525512345679",   // odd, asked with
		"541123456788":   "5491123456788",  // Argentina, even: with the 9
		"5491123456789":  "541123456789",   // odd: without
		"551":            "551",
		"":               "",
		"55113333001x":   "55113333001x",
	}) {
		if got := Canonical(number); got != want {
			t.Errorf("%s is %s, want %s", number, got, want)
		}
		if again := Canonical(Canonical(number)); again != want {
			t.Errorf("%s is not stable: %s", number, again)
		}
	}
}

func TestParseNumber(t *testing.T) {
	t.Parallel()
	for raw, want := range cases.Sorted(map[string]string{
		"+49 (151) 0000-00.14":         "4915100000014",
		"4915100000014@s.whatsapp.net": "4915100000014",
		"4915100000014@c.us":           "4915100000014",
		"+55 11 3333-0014":             "5511933330014",
	}) {
		if got, err := Parse(raw); err != nil || got != want {
			t.Errorf("%s is %s, %v", raw, got, err)
		}
	}
	for _, raw := range []string{"", "123456", "1234567890123456", "12345x789", "120363000000000000@g.us", "++4915100000014"} {
		got, err := Parse(raw)
		var refused *refusal.Error
		if !errors.As(err, &refused) || refused.Kind != refusal.Invalid {
			t.Errorf("%s is %s, %v", raw, got, err)
		}
	}
}

func TestNumbersThatCannotBe(t *testing.T) {
	t.Parallel()
	for number, want := range cases.Sorted(map[string]bool{
		"5511988887766": true, "551188887766": true, "551188887765": true, "551133330014": true, "4915100000014": true,
		"14155550123": true, "351912345678": true, "5215512345678": true, "525512345678": true, "5491123456789": true,
		"15550783881": true, "15555550100": true, "447700900123": true, "442079460123": true, "441632960123": true, // for tests
		"5511900000000": true, "5511955550100": true, "551155550100": true,

		"01188887766": false, "011988887766": false, // with the zero before an area code
		"88887766": false, "1188887766": false, "11988887766": false, "21988887766": false, "31988887766": false, // without 55
		"999123456789": false, "5500988887766": false, "55119888877": false, "555511988887766": false, "1234567": false,
	}) {
		if got := CanExist(number); got != want {
			t.Errorf("%s can exist: %t", number, got)
		}
		if _, err := Parse(number); (err == nil) != want {
			t.Errorf("%s is read: %v", number, err)
		}
	}
}

func TestBehaviourOf(t *testing.T) {
	t.Parallel()
	for number, want := range cases.Sorted(map[string]Behaviour{
		"4915100000000": {Online: true, Reads: true},
		"4915100000001": {Registered: true, Online: true, Echoes: true, Reads: true},
		"4915100000002": {Registered: true, Reads: true},
		"4915100000003": {Registered: true, Online: true},
		"4915100000004": {Registered: true, Online: true, Reads: true},
	}) {
		if got := BehaviourOf(number); got != want {
			t.Errorf("%s behaves as %+v", number, got)
		}
	}
}

func FuzzParseNumber(f *testing.F) {
	f.Add("+55 (11) 93333-0014")
	f.Add("551133330015@s.whatsapp.net")
	f.Fuzz(func(t *testing.T, raw string) {
		number, err := Parse(raw)
		if err == nil && (Canonical(number) != number || !IsDigits(number)) {
			t.Errorf("%q became %q", raw, number)
		}
	})
}
