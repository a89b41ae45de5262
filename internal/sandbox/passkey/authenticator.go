// The phone's own passkey: what a browser and a security key do together, without either.

package passkey

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncbor"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"
	"github.com/go-webauthn/webauthn/webauthn"
)

// authenticator is a passkey that this program signs with. JSON keeps it.
type authenticator struct {
	ID    []byte `json:"id"`
	Key   []byte `json:"key"` // on P-256
	Count uint32 `json:"count"`
}

// newAuthenticator draws a passkey, and returns what the platform knows of it.
func newAuthenticator() (*authenticator, webauthn.Credential, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, webauthn.Credential{}, fmt.Errorf("passkey: draw a key: %w", err)
	}
	secret, err := key.Bytes()
	if err != nil {
		return nil, webauthn.Credential{}, fmt.Errorf("passkey: draw a key: %w", err)
	}
	point, err := key.PublicKey.Bytes() // one byte that names its form, then both coordinates
	if err != nil {
		return nil, webauthn.Credential{}, fmt.Errorf("passkey: draw a key: %w", err)
	}
	public, err := webauthncbor.Marshal(webauthncose.EC2PublicKeyData{
		PublicKeyData: webauthncose.PublicKeyData{KeyType: int64(webauthncose.EllipticKey), Algorithm: int64(webauthncose.AlgES256)},
		Curve:         int64(webauthncose.P256), XCoord: point[1:33], YCoord: point[33:],
	})
	if err != nil {
		return nil, webauthn.Credential{}, fmt.Errorf("passkey: encode a key: %w", err)
	}
	own := &authenticator{ID: make([]byte, 32), Key: secret}
	// It never returns an error.
	_, _ = rand.Read(own.ID)
	return own, webauthn.Credential{
		ID: own.ID, PublicKey: public, Flags: webauthn.CredentialFlags{UserPresent: true, UserVerified: true},
	}, nil
}

// sign answers a challenge for a name on a page, as AuthenticationResponseJSON of WebAuthn.
func (a *authenticator) sign(challenge, name, page string, user []byte) ([]byte, error) {
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), a.Key)
	if err != nil {
		return nil, fmt.Errorf("passkey: read the key: %w", err)
	}
	client, err := json.Marshal(map[string]any{
		"type": protocol.AssertCeremony, "challenge": challenge, "origin": page, "crossOrigin": false,
	})
	if err != nil {
		return nil, fmt.Errorf("passkey: sign: %w", err)
	}
	host, clientHash := sha256.Sum256([]byte(name)), sha256.Sum256(client)
	a.Count++
	data := append(host[:], byte(protocol.FlagUserPresent|protocol.FlagUserVerified))
	data = binary.BigEndian.AppendUint32(data, a.Count)
	digest := sha256.Sum256(append(slices.Clip(data), clientHash[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, key, digest[:])
	if err != nil {
		return nil, fmt.Errorf("passkey: sign: %w", err)
	}
	text := base64.RawURLEncoding.EncodeToString
	return json.Marshal(map[string]any{
		"id": text(a.ID), "rawId": text(a.ID), "type": protocol.PublicKeyCredentialType,
		"response": map[string]string{
			"clientDataJSON": text(client), "authenticatorData": text(data), "signature": text(signature), "userHandle": text(user),
		},
	})
}
