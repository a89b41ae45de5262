package user_test

import (
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/database"
	"github.com/recado-project/recado/internal/user"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	home     = "192.0.2.1"
	goodWord = "correct horse battery"
)

// rig is the service on a real database, with a clock that a test moves.
type rig struct {
	*user.Service

	t       *testing.T
	store   *store.Store
	account gateway.Account

	mu       sync.Mutex
	now      time.Time
	log      strings.Builder
	outcomes map[user.Outcome]int
}

// Write takes a line of the log.
func (r *rig) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.Write(line)
}

// lines counts the lines of the log that have the words.
func (r *rig) lines(words string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Count(r.log.String(), words)
}

func newRig(t *testing.T) *rig {
	t.Helper()
	opened, err := store.Open(t.Context(), store.Config{
		Path: database.File(t), Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	r := &rig{t: t, store: opened, now: time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC), outcomes: map[user.Outcome]int{}}
	r.Service = r.another(true)
	keys, err := access.New(access.Config{Store: opened})
	if err != nil {
		t.Fatal(err)
	}
	if r.account, err = keys.EnsureAccount(t.Context(), "shop"); err != nil {
		t.Fatal(err)
	}
	return r
}

// another is the service in another process on the same data.
func (r *rig) another(dev bool) *user.Service {
	r.t.Helper()
	service, err := user.New(user.Config{
		Store: r.store.Users, Now: r.clock, Dev: dev, Password: user.PasswordCost{MemoryKiB: 64, Passes: 1},
		Logger: slog.New(slog.NewTextHandler(r, nil)),
		SignIn: func(outcome user.Outcome) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.outcomes[outcome]++
		},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return service
}

func (r *rig) clock() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

func (r *rig) wait(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = r.now.Add(d)
}

func (r *rig) check(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// machine is a command on the machine itself.
func (r *rig) machine() user.Actor {
	return user.Actor{AccountID: r.account.ID, Name: "command line", Role: gateway.RoleOwner}
}

// add makes a user with goodWord as the password.
func (r *rig) add(name string, role gateway.Role) user.Actor {
	r.t.Helper()
	link, err := r.Invite(r.t.Context(), r.machine(), name, role)
	r.check(err)
	made, err := r.SetPassword(r.t.Context(), user.HashOf(link.Token), goodWord, home)
	r.check(err)
	return user.As(made, home)
}

func wantKind(t *testing.T, err error, kind gateway.Kind, code string) {
	t.Helper()
	failure, ok := gateway.AsError(err)
	if !ok || failure.Kind != kind || failure.Code != code {
		t.Errorf("answered %v, want %s", err, code)
	}
}
