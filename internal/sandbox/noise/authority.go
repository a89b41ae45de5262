// The root key that clients trust, and the certificates that it signs.

package noise

import (
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/sha256"
	"fmt"
	"time"

	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/whatsmeow/proto/waCert"
	"google.golang.org/protobuf/proto"
)

const (
	rootSerial         = 0 // clients insist on this one
	intermediateSerial = 1
	leafSerial         = 2

	// The certificates begin in the past, because a client's clock may be slow.
	backdate = 24 * time.Hour
	years    = 10
)

// Authority is the sandbox's certificate authority: the root key that clients
// trust, and the server's key that it certifies. It is immutable and safe for
// concurrent use.
type Authority struct {
	root   [32]byte
	static *ecdh.PrivateKey
	chain  []byte // the CertChain, serialised
}

// NewAuthority derives all keys from seed, so that the root key stays the same as
// long as the seed does. It issues certificates that are valid from a day before
// now, for ten years.
func NewAuthority(seed [32]byte, now time.Time) (*Authority, error) {
	root, err := deriveKey(seed, "root")
	if err != nil {
		return nil, err
	}
	intermediate, err := deriveKey(seed, "intermediate")
	if err != nil {
		return nil, err
	}
	static, err := deriveKey(seed, "static")
	if err != nil {
		return nil, err
	}

	inner, err := certify(root, rootSerial, intermediate, intermediateSerial, now)
	if err != nil {
		return nil, err
	}
	leaf, err := certify(intermediate, intermediateSerial, static, leafSerial, now)
	if err != nil {
		return nil, err
	}
	chain, err := proto.Marshal(&waCert.CertChain{Intermediate: inner, Leaf: leaf})
	if err != nil {
		return nil, fmt.Errorf("noise: encode certificate chain: %w", err)
	}
	return &Authority{root: [32]byte(root.PublicKey().Bytes()), static: static, chain: chain}, nil
}

// RootKey returns the public key that clients must trust.
func (a *Authority) RootKey() [32]byte { return a.root }

// deriveKey derives a key pair from seed for a purpose.
func deriveKey(seed [32]byte, purpose string) (*ecdh.PrivateKey, error) {
	raw, err := hkdf.Key(sha256.New, seed[:], nil, "recado sandbox authority "+purpose, 32)
	if err != nil {
		return nil, fmt.Errorf("noise: derive %s key: %w", purpose, err)
	}
	// Key agreement clamps the scalar and signing does not, so it is clamped here
	// for both.
	raw[0] &= 248
	raw[31] = raw[31]&127 | 64
	key, err := ecdh.X25519().NewPrivateKey(raw)
	if err != nil {
		return nil, fmt.Errorf("noise: derive %s key: %w", purpose, err)
	}
	return key, nil
}

// certify returns a certificate of subject's key that issuer has signed.
func certify(
	issuer *ecdh.PrivateKey, issuerSerial uint32, subject *ecdh.PrivateKey, serial uint32, now time.Time,
) (*waCert.CertChain_NoiseCertificate, error) {
	begin := now.Add(-backdate)
	end := begin.AddDate(years, 0, 0)
	details, err := proto.Marshal(&waCert.CertChain_NoiseCertificate_Details{
		Serial:       new(serial),
		IssuerSerial: new(issuerSerial),
		Key:          subject.PublicKey().Bytes(),
		NotBefore:    new(uint64(max(begin.Unix(), 0))),
		NotAfter:     new(uint64(max(end.Unix(), 0))),
	})
	if err != nil {
		return nil, fmt.Errorf("noise: encode certificate %d: %w", serial, err)
	}
	signature := ecc.CalculateSignature(ecc.NewDjbECPrivateKey([32]byte(issuer.Bytes())), details)
	return &waCert.CertChain_NoiseCertificate{Details: details, Signature: signature[:]}, nil
}
