// Which templates can be used.

package template

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/recado-project/recado/internal/gateway"
)

// How long the parts may be, in characters, and how many buttons there are. They are Meta's limits, so that a template
// can be moved there.
const (
	maxName       = 512
	maxHeader     = 60
	maxBody       = 1024
	maxFooter     = 60
	maxButtons    = 10
	maxButtonText = 25
	maxURL        = 2000
	maxPhone      = 20
	maxCode       = 20
)

var (
	goodName     = regexp.MustCompile(`^[a-z0-9_]+$`)
	goodLanguage = regexp.MustCompile(`^[a-z]{2,3}(_[A-Z]{2,4})?$`)
	goodPhone    = regexp.MustCompile(`^\+?[0-9 ()-]+$`)
	// placeholder is where a parameter stands.
	placeholder = regexp.MustCompile(`\{\{ *([a-z0-9_]{1,64}) *\}\}`)
	named       = regexp.MustCompile(`^[a-z0-9_]*[a-z][a-z0-9_]*$`)
)

// placeholders returns the names of the parameters in a text, each once, in the order in which they come first.
func placeholders(text string) (names []string) {
	for _, found := range placeholder.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(names, found[1]) {
			names = append(names, found[1])
		}
	}
	return names
}

// faults are the fields that are wrong.
type faults []gateway.FieldError

func (f *faults) add(field, format string, args ...any) {
	*f = append(*f, gateway.FieldError{Field: field, Message: fmt.Sprintf(format, args...)})
}

func (f faults) err() error {
	if len(f) == 0 {
		return nil
	}
	return gateway.InvalidFields(f...)
}

// check says why a template can't be used.
func (t *Template) check() error {
	var wrong faults
	if len(t.Name) > maxName || !goodName.MatchString(t.Name) {
		wrong.add("name", "must have small letters, digits and underscores alone, 512 at most")
	}
	if !goodLanguage.MatchString(t.Language) {
		wrong.add("language", "must be a language such as pt_BR or en")
	}
	if !slices.Contains([]string{"MARKETING", "UTILITY", "AUTHENTICATION"}, t.Category) {
		wrong.add("category", "must be MARKETING, UTILITY or AUTHENTICATION")
	}
	if t.Parameters != Positional && t.Parameters != Named {
		wrong.add("parameterFormat", "must be POSITIONAL or NAMED")
	}
	seen := map[Part]bool{}
	for n, c := range t.Components {
		field := "components[" + strconv.Itoa(n) + "]"
		if seen[c.Part] {
			wrong.add(field+".type", "must not be there twice")
		}
		seen[c.Part] = true
		t.checkComponent(&wrong, field, c)
	}
	if !seen[Body] {
		wrong.add("components", "must have a BODY")
	}
	return wrong.err()
}

func (t *Template) checkComponent(wrong *faults, field string, c Component) {
	if c.Part != Header && c.Format != "" {
		wrong.add(field+".format", "is for the HEADER alone")
	}
	if c.Part != Buttons && len(c.Buttons) > 0 {
		wrong.add(field+".buttons", "are for the component BUTTONS alone")
	}
	text := field + ".text"
	switch c.Part {
	case Header:
		switch c.Format {
		case FormatText:
			t.checkText(wrong, text, c.Text, maxHeader)
			if len(placeholders(c.Text)) > 1 {
				wrong.add(text, "must have one parameter at most")
			}
		case FormatImage, FormatVideo, FormatDocument:
			if c.Text != "" {
				wrong.add(text, "must be left out where the header is a file")
			}
		default:
			wrong.add(field+".format", "must be TEXT, IMAGE, VIDEO or DOCUMENT")
		}
	case Body:
		t.checkText(wrong, text, c.Text, maxBody)
	case Footer:
		t.checkText(wrong, text, c.Text, maxFooter)
		if len(placeholders(c.Text)) > 0 {
			wrong.add(text, "must have no parameter")
		}
	case Buttons:
		if c.Text != "" {
			wrong.add(text, "must be left out: buttons have their own")
		}
		if len(c.Buttons) == 0 || len(c.Buttons) > maxButtons {
			wrong.add(field+".buttons", "must be 1 to %d", maxButtons)
		}
		for n, button := range c.Buttons {
			button.check(wrong, field+".buttons["+strconv.Itoa(n)+"]")
		}
	default:
		wrong.add(field+".type", "must be HEADER, BODY, FOOTER or BUTTONS")
	}
}

// checkText checks a text with parameters.
func (t *Template) checkText(wrong *faults, field, text string, most int) {
	if !fits(text, most) {
		wrong.add(field, "must have 1 to %d characters", most)
		return
	}
	if strings.Contains(placeholder.ReplaceAllString(text, ""), "{{") {
		wrong.add(field, "has {{ where no parameter follows: write {{1}} or {{name}}")
	}
	names := placeholders(text)
	for _, name := range names {
		number, err := strconv.Atoi(name)
		switch {
		case t.Parameters == Named && !named.MatchString(name):
			wrong.add(field, "must have no numbers for parameters, but names with a letter")
		case t.Parameters == Positional && (err != nil || number < 1 || number > len(names) || strconv.Itoa(number) != name):
			wrong.add(field, "must number its parameters from 1 without a gap")
		default:
			continue
		}
		return
	}
}

// fits reports whether a text is there, and not too long.
func fits(text string, most int) bool {
	return utf8.ValidString(text) && strings.TrimSpace(text) != "" && utf8.RuneCountInString(text) <= most
}

func (b Button) check(wrong *faults, field string) {
	if b.Does != CopyCode && (!fits(b.Text, maxButtonText) || strings.ContainsAny(b.Text, "\r\n")) {
		wrong.add(field+".text", "must have 1 to %d characters in one line", maxButtonText)
	}
	switch b.Does {
	case QuickReply:
	case OpenURL:
		// With a parameter in place, it has to be an address still.
		address, err := url.Parse(placeholder.ReplaceAllString(b.URL, "1"))
		if len(b.URL) > maxURL || err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https" {
			wrong.add(field+".url", "must be an http or https URL of %d characters at most", maxURL)
		} else if names := placeholders(b.URL); len(names) > 1 || len(names) == 1 && !strings.HasSuffix(b.URL, "}}") {
			wrong.add(field+".url", "must have one parameter at most, at its end")
		}
	case Call:
		if !fits(b.PhoneNumber, maxPhone) || !goodPhone.MatchString(b.PhoneNumber) {
			wrong.add(field+".phoneNumber", "must be a phone number with country code, of %d characters at most", maxPhone)
		}
	case CopyCode:
		if !fits(b.Example, maxCode) || strings.ContainsAny(b.Example, "\r\n") {
			wrong.add(field+".example", "must be a code of 1 to %d characters", maxCode)
		}
	default:
		wrong.add(field+".type", "must be QUICK_REPLY, URL, PHONE_NUMBER or COPY_CODE")
	}
}
