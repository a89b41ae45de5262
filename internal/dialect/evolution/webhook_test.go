package evolution_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// A webhook is set, found and changed, and told of what happens in that API's words.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	o := newTool(t, g, id)
	if none := o.does(http.StatusOK, http.MethodGet, "/webhook/find", nil); none != nil {
		t.Errorf("before there is one: %v", none)
	}
	sink := testkit.NewSink(t)
	set := o.does(http.StatusCreated, http.MethodPost, "/webhook/set", object{"webhook": object{
		"enabled": true, "url": sink.URL, "headers": object{"X-Flow": "7"}, "webhookByEvents": true, "webhookBase64": false, "events": []string{"MESSAGES_UPSERT", "TYPEBOT_START"},
	}})
	if text(set, "url") != sink.URL || at(set, "enabled") != true || at(set, "webhookByEvents") != true || text(set, "instanceId") != id || text(set, "headers", "X-Flow") != "7" {
		t.Errorf("set: %v", set)
	}
	o.does(http.StatusCreated, http.MethodPost, "/message/sendText", object{"number": customerNumber, "text": "Oi"})
	wrote(t, g, id, "Tem?")
	got := sink.Await("the event", func(taken []testkit.Delivered) bool { return len(taken) > 0 })
	var body any
	if err := json.Unmarshal(got[0].Body, &body); err != nil || text(body, "event") != "messages.upsert" || text(body, "data", "message", "conversation") != "Tem?" ||
		text(body, "sender") != shopNumber+"@s.whatsapp.net" || got[0].Header.Get("X-Flow") != "7" {
		t.Errorf("posted %v, %s, %v", got[0].Header, got[0].Body, err)
	}
	found := o.does(http.StatusOK, http.MethodGet, "/webhook/find", nil)
	if events, _ := at(found, "events").([]any); !slices.Equal(events, []any{"MESSAGES_UPSERT"}) || text(found, "headers", "X-Flow") != "***" {
		t.Errorf("found: %v", found)
	}
	o.does(http.StatusCreated, http.MethodPost, "/webhook/set", object{"webhook": object{"enabled": false, "url": sink.URL, "events": []string{}}})
	found = o.does(http.StatusOK, http.MethodGet, "/webhook/find", nil)
	if events, _ := at(found, "events").([]any); at(found, "enabled") != false || at(found, "webhookByEvents") != false || len(events) < 20 || text(found, "id") != text(set, "id") {
		t.Errorf("after the change: %v", found)
	}
	for name, webhook := range cases.Sorted(map[string]object{
		"files": {"url": sink.URL, "base64": true}, "a token": {"url": sink.URL, "headers": object{"jwt_key": "x"}},
	}) {
		if message := o.refused(http.StatusNotImplemented, http.MethodPost, "/webhook/set/shop", object{"webhook": webhook}); !strings.Contains(text(message, 0), "leave") {
			t.Errorf("%s: %v", name, message)
		}
	}
	o.refused(http.StatusBadRequest, http.MethodPost, "/webhook/set/shop", object{"webhook": object{"enabled": true, "url": "nowhere"}})
}

// A webhook of what never happens here is told of nothing, rather than of everything.
func TestWebhooksOfNothing(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	o := newPartner(t, g)
	sink := testkit.NewSink(t)
	status, made := o.ask(http.MethodPost, "/instance/create", object{"instanceName": "shop", "webhook": object{"url": sink.URL, "byEvents": false, "events": []string{"TYPEBOT_START"}}})
	if events, _ := at(made, "webhook", "events").([]any); status != http.StatusCreated || text(made, "webhook", "url") != sink.URL || len(events) != 0 {
		t.Errorf("made: %d %v", status, made)
	}
}
