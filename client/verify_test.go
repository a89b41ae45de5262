package client_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// sign signs a body as the specification says. That the specification's own library signs the
// same is tested in e2e/commandtest, where it is.
func sign(key string, at time.Time, body string) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write(fmt.Appendf(nil, "e1.%d.%s", at.Unix(), body))
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// Deliveries that are signed are accepted, others not.
func TestVerifyWebhook(t *testing.T) {
	t.Parallel()
	const (
		body   = `{"id":"e1","type":"webhook.test","sequence":0,"data":{"message":"This is a test."}}`
		secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	)
	decoded, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	signer, text := string(decoded), "segredo"
	at := time.Date(2026, 11, 20, 14, 22, 10, 0, time.UTC)
	good := sign(signer, at, body)
	for name, test := range cases.Sorted(map[string]struct {
		signature string
		id, body  string
		secrets   string
		late      time.Duration
		want      error
	}{
		"signed":                       {signature: good},
		"signed with text":             {signature: sign(text, at, body), secrets: "segredo"},
		"one of two signatures":        {signature: "v1,AAAA " + good},
		"one of two secrets":           {signature: good, secrets: "another " + secret},
		"at the limit":                 {signature: good, late: 5 * time.Minute},
		"too old":                      {signature: good, late: 5*time.Minute + time.Second, want: client.ErrWebhookTimestamp},
		"too far ahead":                {signature: good, late: -5*time.Minute - time.Second, want: client.ErrWebhookTimestamp},
		"another body":                 {signature: good, body: body + " ", want: client.ErrWebhookSignature},
		"another id":                   {signature: good, id: "e2", want: client.ErrWebhookSignature},
		"another secret":               {signature: good, secrets: "whsec_AAAA", want: client.ErrWebhookSignature},
		"no secret":                    {signature: good, secrets: "-", want: client.ErrWebhookSignature},
		"no signature":                 {want: client.ErrWebhookSignature},
		"another version":              {signature: "v2," + strings.TrimPrefix(good, "v1,"), want: client.ErrWebhookSignature},
		"signed with the text itself":  {signature: sign(text, at, body), want: client.ErrWebhookSignature},
		"signed for another timestamp": {signature: sign(signer, at.Add(time.Second), body), want: client.ErrWebhookSignature},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			header := http.Header{}
			header.Set("Webhook-Id", "e1"+strings.TrimPrefix(test.id, "e1"))
			header.Set("Webhook-Timestamp", strconv.FormatInt(at.Unix(), 10))
			header.Set("Webhook-Signature", test.signature)
			verifier := client.WebhookVerifier{Secrets: []string{secret}, Now: func() time.Time { return at.Add(test.late) }}
			if test.secrets != "" {
				verifier.Secrets = strings.Fields(strings.TrimPrefix(test.secrets, "-"))
			}
			content := body
			if test.body != "" {
				content = test.body
			}
			event, err := verifier.Verify(header, []byte(content))
			if !errors.Is(err, test.want) || (test.want == nil) != (event.Type == client.TypeWebhookTest) {
				t.Errorf("verified %+v (%v), want %v", event, err, test.want)
			}
		})
	}
	if _, err := client.VerifyWebhook(secret, http.Header{"Webhook-Timestamp": {"yesterday"}}, nil); !errors.Is(err, client.ErrWebhookTimestamp) {
		t.Errorf("verified no time: %v", err)
	}
}

// Nothing in a foreign body or header can crash the program.
func FuzzVerifyWebhook(f *testing.F) {
	f.Add("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "1795270930", "v1,AAAA v1,", []byte(`{}`))
	f.Add("whsec_=", "-9223372036854775808", ", ,", []byte(nil))
	f.Fuzz(func(t *testing.T, secret, timestamp, signature string, body []byte) {
		header := http.Header{"Webhook-Id": {"a"}, "Webhook-Timestamp": {timestamp}, "Webhook-Signature": {signature}}
		if _, err := client.VerifyWebhook(secret, header, body); err == nil && secret == "" {
			t.Error("verified without a secret")
		}
	})
}
