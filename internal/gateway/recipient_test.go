package gateway_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestParseRecipient(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		want gateway.Recipient // the zero value: refused
	}{
		"international number":         {"5511988887766", gateway.Recipient{Number: "5511988887766"}},
		"with a plus":                  {"+5511988887766", gateway.Recipient{Number: "5511988887766"}},
		"written for people":           {" +55 (11) 98888-7766 ", gateway.Recipient{Number: "5511988887766"}},
		"with dots":                    {"55.11.98888.7766", gateway.Recipient{Number: "5511988887766"}},
		"Brazilian mobile":             {"11988887766", gateway.Recipient{Number: "5511988887766"}},
		"Brazilian mobile for people":  {"(11) 98888-7766", gateway.Recipient{Number: "5511988887766"}},
		"plus switches the rule off":   {"+11988887766", gateway.Recipient{Number: "11988887766"}},
		"no area code of Brazil":       {"20988887766", gateway.Recipient{Number: "20988887766"}},
		"no nine after the area code":  {"11388887766", gateway.Recipient{Number: "11388887766"}},
		"eleven digits of the USA":     {"14155550123", gateway.Recipient{Number: "14155550123"}},
		"Brazilian with twelve digits": {"551188887766", gateway.Recipient{Number: "551188887766"}},
		"shortest":                     {"1234567", gateway.Recipient{Number: "1234567"}},
		"longest":                      {"123456789012345", gateway.Recipient{Number: "123456789012345"}},
		"personal chat ID":             {"5511988887766@s.whatsapp.net", gateway.Recipient{Chat: "5511988887766@s.whatsapp.net"}},
		"personal chat ID of old":      {"5511988887766@c.us", gateway.Recipient{Chat: "5511988887766@s.whatsapp.net"}},
		"with a device":                {"5511988887766:12@s.whatsapp.net", gateway.Recipient{Chat: "5511988887766@s.whatsapp.net"}},
		"group":                        {"120363012345678901@g.us", gateway.Recipient{Chat: "120363012345678901@g.us"}},
		"group of old":                 {"5511988887766-1600000000@g.us", gateway.Recipient{Chat: "5511988887766-1600000000@g.us"}},
		"LID":                          {"123456789012345678@lid", gateway.Recipient{Chat: "123456789012345678@lid"}},
		"LID with a device":            {"12345678:3@lid", gateway.Recipient{Chat: "12345678@lid"}},
		"trunk zero":                   {"011988887766", gateway.Recipient{}},
		"trunk zero without nine":      {"01188887766", gateway.Recipient{}},
		"zero after a plus":            {"+0511988887766", gateway.Recipient{}},
		"zeros to dial abroad":         {"005511988887766", gateway.Recipient{}},
		"trunk zero in brackets":       {"+55 (0)11 98888-7766", gateway.Recipient{Number: "5511988887766"}},
		"trunk zero apart":             {"+44 ( 0 ) 20 7946 0958", gateway.Recipient{Number: "442079460958"}},
		"invisible characters":         {"\u202a+55\u00a011\u00a098888\u20117766\u202c", gateway.Recipient{Number: "5511988887766"}},
		"of a spreadsheet":             {"5511988887766.0", gateway.Recipient{}},
		"zero for people":              {"(0) 11 98888-7766", gateway.Recipient{}},
		"empty":                        {"", gateway.Recipient{}},
		"too short":                    {"123456", gateway.Recipient{}},
		"too long":                     {"1234567890123456", gateway.Recipient{}},
		"letters":                      {"55119888877ab", gateway.Recipient{}},
		"two pluses":                   {"++5511988887766", gateway.Recipient{}},
		"plus inside":                  {"55+11988887766", gateway.Recipient{}},
		"digits of another script":     {"٥٥١١٩٨٨٨٨٧٧٦٦", gateway.Recipient{}},
		"unknown suffix":               {"5511988887766@example.com", gateway.Recipient{}},
		"no digits before the suffix":  {"@s.whatsapp.net", gateway.Recipient{}},
		"letters before the suffix":    {"abc@s.whatsapp.net", gateway.Recipient{}},
		"device that is no number":     {"5511988887766:x@s.whatsapp.net", gateway.Recipient{}},
		"group with a device":          {"120363012345678901:1@g.us", gateway.Recipient{}},
		"group with two dashes":        {"1-2-3@g.us", gateway.Recipient{}},
		"longer than any chat ID":      {strings.Repeat("1", 60) + "@lid", gateway.Recipient{}},
		"two suffixes":                 {"1@lid@lid", gateway.Recipient{}},
	}
	for name, c := range cases.Sorted(tests) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := gateway.ParseRecipient(c.text)
			if got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if refused := errors.Is(err, gateway.ErrRecipient); refused != (c.want == gateway.Recipient{}) {
				t.Errorf("answered %v", err)
			}
		})
	}
}

// Every area code in use gets the country code, and no other does.
func TestBrazilianAreaCodes(t *testing.T) {
	t.Parallel()
	completed := 0
	for first := '0'; first <= '9'; first++ {
		for second := '0'; second <= '9'; second++ {
			number := string(first) + string(second) + "988887766"
			if got, ok := gateway.ParseNumber(number); ok && got == "55"+number {
				completed++
			}
		}
	}
	if completed != 67 {
		t.Errorf("%d area codes are completed, Brazil has 67", completed)
	}
}

func FuzzParseRecipient(f *testing.F) {
	for _, seed := range []string{"5511988887766", "+1 (415) 555-0123", "1-2@g.us", "1:2@lid", "@", "true_1@c.us_3EB0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		recipient, err := gateway.ParseRecipient(text)
		if err != nil {
			if recipient != (gateway.Recipient{}) {
				t.Errorf("refused %q and answered %+v", text, recipient)
			}
			return
		}
		if (recipient.Number == "") == (recipient.Chat == "") {
			t.Fatalf("%q is %+v: neither a number nor a chat", text, recipient)
		}
		// What was read is in its final form: reading it again changes nothing.
		again, err := gateway.ParseRecipient("+" + recipient.Number)
		if recipient.Chat != "" {
			again, err = gateway.ParseRecipient(string(recipient.Chat))
		}
		if err != nil || again != recipient {
			t.Errorf("%q is %+v, and that is %+v (%v)", text, recipient, again, err)
		}
	})
}

// A number as it is dialled within the country is refused with what to do.
func TestTrunkZeroIsExplained(t *testing.T) {
	t.Parallel()
	for text, want := range cases.Sorted(map[string]bool{
		"011988887766": true, "(0) 11 98888-7766": true, "+0511988887766": true, "005511988887766": true,
		"0": false, "0abc": false, "0123": false, "x": false, "123456": false,
	}) {
		_, err := gateway.ParseRecipient(text)
		if err == nil || strings.Contains(err.Error(), "must not begin with 0") != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestNumberForms(t *testing.T) {
	t.Parallel()
	for number, want := range cases.Sorted(map[string][]string{
		"5511988887766": {"5511988887766", "551188887766"},
		"551188887766":  {"551188887766", "5511988887766"},
		"5500988887766": {"5500988887766"}, // no such area
		"15551234567":   {"15551234567"},
		"55":            {"55"},
	}) {
		if got := gateway.NumberForms(number); !slices.Equal(got, want) {
			t.Errorf("%s has the forms %v, want %v", number, got, want)
		}
	}
}
