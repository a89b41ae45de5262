package server_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit"
)

// Every call that rings has one end, whoever ends it.
func TestCallsEnd(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	stream, err := g.Client.Events(t.Context(), id, client.EventsParams{After: new(int64(0)), Types: []string{client.TypeCallReceived, client.TypeCallEnded}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	next := func() any {
		event, err := stream.Next()
		if err != nil {
			t.Fatal(err)
		}
		data, err := event.Decode()
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	rings := func() string {
		callID := g.Phones.Call(t, customerNumber, shopNumber, false)
		if data, ok := next().(client.CallReceivedEvent); !ok || data.CallID != callID {
			t.Fatalf("told %+v of %s", data, callID)
		}
		return callID
	}
	ended := func(callID, reason string) {
		t.Helper()
		data, ok := next().(client.CallEndedEvent)
		if !ok || data.CallID != callID || data.Reason != reason || data.From == nil || *data.From.LID != g.Phones.Get(t, customerNumber).LID {
			t.Errorf("told %+v of %s, want %s", data, callID, reason)
		}
	}
	for _, end := range []struct{ by, how, reason string }{
		{customerNumber, "hangup", "missed"},
		{customerNumber, "timeout", "missed"},
		{shopNumber, "answer", "accepted_elsewhere"},
		{shopNumber, "reject", "rejected"},
	} {
		callID := rings()
		g.Phones.EndCall(t, end.by, callID, end.how)
		ended(callID, end.reason)
		testkit.Refused(t, g.Client.RejectCall(t.Context(), id, callID), http.StatusNotFound, "CALL_NOT_FOUND")
	}
	callID := rings()
	if err := g.Client.RejectCall(t.Context(), id, callID); err != nil {
		t.Fatal(err)
	}
	ended(callID, "rejected")
	g.Phones.AwaitActivity(t, customerNumber, "call", "rejected_elsewhere")
	testkit.Refused(t, g.Client.RejectCall(t.Context(), id, callID), http.StatusNotFound, "CALL_NOT_FOUND")
}

// An instance that rejects all calls tells a caller so once, and leaves groups alone.
func TestAllCallsAreRejected(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	const text = "We don't take calls. Please write."
	changed, err := g.Client.ChangeInstance(t.Context(), id, client.InstanceChange{RejectCalls: client.Set(true), RejectCallsText: client.Set(text)})
	if err != nil || !changed.RejectCalls || changed.RejectCallsText != text {
		t.Fatalf("changed to %+v (%v)", changed, err)
	}
	_, err = g.Client.ChangeInstance(t.Context(), id, client.InstanceChange{RejectCallsText: client.Set(strings.Repeat("a", 1025))})
	testkit.Refused(t, err, http.StatusBadRequest, "VALIDATION_ERROR")
	group := g.Phones.CreateGroup(t, "Customers", otherNumber, shopNumber)
	grouped := g.Phones.Call(t, otherNumber, group.ID, false)
	const calls = 5
	for range calls {
		g.Phones.Call(t, customerNumber, shopNumber, false)
	}
	testkit.Await(t, "the rejections", func() bool {
		rejected := 0
		for _, activity := range g.Phones.Activity(t, customerNumber) {
			if activity.Type == "call" && activity.Value == "rejected_elsewhere" {
				rejected++
			}
		}
		return rejected == calls
	})
	texts := func() []string {
		var texts []string
		for _, number := range []string{customerNumber, otherNumber} {
			for _, message := range g.Phones.Messages(t, number, "") {
				texts = append(texts, number+" "+message.Text)
			}
		}
		return texts
	}
	testkit.Await(t, "the text", func() bool { return slices.Contains(texts(), customerNumber+" "+text) })
	if _, err := g.Client.ChangeInstance(t.Context(), id, client.InstanceChange{RejectCalls: client.Set(false)}); err != nil {
		t.Fatal(err)
	}
	rings := g.Phones.Call(t, customerNumber, shopNumber, false)
	testkit.Await(t, "a call that rings", func() bool { return g.Client.RejectCall(t.Context(), id, rings) == nil })
	if got, want := texts(), []string{customerNumber + " " + text}; !slices.Equal(got, want) {
		t.Errorf("phones have %q, want %q", got, want)
	}
	if err := g.Client.RejectCall(t.Context(), id, grouped); err != nil {
		t.Errorf("the call of the group rings no more: %v", err)
	}
}
