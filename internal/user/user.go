// Package user holds the people who use the dashboard: how they get in, what each of them
// may do, and who did what. It knows nothing of pages and cookies; the dashboard asks it who
// a browser belongs to, and the command line makes sign-in links with it for users who are locked out.
package user

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/required"
)

// Store keeps users, their passkeys and the audit list.
type Store interface {
	Users
	Links
	Owners
	Passkeys
	Audit
	// DeleteExpiredSignIns removes the sign-ins that have expired at that time.
	DeleteExpiredSignIns(ctx context.Context, at time.Time) error
}

// Users finds users.
type Users interface {
	FindUser(ctx context.Context, id string) (gateway.User, bool, error)
	FindUserByName(ctx context.Context, name string) (gateway.User, bool, error)
	ListUsers(ctx context.Context, accountID string, page gateway.PageRequest) (gateway.Page[gateway.User], error)
	AllUsers(ctx context.Context) ([]gateway.User, error)
	TouchUser(ctx context.Context, id string, at time.Time) error
}

// Links keeps passwords, and the links that set them.
type Links interface {
	FindUserByLink(ctx context.Context, hash []byte) (gateway.User, bool, error)
	SetUserLink(ctx context.Context, id string, hash []byte, until time.Time) error
	// UseUserLink sets the password of the user with the link. It reports false if there
	// is no such link or it has ended.
	UseUserLink(ctx context.Context, hash []byte, at time.Time, password string) (bool, error)
	// SetUserPassword sets the password, ends all sign-ins and returns the new epoch.
	SetUserPassword(ctx context.Context, id, password string) (epoch int64, err error)
}

// Owners changes who is there and what they may do. An account keeps an owner who can
// sign in: what would end that is a Conflict.
type Owners interface {
	CreateUser(ctx context.Context, user gateway.User) error
	SetUserRole(ctx context.Context, accountID, id string, role gateway.Role) error
	DeleteUser(ctx context.Context, accountID, id string) error
	// EndSignIns ends all sign-ins of the user and returns the new epoch.
	EndSignIns(ctx context.Context, id string) (epoch int64, err error)
}

// Passkeys keeps passkeys.
type Passkeys interface {
	CreatePasskey(ctx context.Context, passkey gateway.Passkey) error
	ListPasskeys(ctx context.Context, userID string) ([]gateway.Passkey, error)
	TouchPasskey(ctx context.Context, userID string, id, credential []byte, at time.Time) error
	DeletePasskey(ctx context.Context, userID string, id []byte) error
}

// Audit keeps who did what.
type Audit interface {
	AddAudit(ctx context.Context, entry gateway.AuditEntry) error
	ListAudit(ctx context.Context, accountID string, page gateway.PageRequest) (gateway.Page[gateway.AuditEntry], error)
	// TrimAudit removes the entries of before a time, and of each account all but the newest.
	TrimAudit(ctx context.Context, before time.Time, newest int) error
}

// Config is what the service stands on.
type Config struct {
	Store  Store            // required
	Logger *slog.Logger     // nil: nothing is logged
	Now    func() time.Time // nil: the wall clock
	// RemovalTime says by which time sign-ins and entries are old; nil: by Now.
	RemovalTime gateway.RemovalTime
	Password    PasswordCost // zero: a cost for passwords of people
	Dev         bool         // DevLink works: the program runs with a sandbox, to try it
	// SignIn is told what came of each try to sign in; it must not wait. nil: nobody is told.
	SignIn func(outcome Outcome)
}

// Service is the use cases of users. It is safe for concurrent use.
type Service struct {
	store       Store
	logger      *slog.Logger
	now         func() time.Time
	removalTime gateway.RemovalTime
	passwords   *passwords
	tries       *tries
	watcher     func(outcome Outcome)
	dev         bool
	// addressesNoted bounds how many addresses come into the audit lists: those who try from many
	// would push all else out of them.
	addressesNoted *rate.Limiter

	mu       sync.Mutex
	devLinks map[string]string // user ids by the hash of the link's token
	watches  map[*watch]struct{}
}

// So many addresses come into the audit lists at once, and one more from time to time.
const (
	notedAtOnce = 10
	noteEvery   = 10 * time.Minute
)

// New makes the service.
func New(config Config) (*Service, error) {
	if err := required.Check("user", config, "Logger", "Now", "RemovalTime", "SignIn"); err != nil {
		return nil, err
	}
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	if config.RemovalTime == nil {
		config.RemovalTime = gateway.Trusting(config.Now)
	}
	if config.SignIn == nil {
		config.SignIn = func(Outcome) {}
	}
	tries, err := newTries()
	if err != nil {
		return nil, err
	}
	return &Service{
		store: config.Store, logger: config.Logger, now: config.Now, removalTime: config.RemovalTime, dev: config.Dev,
		passwords: newPasswords(config.Password), tries: tries, watcher: config.SignIn,
		addressesNoted: rate.NewLimiter(rate.Every(noteEvery), notedAtOnce),
		devLinks:       map[string]string{}, watches: map[*watch]struct{}{},
	}, nil
}

// Codes of errors that people get to read in the dashboard.
const (
	CodeWrongPassword = "WRONG_PASSWORD"  // or there is no such user
	CodeTooManyTries  = "TOO_MANY_TRIES"  // RetryAfter says when to try again
	CodeBusy          = "SIGN_IN_BUSY"    // too many people sign in at once
	CodePassword      = "PASSWORD_UNFIT"  // it is too short, or too easy
	CodeName          = "NAME_UNFIT"      // a name that nobody can have
	CodeLinkEnded     = "LINK_ENDED"      // used, replaced or too old
	CodePasskey       = "PASSKEY_REFUSED" // it is not known, or not for this address
	CodeLastOwner     = "LAST_OWNER"      // somebody else must become an owner first
	CodeNameTaken     = "ALREADY_EXISTS"  // another user has the name
)

// Actor is who does something, and from where. What may be done is for the role to say.
type Actor struct {
	AccountID string
	UserID    string // empty: a command on the machine itself
	Name      string
	Role      gateway.Role
	Address   string // the IP address
}

// As returns the actor that the user is when a request comes from the address.
func As(user gateway.User, address string) Actor {
	return Actor{AccountID: user.AccountID, UserID: user.ID, Name: user.Name, Role: user.Role, Address: address}
}

// Need returns a Forbidden unless the actor may do what the role may.
func (a Actor) Need(role gateway.Role) error {
	if a.Role.Covers(role) {
		return nil
	}
	return gateway.Errorf(gateway.Forbidden, gateway.CodeForbidden, "this needs the role %s", role)
}

// Get returns a user of any account. Its error is NotFound if there is none.
func (s *Service) Get(ctx context.Context, id string) (gateway.User, error) {
	user, found, err := s.store.FindUser(ctx, id)
	if err != nil {
		return gateway.User{}, err
	}
	if !found {
		return gateway.User{}, notFound()
	}
	return user, nil
}

// List returns a page of the account's users, oldest first. Its error is Forbidden for
// all but owners.
func (s *Service) List(ctx context.Context, actor Actor, page gateway.PageRequest) (gateway.Page[gateway.User], error) {
	if err := actor.Need(gateway.RoleOwner); err != nil {
		return gateway.Page[gateway.User]{}, err
	}
	return s.store.ListUsers(ctx, actor.AccountID, page)
}

// find returns a user of the actor's account.
func (s *Service) find(ctx context.Context, actor Actor, id string) (gateway.User, error) {
	user, err := s.Get(ctx, id)
	if err == nil && user.AccountID != actor.AccountID {
		return gateway.User{}, notFound()
	}
	return user, err
}

func notFound() error {
	return gateway.Errorf(gateway.NotFound, gateway.CodeNotFound, "there is no such user")
}
