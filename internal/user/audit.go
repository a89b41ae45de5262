// The audit list: who did what in the dashboard.

package user

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/gateway"
)

const (
	// keepAudit is how long entries are kept, maxAudit how many of an account: the newest.
	keepAudit = 400 * 24 * time.Hour
	maxAudit  = 10_000
)

// Action says what was done.
type Action string

// What is in the audit list.
const (
	ActionSignedIn            Action = "signed_in"  // the detail says by what: password, passkey, link, dev
	ActionSignedOut           Action = "signed_out" // in one browser
	ActionSignedOutEverywhere Action = "signed_out_everywhere"
	ActionSignInBlocked       Action = "sign_in_blocked" // after too many wrong tries
	ActionAddressBlocked      Action = "address_blocked" // the same from an address, whatever the names; nobody is the user
	ActionPasswordSet         Action = "password_set"    // by a link
	ActionPasswordChanged     Action = "password_changed"
	ActionPasskeyAdded        Action = "passkey_added"
	ActionPasskeyRemoved      Action = "passkey_removed"

	ActionUserInvited Action = "user_invited"
	ActionLinkMade    Action = "link_made"
	ActionRoleChanged Action = "role_changed"
	ActionUserDeleted Action = "user_deleted"

	ActionInstanceCreated   Action = "instance_created"
	ActionInstanceChanged   Action = "instance_changed" // the detail names the settings
	ActionInstanceLinking   Action = "instance_linking" // a code was asked for
	ActionInstancePasskey   Action = "instance_passkey" // what a passkey has signed was handed in, or the code confirmed
	ActionInstanceRestarted Action = "instance_restarted"
	ActionInstanceStopped   Action = "instance_stopped"
	ActionInstanceLoggedOut Action = "instance_logged_out"
	ActionInstanceDeleted   Action = "instance_deleted"

	ActionMessageSent      Action = "message_sent"
	ActionMessageChanged   Action = "message_changed"   // reacted to, edited, deleted, starred; the detail says which
	ActionMessageQueued    Action = "message_queued"    // it was left in the queue
	ActionMessageCancelled Action = "message_cancelled" // it waited in the queue; the detail is its identifier
	ActionQueueCancelled   Action = "queue_cancelled"   // all that waited; the detail says how many

	ActionChatArranged Action = "chat_arranged" // the detail says how, and which chat

	ActionContactNamed Action = "contact_named" // in the address book; the detail says who

	ActionChannelChanged Action = "channel_changed" // it is followed, muted, or not any more; the detail says which

	ActionWebhookSaved    Action = "webhook_saved"
	ActionWebhookDeleted  Action = "webhook_deleted"
	ActionWebhookTested   Action = "webhook_tested"
	ActionWebhookResumed  Action = "webhook_resumed"
	ActionWebhookReplayed Action = "webhook_replayed"

	ActionAppSecretChanged Action = "app_secret_changed" // the detail says whether it was set or removed

	ActionKeyCreated Action = "key_created"
	ActionKeyRevoked Action = "key_revoked"
)

// Record adds to the audit list that the actor has done something, after it was done.
// subject is the name or id of what it was done to, detail what else there is to say; both
// are cleaned and cut. If it fails, the log has the entry instead.
func (s *Service) Record(ctx context.Context, actor Actor, action Action, subject, detail string) {
	id, err := uuid.NewV7()
	if err == nil {
		// What was done is done, even if whoever did it has left.
		err = s.store.AddAudit(context.WithoutCancel(ctx), gateway.AuditEntry{
			ID: id.String(), AccountID: actor.AccountID, UserID: actor.UserID, UserName: actor.Name, Action: string(action),
			Subject: gateway.CleanName(subject), Detail: gateway.CleanName(detail), Address: actor.Address, At: s.now().UTC(),
		})
	}
	if err != nil {
		s.logger.ErrorContext(ctx, "not written to the audit list", slog.String("user", actor.Name), slog.String("action", string(action)),
			slog.String("subject", subject), slog.Any("error", err))
	}
}

// ListAudit returns a page of the audit list of the actor's account, newest first. Its
// error is Forbidden for all but owners.
func (s *Service) ListAudit(ctx context.Context, actor Actor, page gateway.PageRequest) (gateway.Page[gateway.AuditEntry], error) {
	if err := actor.Need(gateway.RoleOwner); err != nil {
		return gateway.Page[gateway.AuditEntry]{}, err
	}
	return s.store.ListAudit(ctx, actor.AccountID, page)
}

// Sweep removes what has been kept long enough: sign-ins that have expired, and old entries
// of the audit list.
func (s *Service) Sweep(ctx context.Context) error {
	now, ok := s.removalTime(ctx)
	if !ok {
		return nil
	}
	if err := s.store.DeleteExpiredSignIns(ctx, now); err != nil {
		return fmt.Errorf("user: remove expired sign-ins: %w", err)
	}
	if err := s.store.TrimAudit(ctx, now.Add(-keepAudit), maxAudit); err != nil {
		return fmt.Errorf("user: trim the audit list: %w", err)
	}
	return nil
}
