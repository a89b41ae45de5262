// Whether a platform is the one that sessions trust.

package transport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/whatsmeow/proto/waCert"
	"go.mau.fi/whatsmeow/proto/waWa6"
	"go.mau.fi/whatsmeow/socket"
	"go.mau.fi/whatsmeow/util/keys"
	waLog "go.mau.fi/whatsmeow/util/log"
	"google.golang.org/protobuf/proto"
)

// proofTimeout bounds how long the platform may take to show its certificate.
const proofTimeout = 8 * time.Second

// ErrOtherRoot is the error for a platform whose certificate is signed with another root key.
var ErrOtherRoot = errors.New("transport: its certificate is signed with another root key")

// Prove begins the handshake of a session through a client that NewClient has made, as far as the
// platform's certificate, and says nothing of who asks. Its error is ErrOtherRoot unless the root key
// has signed the certificate: every session is refused by the platform client then.
func Prove(ctx context.Context, client *http.Client, root [32]byte) (err error) {
	ctx, cancel := context.WithTimeout(ctx, proofTimeout)
	defer cancel()
	frames := socket.NewFrameSocket(waLog.Noop, client)
	if err := frames.Connect(ctx); err != nil {
		return fmt.Errorf("transport: %w", err)
	}
	defer frames.Close(0) // nobody waits for an answer
	own := keys.NewKeyPair()
	noise := socket.NewNoiseHandshake()
	noise.Start(socket.NoiseStartPattern, frames.Header)
	noise.Authenticate(own.Pub[:])
	hello, err := proto.Marshal(&waWa6.HandshakeMessage{ClientHello: &waWa6.HandshakeMessage_ClientHello{Ephemeral: own.Pub[:]}})
	if err == nil {
		err = frames.SendFrame(hello)
	}
	if err != nil {
		return fmt.Errorf("transport: %w", err)
	}
	select {
	case answer := <-frames.Frames:
		return checkCertificate(noise, own, answer, root)
	case <-ctx.Done():
		return fmt.Errorf("transport: the platform shows no certificate: %w", ctx.Err())
	}
}

// checkCertificate opens what the platform has answered to the first message, and checks it.
func checkCertificate(noise *socket.NoiseHandshake, own *keys.KeyPair, answer []byte, root [32]byte) error {
	var message waWa6.HandshakeMessage
	if err := proto.Unmarshal(answer, &message); err != nil {
		return fmt.Errorf("transport: the platform's answer can't be read: %w", err)
	}
	ephemeral := message.GetServerHello().GetEphemeral()
	if len(ephemeral) != 32 {
		return errors.New("transport: the platform's answer is not that of a handshake")
	}
	noise.Authenticate(ephemeral)
	if err := noise.MixSharedSecretIntoKey(*own.Priv, [32]byte(ephemeral)); err != nil {
		return fmt.Errorf("transport: %w", err)
	}
	static, err := noise.Decrypt(message.GetServerHello().GetStatic())
	if err != nil || len(static) != 32 {
		return errors.New("transport: the platform's key can't be read")
	}
	if err := noise.MixSharedSecretIntoKey(*own.Priv, [32]byte(static)); err != nil {
		return fmt.Errorf("transport: %w", err)
	}
	content, err := noise.Decrypt(message.GetServerHello().GetPayload())
	var chain waCert.CertChain
	if err == nil {
		err = proto.Unmarshal(content, &chain)
	}
	if err != nil {
		return fmt.Errorf("transport: the platform's certificate can't be read: %w", err)
	}
	signature := chain.GetIntermediate().GetSignature()
	if len(signature) != 64 || !ecc.VerifySignature(ecc.NewDjbECPublicKey(root), chain.GetIntermediate().GetDetails(), [64]byte(signature)) {
		return ErrOtherRoot
	}
	return nil
}
