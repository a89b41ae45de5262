// The labels of chats and messages.

package storetest

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// labelled are the changes of an instance's labels.
type labelled struct {
	*fixture

	instance gateway.Instance
	n        int
}

// change carries out a change, and reports whether anything was different then.
func (l *labelled) change(change gateway.LabelChange) (changed bool) {
	l.t.Helper()
	l.n++
	change.At = after(l.n)
	l.check(l.ChangeLabel(l.ctx(), l.instance.ID, change, func(label gateway.Label) (eventlog.Event, error) {
		changed = true
		if label.ID != change.Label.ID || label.Name == "" {
			l.t.Errorf("reported %+v", label)
		}
		return l.event(l.instance, l.n), nil
	}))
	return changed
}

func (l *labelled) list() []gateway.Label {
	l.t.Helper()
	page, err := l.Labels.ListLabels(l.ctx(), l.instance.ID, allOf())
	l.check(err)
	return page.Items
}

// of are the labels of a chat and of a message.
func (l *labelled) of(party gateway.Party, message gateway.Message) string {
	l.t.Helper()
	chat := l.chat(l.instance, party)
	chats, err := l.Labels.LabelsOfChats(l.ctx(), l.instance.ID, []string{chat.ID, "unknown"})
	l.check(err)
	messages, err := l.Labels.LabelsOfMessages(l.ctx(), l.instance.ID, []string{message.ID, "unknown"})
	l.check(err)
	return fmt.Sprint(chats[chat.ID], messages[message.ID])
}

// What is done with labels is kept, and told once.
func testLabels(t *testing.T, f *fixture) {
	t.Helper()
	l := &labelled{fixture: f, instance: f.instance(f.account().ID, 1)}
	party := gateway.Party{JID: ana, LID: anaLID}
	message := f.came(l.instance, 1, party, "x")
	f.add(message, true)
	paid, late := gateway.Label{ID: "6", Name: "paid", Color: 3}, gateway.Label{ID: "10", Name: "late"}
	id, err := f.Labels.FreeLabelID(f.ctx(), l.instance.ID)
	f.check(err)
	if id != paid.ID {
		t.Errorf("the first label gets the ID %s", id)
	}
	onChat := gateway.LabelChange{Act: gateway.LabelPut, Label: gateway.Label{ID: paid.ID}, Chat: gateway.Party{LID: anaLID}}
	onMessage := onChat
	onMessage.MessageID, onMessage.Label.ID = message.PlatformID, late.ID
	takenFromChat := onChat
	takenFromChat.Act = gateway.LabelTaken
	for _, step := range []struct {
		name    string
		change  gateway.LabelChange
		changed bool
		want    string
	}{
		{"a label that nobody knows", onChat, false, "[] []"},
		{"made", gateway.LabelChange{Act: gateway.LabelSet, Label: paid}, true, "[] []"},
		{"made again", gateway.LabelChange{Act: gateway.LabelSet, Label: paid}, false, "[] []"},
		{"another", gateway.LabelChange{Act: gateway.LabelSet, Label: late}, true, "[] []"},
		{"put on the chat", onChat, true, "[6] []"},
		{"put there again", onChat, false, "[6] []"},
		{"put on the message", onMessage, true, "[6] [10]"},
		{"renamed", gateway.LabelChange{Act: gateway.LabelSet, Label: gateway.Label{ID: "10", Name: "too late", Color: 1}}, true, "[6] [10]"},
		{"taken from the chat", takenFromChat, true, "[] [10]"},
		{"taken again", takenFromChat, false, "[] [10]"},
		{"put on the chat anew", onChat, true, "[6] [10]"},
	} {
		if changed := l.change(step.change); changed != step.changed {
			t.Errorf("%s: told: %t", step.name, changed)
		}
		if got := l.of(party, message); got != step.want {
			t.Errorf("%s: labels %s, want %s", step.name, got, step.want)
		}
	}
	late = gateway.Label{ID: "10", Name: "too late", Color: 1}
	if got := l.list(); !slices.Equal(got, []gateway.Label{paid, late}) {
		t.Errorf("the labels are %+v", got)
	}
	if got, found, err := f.Labels.FindLabel(f.ctx(), l.instance.ID, "10"); err != nil || !found || got != late {
		t.Errorf("found %+v, %t, %v", got, found, err)
	}

	// They are filters.
	for label, want := range cases.Sorted(map[string]int{"6": 1, "10": 0}) {
		page, err := f.Chats.ListChats(f.ctx(), l.instance.ID, gateway.ChatFilter{Label: label}, allOf())
		f.check(err)
		messages, err := f.Chats.ListMessages(f.ctx(), l.instance.ID, gateway.MessageFilter{ChatID: f.chat(l.instance, party).ID, Label: label}, allOf())
		f.check(err)
		if page.Total != want || messages.Total != 1-want {
			t.Errorf("label %s: %d chats, %d messages", label, page.Total, messages.Total)
		}
	}

	// A label may be there before its message, and goes with it.
	next := f.came(l.instance, 2, party, "y")
	onMessage.MessageID = next.PlatformID
	f.check(f.ArrangeLabels(f.ctx(), l.instance.ID, []gateway.LabelChange{onMessage}))
	f.add(next, true)
	if got := l.of(party, next); got != "[6] [10]" {
		t.Errorf("the message came with the labels %s", got)
	}
	f.check(f.DeleteMessages(f.ctx(), l.instance.ID, []string{next.ID}))
	if !l.change(onMessage) {
		t.Error("a message that was removed has left its label")
	}

	// Who deletes a label takes it from everywhere.
	if !l.change(gateway.LabelChange{Act: gateway.LabelDeleted, Label: gateway.Label{ID: "10"}}) || l.of(party, message) != "[6] []" {
		t.Errorf("after the deletion: %s", l.of(party, message))
	}
	if l.change(gateway.LabelChange{Act: gateway.LabelDeleted, Label: gateway.Label{ID: "10"}}) {
		t.Error("a label was deleted twice")
	}
}

// Two chats that turn out to be one have the labels of both.
func testLabelsAreJoined(t *testing.T, f *fixture) {
	t.Helper()
	l := &labelled{fixture: f, instance: f.instance(f.account().ID, 1)}
	byNumber, byLID := gateway.Party{JID: ana}, gateway.Party{LID: anaLID}
	f.add(f.came(l.instance, 1, byNumber, "x"), true)
	f.add(f.came(l.instance, 2, byLID, "y"), true)
	for _, id := range []string{"1", "2", "3"} {
		l.change(gateway.LabelChange{Act: gateway.LabelSet, Label: gateway.Label{ID: id, Name: id}})
	}
	for _, put := range []struct {
		label string
		on    gateway.Party
	}{{"1", byNumber}, {"2", byNumber}, {"2", byLID}, {"3", byLID}} {
		l.change(gateway.LabelChange{Act: gateway.LabelPut, Label: gateway.Label{ID: put.label}, Chat: put.on})
	}
	f.add(f.came(l.instance, 3, gateway.Party{JID: ana, LID: anaLID}, "z"), true)
	if got := l.of(byNumber, gateway.Message{}); got != "[1 2 3] []" {
		t.Errorf("the chat has %s", got)
	}
}

// A phone that invents labels without end fills no disk.
func testLabelsAreBounded(t *testing.T, f *fixture) {
	t.Helper()
	instance := f.instance(f.account().ID, 1)
	var changes []gateway.LabelChange
	for n := range gateway.MaxLabels + 5 {
		changes = append(changes, gateway.LabelChange{Act: gateway.LabelSet, Label: gateway.Label{ID: fmt.Sprint(n), Name: "x"}})
	}
	f.check(f.ArrangeLabels(f.ctx(), instance.ID, changes))
	page, err := f.Labels.ListLabels(f.ctx(), instance.ID, gateway.PageRequest{Page: 1, Limit: 10})
	f.check(err)
	if page.Total != gateway.MaxLabels || len(page.Items) != 10 {
		t.Errorf("%d labels, %d on a page", page.Total, len(page.Items))
	}
	names := map[string]struct{}{}
	for _, label := range page.Items {
		names[label.ID] = struct{}{}
	}
	if got := slices.Sorted(maps.Keys(names)); !slices.Equal(got, []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}) {
		t.Errorf("the first page has %v", got)
	}
}
