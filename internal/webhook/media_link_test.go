package webhook_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/webhook"
)

// signer signs nothing.
type signer struct{ at time.Time }

func (s signer) MediaLink(instanceID, messageID string) (string, time.Time) {
	return "https://example.org/media/" + instanceID + "/" + messageID + "?a=1&b=2", s.at
}

func TestMediaLinkOf(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	const file = `{"id":"m1","media":{"mimeType":"image/png"}}`
	for name, test := range cases.Sorted(map[string]struct {
		kind eventlog.Kind
		data string
		want bool
	}{
		"received with a file": {eventlog.KindMessageReceived, file, true},
		"sent with a file":     {eventlog.KindMessageSent, file, true},
		"no file":              {eventlog.KindMessageReceived, `{"id":"m1","media":null}`, false},
		"no message":           {eventlog.KindMessageReceived, `{"media":{}}`, false},
		"no object":            {eventlog.KindMessageReceived, `[]`, false},
		"another event":        {eventlog.KindMessageStatus, file, false},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			event := eventlog.Event{ID: "e1", InstanceID: "i1", Kind: test.kind, Sequence: 7, At: at, Data: []byte(test.data)}
			link := webhook.MediaLinkOf(signer{at}, event)
			if (link != nil) != test.want {
				t.Fatalf("the link is %v", link)
			}
			if link == nil {
				return
			}
			var told struct {
				Sequence  int64 `json:"sequence"`
				Data      any   `json:"data"`
				MediaLink struct {
					URL       string    `json:"url"`
					ExpiresAt time.Time `json:"expiresAt"`
				} `json:"mediaLink"`
			}
			if err := json.Unmarshal(event.EnvelopeWith(*link), &told); err != nil {
				t.Fatal(err)
			}
			if told.Sequence != 7 || told.Data == nil || told.MediaLink.URL != "https://example.org/media/i1/m1?a=1&b=2" || !told.MediaLink.ExpiresAt.Equal(at) {
				t.Errorf("the event is %+v", told)
			}
		})
	}
}

// Where nobody knows what links would begin with, no webhook can have them.
func TestMediaLinksNeedAnAddress(t *testing.T) {
	t.Parallel()
	r := newRig(t, webhook.Config{})
	id := r.instance()
	_, err := r.service.Create(t.Context(), id, webhook.Settings{URL: "https://example.org", MediaLinks: new(true)})
	if refused, ok := gateway.AsError(err); !ok || refused.Kind != gateway.Invalid || len(refused.Fields) != 1 || refused.Fields[0].Field != "mediaLinks" {
		t.Errorf("it is answered with %v", err)
	}
	if _, err := r.service.Create(t.Context(), id, webhook.Settings{URL: "https://example.org", MediaLinks: new(false)}); err != nil {
		t.Errorf("without links: %v", err)
	}
}
