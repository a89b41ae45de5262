// The signed identity of a linked device.

package pairing

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/whatsmeow/proto/waAdv"
	"go.mau.fi/whatsmeow/util/keys"
	"google.golang.org/protobuf/proto"
)

// These prefixes of signed bytes name the signer: the account or the companion.
const (
	accountPrefix = "\x06\x00"
	devicePrefix  = "\x06\x01"
)

// ErrDeviceIdentity says that a companion's answer to pair-success is not the
// signed identity that it must return.
var ErrDeviceIdentity = errors.New("pairing: bad device identity")

// Identity signs a companion's identity with the account's identity key. It returns
// the serialised ADVSignedDeviceIdentityHMAC for the device-identity of
// pair-success, authenticated with advSecret, and the signed details, which
// VerifyDeviceSignature needs. rawID names the account's set of devices, and
// keyIndex the companion in it.
func Identity(
	account *keys.KeyPair, companionIdentity [32]byte, advSecret []byte, rawID, keyIndex uint32, now time.Time,
) (signedHMAC, details []byte, err error) {
	details, err = proto.Marshal(&waAdv.ADVDeviceIdentity{
		RawID:       &rawID,
		Timestamp:   new(uint64(max(now.Unix(), 0))),
		KeyIndex:    &keyIndex,
		AccountType: waAdv.ADVEncryptionType_E2EE.Enum(),
		DeviceType:  waAdv.ADVEncryptionType_E2EE.Enum(),
	})
	if err != nil {
		return nil, nil, fmt.Errorf("pairing: encode identity details: %w", err)
	}
	signature := ecc.CalculateSignature(
		ecc.NewDjbECPrivateKey(*account.Priv), accountStatement(details, companionIdentity),
	)
	signed, err := proto.Marshal(&waAdv.ADVSignedDeviceIdentity{
		Details: details, AccountSignatureKey: account.Pub[:], AccountSignature: signature[:],
	})
	if err != nil {
		return nil, nil, fmt.Errorf("pairing: encode signed identity: %w", err)
	}
	mac := hmac.New(sha256.New, advSecret)
	mac.Write(signed)
	signedHMAC, err = proto.Marshal(&waAdv.ADVSignedDeviceIdentityHMAC{Details: signed, HMAC: mac.Sum(nil)})
	if err != nil {
		return nil, nil, fmt.Errorf("pairing: encode authenticated identity: %w", err)
	}
	return signedHMAC, details, nil
}

// VerifyDeviceSignature checks a companion's answer, the device-identity of its
// pair-device-sign, against the details that Identity returned. It returns the
// complete identity with the account's key, in the form in which device-identity
// nodes carry it to other people's devices. accountKey is the account's public key.
// The error is an ErrDeviceIdentity.
func VerifyDeviceSignature(
	accountKey, companionIdentity [32]byte, details, answer []byte,
) (*waAdv.ADVSignedDeviceIdentity, error) {
	signed := &waAdv.ADVSignedDeviceIdentity{}
	if err := proto.Unmarshal(answer, signed); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDeviceIdentity, err)
	}
	if !bytes.Equal(signed.GetDetails(), details) {
		return nil, fmt.Errorf("%w: the details are others", ErrDeviceIdentity)
	}
	if !verify(accountKey, accountStatement(details, companionIdentity), signed.GetAccountSignature()) {
		return nil, fmt.Errorf("%w: the account did not sign it", ErrDeviceIdentity)
	}
	statement := slices.Concat([]byte(devicePrefix), details, companionIdentity[:], accountKey[:])
	if !verify(companionIdentity, statement, signed.GetDeviceSignature()) {
		return nil, fmt.Errorf("%w: the device did not sign it", ErrDeviceIdentity)
	}
	// The identity is built again, so that nothing else from the companion is
	// passed on.
	return &waAdv.ADVSignedDeviceIdentity{
		Details:             signed.GetDetails(),
		AccountSignatureKey: accountKey[:],
		AccountSignature:    signed.GetAccountSignature(),
		DeviceSignature:     signed.GetDeviceSignature(),
	}, nil
}

// accountStatement returns the bytes about a companion that the account signs.
func accountStatement(details []byte, companionIdentity [32]byte) []byte {
	return slices.Concat([]byte(accountPrefix), details, companionIdentity[:])
}

func verify(signer [32]byte, statement, signature []byte) bool {
	return len(signature) == 64 &&
		ecc.VerifySignature(ecc.NewDjbECPublicKey(signer), statement, [64]byte(signature))
}
