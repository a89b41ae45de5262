// Linking of an account that asks for a passkey: what follows after its phone has scanned
// or typed the code.

package link

import (
	"context"
	"crypto/subtle"
	"errors"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/feed"
	"github.com/recado-project/recado/internal/sandbox/pairing"
	"github.com/recado-project/recado/internal/sandbox/passkey"
	"github.com/recado-project/recado/internal/sandbox/refusal"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// The requests of a client that is not linked yet.
const (
	codeStep     = "set md link_code_companion_reg"
	refStep      = "get md ref"
	optionsStep  = "get md passkey_request_options"
	prologueStep = "set md passkey_prologue"
	nonceStep    = "set md companion_nonce"
	requestStep  = "set md encrypted_pairing_request"
)

// PasskeyState is how far a question for a passkey is.
type PasskeyState string

// The states of a question.
const (
	PasskeyNone      PasskeyState = "none"
	PasskeyRequested PasskeyState = "requested" // the client has to answer
	PasskeyAnswered  PasskeyState = "answered"  // the passkey is right; phone and client agree on keys
	PasskeyConfirm   PasskeyState = "confirm"   // somebody has to compare the code, on the phone or at the client
	PasskeyDone      PasskeyState = "done"
	PasskeyFailed    PasskeyState = "failed"
)

// PasskeyView is a question for a passkey as the phone shows it.
type PasskeyView struct {
	State PasskeyState `json:"state"`
	Code  string       `json:"code,omitempty"` // to compare
	// Confirmed is whether somebody has said on the phone that the codes are the same.
	Confirmed bool   `json:"confirmed,omitempty"`
	Reason    string `json:"reason,omitempty"` // why it failed
}

// ceremony is one question for a passkey. Its candidate's mu guards it.
type ceremony struct {
	candidate *Candidate
	owner     *account.Account
	secret    []byte // of the code that was scanned or typed
	question  passkey.Question
	ends      time.Time

	view      PasskeyView
	bell      *feed.Bell // rings when the phone shows another view
	proven    bool       // the client is the one whose code it was: nobody has to compare
	confirmed bool       // on the phone
	primary   *pairing.PasskeyPrimary
	request   []byte // the client's, encrypted, once it has confirmed
}

// IsStep reports whether a request, "type xmlns child", is one of a client that is not
// linked yet.
func IsStep(request string) bool {
	switch request {
	case codeStep, refStep, optionsStep, prologueStep, nonceStep, requestStep:
		return true
	default:
		return false
	}
}

// Step answers a request of a client that is not linked yet, of which IsStep reports true.
// It returns the content of the answer, or a wire.Error.
func (s *Service) Step(ctx context.Context, c *Candidate, request string, iq waBinary.Node) ([]waBinary.Node, error) {
	if request == codeStep {
		return c.stepByCode(iq)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	asked := c.asked
	if request == refStep {
		return []waBinary.Node{{Tag: "ref", Content: []byte(c.refs[0])}}, nil
	}
	if asked == nil || !s.now().Before(asked.ends) {
		return nil, wire.ErrNotAllowed
	}
	switch {
	case request == optionsStep && asked.view.State == PasskeyRequested:
		return []waBinary.Node{asked.options()}, nil
	case request == prologueStep && asked.view.State == PasskeyRequested:
		return nil, s.answered(ctx, asked, iq)
	case request == nonceStep && asked.view.State == PasskeyAnswered:
		return nil, asked.agreed(wire.ChildContent(iq, "companion_nonce"))
	case request == requestStep && asked.view.State == PasskeyConfirm && asked.request == nil:
		asked.request = wire.ChildContent(iq, "encrypted_pairing_request")
		s.finishIfConfirmed(ctx, asked)
		return nil, nil
	default:
		return nil, wire.ErrNotAllowed
	}
}

// linkOrAsk links a client whose code was scanned or typed, or asks it for a passkey first.
// Then it returns as soon as the client was asked.
func (s *Service) linkOrAsk(ctx context.Context, owner *account.Account, c *Candidate, secret []byte) error {
	rule := owner.Passkey()
	if !rule.Needed {
		return s.link(ctx, owner, c, secret)
	}
	question, err := s.config.Passkeys.Ask(ctx, owner, rule.Limit())
	if err != nil {
		return err
	}
	asked := &ceremony{
		candidate: c, owner: owner, secret: secret, question: question, ends: s.now().Add(rule.Limit()),
		view: PasskeyView{State: PasskeyRequested}, bell: s.config.Accounts.Bell,
	}
	c.busy.Lock()
	defer c.busy.Unlock()
	if c.linked {
		return refusal.Conflictf("the client that shows this code has been linked already")
	}
	c.mu.Lock()
	if c.asked != nil {
		c.asked.fail("another code was scanned meanwhile")
	}
	c.asked = asked
	c.mu.Unlock()
	s.mu.Lock()
	s.asked[owner.Number] = asked
	s.mu.Unlock()
	asked.bell.Ring(owner.Number)
	c.Connection.Go(func() { s.expire(asked, rule.Limit()) })
	return c.Connection.Send(ctx, waBinary.Node{
		Tag:     "notification",
		Attrs:   waBinary.Attrs{"from": types.ServerJID, "type": "passkey_prologue_request", "id": wire.NewID(), "t": s.now().Unix()},
		Content: []waBinary.Node{asked.options()},
	})
}

func (a *ceremony) options() waBinary.Node {
	return waBinary.Node{Tag: "passkey_request_options", Content: a.question.Options}
}

// show lets the phone show another view. The candidate's mu must be held.
func (a *ceremony) show(view PasskeyView) {
	a.view = view
	a.bell.Ring(a.owner.Number)
}

// fail ends the question. The candidate's mu must be held.
func (a *ceremony) fail(reason string) {
	if a.view.State != PasskeyDone && a.view.State != PasskeyFailed {
		a.show(PasskeyView{State: PasskeyFailed, Reason: reason})
	}
}

// answered checks what the client's device has signed, and tells the phone, which begins to
// agree on keys with the client.
func (s *Service) answered(ctx context.Context, asked *ceremony, iq waBinary.Node) error {
	refused := s.config.Passkeys.Check(ctx, asked.owner, asked.question, wire.ChildContent(iq, "passkey_prologue", "webauthn_assertion"))
	if wrong, ok := errors.AsType[*refusal.Error](refused); ok {
		asked.fail("the passkey's answer is wrong: " + wrong.Message) // a question is answered once
		return &wire.Error{Code: wire.ErrNotAuthorized.Code, Text: wrong.Message}
	}
	if refused != nil {
		return refused
	}
	prologue := wire.ChildContent(iq, "passkey_prologue", "prologue_payload")
	primary, err := pairing.NewPasskeyPrimary(prologue)
	if errors.Is(err, pairing.ErrPrologue) {
		asked.fail(err.Error())
		return wire.ErrBadRequest
	}
	if err != nil {
		return err
	}
	asked.primary = primary
	asked.proven = pairing.HandoffProven(asked.secret, prologue, wire.ChildContent(iq, "passkey_prologue", "pairing_handoff_proof"))
	asked.show(PasskeyView{State: PasskeyAnswered})
	asked.candidate.Connection.Offer(waBinary.Node{
		Tag:     "notification",
		Attrs:   waBinary.Attrs{"from": types.ServerJID, "type": "crsc_continuation", "id": wire.NewID(), "t": s.now().Unix()},
		Content: []waBinary.Node{{Tag: "primary_ephemeral_identity", Content: primary.Identity}},
	})
	return nil
}

// agreed takes the client's nonce, with which the code to compare is known.
func (a *ceremony) agreed(nonce []byte) error {
	code, err := a.primary.Code(nonce)
	if err != nil {
		a.fail(err.Error())
		return wire.ErrBadRequest
	}
	a.show(PasskeyView{State: PasskeyConfirm, Code: code})
	return nil
}

// ConfirmPasskey says on the phone of a number that its code is that of the client.
func (s *Service) ConfirmPasskey(ctx context.Context, number string) error {
	return s.compared(ctx, number, func(asked *ceremony) {
		asked.confirmed = true
		asked.show(PasskeyView{State: PasskeyConfirm, Code: asked.view.Code, Confirmed: true})
		s.finishIfConfirmed(ctx, asked)
	})
}

// RefusePasskey says on the phone of a number that its code is not that of the client, which
// is not linked then.
func (s *Service) RefusePasskey(ctx context.Context, number string) error {
	return s.compared(ctx, number, func(asked *ceremony) {
		asked.fail("somebody said on the phone that the codes are not the same")
	})
}

// compared does what somebody has said on the phone of a number about the code to compare.
func (s *Service) compared(ctx context.Context, number string, do func(*ceremony)) error {
	asked, err := s.askedOf(ctx, number)
	if err != nil {
		return err
	}
	if asked == nil {
		return refusal.Conflictf("the phone shows no code to compare")
	}
	c := asked.candidate
	c.mu.Lock()
	defer c.mu.Unlock()
	if asked.view.State != PasskeyConfirm || !s.now().Before(asked.ends) {
		return refusal.Conflictf("the phone shows no code to compare")
	}
	do(asked)
	return nil
}

// finishIfConfirmed links the client once both sides have confirmed. The candidate's mu must
// be held.
func (s *Service) finishIfConfirmed(ctx context.Context, asked *ceremony) {
	rule := asked.owner.Passkey()
	if asked.request == nil || !asked.confirmed && (rule.Compare || !asked.proven) {
		return
	}
	c := asked.candidate
	request, err := asked.primary.Open(asked.request)
	if err != nil {
		asked.fail(err.Error())
		return
	}
	noise := c.Connection.Noise.ClientKey()
	if subtle.ConstantTimeCompare(request.GetCompanionPublicKey(), noise[:]) != 1 ||
		subtle.ConstantTimeCompare(request.GetCompanionIdentityKey(), c.keys.identity[:]) != 1 {
		asked.fail("the client's keys are not those with which it waits to be linked")
		return
	}
	ctx = context.WithoutCancel(ctx) // the request that confirms ends before the link is complete
	c.Connection.Go(func() {
		err := s.link(ctx, asked.owner, c, request.GetAdvSecret())
		c.mu.Lock()
		defer c.mu.Unlock()
		if err != nil {
			asked.fail(err.Error())
			return
		}
		asked.show(PasskeyView{State: PasskeyDone})
	})
}

// expire ends the question when its time is over, or when its client is gone.
func (s *Service) expire(asked *ceremony, limit time.Duration) {
	reason := "nobody answered in time"
	timer := time.NewTimer(limit)
	defer timer.Stop()
	c := asked.candidate
	select {
	case <-c.Connection.Done:
		reason = "the client has disconnected"
	case <-timer.C:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if asked.view.State == PasskeyConfirm && reason == "nobody answered in time" {
		reason = "the code was not confirmed on both sides in time"
	}
	asked.fail(reason)
}

// cutAfterCodes ends the connection of a client when its last code has expired, or the
// question for a passkey that is open then.
func (s *Service) cutAfterCodes(ctx context.Context, c *Candidate) {
	wire.Pause(ctx, linkingLife)
	c.mu.Lock()
	asked := c.asked
	c.mu.Unlock()
	if asked != nil {
		wire.Pause(ctx, asked.ends.Sub(s.now()))
	}
	c.Connection.Cut()
}

// Passkey returns the newest question for a passkey of the phone of a number.
func (s *Service) Passkey(ctx context.Context, number string) (PasskeyView, error) {
	asked, err := s.askedOf(ctx, number)
	if err != nil || asked == nil {
		return PasskeyView{State: PasskeyNone}, err
	}
	asked.candidate.mu.Lock()
	defer asked.candidate.mu.Unlock()
	return asked.view, nil
}

// askedOf returns the newest question of the phone of a number, nil if there was none.
func (s *Service) askedOf(ctx context.Context, number string) (*ceremony, error) {
	owner, err := s.config.Accounts.Named(ctx, number)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[owner.Number], nil
}
