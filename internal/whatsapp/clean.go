package whatsapp

import (
	"context"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// cleanReceiver stands between a session and its receiver. Everything that the
// platform or a contact has written passes through here and is cleaned and bounded:
// names, identifiers, times. The content of messages was cleaned before it was read,
// and chat IDs when they were translated.
type cleanReceiver struct {
	gateway.Receiver

	now func() time.Time
}

// Receive passes on something that was received, cleaned.
func (r cleanReceiver) Receive(ctx context.Context, incoming gateway.Incoming) error {
	cleaned := incoming.Cleaned(r.now().UTC())
	if cleaned == nil {
		return nil
	}
	return r.Receiver.Receive(ctx, cleaned)
}

// cleanLifecycle does the same for what the lifecycle learns of the account.
type cleanLifecycle struct {
	gateway.Lifecycle
}

// Connected cleans the account's name.
func (l cleanLifecycle) Connected(ctx context.Context, profile gateway.Profile) error {
	return l.Lifecycle.Connected(ctx, profile.Cleaned())
}

// ProfileChanged cleans the account's name.
func (l cleanLifecycle) ProfileChanged(ctx context.Context, profile gateway.Profile) {
	l.Lifecycle.ProfileChanged(ctx, profile.Cleaned())
}

// PictureChanged cleans the picture's URL.
func (l cleanLifecycle) PictureChanged(ctx context.Context, url string) {
	l.Lifecycle.PictureChanged(ctx, gateway.CleanURL(url))
}
