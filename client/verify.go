// The check of a webhook's signature, for programs that receive webhooks.

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

// WebhookTolerance is the default of WebhookVerifier.Tolerance.
const WebhookTolerance = 5 * time.Minute

// Why a delivery is refused. Answer it with 401.
var (
	// ErrWebhookSignature is the error of a delivery without a signature of one
	// of the secrets.
	ErrWebhookSignature = errors.New("the delivery is not signed with the secret")
	// ErrWebhookTimestamp is the error of a delivery whose time is too long ago or
	// ahead: somebody may have recorded it and sent it again.
	ErrWebhookTimestamp = errors.New("the delivery is too old, or the clocks differ")
)

// WebhookVerifier checks deliveries as Standard Webhooks 1.0.0 describes. It is safe for
// concurrent use.
//
// That project's own library takes one secret and always the wall clock, and this
// package needs only the standard library.
type WebhookVerifier struct {
	// Secrets are the secrets that a delivery may be signed with, "whsec_" and base64
	// or any other text; one that fits is enough. Empty ones are skipped.
	Secrets   []string
	Tolerance time.Duration    // how far the time of a delivery may be from now; 0 means WebhookTolerance
	Now       func() time.Time // nil means the wall clock
}

// VerifyWebhook returns the event of a delivery that is signed with the secret
// and not older than five minutes. body is the body of the request, byte for byte:
// read it before anything parses it. The error is ErrWebhookSignature,
// ErrWebhookTimestamp, or that of a body that is not an event.
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
	// Compared as times: the difference of distant times would overflow.
	at, moment := time.Unix(seconds, 0), now()
	if at.Before(moment.Add(-tolerance)) || at.After(moment.Add(tolerance)) {
		return ErrWebhookTimestamp
	}
	return nil
}

// signed reports whether one of the signatures is right. There are two while a secret
// changes.
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
			right = hmac.Equal([]byte(given), []byte(want)) || right // check all of them, so that the time reveals nothing
		}
	}
	return right
}

// signingKey is the decoded part of a secret after "whsec_"; any other secret is used
// as it is.
func signingKey(secret string) []byte {
	if encoded, ok := strings.CutPrefix(secret, "whsec_"); ok {
		key, err := base64.StdEncoding.DecodeString(encoded)
		if err == nil && len(key) > 0 && base64.StdEncoding.EncodeToString(key) == encoded {
			return key
		}
	}
	return []byte(secret)
}
