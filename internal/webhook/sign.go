// The signatures of requests (Standard Webhooks 1.0.0).

package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

// secretPrefix begins a secret that is the base64 of a key, as the
// specification of Standard Webhooks has it.
const secretPrefix = "whsec_"

// key returns the key of signatures: the decoded bytes of a secret with the prefix,
// and the secret itself otherwise.
func (s Secret) key() []byte {
	if key, ok := s.decoded(); ok {
		return key
	}
	return []byte(s)
}

// isEncoded reports whether the secret is the base64 of a key.
func (s Secret) isEncoded() bool {
	_, ok := s.decoded()
	return ok
}

func (s Secret) decoded() ([]byte, bool) {
	encoded, ok := strings.CutPrefix(string(s), secretPrefix)
	if !ok {
		return nil, false
	}
	key, err := base64.StdEncoding.DecodeString(encoded)
	// Languages differ in how they decode base64 that is not canonical.
	return key, err == nil && len(key) > 0 && base64.StdEncoding.EncodeToString(key) == encoded
}

// target is where a webhook's events go, and how they are signed. It is never
// changed.
type target struct {
	url     *url.URL
	keys    []signingKey
	headers []Header
	links   MediaLinks // nil: events have none
	files   *files     // nil: there are none

	format    Format // nil: FormatRecado
	instances Instances
	accounts  Accounts
	secret    string // for the signature of the format
}

// signingKey is a key and when it stops signing; the zero time means never.
type signingKey struct {
	key   []byte
	until time.Time
}

// target returns where the events of a webhook go.
func (s *Service) target(webhook Webhook) (*target, error) {
	address, ok := gateway.ParseURL(webhook.URL)
	if !ok {
		return nil, errors.New("webhook: the address is no http or https URL")
	}
	to := &target{url: address, headers: webhook.Headers}
	if webhook.Secret != "" {
		to.keys = append(to.keys, signingKey{key: webhook.Secret.key()})
	}
	if webhook.PreviousSecret != "" {
		to.keys = append(to.keys, signingKey{key: webhook.PreviousSecret.key(), until: webhook.PreviousSecretUntil})
	}
	if webhook.MediaLinks {
		to.links = s.links
	}
	if webhook.Format == "" {
		return to, nil
	}
	if to.format = s.formats[webhook.Format]; to.format == nil {
		return nil, errors.New("webhook: this program does not know the format " + webhook.Format)
	}
	// These languages have no other way to a file.
	to.links, to.files, to.instances, to.accounts, to.secret = s.links, s.files, s.instances, s.accounts, string(webhook.Secret)
	return to, nil
}

// body returns an event as it is delivered there. A link is made for each attempt, so that one
// that comes late has not expired on its way.
func (t *target) body(event eventlog.Event) []byte {
	if t.links != nil {
		if link := mediaLinkOf(t.links, event); link != nil {
			return event.EnvelopeWith(*link)
		}
	}
	return event.Envelope()
}

// signature returns the signatures of a request, as Standard Webhooks 1.0.0 has
// them: one for each key that signs at that time, with spaces in between; empty
// where there is none.
func (t *target) signature(id string, at time.Time, body []byte) string {
	var signatures []byte
	for _, key := range t.keys {
		if !key.until.IsZero() && !at.Before(key.until) {
			continue
		}
		mac := hmac.New(sha256.New, key.key)
		signed := make([]byte, 0, len(id)+24)
		signed = append(signed, id...)
		signed = append(signed, '.')
		signed = strconv.AppendInt(signed, at.Unix(), 10)
		mac.Write(append(signed, '.'))
		mac.Write(body)
		if len(signatures) > 0 {
			signatures = append(signatures, ' ')
		}
		signatures = append(signatures, "v1,"...)
		signatures = base64.StdEncoding.AppendEncode(signatures, mac.Sum(nil))
	}
	return string(signatures)
}
