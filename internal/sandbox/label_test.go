package sandbox_test

import (
	"context"
	"net/http"
	"reflect"
	"testing"

	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/sandbox/label"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// Labels that a linked device makes and puts somewhere the phone shows, and the other way round.
func TestLabels(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	said := w.send(friend, gateway, "hello")
	c := w.newClient().link(gateway)
	c.named()
	labels := func() []label.Label {
		t.Helper()
		var out struct{ Data []label.Label }
		w.do(http.MethodGet, "/phones/"+gateway+"/labels", nil, &out)
		return out.Data
	}
	by := types.NewJID(friend, types.DefaultUserServer)
	for _, patch := range []appstate.PatchInfo{
		appstate.BuildLabelEdit("6", "paid", 3, false), appstate.BuildLabelChat(by, "6", true),
		appstate.BuildLabelMessage(by, "6", said, true), appstate.BuildLabelChat(by, "unknown", true),
	} {
		if err := c.SendAppState(context.Background(), patch); err != nil {
			t.Fatal(err)
		}
	}
	want := []label.Label{{ID: "6", Name: "paid", Color: 3, Chats: []string{by.String()}, Messages: []string{said}}}
	if got := labels(); !reflect.DeepEqual(got, want) {
		t.Errorf("the phone shows %+v, want %+v", got, want)
	}

	w.do(http.MethodPut, "/phones/"+gateway+"/labels/7", map[string]any{"name": "later", "color": 1}, nil)
	expect(c, func(e *events.LabelEdit) bool { return e.LabelID == "7" && e.Action.GetName() == "later" })
	w.do(http.MethodPut, "/phones/"+gateway+"/chats/"+friend+"/labels/7", nil, nil)
	expect(c, func(e *events.LabelAssociationChat) bool {
		return e.LabelID == "7" && e.JID.Server == types.HiddenUserServer && e.Action.GetLabeled()
	})
	w.do(http.MethodPut, "/phones/"+gateway+"/messages/"+said+"/labels/7", nil, nil)
	expect(c, func(e *events.LabelAssociationMessage) bool { return e.MessageID == said && e.Action.GetLabeled() })
	w.do(http.MethodDelete, "/phones/"+gateway+"/messages/"+said+"/labels/7", nil, nil)
	expect(c, func(e *events.LabelAssociationMessage) bool { return e.MessageID == said && !e.Action.GetLabeled() })
	w.do(http.MethodDelete, "/phones/"+gateway+"/labels/6", nil, nil)
	expect(c, func(e *events.LabelEdit) bool { return e.LabelID == "6" && e.Action.GetDeleted() })
	want = []label.Label{{ID: "7", Name: "later", Color: 1, Chats: []string{by.String()}, Messages: []string{}}}
	if got := labels(); !reflect.DeepEqual(got, want) {
		t.Errorf("the phone shows %+v, want %+v", got, want)
	}
	for path, wrong := range cases.Sorted(map[string]int{
		"/phones/" + gateway + "/labels/8":                     http.StatusBadRequest, // without a name
		"/phones/" + gateway + "/messages/unknown/labels/7":    http.StatusNotFound,
		"/phones/" + gateway + "/chats/nobody/labels/7":        http.StatusBadRequest,
		"/phones/5511900000000/messages/" + said + "/labels/7": http.StatusNotFound,
	}) {
		if status := w.call(http.MethodPut, path, map[string]any{}, nil); status != wrong {
			t.Errorf("%s is answered %d", path, status)
		}
	}
}
