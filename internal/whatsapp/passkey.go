// The platform's question for a passkey is read, and what a browser has signed is checked before the
// platform sees it, which takes one answer only.

package whatsapp

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
)

const (
	// standardPasskeyLimit is how long a question may be answered that does not say it itself;
	// minPasskeyLimit and maxPasskeyLimit bound one that does.
	standardPasskeyLimit = time.Minute
	minPasskeyLimit      = time.Second
	maxPasskeyLimit      = 10 * time.Minute

	// maxPasskeyRequest bounds a request in bytes.
	maxPasskeyRequest = 32 << 10
	// maxPasskeyAnswer bounds an answer in bytes.
	maxPasskeyAnswer = 64 << 10

	userVerified = 0x04 // flag of the authenticator's data (section 6.1 of WebAuthn)
)

// passkeyLimit is how long a question may be answered.
func passkeyLimit(request *types.WebAuthnPublicKey) time.Duration {
	limit := time.Duration(min(request.Timeout, int(maxPasskeyLimit.Milliseconds()))) * time.Millisecond
	if limit <= 0 {
		return standardPasskeyLimit
	}
	return max(limit, minPasskeyLimit)
}

// passkeyRequest is what a browser takes as the publicKey of navigator.credentials.get, as JSON: the
// platform's request without what it has left empty, which browsers refuse. Its error says
// that no browser could use it.
func passkeyRequest(asked *types.WebAuthnPublicKey) (json.RawMessage, error) {
	if len(asked.Challenge) == 0 || asked.RelyingPartID == "" {
		return nil, errors.New("whatsapp: passkey: the request has no challenge, or no name")
	}
	type credential struct {
		ID         string   `json:"id"`
		Type       string   `json:"type"`
		Transports []string `json:"transports,omitempty"`
	}
	allowed := make([]credential, len(asked.AllowCredentials))
	for i, one := range asked.AllowCredentials {
		allowed[i] = credential{base64.RawURLEncoding.EncodeToString(one.ID), one.Type, one.Transports}
	}
	request, err := json.Marshal(struct {
		Challenge        string         `json:"challenge"`
		Timeout          int64          `json:"timeout"`
		RPID             string         `json:"rpId"`
		AllowCredentials []credential   `json:"allowCredentials,omitempty"`
		UserVerification string         `json:"userVerification,omitempty"`
		Extensions       map[string]any `json:"extensions,omitempty"`
	}{
		base64.RawURLEncoding.EncodeToString(asked.Challenge), passkeyLimit(asked).Milliseconds(), asked.RelyingPartID,
		allowed, asked.UserVerification, asked.Extensions,
	})
	if err != nil {
		return nil, fmt.Errorf("whatsapp: passkey: %w", err)
	}
	if len(request) > maxPasskeyRequest {
		return nil, fmt.Errorf("whatsapp: passkey: the request has %d bytes", len(request))
	}
	return request, nil
}

// checkPasskey reads an answer to a request and finds what the platform would refuse, but for the
// signature and its counter: only the platform knows the key. Its error is Invalid and says
// what is wrong.
func checkPasskey(request *types.WebAuthnPublicKey, answer []byte) (*types.WebAuthnResponse, error) {
	if len(answer) > maxPasskeyAnswer {
		return nil, wrongPasskey("it has more than %d bytes", maxPasskeyAnswer)
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(answer)
	if err != nil {
		return nil, wrongPasskey("it is not the JSON that a browser's credential.toJSON() gives: %s", passkeyDetail(err))
	}
	var response types.WebAuthnResponse
	if err := json.Unmarshal(answer, &response); err != nil {
		return nil, wrongPasskey("it is not the JSON that a browser's credential.toJSON() gives")
	}
	signed := parsed.Response.CollectedClientData
	switch data := parsed.Response.AuthenticatorData; {
	case signed.Type != protocol.AssertCeremony:
		return nil, wrongPasskey("it signs %q, not %q", signed.Type, protocol.AssertCeremony)
	case signed.Challenge != base64.RawURLEncoding.EncodeToString(request.Challenge):
		return nil, wrongPasskey("it answers another request; the one that is open is at GET …/passkey")
	case !isPageOf(signed.Origin, request.RelyingPartID):
		return nil, wrongPasskey("it was signed on the page %q; it must be a page of %s", signed.Origin, request.RelyingPartID)
	case !bytes.Equal(data.RPIDHash, sha256Of(request.RelyingPartID)):
		return nil, wrongPasskey("it was signed for another name than %s", request.RelyingPartID)
	case request.UserVerification == string(protocol.VerificationRequired) && data.Flags&userVerified == 0:
		return nil, wrongPasskey("the device has not verified who used it, by PIN, finger or face")
	case !isAllowedPasskey(request, response.RawID):
		return nil, wrongPasskey("it is of a passkey that the account does not have")
	}
	return &response, nil
}

func isAllowedPasskey(request *types.WebAuthnPublicKey, id []byte) bool {
	for _, allowed := range request.AllowCredentials {
		if bytes.Equal(allowed.ID, id) {
			return true
		}
	}
	return len(request.AllowCredentials) == 0
}

// isPageOf reports whether a page may sign for a name: it is at that name or below it, with
// TLS or on this machine (section 5.1.3 of WebAuthn).
func isPageOf(origin, name string) bool {
	page, err := url.Parse(origin)
	if err != nil || name == "" {
		return false
	}
	host := page.Hostname()
	secure := page.Scheme == "https" || page.Scheme == "http" && (host == "localhost" || strings.HasSuffix(host, ".localhost"))
	return secure && (host == name || strings.HasSuffix(host, "."+name))
}

func sha256Of(name string) []byte {
	sum := sha256.Sum256([]byte(name))
	return sum[:]
}

func passkeyDetail(err error) string {
	if known, ok := err.(*protocol.Error); ok { //nolint:errorlint // the library returns it as it is
		return known.Details
	}
	return err.Error()
}

func wrongPasskey(format string, args ...any) error {
	return gateway.InvalidField("body", "the answer of the passkey is refused: "+fmt.Sprintf(format, args...))
}
