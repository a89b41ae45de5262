package docstest_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/eventlog"
)

const eventsPath = "docs/events.md"

// docs/events.md shows every kind of event: its fields as the types of the event
// log have them, and examples as this very run of the program tells them.
func TestEventsDocument(t *testing.T) {
	t.Parallel()
	examples := caused(t)
	document := eventsDocument(t, examples)
	if *update {
		writeFile(t, eventsPath, document)
		return
	}
	kept, now := strings.Split(readFile(t, eventsPath), "\n"), strings.Split(document, "\n")
	for i := range max(len(kept), len(now)) {
		if i >= len(kept) || i >= len(now) || kept[i] != now[i] {
			t.Fatalf("%s:%d is not what the program tells: go test ./internal/docstest -run EventsDocument -update, and read the diff\n"+
				"it has %q\nand now %q", eventsPath, i+1, lineOf(kept, i), lineOf(now, i))
		}
	}
}

// lineOf returns a line, and what is before and after it.
func lineOf(lines []string, i int) []string {
	return lines[max(0, min(i-3, len(lines))):min(i+4, len(lines))]
}

// Every kind is described, as the kind that its data say.
func TestEventsDocumentDescribesEveryKind(t *testing.T) {
	t.Parallel()
	described := eventDescriptions()
	for _, kind := range eventlog.Kinds() {
		d, ok := described[kind]
		if !ok {
			t.Errorf("%s is not described", kind)
			continue
		}
		if d.data.Kind() != kind {
			t.Errorf("%s is described with the data of %s", kind, d.data.Kind())
		}
		if d.when == "" || d.order == "" || d.text == "" {
			t.Errorf("%s is described with gaps", kind)
		}
	}
	if len(described) != len(eventlog.Kinds()) {
		t.Errorf("%d kinds are described, and there are %d", len(described), len(eventlog.Kinds()))
	}
}

const eventsIntroduction = `# Events

What happens in an instance, the gateway writes down as events, and tells them: to a [webhook](webhooks.md), or as a
[stream](webhooks.md#the-stream). Both carry the same envelope.

This page is generated: the fields from the program, the examples from a run of it with phones of the
[sandbox](sandbox.md). Only what differs every time is replaced: identifiers, times and ` + "`sequence`" + `.

New types and new fields may come at any time: pass over what you do not know. Fields are never left out; what is unknown,
or does not apply, is ` + "`null`" + `, and a list is empty.

## The envelope

`

const eventsChats = `
## People and chats

Wherever somebody is named, it is a [Person](#person): the chat ID by number (` + "`jid`" + `), the LID (` + "`lid`" + `), and the name. The
messenger does not tell every number; then ` + "`jid`" + ` is ` + "`null`" + `. When it becomes known, [` + "`contact.updated`" + `](#contactupdated)
says so.

` + "`chat`" + ` is where you answer: give it as ` + "`to`" + `. It is the chat ID by number where the number is known, else the LID, and the
group's ID for a group. One person can so appear under two chat IDs over time: what stays the same is ` + "`chatLid`" + `.

Events of one chat are delivered in order. The column "in order with" says of what.

## All types

| type | when | in order with |
| --- | --- | --- |
`

// eventsDocument writes the page.
func eventsDocument(t *testing.T, examples map[eventlog.Kind][]example) string {
	t.Helper()
	descriptions := eventDescriptions()
	var page strings.Builder
	page.WriteString(eventsIntroduction)
	writeFields(t, &page, reflect.TypeFor[contract.Event](), nil)
	page.WriteString(eventsChats)
	for _, kind := range eventlog.Kinds() {
		d := descriptions[kind]
		fmt.Fprintf(&page, "| [`%s`](#%s) | %s | %s |\n", kind, anchor(string(kind)), d.when, d.order)
	}
	written := &stableValues{}
	for _, kind := range eventlog.Kinds() {
		d := descriptions[kind]
		fmt.Fprintf(&page, "\n## %s\n\n%s\n\n", kind, d.text)
		writeFields(t, &page, reflect.TypeOf(d.data), d.like)
		if len(examples[kind]) == 0 {
			t.Errorf("there is no example of %s", kind)
		}
		for _, e := range examples[kind] {
			requireShape(t, e, d.data)
			fmt.Fprintf(&page, "\n%s:\n\n```json\n%s```\n", e.title, written.render(t, e))
		}
	}
	page.WriteString("\n## Objects inside of others\n")
	for _, object := range []any{eventlog.Person{}, eventlog.Media{}, eventlog.Location{}, eventlog.Contact{}} {
		fmt.Fprintf(&page, "\n### %s\n\n", reflect.TypeOf(object).Name())
		writeFields(t, &page, reflect.TypeOf(object), nil)
	}
	return page.String()
}

// anchor is how a link within the page names a heading.
func anchor(heading string) string {
	return strings.ToLower(strings.NewReplacer(".", "", " ", "-").Replace(heading))
}
