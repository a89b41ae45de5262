// Package passkey keeps the passkeys of accounts, and checks what a device has signed with
// one as the platform does. Every account that needs one has a passkey of its phone's own,
// which signs on request, so that neither a browser nor a security key is needed; one that
// was made in a browser can be added.
package passkey

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/refusal"
	"github.com/recado-project/recado/internal/sqlite"
)

// DefaultName is the name that passkeys are for unless another is wanted: the only one at
// which browsers have passkeys without TLS.
const DefaultName = "localhost"

// Service keeps and checks passkeys. It is safe for concurrent use.
type Service struct {
	db   *sqlite.DB
	name string
}

// New returns the service of the accounts' passkeys, which are for a name; "" means
// DefaultName.
func New(accounts *account.Directory, name string) *Service {
	if name == "" {
		name = DefaultName
	}
	return &Service{db: accounts.DB, name: name}
}

// Page is the origin of the page on which the phone's own passkey signs, unless another is
// wanted.
func (s *Service) Page() string {
	if s.name == DefaultName {
		return "http://" + s.name
	}
	return "https://" + s.name
}

// Question is what a device is asked to sign, once.
type Question struct {
	Options []byte // for the client: PublicKeyCredentialRequestOptions as JSON
	session webauthn.SessionData
}

// kept is a passkey as the database has it.
type kept struct {
	Credential webauthn.Credential `json:"credential"`
	Own        *authenticator      `json:"own,omitempty"` // of the phone's own passkey: how it signs
}

// holder is an account as the library wants it.
type holder struct {
	of   *account.Account
	keys []kept
}

func (h holder) WebAuthnID() []byte          { return []byte(h.of.LID) }
func (h holder) WebAuthnName() string        { return h.of.Number }
func (h holder) WebAuthnDisplayName() string { return h.of.DisplayName() }

func (h holder) WebAuthnCredentials() []webauthn.Credential {
	list := make([]webauthn.Credential, len(h.keys))
	for i, key := range h.keys {
		list[i] = key.Credential
	}
	return list
}

// party is the library for the platform's page at an origin.
func (s *Service) party(origin string, limit time.Duration) (*webauthn.WebAuthn, error) {
	timeout := webauthn.TimeoutConfig{Timeout: limit, TimeoutUVD: limit}
	return webauthn.New(&webauthn.Config{
		RPID: s.name, RPDisplayName: "Sandbox", RPOrigins: []string{origin},
		AttestationPreference:  protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{UserVerification: protocol.VerificationRequired},
		Timeouts:               webauthn.TimeoutsConfig{Login: timeout, Registration: timeout},
	})
}

// Ask makes the question that a device has to sign before the account links a client. It
// may be answered within limit.
func (s *Service) Ask(ctx context.Context, of *account.Account, limit time.Duration) (Question, error) {
	if err := s.ensure(ctx, of); err != nil {
		return Question{}, err
	}
	who, err := s.holder(ctx, of)
	if err != nil {
		return Question{}, err
	}
	library, err := s.party(s.Page(), limit)
	if err != nil {
		return Question{}, fmt.Errorf("passkey: ask: %w", err)
	}
	options, session, err := library.BeginLogin(who)
	if err != nil {
		return Question{}, fmt.Errorf("passkey: ask: %w", err)
	}
	shown, err := json.Marshal(options.Response)
	if err != nil {
		return Question{}, fmt.Errorf("passkey: ask: %w", err)
	}
	return Question{Options: shown, session: *session}, nil
}

// Check reports whether a passkey of the account has signed the question. A refusal says
// what is wrong.
func (s *Service) Check(ctx context.Context, of *account.Account, question Question, assertion []byte) error {
	parsed, err := protocol.ParseCredentialRequestResponseBytes(assertion)
	if err != nil {
		return refusal.Invalidf("assertion", "is not what a browser answers: %v", detail(err))
	}
	origin := parsed.Response.CollectedClientData.Origin
	if at, err := url.Parse(origin); err != nil || at.Hostname() != s.name {
		return refusal.Invalidf("assertion", "it was signed on the page %q, not on %s", origin, s.name)
	}
	who, err := s.holder(ctx, of)
	if err != nil {
		return err
	}
	library, err := s.party(origin, 0)
	if err != nil {
		return refusal.Invalidf("assertion", "the page %q can't have passkeys", origin)
	}
	credential, err := library.ValidateLogin(who, question.session, parsed)
	if err != nil {
		return refusal.Invalidf("assertion", "%v", detail(err))
	}
	if credential.Authenticator.CloneWarning {
		return refusal.Invalidf("assertion", "the passkey counts less uses than before: it may be a copy")
	}
	for _, key := range who.keys {
		if bytes.Equal(key.Credential.ID, credential.ID) {
			key.Credential = *credential
			return s.write(ctx, of, key)
		}
	}
	return nil // it was removed a moment ago
}

// detail is the part of the library's error that says what is wrong.
func detail(err error) error {
	if known, ok := errors.AsType[*protocol.Error](err); ok && known.DevInfo != "" {
		return fmt.Errorf("%s (%s)", known.Details, strings.Join(strings.Fields(known.DevInfo), " "))
	}
	return err
}

// Sign signs a request, the options of navigator.credentials.get as JSON, with the phone's
// own passkey as if it were on the page at origin, and returns what the browser would: the
// assertion as JSON. Whether the request is the platform's is not checked.
func (s *Service) Sign(ctx context.Context, of *account.Account, request []byte, origin string) ([]byte, error) {
	var options struct {
		Challenge string `json:"challenge"`
		RPID      string `json:"rpId"`
	}
	if err := json.Unmarshal(request, &options); err != nil || options.Challenge == "" {
		return nil, refusal.Invalidf("request", "is not a WebAuthn request with a challenge")
	}
	if options.RPID == "" {
		options.RPID = s.name
	}
	if err := s.ensure(ctx, of); err != nil {
		return nil, err
	}
	who, err := s.holder(ctx, of)
	if err != nil {
		return nil, err
	}
	for _, key := range who.keys {
		if key.Own == nil {
			continue
		}
		assertion, err := key.Own.sign(options.Challenge, options.RPID, origin, who.WebAuthnID())
		if err != nil {
			return nil, err
		}
		return assertion, s.write(ctx, of, key) // it has counted
	}
	return nil, errors.New("passkey: the phone has no passkey of its own")
}

// AskToRegister returns the options of navigator.credentials.create as JSON, and a question
// for Register, for a page at origin that adds a passkey of a browser.
func (s *Service) AskToRegister(ctx context.Context, of *account.Account, origin string) (Question, error) {
	who, err := s.holder(ctx, of)
	if err != nil {
		return Question{}, err
	}
	library, err := s.party(origin, 0)
	if err != nil {
		return Question{}, refusal.Invalidf("origin", "can't have passkeys: %v", err)
	}
	options, session, err := library.BeginRegistration(who)
	if err != nil {
		return Question{}, fmt.Errorf("passkey: ask to register: %w", err)
	}
	shown, err := json.Marshal(options.Response)
	if err != nil {
		return Question{}, fmt.Errorf("passkey: ask to register: %w", err)
	}
	return Question{Options: shown, session: *session}, nil
}

// Register adds the passkey that a browser has made for the question, on a page at origin.
func (s *Service) Register(ctx context.Context, of *account.Account, question Question, origin string, answer []byte) error {
	parsed, err := protocol.ParseCredentialCreationResponseBytes(answer)
	if err != nil {
		return refusal.Invalidf("credential", "is not what a browser answers: %v", detail(err))
	}
	library, err := s.party(origin, 0)
	if err != nil {
		return refusal.Invalidf("origin", "can't have passkeys: %v", err)
	}
	credential, err := library.CreateCredential(holder{of: of}, question.session, parsed)
	if err != nil {
		return refusal.Invalidf("credential", "%v", detail(err))
	}
	return s.write(ctx, of, kept{Credential: *credential})
}

// View is a passkey of an account, for people and tests.
type View struct {
	ID   string `json:"id"`   // base64url, as browsers write it
	Own  bool   `json:"own"`  // it is the phone's own, not one that was made in a browser
	Uses uint32 `json:"uses"` // as the passkey counts them; some count none
}

// List returns the passkeys of an account.
func (s *Service) List(ctx context.Context, number string) ([]View, error) {
	who, err := s.load(ctx, number)
	if err != nil {
		return nil, err
	}
	list := make([]View, len(who))
	for i, key := range who {
		list[i] = View{ID: base64.RawURLEncoding.EncodeToString(key.Credential.ID), Own: key.Own != nil, Uses: key.Credential.Authenticator.SignCount}
	}
	return list, nil
}

// ensure gives the phone a passkey of its own.
func (s *Service) ensure(ctx context.Context, of *account.Account) error {
	who, err := s.holder(ctx, of)
	if err != nil {
		return err
	}
	for _, key := range who.keys {
		if key.Own != nil {
			return nil
		}
	}
	own, credential, err := newAuthenticator()
	if err != nil {
		return err
	}
	return s.write(ctx, of, kept{Credential: credential, Own: own})
}

// holder loads the passkeys of an account.
func (s *Service) holder(ctx context.Context, of *account.Account) (holder, error) {
	keys, err := s.load(ctx, of.Number)
	return holder{of: of, keys: keys}, err
}

func (s *Service) load(ctx context.Context, number string) (keys []kept, err error) {
	rows, err := s.db.Reader().QueryContext(ctx, "SELECT value FROM passkeys WHERE number = $1 ORDER BY id", number)
	if err != nil {
		return nil, fmt.Errorf("passkey: load: %w", err)
	}
	defer func() { _ = rows.Close() }() // it was only read
	for rows.Next() {
		var value []byte
		var key kept
		if err := rows.Scan(&value); err != nil {
			return nil, fmt.Errorf("passkey: load: %w", err)
		}
		if err := json.Unmarshal(value, &key); err != nil {
			return nil, fmt.Errorf("passkey: load: %w", err)
		}
		keys = append(keys, key)
	}
	return keys, rows.Err()
}

// write adds a passkey, or replaces it.
func (s *Service) write(ctx context.Context, of *account.Account, key kept) error {
	value, err := json.Marshal(key)
	if err != nil {
		return fmt.Errorf("passkey: keep: %w", err)
	}
	err = s.db.Write(ctx, func(ctx context.Context, tx *sqlite.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO passkeys (id, number, value) VALUES ($1, $2, $3) ON CONFLICT (id) DO UPDATE SET value = excluded.value",
			key.Credential.ID, of.Number, string(value))
		return err
	})
	if err != nil {
		return fmt.Errorf("passkey: keep: %w", err)
	}
	return nil
}
