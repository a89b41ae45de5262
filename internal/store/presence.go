// The table of the contacts whose presence instances want to know, with what each has shown last.

package store

import (
	"context"
	"fmt"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store/table"
)

//nolint:gochecknoglobals // a table that never changes
var presenceColumns = table.Of(
	table.Text("instance_id", func(p *gateway.PresenceSubscription) *string { return &p.InstanceID }),
	table.Text("jid", func(p *gateway.PresenceSubscription) *gateway.JID { return &p.Contact.JID }),
	table.Text("lid", func(p *gateway.PresenceSubscription) *gateway.JID { return &p.Contact.LID }),
	table.Moment("created_at", func(p *gateway.PresenceSubscription) *time.Time { return &p.CreatedAt }),
	table.Moment("ends_at", func(p *gateway.PresenceSubscription) *time.Time { return &p.EndsAt }),
	table.Text("presence", func(p *gateway.PresenceSubscription) *gateway.Presence { return &p.Presence }),
	table.Moment("presence_at", func(p *gateway.PresenceSubscription) *time.Time { return &p.ShownAt }),
	table.Moment("last_seen", func(p *gateway.PresenceSubscription) *time.Time { return &p.LastSeen }),
)

const (
	// Somebody may be known under one address before the other becomes known.
	presenceOfContact = "instance_id = $1 AND (jid <> '' AND jid = $2 OR lid <> '' AND lid = $3)"

	findPresence         = "FROM presence_subscriptions WHERE " + presenceOfContact + " AND ends_at > $4"
	removePresence       = "DELETE FROM presence_subscriptions WHERE " + presenceOfContact
	removeEndedPresences = "DELETE FROM presence_subscriptions WHERE instance_id = $1 AND ends_at <= $2"
	countPresences       = "SELECT COUNT(*) FROM presence_subscriptions WHERE instance_id = $1"

	presenceShown = "UPDATE presence_subscriptions SET presence = $4, presence_at = $5, last_seen = CASE WHEN CAST($6 AS BIGINT) > 0 THEN CAST($6 AS BIGINT) ELSE last_seen END WHERE " + presenceOfContact
)

// Presences is the table in one database. It is safe for concurrent use.
type Presences struct{ db *instanceDatabase }

// SubscribePresence stores a subscription. It replaces an earlier one to the same contact, but keeps the time
// of its beginning and what the contact has shown. It removes subscriptions that have ended. If the instance
// has most others, the error is a gateway.Conflict.
func (p *Presences) SubscribePresence(ctx context.Context, subscription gateway.PresenceSubscription, now time.Time, most int) (gateway.PresenceSubscription, error) {
	id, jid, lid := subscription.InstanceID, string(subscription.Contact.JID), string(subscription.Contact.LID)
	var stored gateway.PresenceSubscription
	full := false
	err := p.db.record(ctx, id, func(ctx context.Context, r *recorder) error {
		stored = subscription
		if _, err := r.ExecContext(ctx, removeEndedPresences, id, table.Millis(now)); err != nil {
			return err
		}
		before, known, err := presenceColumns.Find(ctx, r, findPresence, id, jid, lid, table.Millis(now))
		if err != nil {
			return err
		}
		if known {
			stored.CreatedAt, stored.Presence, stored.ShownAt, stored.LastSeen = before.CreatedAt, before.Presence, before.ShownAt, before.LastSeen
			if _, err := r.ExecContext(ctx, removePresence, id, jid, lid); err != nil {
				return err
			}
		} else {
			others, _, err := table.Find(ctx, r, table.Value[int64], countPresences, id)
			if err != nil {
				return err
			}
			if full = others >= int64(most); full {
				return nil
			}
		}
		_, err = r.ExecContext(ctx, presenceColumns.Insert("presence_subscriptions", "contact"), presenceColumns.Values(&stored, string(stored.Contact.Key()))...)
		return err
	})
	switch {
	case err != nil:
		return gateway.PresenceSubscription{}, fmt.Errorf("store: subscribe to presence: %w", err)
	case full:
		return gateway.PresenceSubscription{}, gateway.Errorf(gateway.Conflict, gateway.CodeSubscriptionLimit,
			"the instance has subscribed to the presence of %d contacts, which is as many as it may: end one first", most)
	}
	return stored, nil
}

// UnsubscribePresence removes a subscription unless it was prolonged meanwhile, and reports whether it has.
func (p *Presences) UnsubscribePresence(ctx context.Context, subscription gateway.PresenceSubscription) (removed bool, err error) {
	id, jid, lid := subscription.InstanceID, string(subscription.Contact.JID), string(subscription.Contact.LID)
	err = p.db.record(ctx, id, func(ctx context.Context, r *recorder) error {
		found, existed, err := presenceColumns.Find(ctx, r, findPresence, id, jid, lid, 0)
		if removed = existed && !found.EndsAt.After(subscription.EndsAt); err != nil || !removed {
			return err
		}
		_, err = r.ExecContext(ctx, removePresence, id, jid, lid)
		return err
	})
	table.Wrap(&err, "unsubscribe from presence")
	return removed, err
}

// FindPresenceSubscription returns the subscription to a contact, unless it has ended.
func (p *Presences) FindPresenceSubscription(ctx context.Context, instanceID string, contact gateway.Party, now time.Time) (_ gateway.PresenceSubscription, found bool, err error) {
	defer table.Wrap(&err, "find subscription to presence")
	return presenceColumns.Find(ctx, p.db.Reader(), findPresence, instanceID, string(contact.JID), string(contact.LID), table.Millis(now))
}

// ListPresenceSubscriptions returns all subscriptions of an instance that have not ended, in
// the order of their beginning.
func (p *Presences) ListPresenceSubscriptions(ctx context.Context, instanceID string, now time.Time) (_ []gateway.PresenceSubscription, err error) {
	defer table.Wrap(&err, "list subscriptions to presence")
	return presenceColumns.Collect(ctx, p.db.Reader(), "FROM presence_subscriptions WHERE instance_id = $1 AND ends_at > $2 ORDER BY created_at, contact",
		instanceID, table.Millis(now))
}

// EndedPresenceSubscriptions returns subscriptions of any instance that have ended, newest first: old ones of
// instances without an owner stay.
func (p *Presences) EndedPresenceSubscriptions(ctx context.Context, now time.Time, limit int) (_ []gateway.PresenceSubscription, err error) {
	defer table.Wrap(&err, "list ended subscriptions to presence")
	return presenceColumns.Collect(ctx, p.db.Reader(), "FROM presence_subscriptions WHERE ends_at <= $1 ORDER BY ends_at DESC LIMIT $2", table.Millis(now), limit)
}

// KeepPresence appends the event of a presence, and stores it in the subscription to the contact if there is
// one.
func (p *Presences) KeepPresence(ctx context.Context, instanceID string, presence gateway.ContactPresence, event eventlog.Event) (err error) {
	defer table.Wrap(&err, "keep presence")
	return p.db.record(ctx, instanceID, func(ctx context.Context, r *recorder) error {
		if presence.Chat.Key() == presence.From.Key() {
			if _, err := r.ExecContext(ctx, presenceShown, instanceID, string(presence.From.JID), string(presence.From.LID),
				string(presence.Presence), table.Millis(presence.At), table.Millis(presence.LastSeen)); err != nil {
				return err
			}
		}
		return r.Append(ctx, event)
	})
}
