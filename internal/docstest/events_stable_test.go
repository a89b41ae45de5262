package docstest_test

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// stableValues puts values that are the same in every run in the place of those
// that differ: the same one for the same, in all examples. They are made from the
// title of the example in which they come first, so that another example changes
// none of those that are there. Its zero value is ready.
type stableValues struct {
	stable map[string]string
}

// exampleTime is when all examples happened. Their sequence is 42.
func exampleTime() time.Time { return time.Date(2026, time.November, 20, 14, 22, 10, 0, time.UTC) }

// momentFields are the fields that hold a time, and how long after the event that
// is.
func momentFields() map[string]time.Duration {
	return map[string]time.Duration{
		"timestamp": 0, "until": 24 * time.Hour, "lastSeen": 0, "failingSince": 0, "expiresAt": time.Minute, "pinnedUntil": 24 * time.Hour, "start": 48 * time.Hour, "end": 49 * time.Hour,
	}
}

// render writes an example as the page shows it.
func (s *stableValues) render(t *testing.T, e example) string {
	t.Helper()
	moments := regexp.MustCompile(`"(\w+)":("\d{4}-\d\d-\d\dT[^"]+"|1\d{12}\b)`)
	envelope := moments.ReplaceAllStringFunc(e.envelope, func(pair string) string {
		field, value, _ := strings.Cut(pair, ":")
		after, known := momentFields()[strings.Trim(field, `"`)]
		if !known {
			t.Errorf("how long after the event is %s in %s?", field, e.envelope)
		}
		moment := exampleTime().Add(after)
		if value[0] != '"' {
			return field + ":" + strconv.FormatInt(moment.UnixMilli(), 10)
		}
		return field + `:"` + moment.Format("2006-01-02T15:04:05.000Z") + `"`
	})
	// The sequence of what is not in the log is no number that differs.
	envelope = regexp.MustCompile(`"sequence":[1-9]\d*`).ReplaceAllLiteralString(envelope, `"sequence":42`)
	envelope = regexp.MustCompile(`"nextSequence":\d+`).ReplaceAllLiteralString(envelope, `"nextSequence":41`)
	envelope = regexp.MustCompile(`#2@[^"]+`).ReplaceAllLiteralString(envelope, `#2@…`)
	// What a passkey signs, and its name.
	envelope = regexp.MustCompile(`"challenge":"[^"]+"`).ReplaceAllLiteralString(envelope, `"challenge":"q3Jv0pZ1nX7d…"`)
	envelope = regexp.MustCompile(`"id":"[\w-]{43}"`).ReplaceAllLiteralString(envelope, `"id":"vK1c8Jg5tQw…"`)
	for _, kind := range kinds() {
		if !kind.named {
			continue
		}
		count := 0
		envelope = kind.pattern.ReplaceAllStringFunc(envelope, func(value string) string {
			if _, known := s.stable[value]; !known {
				count++
				s.know(t, kind.name, value, fmt.Sprint(e.kind, e.title, kind.name, count))
			}
			return s.stable[value]
		})
	}
	return newValues(nil).render("json", envelope)
}

// know chooses what stands for a value from now on.
func (s *stableValues) know(t *testing.T, kind, value, source string) {
	t.Helper()
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(source)))
	digits := strings.Map(func(r rune) rune { return '0' + r%10 }, sum)
	shown := ""
	switch kind {
	case "UUID":
		shown = "01a1fad2-" + sum[:4] + "-7" + sum[4:7] + "-8" + sum[7:10] + "-" + sum[10:22]
	case "message":
		prefix := regexp.MustCompile("^(3EB0|AC)").FindString(value)
		shown = prefix + strings.ToUpper(sum)[:len(value)-len(prefix)]
	case "LID":
		shown = "1" + digits[:14] + "@lid"
	case "group":
		shown = "120363" + digits[:12] + "@g.us"
	case "channel":
		shown = "120364" + digits[:12] + "@newsletter"
	case "hash":
		shown = sum
	default:
		t.Errorf("what stands for a %s such as %s?", kind, value)
	}
	for other, taken := range s.stable {
		if taken == shown {
			t.Errorf("%s stands for %s and for %s", shown, other, value)
		}
	}
	if s.stable == nil {
		s.stable = map[string]string{}
	}
	s.stable[value] = shown
}

func TestEventsDocumentValuesAreStable(t *testing.T) {
	t.Parallel()
	one := `{"id":"01a20010-f30e-7274-874a-399b6eff3bc0","timestamp":"2026-11-21T21:44:00.000Z","sequence":6,"data":` +
		`{"messageId":"AC6D2F2F81A4D3F0BDE10ED32643EC8C","chatLid":"631227052150243@lid","expiresAt":1795209051068}}`
	other := `{"id":"01a2ffff-f30e-7274-874a-399b6eff3bc0","timestamp":"2027-01-21T21:44:00.123Z","sequence":9,"data":` +
		`{"messageId":"AC6D2F2F81A4D3F0BDE10ED32643FFFF","chatLid":"731227052150243@lid","expiresAt":1799209051068}}`
	render := func(envelopes ...string) (pages []string) {
		s := &stableValues{}
		for i, envelope := range envelopes {
			pages = append(pages, s.render(t, example{"", strconv.Itoa(i), envelope}))
		}
		return pages
	}
	if a, b := render(one), render(other); a[0] != b[0] {
		t.Errorf("two runs are shown differently:\n%s\n%s", a[0], b[0])
	}
	id := regexp.MustCompile(`"id": ?"[^"]+"`)
	again := render(one, other, one)
	if a, b := id.FindString(again[0]), id.FindString(again[1]); a == b {
		t.Errorf("two ids are shown as one: %s", a)
	}
	if a, b := id.FindString(again[0]), id.FindString(again[2]); a != b {
		t.Errorf("one id is shown as two: %s and %s", a, b)
	}
}
