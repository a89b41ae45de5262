// The server's side of the Noise XX handshake.

package noise

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"go.mau.fi/whatsmeow/proto/waWa6"
	"google.golang.org/protobuf/proto"
)

// pattern is the name of the handshake. It is exactly as long as a hash, so Noise
// does not hash it.
const pattern = "Noise_XX_25519_AESGCM_SHA256\x00\x00\x00\x00"

var errIncomplete = errors.New("noise: incomplete handshake message")

// symmetric is Noise's symmetric state.
type symmetric struct {
	hash, salt []byte
	aead       cipher.AEAD
	nonce      uint32
}

func newSymmetric() (*symmetric, error) {
	aead, err := newAEAD([]byte(pattern))
	if err != nil {
		return nil, err
	}
	s := &symmetric{hash: []byte(pattern), salt: []byte(pattern), aead: aead}
	s.mixHash([]byte(intro))
	return s, nil
}

func (s *symmetric) mixHash(data []byte) {
	h := sha256.New()
	h.Write(s.hash)
	h.Write(data)
	s.hash = h.Sum(nil)
}

// mixKey mixes the shared secret of two keys into the state.
func (s *symmetric) mixKey(private *ecdh.PrivateKey, public []byte) error {
	other, err := ecdh.X25519().NewPublicKey(public)
	if err != nil {
		return fmt.Errorf("noise: client's key: %w", err)
	}
	secret, err := private.ECDH(other)
	if err != nil {
		return fmt.Errorf("noise: agree on key: %w", err)
	}
	salt, key, err := s.expand(secret)
	if err != nil {
		return err
	}
	aead, err := newAEAD(key)
	if err != nil {
		return err
	}
	s.salt, s.aead, s.nonce = salt, aead, 0
	return nil
}

func (s *symmetric) expand(secret []byte) (first, second []byte, err error) {
	out, err := hkdf.Key(sha256.New, secret, s.salt, "", 64)
	if err != nil {
		return nil, nil, fmt.Errorf("noise: expand key: %w", err)
	}
	return out[:32], out[32:], nil
}

func (s *symmetric) seal(plaintext []byte) []byte {
	ciphertext := s.aead.Seal(nil, nonceOf(s.nonce), plaintext, s.hash)
	s.nonce++
	s.mixHash(ciphertext)
	return ciphertext
}

func (s *symmetric) open(ciphertext []byte) ([]byte, error) {
	plaintext, err := s.aead.Open(nil, nonceOf(s.nonce), ciphertext, s.hash)
	if err != nil {
		return nil, fmt.Errorf("noise: decrypt handshake: %w", err)
	}
	s.nonce++
	s.mixHash(ciphertext)
	return plaintext, nil
}

// split returns the ciphers of the transport: the client's first, then the
// server's.
func (s *symmetric) split() (client, server cipher.AEAD, err error) {
	first, second, err := s.expand(nil)
	if err != nil {
		return nil, nil, err
	}
	if client, err = newAEAD(first); err != nil {
		return nil, nil, err
	}
	if server, err = newAEAD(second); err != nil {
		return nil, nil, err
	}
	return client, server, nil
}

// responder is the server's side of one handshake: first answer, then finish.
type responder struct {
	*symmetric

	authority *Authority
	ephemeral *ecdh.PrivateKey
}

func newResponder(authority *Authority) (*responder, error) {
	state, err := newSymmetric()
	if err != nil {
		return nil, err
	}
	ephemeral, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("noise: make ephemeral key: %w", err)
	}
	return &responder{symmetric: state, authority: authority, ephemeral: ephemeral}, nil
}

// answer reads the client's hello and returns the server's.
func (r *responder) answer(message []byte) ([]byte, error) {
	var received waWa6.HandshakeMessage
	if err := proto.Unmarshal(message, &received); err != nil {
		return nil, fmt.Errorf("noise: decode client hello: %w", err)
	}
	theirs := received.GetClientHello().GetEphemeral()
	if len(theirs) != 32 {
		return nil, fmt.Errorf("%w: client hello's key has %d bytes", errIncomplete, len(theirs))
	}
	r.mixHash(theirs)
	ours := r.ephemeral.PublicKey().Bytes()
	r.mixHash(ours)
	if err := r.mixKey(r.ephemeral, theirs); err != nil {
		return nil, err
	}
	static := r.seal(r.authority.static.PublicKey().Bytes())
	if err := r.mixKey(r.authority.static, theirs); err != nil {
		return nil, err
	}
	hello, err := proto.Marshal(&waWa6.HandshakeMessage{ServerHello: &waWa6.HandshakeMessage_ServerHello{
		Ephemeral: ours, Static: static, Payload: r.seal(r.authority.chain),
	}})
	if err != nil {
		return nil, fmt.Errorf("noise: encode server hello: %w", err)
	}
	return hello, nil
}

// finish reads the client's last message and returns its static key and its
// payload.
func (r *responder) finish(message []byte) (key [32]byte, payload *waWa6.ClientPayload, err error) {
	var received waWa6.HandshakeMessage
	if err := proto.Unmarshal(message, &received); err != nil {
		return key, nil, fmt.Errorf("noise: decode client finish: %w", err)
	}
	static, err := r.open(received.GetClientFinish().GetStatic())
	if err != nil {
		return key, nil, err
	}
	if len(static) != 32 {
		return key, nil, fmt.Errorf("%w: client's static key has %d bytes", errIncomplete, len(static))
	}
	if err := r.mixKey(r.ephemeral, static); err != nil {
		return key, nil, err
	}
	raw, err := r.open(received.GetClientFinish().GetPayload())
	if err != nil {
		return key, nil, err
	}
	payload = &waWa6.ClientPayload{}
	if err := proto.Unmarshal(raw, payload); err != nil {
		return key, nil, fmt.Errorf("noise: decode client payload: %w", err)
	}
	return [32]byte(static), payload, nil
}

func newAEAD(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("noise: make cipher: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("noise: make cipher: %w", err)
	}
	return aead, nil
}

// nonceOf returns a counter as AES-GCM's nonce.
func nonceOf(counter uint32) []byte {
	nonce := make([]byte, 12)
	binary.BigEndian.PutUint32(nonce[8:], counter)
	return nonce
}
