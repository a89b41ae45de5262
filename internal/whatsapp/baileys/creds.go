// The credentials: what a device is linked with.

package baileys

import (
	"bytes"
	"encoding/base64"
	"fmt"

	"go.mau.fi/whatsmeow/proto/waAdv"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	wakeys "go.mau.fi/whatsmeow/util/keys"

	"github.com/recado-project/recado/internal/gateway"
)

// keyPair is a key pair. The public key follows from the private one.
type keyPair struct {
	Private buffer `json:"private"`
}

// credsJSON is creds.json, as far as it is needed.
type credsJSON struct {
	NoiseKey     keyPair `json:"noiseKey"`
	IdentityKey  keyPair `json:"signedIdentityKey"`
	SignedPreKey struct {
		KeyPair   keyPair `json:"keyPair"`
		Signature buffer  `json:"signature"`
		KeyID     uint32  `json:"keyId"`
	} `json:"signedPreKey"`
	RegistrationID uint32 `json:"registrationId"`
	AdvSecretKey   string `json:"advSecretKey"`
	Me             struct {
		ID           string `json:"id"`
		LID          string `json:"lid"`
		Name         string `json:"name"`
		VerifiedName string `json:"verifiedName"`
	} `json:"me"`
	Account *struct {
		Details             buffer `json:"details"`
		AccountSignatureKey buffer `json:"accountSignatureKey"`
		AccountSignature    buffer `json:"accountSignature"`
		DeviceSignature     buffer `json:"deviceSignature"`
	} `json:"account"`
	Identities []struct {
		Key buffer `json:"identifierKey"`
	} `json:"signalIdentities"`
	Platform          string `json:"platform"`
	NextPreKey        uint32 `json:"nextPreKeyId"`
	FirstUngivenPreID uint32 `json:"firstUnuploadedPreKeyId"`
}

type credentials struct {
	device      *store.Device
	identity    []byte // the public key, with the byte of its curve
	nextPreKey  uint32
	firstAtHome uint32 // prekeys below were given to the platform
}

// SameDevice reports whether credentials are of the same device, which may have changed
// in between.
func SameDevice(one, other []byte) bool {
	var keys [2]struct {
		NoiseKey keyPair `json:"noiseKey"`
	}
	return decode(one, &keys[0]) == nil && decode(other, &keys[1]) == nil &&
		bytes.Equal(keys[0].NoiseKey.Private, keys[1].NoiseKey.Private)
}

// readCreds reads credentials. What Baileys does not know stays empty, as whatsmeow leaves
// it until a phone tells.
func readCreds(encoded []byte) (credentials, error) {
	fail := func(what string) (credentials, error) {
		return credentials{}, fmt.Errorf("baileys: read the credentials: %s", what)
	}
	var creds credsJSON
	if err := decode(encoded, &creds); err != nil {
		return fail(err.Error())
	}
	if creds.Me.ID == "" || creds.Account == nil {
		return credentials{}, ErrNotLinked
	}
	const key, signature = 32, 64
	account := &waAdv.ADVSignedDeviceIdentity{
		Details: creds.Account.Details, AccountSignatureKey: creds.Account.AccountSignatureKey,
		AccountSignature: creds.Account.AccountSignature, DeviceSignature: creds.Account.DeviceSignature,
	}
	if len(account.AccountSignatureKey) == 0 && len(creds.Identities) > 0 {
		// It is the account's identity, which is kept twice.
		if public, ok := publicKey(creds.Identities[0].Key); ok {
			account.AccountSignatureKey = public[1:]
		}
	}
	if len(account.AccountSignatureKey) != key || len(account.AccountSignature) != signature || len(account.DeviceSignature) != signature {
		return fail("a signature of the link has another length")
	}
	for _, private := range []buffer{creds.NoiseKey.Private, creds.IdentityKey.Private, creds.SignedPreKey.KeyPair.Private} {
		if len(private) != key {
			return fail("a key has another length")
		}
	}
	secret, err := base64.StdEncoding.DecodeString(creds.AdvSecretKey)
	if err != nil || len(creds.SignedPreKey.Signature) != signature {
		return fail("a key has another length")
	}
	device := &store.Device{
		NoiseKey:    wakeys.NewKeyPairFromPrivateKey([32]byte(creds.NoiseKey.Private)),
		IdentityKey: wakeys.NewKeyPairFromPrivateKey([32]byte(creds.IdentityKey.Private)),
		SignedPreKey: &wakeys.PreKey{
			KeyPair: *wakeys.NewKeyPairFromPrivateKey([32]byte(creds.SignedPreKey.KeyPair.Private)),
			KeyID:   creds.SignedPreKey.KeyID, Signature: (*[64]byte)(creds.SignedPreKey.Signature),
		},
		RegistrationID: creds.RegistrationID, AdvSecretKey: secret, Account: account,
		Platform: creds.Platform, PushName: gateway.CleanName(creds.Me.Name), BusinessName: gateway.CleanName(creds.Me.VerifiedName),
	}
	id, err := types.ParseJID(creds.Me.ID)
	if err != nil || id.Server != types.DefaultUserServer || !isUser(id.User) {
		return fail("it is not a device of a number")
	}
	device.ID = &id
	if lid, err := types.ParseJID(creds.Me.LID); err == nil && lid.Server == types.HiddenUserServer && isUser(lid.User) {
		lid.Device = id.Device // versions before 7 leave it out
		device.LID = lid
	}
	return credentials{
		device: device, identity: append([]byte{5}, device.IdentityKey.Pub[:]...),
		nextPreKey: creds.NextPreKey % (1 << preKeyBits), firstAtHome: creds.FirstUngivenPreID,
	}, nil
}
