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
// log have them, and examples from this very run of the program.
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
			t.Fatalf("%s:%d is not what the program does: go test ./internal/docstest -run EventsDocument -update, and read the diff\n"+
				"it has %q\nand now %q", eventsPath, i+1, lineOf(kept, i), lineOf(now, i))
		}
	}
}

// lineOf returns a line, and what is before and after it.
func lineOf(lines []string, i int) []string {
	return lines[max(0, min(i-3, len(lines))):min(i+4, len(lines))]
}

// Every kind is described, and with its own data.
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

The gateway records what happens in an instance as events. It delivers them to a [webhook](webhooks.md), and you can read
them from a [stream](webhooks.md#the-stream). Both carry the same envelope.

This page is generated: the fields come from the program, the examples from a run of it with phones of the
[sandbox](sandbox.md). Only values that differ in every run are replaced: identifiers, times and ` + "`sequence`" + `.

New types and new fields may be added at any time: ignore those that you do not know. No field is ever left out. A value
that is unknown or does not apply is ` + "`null`" + `, and a list without entries is empty.

## The envelope

`

const eventsChats = `
For a webhook that has ` + "`mediaLinks`" + `, the events of new messages with a file have ` + "`mediaLink`" + ` beside ` + "`data`" + `: a
[link to the file](webhooks.md#links-to-files).

## People and chats

Everybody in an event is a [Person](#person): the chat ID by number (` + "`jid`" + `), the LID (` + "`lid`" + `), and the name. The platform
does not reveal every number; where it does not, ` + "`jid`" + ` is ` + "`null`" + `. When the number becomes known, the gateway appends a
[` + "`contact.updated`" + `](#contactupdated).

To answer, use ` + "`chat`" + ` as ` + "`to`" + `. It is the chat ID by number if the number is known, otherwise the LID; for a group, it is the
group's ID. So a person whose number becomes known has one chat ID before and another one afterwards. ` + "`chatLid`" + ` stays the same.

Events of one chat are delivered in order. The column "in order with" says which order an event of that type keeps: that of
its chat, of its group, of the contact, or of the instance.

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
	for _, object := range []any{
		eventlog.Person{},
		eventlog.MessageMedia{},
		eventlog.MessageLocation{},
		eventlog.MessageContact{},
		eventlog.MessageContactNumber{},
		eventlog.PollOptions{},
		eventlog.PollTally{},
		eventlog.MessageCalendarEvent{},
		eventlog.MessageEventPlace{},
		eventlog.MessageOrder{},
		eventlog.MessageGroupInvite{},
		eventlog.MessageSelection{},
		eventlog.MessageReferral{},
		eventlog.MessageButton{},
		eventlog.MessageProduct{},
		eventlog.MessagePayment{},
		eventlog.MessageQuoted{},
		eventlog.MessageLinkPreview{},
		eventlog.Failure{},
	} {
		fmt.Fprintf(&page, "\n### %s\n\n", reflect.TypeOf(object).Name())
		writeFields(t, &page, reflect.TypeOf(object), nil)
	}
	return page.String()
}

// anchor is how a link within the page names a heading.
func anchor(heading string) string {
	return strings.ToLower(strings.NewReplacer(".", "", " ", "-").Replace(heading))
}
