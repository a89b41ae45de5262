// Links: who has one sets a password with it, once. A new user gets one, and who has
// forgotten the password.

package user

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/gateway"
)

const (
	// linkLifetime is how long a link sets a password.
	linkLifetime = 24 * time.Hour
	tokenBytes   = 32
	maxName      = 64
	// firstName is the name of the first user, who is an owner.
	firstName = "owner"

	base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// Link sets the password of a user, once.
type Link struct {
	User  gateway.User
	Token string // the secret part of the address; it is kept nowhere
	Until time.Time
}

// Path is the link without the address of the gateway: where the dashboard takes it.
func (l Link) Path() string { return welcomePath + "?token=" + l.Token }

// welcomePath is the page of the dashboard that takes links.
const welcomePath = "/welcome"

// UnfitName says why nobody can have a name: it is the end of a sentence that begins with
// "the name", and empty for a good one. Names are ASCII, so that no two look the same.
func UnfitName(name string) string {
	if name == "" || len(name) > maxName || !strings.Contains(base62, name[:1]) || strings.Trim(name, base62+"._@+-") != "" {
		return fmt.Sprintf("must begin with a letter or digit, and have 1 to %d letters without accents, digits and . _ - + @", maxName)
	}
	return ""
}

// Invite makes a user of the actor's account who has no password yet, and the link to set
// one. Its error is Forbidden for all but owners, Invalid for a name that nobody can have or
// an unknown role, and Conflict for a name that another user has.
func (s *Service) Invite(ctx context.Context, actor Actor, name string, role gateway.Role) (Link, error) {
	if err := actor.Need(gateway.RoleOwner); err != nil {
		return Link{}, err
	}
	if why := UnfitName(name); why != "" {
		return Link{}, gateway.Errorf(gateway.Invalid, CodeName, "the name %s", why)
	}
	if err := checkRole(role); err != nil {
		return Link{}, err
	}
	user, err := s.create(ctx, actor.AccountID, name, role)
	if err != nil {
		return Link{}, err
	}
	link, err := s.link(ctx, user)
	if err != nil {
		return Link{}, err
	}
	s.Record(ctx, actor, ActionUserInvited, name, string(role))
	return link, nil
}

func checkRole(role gateway.Role) error {
	if !role.Covers(gateway.RoleViewer) {
		return gateway.Errorf(gateway.Invalid, gateway.CodeValidation, "there is no role %q", role)
	}
	return nil
}

func (s *Service) create(ctx context.Context, accountID, name string, role gateway.Role) (gateway.User, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return gateway.User{}, fmt.Errorf("user: choose id: %w", err)
	}
	user := gateway.User{ID: id.String(), AccountID: accountID, Name: name, Role: role, CreatedAt: s.now().UTC()}
	return user, s.store.CreateUser(ctx, user)
}

// NewLink makes a link for a user of the actor's account, in place of an earlier one. The
// password remains until the link is used. Its error is Forbidden for all but owners, and
// NotFound if there is no such user.
func (s *Service) NewLink(ctx context.Context, actor Actor, id string) (Link, error) {
	if err := actor.Need(gateway.RoleOwner); err != nil {
		return Link{}, err
	}
	user, err := s.find(ctx, actor, id)
	if err != nil {
		return Link{}, err
	}
	link, err := s.link(ctx, user)
	if err != nil {
		return Link{}, err
	}
	s.Record(ctx, actor, ActionLinkMade, user.Name, "")
	return link, nil
}

func (s *Service) link(ctx context.Context, user gateway.User) (Link, error) {
	token, hash, err := newToken()
	if err != nil {
		return Link{}, err
	}
	until := s.now().UTC().Add(linkLifetime)
	if err := s.store.SetUserLink(ctx, user.ID, hash, until); err != nil {
		return Link{}, err
	}
	user.LinkHash, user.LinkUntil = hash, until
	return Link{User: user, Token: token, Until: until}, nil
}

// FirstLink returns a new link for the first owner of the account, whom it makes, and
// whether there is one: as long as nobody of the account has a password. An earlier first
// link has ended then.
func (s *Service) FirstLink(ctx context.Context, accountID string) (Link, bool, error) {
	owner, ready, err := s.firstOwner(ctx, accountID)
	if err != nil || ready {
		return Link{}, false, err
	}
	link, err := s.link(ctx, owner)
	return link, err == nil, err
}

// firstOwner returns the oldest owner of the account, making one if there is none, and
// reports whether anybody of the account has a password.
func (s *Service) firstOwner(ctx context.Context, accountID string) (owner gateway.User, ready bool, err error) {
	owner, found, ready, err := s.oldestOwner(ctx, accountID)
	if err != nil || found {
		return owner, ready, err
	}
	const names = 100
	owner, err = s.create(ctx, accountID, firstName, gateway.RoleOwner)
	for number := 2; gateway.KindOf(err) == gateway.Conflict && number < names; number++ {
		// Another node, which starts at the same time, may have just made the owner.
		if made, found, ready, again := s.oldestOwner(ctx, accountID); again != nil || found {
			return made, ready, again
		}
		// Names are unique among all accounts.
		owner, err = s.create(ctx, accountID, fmt.Sprintf("%s%d", firstName, number), gateway.RoleOwner)
	}
	return owner, ready, err
}

// oldestOwner returns the oldest owner of the account, whether there is one, and whether
// anybody of the account has a password.
func (s *Service) oldestOwner(ctx context.Context, accountID string) (owner gateway.User, found, ready bool, err error) {
	const slice = 100
	for request := (gateway.PageRequest{Page: 1, Limit: slice}); ; request.Page++ {
		page, err := s.store.ListUsers(ctx, accountID, request)
		if err != nil {
			return gateway.User{}, false, false, err
		}
		for _, user := range page.Items {
			ready = ready || user.Password != ""
			if !found && user.Role == gateway.RoleOwner {
				owner, found = user, true
			}
		}
		if len(page.Items) < slice {
			return owner, found, ready, nil
		}
	}
}

// Started reports whether anybody has a password. If not, nobody can sign in without a
// first link.
func (s *Service) Started(ctx context.Context) (bool, error) {
	users, err := s.store.AllUsers(ctx)
	return slices.ContainsFunc(users, func(user gateway.User) bool { return user.Password != "" }), err
}

// LinkHash names a link without opening it for others: it may be kept where the token must not be.
type LinkHash string

// HashOf returns the name of the link with the token.
func HashOf(token string) LinkHash { return LinkHash(hex.EncodeToString(hashToken(token))) }

// FindLink returns the user whose password the link sets. Its error is Gone if the link
// was used, replaced or has ended.
func (s *Service) FindLink(ctx context.Context, link LinkHash) (gateway.User, error) {
	hash, err := hex.DecodeString(string(link))
	if err != nil || len(hash) != sha256.Size {
		return gateway.User{}, linkEnded()
	}
	user, found, err := s.store.FindUserByLink(ctx, hash)
	if err != nil {
		return gateway.User{}, err
	}
	if !found || !s.now().Before(user.LinkUntil) {
		return gateway.User{}, linkEnded()
	}
	return user, nil
}

// SetPassword sets the password of the user with the link, ends the link and all sign-ins
// of the user, and returns the user, who is signed in. Its error is Gone if the link was
// used, replaced or has ended, and Invalid if the password is not good enough.
func (s *Service) SetPassword(ctx context.Context, link LinkHash, password, address string) (gateway.User, error) {
	user, err := s.FindLink(ctx, link)
	if err != nil {
		return gateway.User{}, err
	}
	if err := checkPassword(user.Name, password); err != nil {
		return gateway.User{}, err
	}
	hash, err := s.passwords.hash(ctx, password)
	if err != nil {
		return gateway.User{}, err
	}
	used, err := s.store.UseUserLink(ctx, user.LinkHash, s.now(), hash)
	if err != nil {
		return gateway.User{}, err
	}
	if !used {
		return gateway.User{}, linkEnded()
	}
	s.endOf(user.ID)
	s.tries.succeeded(user.Name, "")
	s.Record(ctx, As(user, address), ActionPasswordSet, "", "")
	if user, err = s.Get(ctx, user.ID); err != nil {
		return gateway.User{}, err
	}
	return user, s.signedIn(ctx, user, address, "link")
}

// DevLink returns the path of a link that signs the first owner of the account in without
// a password, as often as it is used, while this program runs. It fails in a program that
// works with real data.
func (s *Service) DevLink(ctx context.Context, accountID string) (string, error) {
	if !s.dev {
		return "", errors.New("user: links without a password are only for trying the program")
	}
	owner, _, err := s.firstOwner(ctx, accountID)
	if err != nil {
		return "", err
	}
	token, hash, err := newToken()
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.devLinks[string(hash)] = owner.ID
	return welcomePath + "?dev=" + token, nil
}

// UseDevLink returns the user whom the link of DevLink with that token signs in. Its error
// is Gone if there is no such link.
func (s *Service) UseDevLink(ctx context.Context, token, address string) (gateway.User, error) {
	s.mu.Lock()
	id, ok := s.devLinks[string(hashToken(token))]
	s.mu.Unlock()
	if !ok {
		return gateway.User{}, linkEnded()
	}
	user, err := s.Get(ctx, id)
	if err != nil {
		return gateway.User{}, err
	}
	return user, s.signedIn(ctx, user, address, "dev")
}

func newToken() (token string, hash []byte, err error) {
	raw := make([]byte, tokenBytes)
	if _, err := rand.Read(raw); err != nil {
		return "", nil, fmt.Errorf("user: draw a link: %w", err)
	}
	token = base64.RawURLEncoding.EncodeToString(raw)
	return token, hashToken(token), nil
}

// hashToken is how a token is kept: it is random, so that SHA-256 is enough.
func hashToken(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

func linkEnded() error {
	return gateway.Errorf(gateway.Gone, CodeLinkEnded, "this link has ended: ask for another one")
}
