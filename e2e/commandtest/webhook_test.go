package commandtest_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit/sink"
)

// The gateway and the Go client sign and verify as the library of Standard Webhooks does: the
// library accepts what the gateway delivers, also while a secret replaces another, and the client
// what the library has signed.
func TestSignaturesAreThoseOfStandardWebhooks(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "ready.json")
	start(t, "dev", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--ready-file", file)
	r := awaitReady(t, file)
	gateway, endpoint := client.New(r.BaseURL, r.APIKey), sink.New(t)
	var before *standardwebhooks.Webhook
	for n, secret := range []string{"açaí, which is no base64", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"} {
		library, err := standardwebhooks.NewWebhookRaw([]byte(secret))
		if strings.HasPrefix(secret, "whsec_") {
			library, err = standardwebhooks.NewWebhook(secret)
		}
		if err != nil {
			t.Fatal(err)
		}
		hook, err := gateway.SaveWebhookConfig(t.Context(), r.InstanceID, client.NewWebhookConfig{WebhookURL: endpoint.URL, Secret: secret})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := gateway.TestWebhook(t.Context(), r.InstanceID, hook.ID); err != nil {
			t.Fatal(err)
		}
		taken := endpoint.Await("one more test", func(taken []sink.Delivered) bool { return len(taken) == n+1 })[n]
		if err := library.Verify(taken.Body, taken.Header); err != nil {
			t.Errorf("the library refuses what is signed with %s: %v", secret, err)
		}
		if before != nil {
			if err := before.Verify(taken.Body, taken.Header); err != nil {
				t.Errorf("the library refuses what is signed with the secret before %s too: %v", secret, err)
			}
		}
		before = library
		if err := library.Verify(append(taken.Body, ' '), taken.Header); err == nil {
			t.Error("the library accepts another body")
		}

		now := time.Now()
		signature, err := library.Sign("another", now, taken.Body)
		if err != nil {
			t.Fatal(err)
		}
		taken.Header.Set("Webhook-Id", "another")
		taken.Header.Set("Webhook-Timestamp", strconv.FormatInt(now.Unix(), 10))
		taken.Header.Set("Webhook-Signature", signature)
		if event, err := client.VerifyWebhook(secret, taken.Header, taken.Body); err != nil || event.Type != client.TypeWebhookTest {
			t.Errorf("the client refuses what the library has signed with %s: %+v, %v", secret, event, err)
		}
	}
}
