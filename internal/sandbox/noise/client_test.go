package noise

import (
	"bytes"
	"context"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.mau.fi/libsignal/ecc"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waCert"
	"go.mau.fi/whatsmeow/proto/waWa6"
	"go.mau.fi/whatsmeow/socket"
	"go.mau.fi/whatsmeow/util/gcmutil"
	"go.mau.fi/whatsmeow/util/hkdfutil"
	"go.mau.fi/whatsmeow/util/keys"
	"golang.org/x/crypto/curve25519"
	"google.golang.org/protobuf/proto"
)

// patience bounds every wait of these tests.
const patience = 20 * time.Second

// accepted has the results of one call of Accept.
type accepted struct {
	conn *Conn
	err  error
}

// serve starts a websocket server on loopback. It returns its address and the
// results of Accept for each connection.
func serve(t *testing.T, authority *Authority) (url string, results <-chan accepted) {
	t.Helper()
	out := make(chan accepted, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{
			CompressionMode: websocket.CompressionDisabled, InsecureSkipVerify: true,
		})
		if err != nil {
			t.Errorf("accept websocket: %v", err)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), patience)
		defer cancel()
		conn, err := Accept(ctx, ws, authority)
		if err == nil {
			t.Cleanup(func() { _ = conn.CloseNow() })
		}
		out <- accepted{conn, err}
	}))
	t.Cleanup(server.Close)
	return "ws" + strings.TrimPrefix(server.URL, "http"), out
}

func receive[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case value := <-from:
		return value
	case <-time.After(patience):
		t.Fatal("nothing came in time")
	}
	panic("unreachable")
}

// client is the client's side: whatsmeow's handshake, with frames and a transport
// written for these tests. It starts no goroutines.
type client struct {
	t              *testing.T
	static         *keys.KeyPair
	ws             *websocket.Conn
	salt           []byte // shadows the handshake's, which keeps it to itself
	sealer, opener cipher.AEAD
	sent, received uint32
}

// dial connects and does the client's side of the handshake. It checks the
// certificates as clients do.
func dial(t *testing.T, url string, root [32]byte, payload *waWa6.ClientPayload) *client {
	t.Helper()
	c := &client{t: t, static: keys.NewKeyPair(), salt: []byte(socket.NoiseStartPattern)}
	ws, response, err := websocket.Dial(t.Context(), url, nil)
	c.must(err)
	if response.Body != nil {
		t.Cleanup(func() { _ = response.Body.Close() })
	}
	t.Cleanup(func() { _ = ws.CloseNow() })
	ws.SetReadLimit(1 << 25)
	c.ws = ws

	ephemeral := keys.NewKeyPair()
	handshake := socket.NewNoiseHandshake()
	handshake.Start(socket.NoiseStartPattern, socket.WAConnHeader)
	handshake.Authenticate(ephemeral.Pub[:])
	c.write(socket.WAConnHeader, c.marshal(&waWa6.HandshakeMessage{
		ClientHello: &waWa6.HandshakeMessage_ClientHello{Ephemeral: ephemeral.Pub[:]},
	}))

	var answer waWa6.HandshakeMessage
	frame, err := c.frame()
	c.must(err)
	c.must(proto.Unmarshal(frame, &answer))
	theirs := answer.GetServerHello().GetEphemeral()
	handshake.Authenticate(theirs)
	c.mix(handshake, ephemeral, theirs)
	static, err := handshake.Decrypt(answer.GetServerHello().GetStatic())
	c.must(err)
	c.mix(handshake, ephemeral, static)
	chain, err := handshake.Decrypt(answer.GetServerHello().GetPayload())
	c.must(err)
	c.must(verifyChain(root, chain, static, time.Now()))

	sealed := handshake.Encrypt(c.static.Pub[:])
	c.mix(handshake, c.static, theirs)
	c.write(nil, c.marshal(&waWa6.HandshakeMessage{ClientFinish: &waWa6.HandshakeMessage_ClientFinish{
		Static: sealed, Payload: handshake.Encrypt(c.marshal(payload)),
	}}))
	split := hkdfutil.SHA256(nil, c.salt, nil, 64)
	c.sealer, err = gcmutil.Prepare(split[:32])
	c.must(err)
	c.opener, err = gcmutil.Prepare(split[32:])
	c.must(err)
	return c
}

func (c *client) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) marshal(message proto.Message) []byte {
	c.t.Helper()
	raw, err := proto.Marshal(message)
	c.must(err)
	return raw
}

func (c *client) mix(handshake *socket.NoiseHandshake, own *keys.KeyPair, theirs []byte) {
	c.t.Helper()
	c.must(handshake.MixSharedSecretIntoKey(*own.Priv, [32]byte(theirs)))
	secret, err := curve25519.X25519(own.Priv[:], theirs)
	c.must(err)
	c.salt = hkdfutil.SHA256(secret, c.salt, nil, 32)
}

// write sends body as a frame.
func (c *client) write(before, body []byte) {
	c.t.Helper()
	whole := append(bytes.Clone(before), byte(len(body)>>16), byte(len(body)>>8), byte(len(body)))
	c.must(c.ws.Write(c.t.Context(), websocket.MessageBinary, append(whole, body...)))
}

// frame returns the next frame. Like whatsmeow, it accepts only one whole frame in
// each message.
func (c *client) frame() ([]byte, error) {
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	kind, message, err := c.ws.Read(ctx)
	if err != nil {
		return nil, err
	}
	if kind != websocket.MessageBinary || len(message) < 3 ||
		len(message)-3 != int(message[0])<<16|int(message[1])<<8|int(message[2]) {
		return nil, fmt.Errorf("a message of %d bytes is no frame", len(message))
	}
	return message[3:], nil
}

func (c *client) send(node waBinary.Node) {
	c.t.Helper()
	plaintext, err := waBinary.Marshal(node)
	c.must(err)
	c.write(nil, c.sealer.Seal(nil, counterIV(c.sent), plaintext, nil))
	c.sent++
}

func (c *client) receive() (*waBinary.Node, error) {
	ciphertext, err := c.frame()
	if err != nil {
		return nil, err
	}
	plaintext, err := c.opener.Open(nil, counterIV(c.received), ciphertext, nil)
	if err != nil {
		return nil, err
	}
	c.received++
	data, err := waBinary.Unpack(plaintext)
	if err != nil {
		return nil, err
	}
	return waBinary.Unmarshal(data)
}

func counterIV(counter uint32) []byte {
	return binary.BigEndian.AppendUint32(make([]byte, 8), counter)
}

// verifyChain does the checks of the strictest client.
func verifyChain(root [32]byte, raw, static []byte, now time.Time) error {
	var chain waCert.CertChain
	if err := proto.Unmarshal(raw, &chain); err != nil {
		return err
	}
	inner, err := verifyCertificate(root, chain.GetIntermediate(), now)
	if err != nil {
		return fmt.Errorf("intermediate: %w", err)
	}
	if inner.GetIssuerSerial() != 0 {
		return errors.New("intermediate: issuer is not 0")
	}
	leaf, err := verifyCertificate([32]byte(inner.GetKey()), chain.GetLeaf(), now)
	if err != nil {
		return fmt.Errorf("leaf: %w", err)
	}
	if leaf.GetIssuerSerial() != inner.GetSerial() {
		return errors.New("leaf: issuer is not the intermediate")
	}
	if !bytes.Equal(leaf.GetKey(), static) {
		return errors.New("leaf: not the server's key")
	}
	return nil
}

func verifyCertificate(
	issuer [32]byte, certificate *waCert.CertChain_NoiseCertificate, now time.Time,
) (*waCert.CertChain_NoiseCertificate_Details, error) {
	signature := certificate.GetSignature()
	if len(signature) != 64 || !ecc.VerifySignature(ecc.NewDjbECPublicKey(issuer), certificate.GetDetails(), [64]byte(signature)) {
		return nil, errors.New("bad signature")
	}
	details := &waCert.CertChain_NoiseCertificate_Details{}
	if err := proto.Unmarshal(certificate.GetDetails(), details); err != nil {
		return nil, err
	}
	if len(details.GetKey()) != 32 {
		return nil, errors.New("bad key")
	}
	if unix := uint64(now.Unix()); unix < details.GetNotBefore() || unix > details.GetNotAfter() {
		return nil, errors.New("not valid now")
	}
	return details, nil
}
