package whatsapp

import (
	"encoding/json"
	"testing"
	"time"

	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func asked(change func(*types.WebAuthnPublicKey)) *types.WebAuthnPublicKey {
	request := &types.WebAuthnPublicKey{
		Challenge: []byte("challenge"), RelyingPartID: "web.example.com", Timeout: 60_000,
		AllowCredentials: []types.AllowedCredential{{ID: []byte("one"), Type: "public-key"}},
	}
	change(request)
	return request
}

// A browser gets what the platform has said, and nothing that is empty.
func TestRequestIsForABrowser(t *testing.T) {
	t.Parallel()
	const whole = `{"challenge":"Y2hhbGxlbmdl","timeout":60000,"rpId":"web.example.com","allowCredentials":[{"id":"b25l","type":"public-key"}]}`
	for name, test := range cases.Sorted(map[string]struct {
		change func(*types.WebAuthnPublicKey)
		want   string // "": an error
		limit  time.Duration
	}{
		"as it is":        {func(*types.WebAuthnPublicKey) {}, whole, time.Minute},
		"of any passkey":  {func(r *types.WebAuthnPublicKey) { r.AllowCredentials = nil }, `{"challenge":"Y2hhbGxlbmdl","timeout":60000,"rpId":"web.example.com"}`, time.Minute},
		"without a limit": {func(r *types.WebAuthnPublicKey) { r.Timeout = 0 }, whole, time.Minute},
		"far too long": {
			func(r *types.WebAuthnPublicKey) { r.Timeout, r.AllowCredentials = 1<<62, nil },
			`{"challenge":"Y2hhbGxlbmdl","timeout":600000,"rpId":"web.example.com"}`, 10 * time.Minute,
		},
		"too short": {
			func(r *types.WebAuthnPublicKey) { r.Timeout, r.AllowCredentials = 1, nil },
			`{"challenge":"Y2hhbGxlbmdl","timeout":1000,"rpId":"web.example.com"}`, time.Second,
		},
		"without a challenge": {func(r *types.WebAuthnPublicKey) { r.Challenge = nil }, "", time.Minute},
		"without a name":      {func(r *types.WebAuthnPublicKey) { r.RelyingPartID = "" }, "", time.Minute},
		"too large":           {func(r *types.WebAuthnPublicKey) { r.Challenge = make([]byte, 32<<10) }, "", time.Minute},
	}) {
		request := asked(test.change)
		got, err := passkeyRequest(request)
		if string(got) != test.want || (err != nil) != (test.want == "") {
			t.Errorf("%s: the request is %s (%v), want %s", name, got, err, test.want)
		}
		if limit := passkeyLimit(request); limit != test.limit {
			t.Errorf("%s: the limit is %s, want %s", name, limit, test.limit)
		}
	}
}

// Whatever somebody sends as an answer is read or refused as invalid.
func FuzzCheck(f *testing.F) {
	f.Add([]byte(`{"id":"b25l","rawId":"b25l","type":"public-key","response":{"clientDataJSON":"e30","authenticatorData":"AA","signature":"AA"}}`))
	f.Add([]byte(`{"id":"b25l","rawId":"b25l","type":"public-key","response":{"clientDataJSON":"eyJ0eXBlIjoid2ViYXV0aG4uZ2V0IiwiY2hhbGxlbmdlIjoiWTJoaGJHeGxibWRsIn0",` +
		`"authenticatorData":"SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAQ","signature":"AA","userHandle":null}}`))
	f.Add([]byte(`null`))
	request := asked(func(*types.WebAuthnPublicKey) {})
	f.Fuzz(func(t *testing.T, answer []byte) {
		response, err := checkPasskey(request, answer)
		if err != nil {
			if gateway.KindOf(err) != gateway.Invalid {
				t.Errorf("refused with %v", err)
			}
			return
		}
		if _, err := json.Marshal(response); err != nil {
			t.Error(err)
		}
	})
}
