package main

import (
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestPHPNames(t *testing.T) {
	t.Parallel()
	for name, want := range cases.Sorted(map[string]string{
		"messageId": "messageId", "clientDataJSON": "clientDataJSON", "Idempotency-Key": "idempotencyKey", "Prefer": "prefer",
	}) {
		if got := phpName(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	for value, want := range cases.Sorted(map[string]string{
		"message.deleted_for_me": "MESSAGE_DELETED_FOR_ME", "QUICK_REPLY": "QUICK_REPLY", "all": "ALL",
	}) {
		if got := phpConstant(value); got != want {
			t.Errorf("%s is %s, want %s", value, got, want)
		}
	}
}

// A comment holds what the document says, whatever that is.
func TestPHPComments(t *testing.T) {
	t.Parallel()
	wide := strings.Repeat("x", 90)
	got := phpWrapped(" *", wide+" and @lid */ "+wide)
	if want := " * " + wide + "\n * and @lid * /\n * " + wide; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Arguments have the names of the path, the query and the body, so no name may be there twice.
func TestPHPArgumentsDiffer(t *testing.T) {
	t.Parallel()
	thing := parameter{name: "thingId"}
	_, err := phpFiles(model{operations: []operation{{id: "getThing", path: "/{thingId}", inPath: []parameter{thing}, query: []parameter{thing}}}})
	if err == nil || !strings.Contains(err.Error(), "getThing has two arguments thingId") {
		t.Errorf("got %v", err)
	}
}
