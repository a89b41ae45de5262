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

const (
	presenceColumns = "instance_id, jid, lid, created_at, ends_at, presence, presence_at, last_seen"

	// Somebody may be known under one address before the other becomes known.
	presenceOfContact = "instance_id = $1 AND (jid <> '' AND jid = $2 OR lid <> '' AND lid = $3)"

	findPresence   = "SELECT " + presenceColumns + " FROM presence_subscriptions WHERE " + presenceOfContact + " AND ends_at > $4"
	listPresences  = "SELECT " + presenceColumns + " FROM presence_subscriptions WHERE instance_id = $1 AND ends_at > $2 ORDER BY created_at, contact"
	endedPresences = "SELECT " + presenceColumns + " FROM presence_subscriptions WHERE ends_at <= $1 ORDER BY ends_at DESC LIMIT $2"
	countPresences = "SELECT COUNT(*) FROM presence_subscriptions WHERE instance_id = $1"

	removePresence       = "DELETE FROM presence_subscriptions WHERE " + presenceOfContact
	removeEndedPresences = "DELETE FROM presence_subscriptions WHERE instance_id = $1 AND ends_at <= $2"
	addPresence          = "INSERT INTO presence_subscriptions (contact, " + presenceColumns + ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"

	presenceShown = "UPDATE presence_subscriptions SET presence = $4, presence_at = $5, last_seen = CASE WHEN CAST($6 AS BIGINT) > 0 THEN CAST($6 AS BIGINT) ELSE last_seen END WHERE " + presenceOfContact
)

// Presences is the table in one database. It is safe for concurrent use.
type Presences struct{ db *instanceDatabase }

// SubscribePresence keeps a subscription, in the place of the one that there may be of the same
// contact: of that stay the time of its beginning and what the contact has shown. Those that
// have ended are removed. If the instance has most others, the error is a gateway.Conflict.
func (p *Presences) SubscribePresence(ctx context.Context, subscription gateway.PresenceSubscription, now time.Time, most int) (gateway.PresenceSubscription, error) {
	id, jid, lid := subscription.InstanceID, string(subscription.Contact.JID), string(subscription.Contact.LID)
	var kept gateway.PresenceSubscription
	full := false
	err := p.db.record(ctx, id, func(ctx context.Context, r *recorder) error {
		kept = subscription
		if _, err := r.ExecContext(ctx, removeEndedPresences, id, table.Millis(now)); err != nil {
			return err
		}
		before, known, err := table.Find(ctx, r, scanPresence, findPresence, id, jid, lid, table.Millis(now))
		if err != nil {
			return err
		}
		if known {
			kept.CreatedAt, kept.Presence, kept.ShownAt, kept.LastSeen = before.CreatedAt, before.Presence, before.ShownAt, before.LastSeen
			if _, err := r.ExecContext(ctx, removePresence, id, jid, lid); err != nil {
				return err
			}
		} else {
			others, _, err := table.Find(ctx, r, table.ScanNumber, countPresences, id)
			if err != nil {
				return err
			}
			if full = others >= int64(most); full {
				return nil
			}
		}
		_, err = r.ExecContext(ctx, addPresence, string(kept.Contact.Key()), id, jid, lid, table.Millis(kept.CreatedAt), table.Millis(kept.EndsAt),
			string(kept.Presence), table.Millis(kept.ShownAt), table.Millis(kept.LastSeen))
		return err
	})
	switch {
	case err != nil:
		return gateway.PresenceSubscription{}, fmt.Errorf("store: subscribe to presence: %w", err)
	case full:
		return gateway.PresenceSubscription{}, gateway.Errorf(gateway.Conflict, gateway.CodeSubscriptionLimit,
			"the instance has subscribed to the presence of %d contacts, which is as many as it may: end one first", most)
	}
	return kept, nil
}

// UnsubscribePresence removes a subscription, and reports whether it has; one that was prolonged
// meanwhile stays.
func (p *Presences) UnsubscribePresence(ctx context.Context, subscription gateway.PresenceSubscription) (removed bool, err error) {
	id, jid, lid := subscription.InstanceID, string(subscription.Contact.JID), string(subscription.Contact.LID)
	err = p.db.record(ctx, id, func(ctx context.Context, r *recorder) error {
		found, existed, err := table.Find(ctx, r, scanPresence, findPresence, id, jid, lid, 0)
		if removed = existed && !found.EndsAt.After(subscription.EndsAt); err != nil || !removed {
			return err
		}
		_, err = r.ExecContext(ctx, removePresence, id, jid, lid)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("store: unsubscribe from presence: %w", err)
	}
	return removed, nil
}

// FindPresenceSubscription returns the subscription to a contact, unless it has ended.
func (p *Presences) FindPresenceSubscription(ctx context.Context, instanceID string, contact gateway.Party, now time.Time) (gateway.PresenceSubscription, bool, error) {
	found, ok, err := table.Find(ctx, p.db.Reader(), scanPresence, findPresence, instanceID, string(contact.JID), string(contact.LID), table.Millis(now))
	if err != nil {
		return found, false, fmt.Errorf("store: find subscription to presence: %w", err)
	}
	return found, ok, nil
}

// ListPresenceSubscriptions returns all subscriptions of an instance that have not ended, in
// the order of their beginning.
func (p *Presences) ListPresenceSubscriptions(ctx context.Context, instanceID string, now time.Time) ([]gateway.PresenceSubscription, error) {
	all, err := table.Collect(ctx, p.db.Reader(), scanPresence, listPresences, instanceID, table.Millis(now))
	if err != nil {
		return nil, fmt.Errorf("store: list subscriptions to presence: %w", err)
	}
	return all, nil
}

// EndedPresenceSubscriptions returns subscriptions of any instance that have ended, those that
// ended last before others: those of instances that no node works on stay.
func (p *Presences) EndedPresenceSubscriptions(ctx context.Context, now time.Time, limit int) ([]gateway.PresenceSubscription, error) {
	all, err := table.Collect(ctx, p.db.Reader(), scanPresence, endedPresences, table.Millis(now), limit)
	if err != nil {
		return nil, fmt.Errorf("store: list ended subscriptions to presence: %w", err)
	}
	return all, nil
}

// KeepPresence appends the event of a presence, and notes it in the subscription to the contact
// if there is one.
func (p *Presences) KeepPresence(ctx context.Context, instanceID string, presence gateway.ContactPresence, event eventlog.Event) error {
	err := p.db.record(ctx, instanceID, func(ctx context.Context, r *recorder) error {
		if presence.Chat.Key() == presence.From.Key() {
			if _, err := r.ExecContext(ctx, presenceShown, instanceID, string(presence.From.JID), string(presence.From.LID),
				string(presence.Presence), table.Millis(presence.At), table.Millis(presence.LastSeen)); err != nil {
				return err
			}
		}
		return r.Append(ctx, event)
	})
	if err != nil {
		return fmt.Errorf("store: keep presence: %w", err)
	}
	return nil
}

func scanPresence(row table.Scanner) (gateway.PresenceSubscription, error) {
	var s gateway.PresenceSubscription
	var created, ends, shownAt, seen int64
	err := row.Scan(&s.InstanceID, &s.Contact.JID, &s.Contact.LID, &created, &ends, &s.Presence, &shownAt, &seen)
	s.CreatedAt, s.EndsAt, s.ShownAt, s.LastSeen = table.Time(created), table.Time(ends), table.Time(shownAt), table.Time(seen)
	return s, err
}
