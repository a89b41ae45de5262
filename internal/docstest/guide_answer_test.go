package docstest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/testkit/cases"
)

// kinds are the values that differ every time. Of these only the kind is
// compared, and that the same value of the guide is always the same in truth.
// A time says nothing about another.
func kinds() []kind {
	return []kind{
		{"UUID", regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), true},
		{"message", regexp.MustCompile(`\b(3EB0[0-9A-F]{18}|AC[0-9A-F]{30})\b`), true},
		{"LID", regexp.MustCompile(`\b\d{8,15}@lid\b`), true},
		{"group", regexp.MustCompile(`\b\d{15,20}@g\.us\b`), true},
		{"channel", regexp.MustCompile(`\b\d{15,20}@newsletter\b`), true},
		{"invite code", regexp.MustCompile(`\b[0-9a-f]{22}\b`), true},
		{"key", regexp.MustCompile(`\brcd_[0-9A-Za-z]+`), true},
		{"hash", regexp.MustCompile(`\b[0-9a-f]{64}\b`), true},
		{"upload", regexp.MustCompile(`\b[0-9a-f]{32}\b`), true},
		{"pairing code", regexp.MustCompile(`^[1-9A-HJ-NP-TV-Z]{8}$`), true},
		{"passkey", regexp.MustCompile(`^[\w-]{43}$`), true},
		{"time", regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), false},
	}
}

type kind struct {
	name    string
	pattern *regexp.Regexp
	named   bool // whether it names something
}

// masked puts the name of its kind in the place of everything that differs.
func masked(text string) (mask string, named bool) {
	for _, kind := range kinds() {
		if replaced := kind.pattern.ReplaceAllString(text, "<"+kind.name+">"); replaced != text {
			text, named = replaced, named || kind.named
		}
	}
	return text, named
}

// width is how long a line of an answer may be.
const width = 100

// pair is a value as the guide shows it, and as it is in truth.
type pair struct{ shown, real string }

// values know which value of the guide stands for which.
type values struct {
	addresses map[string]string // of the gateway to the one that the guide shows
	reals     map[string]string
	renames   map[string]string
}

func newValues(addresses map[string]string) *values {
	return &values{addresses: addresses, reals: map[string]string{}, renames: map[string]string{}}
}

func (v *values) know(shown, truth string) { v.reals[shown] = truth }

func (v *values) learn(seen []pair) {
	for _, p := range seen {
		v.know(p.shown, p.real)
		if now := v.shorten(p.real); now != p.shown {
			v.renames[p.shown] = now
		}
	}
}

// real puts true values into a piece of the guide.
func (v *values) real(text string) string { return replaceAll(text, v.reals) }

// renamed puts new values into a piece of the guide.
func (v *values) renamed(text string) string { return replaceAll(text, v.renames) }

// replaceAll replaces longer strings before those that they begin with.
func replaceAll(text string, by map[string]string) string {
	olds := slices.SortedFunc(maps.Keys(by), func(a, b string) int { return len(b) - len(a) })
	var oldNew []string
	for _, old := range olds {
		oldNew = append(oldNew, old, by[old])
	}
	return strings.NewReplacer(oldNew...).Replace(text)
}

// compare holds an answer to the one in the guide. It returns the values that
// belong together, and what is wrong.
func (v *values) compare(language, shown, answer string) (seen []pair, wrong []string) {
	c := &comparison{values: v}
	if language != "json" {
		c.text("the output", strings.TrimSpace(shown), strings.TrimSpace(answer))
		return c.seen, c.wrong
	}
	want, err := parse(shown)
	if err != nil {
		return nil, []string{"the guide's answer is no JSON: " + err.Error()}
	}
	got, err := parse(answer)
	if err != nil {
		return nil, []string{"the answer is no JSON: " + err.Error()}
	}
	c.value("the answer", want, got)
	return c.seen, c.wrong
}

func parse(text string) (value any, err error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	err = decoder.Decode(&value)
	return value, err
}

// comparison goes through an answer.
type comparison struct {
	values *values
	seen   []pair
	wrong  []string
}

func (c *comparison) fail(at string, want, got any) {
	c.wrong = append(c.wrong, fmt.Sprintf("%s is %v, and in the guide %v", at, got, want))
}

func (c *comparison) value(at string, want, got any) {
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok || !slices.Equal(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(object))) {
			c.fail(at, want, got)
		}
		for name := range want {
			if value, ok := object[name]; ok {
				c.value(at+"."+name, want[name], value)
			}
		}
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			c.fail(at, want, got)
			return
		}
		for i := range want {
			c.value(fmt.Sprintf("%s[%d]", at, i), want[i], list[i])
		}
	case string:
		if text, ok := got.(string); ok {
			c.text(at, want, text)
			return
		}
		c.fail(at, want, got)
	case json.Number:
		if number, ok := got.(json.Number); !ok || want != number && !isCount(at) && (!isMoment(want) || !isMoment(number)) {
			c.fail(at, want, got)
		}
	default:
		if want != got {
			c.fail(at, want, got)
		}
	}
}

// isCount recognises what depends on how fast things happened.
func isCount(at string) bool {
	return regexp.MustCompile(`\.(sequence|fromSequence|events|durationMs|totalCount|pageCount)$`).MatchString(at)
}

// isMoment recognises Unix time in seconds or milliseconds.
func isMoment(number json.Number) bool {
	return regexp.MustCompile(`^1\d{9}(\d{3})?$`).MatchString(number.String())
}

func (c *comparison) text(at, want, got string) {
	mask, named := masked(want)
	parts := strings.Split(mask, "…")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	pattern := regexp.MustCompile("(?s)^" + strings.Join(parts, ".*") + "$")
	if seen, _ := masked(replaceAll(got, c.values.addresses)); !pattern.MatchString(seen) {
		c.fail(at, want, got)
	}
	if !named && len(parts) == 1 {
		return
	}
	if known, ok := c.values.reals[want]; ok && known != got && len(parts) == 1 {
		c.wrong = append(c.wrong, fmt.Sprintf("%s is %s, but the guide's %s was %s before", at, got, want, known))
	}
	c.seen = append(c.seen, pair{want, got})
}

// render writes an answer as the guide shows it.
func (v *values) render(language, answer string) string {
	if language != "json" {
		return answer
	}
	text := regexp.MustCompile(`"(\\.|[^"\\])*"`).ReplaceAllStringFunc(strings.TrimSpace(answer), v.shorten)
	if len(text) <= width {
		return text + "\n"
	}
	var rendered bytes.Buffer
	if err := json.Indent(&rendered, []byte(text), "", "  "); err != nil {
		return answer
	}
	innermost := regexp.MustCompile(`[{\[]\n[^{}\[\]]*[}\]]`)
	return innermost.ReplaceAllStringFunc(rendered.String(), func(short string) string {
		line := regexp.MustCompile(`\n\s*`).ReplaceAllString(short, " ")
		line = line[:1] + strings.TrimSpace(line[1:len(line)-1]) + line[len(line)-1:]
		if len(line) > width-8 {
			return short
		}
		return line
	}) + "\n"
}

// shorten cuts what nobody reads to the end: pictures, codes, signatures and keys.
func (v *values) shorten(text string) string {
	text = replaceAll(text, v.addresses)
	for _, long := range []string{`data:[a-z/]+;base64,.{8}`, `#2@`, `\bhttps?://[^"?]*\?`, `\brcd_.{8}`} {
		text = regexp.MustCompile(`(`+long+`)[^"]+`).ReplaceAllString(text, "$1…")
	}
	return text
}

func TestGuideAnswersAreCompared(t *testing.T) {
	t.Parallel()
	const shown = `{"id":"01a1fa84-0000-7000-8000-000000000001","at":"2026-11-20T14:22:10.123Z","n":1,"many":[null],"url":"http://x/?…"}`
	for name, c := range cases.Sorted(map[string]struct {
		answer string
		fits   bool
	}{
		"other values of the same kinds": {`{"id":"01a1fa84-0000-7000-8000-00000000000f","at":"2027-11-20T14:22:10Z","n":1,"many":[null],"url":"http://x/?a"}`, true},
		"another fixed value":            {strings.Replace(shown, `"n":1`, `"n":2`, 1), false},
		"another type":                   {strings.Replace(shown, `"n":1`, `"n":"1"`, 1), false},
		"another kind":                   {strings.Replace(shown, `01a1fa84-0000-7000-8000-000000000001`, `3EB0000000000000000001`, 1), false},
		"a field more":                   {strings.Replace(shown, `{`, `{"more":1,`, 1), false},
		"a field less":                   {strings.Replace(shown, `"n":1,`, ``, 1), false},
		"an item more":                   {strings.Replace(shown, `[null]`, `[null,null]`, 1), false},
		"another address":                {strings.Replace(shown, `http://x`, `http://y`, 1), false},
		"no JSON":                        {`ok`, false},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, wrong := newValues(nil).compare("json", shown, c.answer); (len(wrong) == 0) != c.fits {
				t.Errorf("wrong: %q", wrong)
			}
		})
	}
}

func TestGuideValuesStayTheSame(t *testing.T) {
	t.Parallel()
	const shown = `{"messageId":"3EB0000000000000000001"}`
	v := newValues(nil)
	seen, wrong := v.compare("json", shown, `{"messageId":"3EB000000000000000000A"}`)
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	v.learn(seen)
	if got := v.real("MESSAGE=3EB0000000000000000001"); got != "MESSAGE=3EB000000000000000000A" {
		t.Errorf("the shell is given %s", got)
	}
	if _, wrong := v.compare("json", shown, `{"messageId":"3EB000000000000000000B"}`); len(wrong) == 0 {
		t.Error("one value of the guide stands for two")
	}
}
