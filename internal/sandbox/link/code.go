// Linking by pairing code.

package link

import (
	"context"
	"errors"
	"fmt"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/pairing"
	"github.com/recado-project/recado/internal/sandbox/phonenumber"
	"github.com/recado-project/recado/internal/sandbox/refusal"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// codeAnswerTimeout bounds the wait for the client's half of the key exchange.
const codeAnswerTimeout = 15 * time.Second

// codeHello is the first step of a client that shows an eight-character code.
type codeHello struct {
	number    string
	ref       []byte
	ephemeral []byte // its wrapped ephemeral key
}

// codeFinish is the client's last step, after somebody has typed the code.
type codeFinish struct {
	bundle   []byte
	identity []byte
}

// stepByCode handles the client's two steps of linking by code.
func (c *Candidate) stepByCode(iq waBinary.Node) ([]waBinary.Node, error) {
	reg, _ := wire.Child(iq, "link_code_companion_reg")
	switch wire.AttrString(reg, "stage") {
	case "companion_hello":
		return c.greet(reg)
	case "companion_finish":
		select {
		case c.finish <- codeFinish{
			bundle:   wire.ChildContent(reg, "link_code_pairing_wrapped_key_bundle"),
			identity: wire.ChildContent(reg, "companion_identity_public"),
		}:
		default: // no code was typed
		}
		return nil, nil
	default:
		return nil, wire.ErrBadRequest
	}
}

// greet keeps the client's first step and answers with a reference for the second.
func (c *Candidate) greet(reg waBinary.Node) ([]waBinary.Node, error) {
	number := wire.AttrJID(reg, "jid").User
	ephemeral := wire.ChildContent(reg, "link_code_pairing_wrapped_companion_ephemeral_pub")
	if !phonenumber.IsDigits(number) || len(ephemeral) == 0 {
		return nil, wire.ErrBadRequest
	}
	ref, err := newRef()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hello = &codeHello{number: phonenumber.Canonical(number), ref: []byte(ref), ephemeral: ephemeral}
	return []waBinary.Node{{
		Tag:     "link_code_companion_reg",
		Attrs:   waBinary.Attrs{"stage": "companion_hello"},
		Content: []waBinary.Node{{Tag: "link_code_pairing_ref", Content: []byte(ref)}},
	}}, nil
}

// EnterCode types a pairing code into the phone of a number, and so links the
// client that shows it. It returns when the device is recorded.
func (s *Service) EnterCode(ctx context.Context, number, code string) error {
	owner, err := s.phoneThatLinks(ctx, number)
	if err != nil {
		return err
	}
	waits := false
	for _, c := range s.all() {
		c.mu.Lock()
		hello := c.hello
		c.mu.Unlock()
		if hello == nil || hello.number != owner.Number {
			continue
		}
		waits = true
		// Several clients may show a code. The key exchange works only with the
		// right one.
		secret, err := s.tryCode(ctx, c, owner, *hello, code)
		if errors.Is(err, pairing.ErrWrongCode) || errors.Is(err, wire.ErrGone) {
			continue
		}
		if err != nil {
			return err
		}
		return s.linkOrAsk(ctx, owner, c, secret)
	}
	if waits {
		return refusal.Invalidf("code", "the code is wrong")
	}
	return refusal.Invalidf("code", "no client waits for a code for this number, or the code has expired")
}

// tryCode exchanges keys with a client, protected by the code, and returns the
// secret that both share.
func (s *Service) tryCode(ctx context.Context, c *Candidate, owner *account.Account, hello codeHello, code string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, codeAnswerTimeout)
	defer cancel()
	c.busy.Lock()
	defer c.busy.Unlock()
	primary, err := pairing.NewPrimaryHello(code, hello.ephemeral, owner.Keys.Identity)
	if err != nil {
		return nil, refusal.Invalidf("code", "this is not a pairing code: %v", err)
	}
	select {
	case <-c.finish: // an answer to an attempt that was given up
	default:
	}
	if err := c.Connection.Send(ctx, waBinary.Node{
		Tag: "notification",
		Attrs: waBinary.Attrs{
			"from": types.ServerJID, "type": "link_code_companion_reg", "id": wire.NewID(), "t": s.now().Unix(),
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
	case answer := <-c.finish:
		secret, identity, err := primary.Finish(answer.bundle, answer.identity)
		if err != nil {
			return nil, err
		}
		if identity != c.keys.identity {
			return nil, fmt.Errorf("%w: another identity", pairing.ErrWrongCode)
		}
		return secret, nil
	case <-c.Connection.Done:
		return nil, wire.ErrGone
	case <-ctx.Done():
		return nil, &refusal.Error{Kind: refusal.Timeout, Message: "the client did not answer in time"}
	}
}
