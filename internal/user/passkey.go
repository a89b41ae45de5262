// Passkeys: a key on a device signs in instead of the password.

package user

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/gateway"
)

const (
	// maxPasskeys is how many passkeys a user has.
	maxPasskeys = 20
	// MaxPasskeyAnswer is how many bytes the answer of a browser has at most.
	MaxPasskeyAnswer = 64 << 10
	// passkeyTime is how long a question to a device may be answered.
	passkeyTime = 5 * time.Minute
)

// Question is what a device is asked to sign.
type Question struct {
	Options   []byte // for the browser: the options of navigator.credentials, as JSON
	Challenge []byte // for the caller, who keeps it for the answer, once
}

// PasskeysWorkAt reports whether browsers use passkeys at an origin such as
// https://recado.example.org: at a name with TLS, or at localhost, not at an IP address.
func PasskeysWorkAt(origin string) bool {
	_, err := relyingParty(origin)
	return err == nil
}

// relyingParty is the library for one origin. A passkey works at the host that it was
// registered at, and the browser holds devices to that.
func relyingParty(origin string) (*webauthn.WebAuthn, error) {
	address, err := url.Parse(origin)
	if err != nil {
		return nil, refusedPasskey(err)
	}
	host := address.Hostname()
	_, notIP := netip.ParseAddr(host)
	if host == "" || notIP == nil || address.Scheme != "https" && host != "localhost" {
		return nil, refusedPasskey(errors.New("browsers have passkeys only for names with TLS and for localhost"))
	}
	timeout := webauthn.TimeoutConfig{Enforce: true, Timeout: passkeyTime, TimeoutUVD: passkeyTime}
	party, err := webauthn.New(&webauthn.Config{
		RPID: host, RPDisplayName: "Recado", RPOrigins: []string{address.Scheme + "://" + address.Host},
		AttestationPreference: protocol.PreferNoAttestation,
		// The passkey replaces the password: the device has to know whom it has before it.
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, UserVerification: protocol.VerificationRequired,
		},
		Timeouts: webauthn.TimeoutsConfig{Login: timeout, Registration: timeout},
	})
	if err != nil {
		return nil, refusedPasskey(err)
	}
	return party, nil
}

// AskForPasskey begins to register a passkey of the actor: the browser asks a device to
// make one. Its error is Invalid at an origin where browsers have none, and Conflict for too
// many.
func (s *Service) AskForPasskey(ctx context.Context, actor Actor, origin string) (Question, error) {
	party, err := relyingParty(origin)
	if err != nil {
		return Question{}, err
	}
	holder, err := s.holder(ctx, actor.UserID)
	if err != nil {
		return Question{}, err
	}
	if len(holder.credentials) >= maxPasskeys {
		return Question{}, gateway.Errorf(gateway.Conflict, CodePasskey, "a user has %d passkeys at most: remove one first", maxPasskeys)
	}
	known := webauthn.Credentials(holder.credentials).CredentialDescriptors()
	options, session, err := party.BeginRegistration(holder, webauthn.WithExclusions(known))
	if err != nil {
		return Question{}, fmt.Errorf("user: ask for a passkey: %w", err)
	}
	return newQuestion(options, session)
}

// AddPasskey keeps the passkey that a device has made, if its answer is right. Its error is
// Invalid if not, and Conflict if the passkey is registered already.
func (s *Service) AddPasskey(ctx context.Context, actor Actor, origin string, challenge, answer []byte, name string) error {
	party, session, err := open(origin, challenge)
	if err != nil {
		return err
	}
	holder, err := s.holder(ctx, actor.UserID)
	if err != nil {
		return err
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(answer)
	if err != nil {
		return refusedPasskey(err)
	}
	credential, err := party.CreateCredential(holder, session, parsed)
	if err != nil {
		return refusedPasskey(err)
	}
	content, err := json.Marshal(credential)
	if err != nil {
		return fmt.Errorf("user: keep a passkey: %w", err)
	}
	if name = gateway.CleanText(gateway.CleanName(name), maxName); name == "" {
		name = "passkey"
	}
	err = s.store.CreatePasskey(ctx, gateway.Passkey{
		ID: credential.ID, UserID: actor.UserID, Name: name, Credential: content, CreatedAt: s.now().UTC(),
	})
	if err != nil {
		return err
	}
	s.Record(ctx, actor, ActionPasskeyAdded, name, "")
	return nil
}

// ListPasskeys returns the actor's own passkeys, oldest first.
func (s *Service) ListPasskeys(ctx context.Context, actor Actor) ([]gateway.Passkey, error) {
	return s.store.ListPasskeys(ctx, actor.UserID)
}

// RemovePasskey removes one of the actor's own passkeys. Its error is NotFound if there is
// no such passkey.
func (s *Service) RemovePasskey(ctx context.Context, actor Actor, id []byte) error {
	passkeys, err := s.store.ListPasskeys(ctx, actor.UserID)
	if err != nil {
		return err
	}
	if err := s.store.DeletePasskey(ctx, actor.UserID, id); err != nil {
		return err
	}
	name := ""
	for _, passkey := range passkeys {
		if bytes.Equal(passkey.ID, id) {
			name = passkey.Name
		}
	}
	s.Record(ctx, actor, ActionPasskeyRemoved, name, "")
	return nil
}

// AskForAnyPasskey begins to sign in: the browser asks for a passkey of whoever is there.
// Its error is Invalid at an origin where browsers have none, and RateLimited with the time
// to wait after too many tries.
func (s *Service) AskForAnyPasskey(origin, address string) (Question, error) {
	party, err := relyingParty(origin)
	if err != nil {
		return Question{}, err
	}
	// It is counted here, because somebody keeps each question.
	if err := s.tries.try(s.now(), who{address: address}); err != nil {
		s.watcher(outcomeOf(err))
		return Question{}, err
	}
	options, session, err := party.BeginDiscoverableLogin()
	if err != nil {
		return Question{}, fmt.Errorf("user: ask for a passkey: %w", err)
	}
	return newQuestion(options, session)
}

// SignInWithPasskey returns the user whose passkey has signed the challenge. Its error is
// Unauthorized if none has.
func (s *Service) SignInWithPasskey(ctx context.Context, origin string, challenge, answer []byte, address string) (gateway.User, error) {
	user, err := s.withPasskey(ctx, origin, challenge, answer)
	if err != nil {
		s.watcher(outcomeOf(err))
		s.wrong(ctx, who{address: address}, gateway.User{})
		return gateway.User{}, err
	}
	s.tries.succeeded("", address)
	return user, s.signedIn(ctx, user, address, "passkey")
}

func (s *Service) withPasskey(ctx context.Context, origin string, challenge, answer []byte) (gateway.User, error) {
	party, session, err := open(origin, challenge)
	if err != nil {
		return gateway.User{}, err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(answer)
	if err != nil {
		return gateway.User{}, unknownPasskey(err)
	}
	var holder passkeyHolder
	var failed error // of the database
	credential, err := party.ValidateDiscoverableLogin(func(_, handle []byte) (webauthn.User, error) {
		id, err := uuid.FromBytes(handle)
		if err != nil {
			return nil, err
		}
		if holder, err = s.holder(ctx, id.String()); gateway.KindOf(err) == gateway.Internal {
			failed = err
		}
		return holder, err
	}, session, parsed)
	if failed != nil {
		return gateway.User{}, failed
	}
	if err == nil && credential.Authenticator.CloneWarning {
		err = errors.New("the device counts less uses than before: it may be a copy")
	}
	if err != nil {
		return gateway.User{}, unknownPasskey(err)
	}
	content, err := json.Marshal(credential)
	if err != nil {
		return gateway.User{}, fmt.Errorf("user: keep a passkey: %w", err)
	}
	if err := s.store.TouchPasskey(ctx, holder.user.ID, credential.ID, content, s.now()); err != nil {
		return gateway.User{}, err
	}
	return holder.user, nil
}

func newQuestion(options any, session *webauthn.SessionData) (Question, error) {
	shown, err := json.Marshal(options)
	if err != nil {
		return Question{}, fmt.Errorf("user: ask for a passkey: %w", err)
	}
	kept, err := json.Marshal(session)
	if err != nil {
		return Question{}, fmt.Errorf("user: ask for a passkey: %w", err)
	}
	return Question{Options: shown, Challenge: kept}, nil
}

func open(origin string, challenge []byte) (*webauthn.WebAuthn, webauthn.SessionData, error) {
	var session webauthn.SessionData
	party, err := relyingParty(origin)
	if err != nil {
		return nil, session, err
	}
	if err := json.Unmarshal(challenge, &session); err != nil {
		return nil, session, refusedPasskey(err) // there was no question, or it was answered
	}
	return party, session, nil
}

// holder is the user with the passkeys, as the library wants it. Its error is NotFound if
// there is no such user.
func (s *Service) holder(ctx context.Context, id string) (passkeyHolder, error) {
	user, err := s.Get(ctx, id)
	if err != nil {
		return passkeyHolder{}, err
	}
	handle, err := uuid.Parse(user.ID)
	if err != nil {
		return passkeyHolder{}, fmt.Errorf("user: read id: %w", err)
	}
	passkeys, err := s.store.ListPasskeys(ctx, id)
	if err != nil {
		return passkeyHolder{}, err
	}
	holder := passkeyHolder{user: user, handle: handle[:]}
	for _, passkey := range passkeys {
		var credential webauthn.Credential
		if json.Unmarshal(passkey.Credential, &credential) != nil {
			continue // damaged: nobody signs in with it, and with the others as before
		}
		holder.credentials = append(holder.credentials, credential)
	}
	return holder, nil
}

// passkeyHolder is a user as the library wants it.
type passkeyHolder struct {
	user        gateway.User
	handle      []byte // what the device keeps of the user
	credentials []webauthn.Credential
}

// WebAuthnID is the user's id.
func (h passkeyHolder) WebAuthnID() []byte { return h.handle }

// WebAuthnName is the user's name.
func (h passkeyHolder) WebAuthnName() string { return h.user.Name }

// WebAuthnDisplayName is the user's name.
func (h passkeyHolder) WebAuthnDisplayName() string { return h.user.Name }

// WebAuthnCredentials are the user's passkeys.
func (h passkeyHolder) WebAuthnCredentials() []webauthn.Credential { return h.credentials }

func refusedPasskey(cause error) error {
	return errors.Join(gateway.Errorf(gateway.Invalid, CodePasskey, "the passkey was not accepted here"), cause)
}

func unknownPasskey(cause error) error {
	return errors.Join(gateway.Errorf(gateway.Unauthorized, CodePasskey, "this passkey is not known here"), cause)
}
