// The app secret of an account, with which deliveries are signed as Meta signs them.

package access

import (
	"context"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// maxAppSecret is how long an app secret may be. Those of Meta have 32 characters.
const maxAppSecret = 512

// SetAppSecret gives an account its app secret, and returns when that was. It counts from the next delivery
// on. Its error is Invalid for one that can't be used, with the field appSecret.
func (s *Service) SetAppSecret(ctx context.Context, accountID, secret string) (time.Time, error) {
	switch {
	case strings.TrimSpace(secret) == "":
		return time.Time{}, gateway.InvalidField("appSecret", "must not be blank")
	case len(secret) > maxAppSecret:
		return time.Time{}, gateway.InvalidField("appSecret", "is too long")
	}
	at := s.now().UTC().Truncate(time.Millisecond)
	return at, s.store.SetAppSecret(ctx, accountID, secret, at)
}

// DeleteAppSecret takes the app secret of an account away. One that is not there is no error.
func (s *Service) DeleteAppSecret(ctx context.Context, accountID string) error {
	return s.store.SetAppSecret(ctx, accountID, "", time.Time{})
}

// AppSecretSince returns when the app secret of an account was set; zero: there is none.
func (s *Service) AppSecretSince(ctx context.Context, accountID string) (time.Time, error) {
	_, at, err := s.store.AppSecret(ctx, accountID)
	return at, err
}
