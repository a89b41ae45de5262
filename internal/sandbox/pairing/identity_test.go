package pairing

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/whatsmeow/proto/waAdv"
	"go.mau.fi/whatsmeow/util/keys"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/testkit/cases"
)

// answerOf returns a companion's answer to pair-success, after change.
func answerOf(
	tb testing.TB, account, device *keys.KeyPair, change func(*waAdv.ADVSignedDeviceIdentity),
) (details, answer []byte) {
	tb.Helper()
	signed, details, err := Identity(account, *device.Pub, make([]byte, 32), 1, 2, time.Unix(1_800_000_000, 0))
	if err != nil {
		tb.Fatal(err)
	}
	var outer waAdv.ADVSignedDeviceIdentityHMAC
	if err := proto.Unmarshal(signed, &outer); err != nil {
		tb.Fatal(err)
	}
	var identity waAdv.ADVSignedDeviceIdentity
	if err := proto.Unmarshal(outer.GetDetails(), &identity); err != nil {
		tb.Fatal(err)
	}
	statement := slices.Concat([]byte{6, 1}, identity.GetDetails(), device.Pub[:], account.Pub[:])
	signature := ecc.CalculateSignature(ecc.NewDjbECPrivateKey(*device.Priv), statement)
	identity.DeviceSignature = signature[:]
	identity.AccountSignatureKey = nil
	change(&identity)
	answer, err = proto.Marshal(&identity)
	if err != nil {
		tb.Fatal(err)
	}
	return details, answer
}

func TestVerifyDeviceSignature(t *testing.T) {
	t.Parallel()
	account, device, other := keys.NewKeyPair(), keys.NewKeyPair(), keys.NewKeyPair()
	for name, test := range cases.Sorted(map[string]struct {
		change  func(*waAdv.ADVSignedDeviceIdentity)
		account *keys.KeyPair
		good    bool
	}{
		"as asked":              {func(*waAdv.ADVSignedDeviceIdentity) {}, account, true},
		"another account":       {func(*waAdv.ADVSignedDeviceIdentity) {}, other, false},
		"other details":         {func(i *waAdv.ADVSignedDeviceIdentity) { i.Details = append(i.Details, 0) }, account, false},
		"a damaged signature":   {func(i *waAdv.ADVSignedDeviceIdentity) { i.DeviceSignature[3]++ }, account, false},
		"no signature":          {func(i *waAdv.ADVSignedDeviceIdentity) { i.DeviceSignature = nil }, account, false},
		"no account signature":  {func(i *waAdv.ADVSignedDeviceIdentity) { i.AccountSignature = nil }, account, false},
		"swapped signatures":    {func(i *waAdv.ADVSignedDeviceIdentity) { i.DeviceSignature = i.AccountSignature }, account, false},
		"an account of its own": {func(i *waAdv.ADVSignedDeviceIdentity) { i.AccountSignatureKey = other.Pub[:] }, account, true},
	}) {
		details, answer := answerOf(t, account, device, test.change)
		identity, err := VerifyDeviceSignature(*test.account.Pub, *device.Pub, details, answer)
		if test.good != (err == nil) || (err != nil && !errors.Is(err, ErrDeviceIdentity)) {
			t.Errorf("%s: %v", name, err)
		}
		if test.good && !bytes.Equal(identity.GetAccountSignatureKey(), account.Pub[:]) {
			t.Errorf("%s: the identity names another account", name)
		}
	}
}

func FuzzVerifyDeviceSignature(f *testing.F) {
	account, device := keys.NewKeyPair(), keys.NewKeyPair()
	details, answer := answerOf(f, account, device, func(i *waAdv.ADVSignedDeviceIdentity) { i.DeviceSignature[0]++ })
	f.Add(answer)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, answer []byte) {
		if _, err := VerifyDeviceSignature(*account.Pub, *device.Pub, details, answer); !errors.Is(err, ErrDeviceIdentity) {
			t.Fatalf("an answer without a signature: %v", err)
		}
	})
}
