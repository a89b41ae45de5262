package client_test

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// Every kind of event of the program has a type here, and every example of a real run
// fits into it: no field is lost, and none is added.
func TestDecodeHoldsEveryFieldOfEveryEvent(t *testing.T) {
	t.Parallel()
	document := read(t, "../docs/events.md")
	decoded := map[string]bool{}
	for _, block := range regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(document, -1) {
		var event client.Event
		if err := json.Unmarshal([]byte(block[1]), &event); err != nil {
			t.Fatal(err)
		}
		data, err := event.Decode()
		if err != nil {
			t.Errorf("%s: %v", event.Type, err)
			continue
		}
		if _, raw := data.(json.RawMessage); raw {
			t.Errorf("%s has no type", event.Type)
			continue
		}
		decoded[event.Type] = true
		again, err := json.Marshal(data)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := shape(t, again), shape(t, event.Data); !reflect.DeepEqual(got, want) {
			t.Errorf("%s holds\n%v\nwant\n%v", event.Type, got, want)
		}
	}
	for _, kind := range eventlog.Kinds() {
		if !decoded[string(kind)] {
			t.Errorf("no example of %s was decoded", kind)
		}
	}
}

var timeShape = regexp.MustCompile(`"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?Z"`)

// shape is JSON without the difference between two spellings of a time.
func shape(t *testing.T, text []byte) any {
	t.Helper()
	var value any
	if err := json.NewDecoder(bytes.NewReader(timeShape.ReplaceAll(text, []byte(`"$1Z"`)))).Decode(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

func TestDecodeOfAnUnknownType(t *testing.T) {
	t.Parallel()
	event := client.Event{Type: "poll.vote", Data: json.RawMessage(`{"a":1}`)}
	data, err := event.Decode()
	if raw, ok := data.(json.RawMessage); err != nil || !ok || string(raw) != `{"a":1}` {
		t.Errorf("decoded %v (%v)", data, err)
	}
	event.Type = client.TypePresence
	event.Data = json.RawMessage(`{"chat":1}`)
	if _, err := event.Decode(); err == nil || !strings.Contains(err.Error(), "presence") {
		t.Errorf("decoded a number as a chat: %v", err)
	}
}

// The constants have every word of the program: a code, a status or a type that the document does
// not list is none that a client can know.
func TestConstantsAreThePrograms(t *testing.T) {
	t.Parallel()
	words := func(path, pattern string) []string {
		var found []string
		for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(read(t, path), -1) {
			found = append(found, match[1])
		}
		slices.Sort(found)
		if len(found) == 0 {
			t.Fatalf("nothing in %s", path)
		}
		return found
	}
	for name, lists := range cases.Sorted(map[string][2][]string{
		"codes":    {words("words.go", `\tCode\w+ += "(\w+)"`), words("../internal/gateway/error.go", `\tCode\w+ += "(\w+)"`)},
		"statuses": {words("words.go", `\tStatus\w+ += "(\w+)"`), words("../internal/gateway/instance.go", `\tStatus\w+ +Status = "(\w+)"`)},
		"messages": {words("words.go", `\tType\w+ += "(\w+)"`), words("../internal/gateway/content.go", `\tType\w+ +MessageType = "(\w+)"`)},
	}) {
		for _, word := range lists[1] {
			if !slices.Contains(lists[0], word) {
				t.Errorf("%s: there is no constant for %s", name, word)
			}
		}
	}
	if client.StatusConnected != string(gateway.StatusConnected) {
		t.Error("the statuses differ")
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
