package webhook_test

import (
	"encoding/json"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/webhook"
)

// verify checks a request as programs in Go do that receive it, whenever that was.
func verify(event received, secret string) error {
	_, err := client.WebhookVerifier{Secrets: []string{secret}, Tolerance: math.MaxInt64}.Verify(event.header, event.body)
	return err
}

const encoded = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

func TestRequest(t *testing.T) {
	t.Parallel()
	endpoint := receive(t, nil)
	r := newRig(t, webhook.Config{AllowPrivateURLs: true, Version: "1.2.3"})
	for name, secret := range cases.Sorted(map[string]*string{
		"none": nil, "base64": new(encoded), "text": new("açaí"),
	}) {
		id := r.instance()
		r.save(id, webhook.Settings{URL: endpoint.server.URL + "/hook?a=b", Secret: secret})
		r.append(id, name, 1)
	}
	endpoint.waitFor(3)
	for _, event := range endpoint.came() {
		secret := map[string]string{"base64": encoded, "text": "açaí"}[event.chat]
		for header, want := range cases.Sorted(map[string]string{
			"Content-Type":      "^application/json$",
			"User-Agent":        `^Recado/1\.2\.3$`,
			"Webhook-Id":        "^" + event.ID + "$",
			"Webhook-Timestamp": "^[0-9]{10}$",
			"Idempotency-Key":   "^$",
			"Accept-Encoding":   "^$",
		}) {
			if got := event.header.Get(header); !regexp.MustCompile(want).MatchString(got) {
				t.Errorf("%s: %s is %q", event.chat, header, got)
			}
		}
		if sent, err := strconv.ParseInt(event.header.Get("Webhook-Timestamp"), 10, 64); err != nil ||
			event.at.Sub(time.Unix(sent, 0)).Abs() > time.Minute {
			t.Errorf("%s: it says that it was sent at %d", event.chat, sent)
		}
		var body map[string]json.RawMessage
		r.check(json.Unmarshal(event.body, &body))
		if len(body) != 6 || event.Sequence != 1 || event.Kind != "webhook.test" {
			t.Errorf("%s: the body is %s", event.chat, event.body)
		}
		if event.chat == "none" {
			if signature := event.header.Get("Webhook-Signature"); signature != "" {
				t.Errorf("without a secret the signature is %q", signature)
			}
			continue
		}
		if err := verify(event, secret); err != nil {
			t.Errorf("%s: %v", event.chat, err)
		}
		if err := verify(event, "another"); err == nil {
			t.Errorf("%s: any secret verifies it", event.chat)
		}
	}
}

// After a change both secrets sign, for a day.
func TestSecretRotation(t *testing.T) {
	t.Parallel()
	var later atomic.Int64
	endpoint := receive(t, nil)
	r := newRig(t, webhook.Config{
		AllowPrivateURLs: true, Now: func() time.Time { return time.Now().Add(time.Duration(later.Load())) },
	})
	id := r.instance()
	settings := webhook.Settings{URL: endpoint.server.URL, Secret: new("first")}
	r.save(id, settings)
	sent := 0
	wantSigned := func(secrets ...string) {
		t.Helper()
		sent++
		r.append(id, "chat", sent)
		endpoint.waitFor(sent)
		event := endpoint.got()[sent-1]
		if n := len(strings.Fields(event.header.Get("Webhook-Signature"))); n != len(secrets) {
			t.Errorf("event %d has %d signatures, want %d", sent, n, len(secrets))
		}
		for _, secret := range secrets {
			if err := verify(event, secret); err != nil {
				t.Errorf("event %d with %s: %v", sent, secret, err)
			}
		}
	}
	wantSigned("first")
	settings.Secret = new(encoded)
	r.save(id, settings)
	wantSigned(encoded, "first")
	r.save(id, webhook.Settings{URL: endpoint.server.URL}) // which keeps it
	r.save(id, settings)                                   // the same again is no change
	wantSigned(encoded, "first")
	later.Add(int64(23 * time.Hour))
	wantSigned(encoded, "first")
	later.Add(int64(2 * time.Hour))
	wantSigned(encoded)
	settings.Secret = new("third")
	r.save(id, settings)
	wantSigned("third", encoded)
	settings.Secret = new("fourth")
	r.save(id, settings)
	wantSigned("fourth", "third")
	r.stop()
	r.start(webhook.Config{AllowPrivateURLs: true, Now: func() time.Time { return time.Now().Add(time.Duration(later.Load())) }})
	wantSigned("fourth", "third")
	if hook, err := r.service.Get(t.Context(), webhook.First(id)); err != nil || hook.Secret != "fourth" {
		t.Errorf("got %+v, %v", hook, err)
	}
}
