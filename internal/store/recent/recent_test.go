package recent

import (
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func message(platformID, text string) gateway.Message {
	return gateway.Message{ID: platformID + text, PlatformID: platformID, Text: text, Payload: []byte(text)}
}

// Each transaction has writes, which run one after another and are committed together, or
// not at all.
func TestMessages(t *testing.T) {
	t.Parallel()
	type write = func(w *Write)
	type transaction struct {
		writes []write
		failed bool
	}
	wrote := func(text string) write { return func(w *Write) { w.Wrote(message("A", text)) } }
	touched := func(w *Write) { w.Touched("A") }
	touchedAll := func(w *Write) { w.TouchedAll() }
	nothing := func(text string) write {
		return func(w *Write) {
			if found, ok := w.Find("A"); ok {
				t.Errorf("%s it is remembered: %+v", text, found)
			}
		}
	}
	for name, test := range cases.Sorted(map[string]struct {
		transactions []transaction
		want         string // the text of A; empty if nothing is remembered
	}{
		"nothing":                           {nil, ""},
		"a message":                         {[]transaction{{writes: []write{wrote("1")}}}, "1"},
		"a change":                          {[]transaction{{writes: []write{wrote("1")}}, {writes: []write{wrote("2")}}}, "2"},
		"two changes in one transaction":    {[]transaction{{writes: []write{wrote("1"), nothing("before the commit"), wrote("2")}}}, "2"},
		"a failure":                         {[]transaction{{writes: []write{wrote("1")}, failed: true}}, ""},
		"a failure after one that did well": {[]transaction{{writes: []write{wrote("1")}}, {writes: []write{wrote("2")}, failed: true}}, ""},
		"touched":                           {[]transaction{{writes: []write{wrote("1")}}, {writes: []write{touched, nothing("touched,")}}}, ""},
		"touched, then written":             {[]transaction{{writes: []write{touched, wrote("1")}}}, "1"},
		"written, then touched":             {[]transaction{{writes: []write{wrote("1"), touched}}}, ""},
		"touched in a failure":              {[]transaction{{writes: []write{wrote("1")}}, {writes: []write{touched}, failed: true}}, ""},
		"all touched":                       {[]transaction{{writes: []write{wrote("1")}}, {writes: []write{touchedAll, nothing("touched,")}}}, ""},
		"written, then all touched":         {[]transaction{{writes: []write{wrote("1"), touchedAll}}}, ""},
		"another message is touched":        {[]transaction{{writes: []write{wrote("1"), func(w *Write) { w.Touched("B") }}}}, "1"},
		"too long":                          {[]transaction{{writes: []write{wrote("1")}}, {writes: []write{wrote(strings.Repeat("x", maxContent))}}}, ""},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			messages := newMessages(t)
			other := messages.Begin("other", 0)
			other.Wrote(message("A", "other"))
			other.Committed()
			for _, transaction := range test.transactions {
				var done []Write
				for _, write := range transaction.writes {
					w := messages.Begin("instance", 0)
					write(&w)
					done = append(done, w)
				}
				for n := range done {
					if !transaction.failed {
						done[n].Committed()
					}
				}
			}
			look := messages.Begin("instance", 0)
			got, ok := look.Find("A")
			if want := message("A", test.want); ok != (test.want != "") || ok && !reflect.DeepEqual(got, want) {
				t.Errorf("remembered %v %+v, want %+v", ok, got, want)
			}
			if got, ok := other.Find("A"); !ok || got.Text != "other" {
				t.Errorf("of another instance it has %v %+v", ok, got)
			}
		})
	}
}

// What is remembered is nobody else's to change.
func TestPayloadsAreCopies(t *testing.T) {
	t.Parallel()
	messages := newMessages(t)
	write := messages.Begin("instance", 0)
	given := message("A", "1")
	write.Wrote(given)
	given.Payload[0] = 'x'
	write.Committed()
	if got, ok := write.Find("A"); !ok || string(got.Payload) != "1" {
		t.Errorf("the payload became %q", got.Payload)
	}
}

func TestOldestAreForgotten(t *testing.T) {
	t.Parallel()
	messages := newMessages(t)
	for n := range maxMessages + 10 {
		write := messages.Begin("instance", 0)
		write.Wrote(message(strconv.Itoa(n), "1"))
		write.Committed()
	}
	w := messages.Begin("instance", 0)
	for n := range maxMessages + 10 {
		if _, ok := w.Find(strconv.Itoa(n)); ok != (n >= 10) {
			t.Fatalf("message %d is remembered: %v", n, ok)
		}
	}
}

func newMessages(t *testing.T) *Messages {
	t.Helper()
	messages, err := New()
	if err != nil {
		t.Fatal(err)
	}
	return messages
}
