// Passwords: which are good enough, and how they are hashed.

package user

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/alexedwards/argon2id"

	"github.com/recado-project/recado/internal/gateway"
)

// How long a password is, in characters.
const (
	MinPassword = 10
	MaxPassword = 200
)

const (
	// hashesAtOnce bounds the memory for hashing, and hashesWaiting how many requests
	// wait for their turn. Then strangers who try passwords cost two hashes at a time.
	hashesAtOnce  = 2
	hashesWaiting = 32
	// fewest is how many different characters a password has, and how many beside the name.
	fewest = 5
	// shortName is the length from which a name counts as a part of a password.
	shortName = 3
)

// PasswordCost is what a hash of argon2id costs.
type PasswordCost struct {
	MemoryKiB uint32 // 0 means 19 MiB
	Passes    uint32 // 0 means 2
}

// passwords hashes passwords, a few at the same time.
type passwords struct {
	params  *argon2id.Params
	turns   chan struct{}
	waiting atomic.Int32
	// nobody is a hash that no password has. It is compared where there is no user, so
	// that the time of the answer doesn't say which names exist.
	nobody func() (string, error)
}

func newPasswords(cost PasswordCost) *passwords {
	if cost.MemoryKiB == 0 {
		cost.MemoryKiB = 19 << 10
	}
	if cost.Passes == 0 {
		cost.Passes = 2
	}
	params := &argon2id.Params{Memory: cost.MemoryKiB, Iterations: cost.Passes, Parallelism: 1, SaltLength: 16, KeyLength: 32}
	return &passwords{
		params: params, turns: make(chan struct{}, hashesAtOnce),
		nobody: sync.OnceValues(func() (string, error) { return argon2id.CreateHash("", params) }),
	}
}

// hash returns the PHC string of a password.
func (p *passwords) hash(ctx context.Context, password string) (hash string, err error) {
	err = p.inTurn(ctx, func() error {
		hash, err = argon2id.CreateHash(password, p.params)
		return err
	})
	return hash, err
}

// matches reports whether the password has the hash. No password has an empty hash; to
// find that out takes as long.
func (p *passwords) matches(ctx context.Context, password, hash string) (matches bool, err error) {
	unknown := hash == ""
	if utf8.RuneCountInString(password) > MaxPassword {
		unknown, password = true, "" // it is nobody's, and hashing it would take longer
	}
	err = p.inTurn(ctx, func() error {
		if unknown {
			if hash, err = p.nobody(); err != nil {
				return err
			}
		}
		matches, err = argon2id.ComparePasswordAndHash(password, hash)
		return err
	})
	return matches && !unknown, err
}

func (p *passwords) inTurn(ctx context.Context, work func() error) error {
	defer p.waiting.Add(-1)
	if p.waiting.Add(1) > hashesWaiting {
		return gateway.Errorf(gateway.Unavailable, CodeBusy, "too many people are signing in right now: try again in a moment")
	}
	select {
	case p.turns <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("user: wait to check a password: %w", ctx.Err())
	}
	defer func() { <-p.turns }()
	if err := work(); err != nil {
		return fmt.Errorf("user: check a password: %w", err)
	}
	return nil
}

// UnfitPassword says why a password is not good enough for the user of that name: it is
// the end of a sentence that begins with "the password", and empty for a good one.
func UnfitPassword(name, password string) string {
	length := utf8.RuneCountInString(password)
	lower := strings.ToLower(password)
	different := map[rune]struct{}{}
	for _, r := range lower {
		different[r] = struct{}{}
	}
	switch {
	case length < MinPassword || length > MaxPassword:
		return fmt.Sprintf("must have %d to %d characters", MinPassword, MaxPassword)
	case !utf8.ValidString(password) || strings.ContainsRune(password, 0):
		return "must be text"
	case len(different) < fewest:
		return fmt.Sprintf("must have at least %d different characters", fewest)
	case len(name) >= shortName && len(strings.ReplaceAll(lower, strings.ToLower(name), "")) < fewest:
		return "must not be made of the name"
	case strings.Contains(common, " "+lower+" "):
		return "is one of those that are tried first"
	default:
		return ""
	}
}

// common are the passwords of that length that everybody tries first.
const common = " 1234567890 0123456789 0987654321 9876543210 12345678910 123456789a 1q2w3e4r5t qwertyuiop password123" +
	" password1234 passw0rd123 senha12345 senha123456 mudar12345 administrator administrador iloveyou123 recado1234 recado12345 "

func checkPassword(name, password string) error {
	if why := UnfitPassword(name, password); why != "" {
		return gateway.Errorf(gateway.Invalid, CodePassword, "the password %s", why)
	}
	return nil
}
