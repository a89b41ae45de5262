package platform

import (
	"context"
	"errors"
	"fmt"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/pairing"
)

// codeAnswerTimeout bounds the wait for a client's half of the exchange.
const codeAnswerTimeout = 15 * time.Second

// codeHello is what a client sent that shows an eight-character code.
type codeHello struct {
	number    string
	ref       []byte
	ephemeral []byte // its wrapped ephemeral key
}

// codeFinish is the client's answer once a code was typed.
type codeFinish struct {
	bundle   []byte
	identity []byte
}

// iqLinkCode handles both of the client's steps of pairing by code.
func iqLinkCode(_ context.Context, c *connection, iq waBinary.Node) ([]waBinary.Node, error) {
	if c.device != nil {
		return nil, errNotAllowed
	}
	reg, _ := child(iq, "link_code_companion_reg")
	switch attrString(reg, "stage") {
	case "companion_hello":
		return c.codeHello(reg)
	case "companion_finish":
		select {
		case c.linking.finish <- codeFinish{
			bundle:   childContent(reg, "link_code_pairing_wrapped_key_bundle"),
			identity: childContent(reg, "companion_identity_public"),
		}:
		default: // nobody has typed a code
		}
		return nil, nil
	default:
		return nil, errBadRequest
	}
}

func (c *connection) codeHello(reg waBinary.Node) ([]waBinary.Node, error) {
	number := attrJID(reg, "jid").User
	ephemeral := childContent(reg, "link_code_pairing_wrapped_companion_ephemeral_pub")
	if !isDigits(number) || len(ephemeral) == 0 {
		return nil, errBadRequest
	}
	ref, err := newRef()
	if err != nil {
		return nil, err
	}
	c.linking.mu.Lock()
	defer c.linking.mu.Unlock()
	c.linking.hello = &codeHello{number: Canonical(number), ref: []byte(ref), ephemeral: ephemeral}
	return []waBinary.Node{{
		Tag:     "link_code_companion_reg",
		Attrs:   waBinary.Attrs{"stage": "companion_hello"},
		Content: []waBinary.Node{{Tag: "link_code_pairing_ref", Content: []byte(ref)}},
	}}, nil
}

// EnterCode types a code into the phone of the number, which links the client
// that shows it. It returns when the device is recorded.
func (s *Server) EnterCode(ctx context.Context, number, code string) error {
	owner, err := s.phoneThatLinks(ctx, number)
	if err != nil {
		return err
	}
	waits := false
	for _, c := range s.pending.all() {
		c.linking.mu.Lock()
		hello := c.linking.hello
		c.linking.mu.Unlock()
		if hello == nil || hello.number != owner.number {
			continue
		}
		waits = true
		// Which client shows the code is seen only by trying it.
		secret, err := c.tryCode(ctx, owner, *hello, code)
		if errors.Is(err, pairing.ErrWrongCode) || errors.Is(err, errGone) {
			continue
		}
		if err != nil {
			return err
		}
		return s.link(ctx, owner, c, secret)
	}
	if waits {
		return invalidf("code", "the code is wrong")
	}
	return invalidf("code", "nobody waits for a code for this number, or it has expired")
}

// tryCode exchanges keys with the client under the code and returns the secret
// both then share.
func (c *connection) tryCode(ctx context.Context, owner *account, hello codeHello, code string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, codeAnswerTimeout)
	defer cancel()
	c.linking.busy.Lock()
	defer c.linking.busy.Unlock()
	primary, err := pairing.NewPrimaryHello(code, hello.ephemeral, owner.keys.Identity)
	if err != nil {
		return nil, invalidf("code", "this is no pairing code: %v", err)
	}
	select {
	case <-c.linking.finish: // left over from an attempt that was given up
	default:
	}
	if err := c.send(ctx, waBinary.Node{
		Tag: "notification",
		Attrs: waBinary.Attrs{
			"from": types.ServerJID, "type": "link_code_companion_reg", "id": newID(), "t": c.s.now().Unix(),
		},
		Content: []waBinary.Node{{
			Tag:   "link_code_companion_reg",
			Attrs: waBinary.Attrs{"stage": "primary_hello"},
			Content: []waBinary.Node{
				{Tag: "link_code_pairing_wrapped_primary_ephemeral_pub", Content: primary.WrappedEphemeral},
				{Tag: "primary_identity_pub", Content: primary.IdentityKey[:]},
				{Tag: "link_code_pairing_ref", Content: hello.ref},
			},
		}},
	}); err != nil {
		return nil, err
	}
	select {
	case answer := <-c.linking.finish:
		secret, identity, err := primary.Finish(answer.bundle, answer.identity)
		if err != nil {
			return nil, err
		}
		if identity != c.linking.keys.identity {
			return nil, fmt.Errorf("%w: another identity", pairing.ErrWrongCode)
		}
		return secret, nil
	case <-c.done:
		return nil, errGone
	case <-ctx.Done():
		return nil, &Error{Kind: Timeout, Message: "the client did not answer in time"}
	}
}
