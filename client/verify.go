package client

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// WebhookTolerance is how old, or how far ahead, a delivery may be by the
// clock where the verifier does not say.
const WebhookTolerance = 5 * time.Minute

// Why a delivery is refused. Answer it with 401.
var (
	// ErrWebhookSignature is the error of a delivery without a signature of one
	// of the secrets.
	ErrWebhookSignature = errors.New("the delivery is not signed with the secret")
	// ErrWebhookTimestamp is the error of a delivery that is too old, or too far
	// ahead: somebody may have recorded it and sent it again.
	ErrWebhookTimestamp = errors.New("the delivery is too old, or the clocks differ")
)

// WebhookVerifier checks deliveries after Standard Webhooks 1.0.0. It is safe for
// concurrent use.
//
// It is written here because that project's library takes one secret and its own
// clock, and this package needs nothing beyond the standard library.
type WebhookVerifier struct {
	// Secrets are what the webhook may be signed with, "whsec_" and base64 or any
	// other text; one that fits is enough. Empty ones are passed over.
	Secrets   []string
	Tolerance time.Duration    // 0 means WebhookTolerance
	Now       func() time.Time // nil means the wall clock
}

// VerifyWebhook returns the event of a delivery that is signed with the secret
// and not older than five minutes. body is what arrived, byte for byte: read it
// before anything parses it. The error is ErrWebhookSignature or
// ErrWebhookTimestamp, or that of a body that is no event.
func VerifyWebhook(secret string, header http.Header, body []byte) (Event, error) {
	return WebhookVerifier{Secrets: []string{secret}}.Verify(header, body)
}

// Verify is VerifyWebhook with the verifier's secrets and clock.
func (v WebhookVerifier) Verify(header http.Header, body []byte) (Event, error) {
	id, timestamp := header.Get("Webhook-Id"), header.Get("Webhook-Timestamp")
	if err := v.checkTime(timestamp); err != nil {
		return Event{}, err
	}
	if id == "" || !v.signed(id, timestamp, header.Values("Webhook-Signature"), body) {
		return Event{}, ErrWebhookSignature
	}
	var event Event
	if err := json.Unmarshal(body, &event); err != nil {
		return Event{}, fmt.Errorf("decode the delivery: %w", err)
	}
	return event, nil
}

func (v WebhookVerifier) checkTime(timestamp string) error {
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return ErrWebhookTimestamp
	}
	now, tolerance := time.Now, v.Tolerance
	if v.Now != nil {
		now = v.Now
	}
	if tolerance == 0 {
		tolerance = WebhookTolerance
	}
	// Compared as times: a difference of far-off ones would overflow.
	at, moment := time.Unix(seconds, 0), now()
	if at.Before(moment.Add(-tolerance)) || at.After(moment.Add(tolerance)) {
		return ErrWebhookTimestamp
	}
	return nil
}

// signed reports whether one of the signatures is right. While a secret is
// changed there are two.
func (v WebhookVerifier) signed(id, timestamp string, signatures []string, body []byte) bool {
	right := false
	for _, secret := range v.Secrets {
		if secret == "" {
			continue
		}
		mac := hmac.New(sha256.New, signingKey(secret))
		mac.Write([]byte(id + "." + timestamp + "."))
		mac.Write(body)
		want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
		for given := range strings.FieldsSeq(strings.Join(signatures, " ")) {
			right = hmac.Equal([]byte(given), []byte(want)) || right // all of them, so that the time tells nothing
		}
	}
	return right
}

// signingKey is what comes after whsec_, decoded; any other secret is its own
// key.
func signingKey(secret string) []byte {
	if encoded, ok := strings.CutPrefix(secret, "whsec_"); ok {
		key, err := base64.StdEncoding.DecodeString(encoded)
		if err == nil && len(key) > 0 && base64.StdEncoding.EncodeToString(key) == encoded {
			return key
		}
	}
	return []byte(secret)
}
