// The tables of chats and labels: how chats are arranged, and what labels they have.

package store

import (
	"context"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store/labeltable"
	"github.com/recado-project/recado/internal/store/table"
)

// UpdateChat changes how a chat is arranged, and what of it was read. If that changes anything, it appends
// the event that report makes. It deletes nothing: DeleteMessages and RemoveChat do.
func (s *Store) UpdateChat(ctx context.Context, instanceID string, update gateway.ChatUpdate, report func(gateway.Chat, []gateway.ChatAspect) (eventlog.Event, error)) (err error) {
	defer table.Wrap(&err, "update a chat")
	return s.db.record(ctx, instanceID, func(ctx context.Context, r *recorder) error {
		chosen, err := r.chats.Change(ctx, r, update)
		if update.Cleared && chosen.After.ID != "" {
			chosen.Aspects = append(chosen.Aspects, gateway.ChatCleared)
		}
		if err != nil || len(chosen.Aspects) == 0 {
			return err
		}
		event, err := report(chosen.After, chosen.Aspects)
		if err != nil {
			return err
		}
		return r.Append(ctx, event)
	})
}

// ArrangeChats changes how chats are arranged, without an event.
func (s *Store) ArrangeChats(ctx context.Context, instanceID string, updates []gateway.ChatUpdate) (err error) {
	defer table.Wrap(&err, "arrange chats")
	return s.db.record(ctx, instanceID, func(ctx context.Context, r *recorder) error {
		for _, update := range updates {
			if _, err := r.chats.Change(ctx, r, update); err != nil {
				return err
			}
		}
		return nil
	})
}

// ChangeLabel stores a change of a label. If it changes anything, it appends the event that report makes
// of the label, and of the chat that has it or had it.
func (s *Store) ChangeLabel(ctx context.Context, instanceID string, change gateway.LabelChange, report func(gateway.Label) (eventlog.Event, error)) (err error) {
	defer table.Wrap(&err, "change a label")
	return s.db.record(ctx, instanceID, func(ctx context.Context, r *recorder) error {
		label, changed, err := r.changeLabel(ctx, change)
		if err != nil || !changed {
			return err
		}
		event, err := report(label)
		if err != nil {
			return err
		}
		return r.Append(ctx, event)
	})
}

// ArrangeLabels stores changes of labels, without an event.
func (s *Store) ArrangeLabels(ctx context.Context, instanceID string, changes []gateway.LabelChange) (err error) {
	defer table.Wrap(&err, "arrange labels")
	return s.db.record(ctx, instanceID, func(ctx context.Context, r *recorder) error {
		for _, change := range changes {
			if _, _, err := r.changeLabel(ctx, change); err != nil {
				return err
			}
		}
		return nil
	})
}

func (r *recorder) changeLabel(ctx context.Context, change gateway.LabelChange) (label gateway.Label, changed bool, err error) {
	var chatID string
	if change.Chat.Address() != "" {
		if chatID, err = r.chats.Chat(ctx, r, change.Chat); err != nil {
			return label, false, err
		}
	}
	return labeltable.Change(ctx, r, r.instanceID, chatID, change)
}

// DisappearsAfter returns after which time a message disappears that is sent to a chat, as
// Chats.DisappearsAfter does.
func (s *Store) DisappearsAfter(ctx context.Context, instanceID string, chat gateway.Party) (time.Duration, error) {
	return s.Chats.DisappearsAfter(ctx, instanceID, chat)
}

// RemoveChat removes a chat in which no message is left, with what was arranged, and appends
// the event that report makes. It does nothing if there is no such chat.
func (s *Store) RemoveChat(ctx context.Context, instanceID string, party gateway.Party, report func(gateway.Chat, []gateway.ChatAspect) (eventlog.Event, error)) (err error) {
	defer table.Wrap(&err, "remove a chat")
	return s.db.record(ctx, instanceID, func(ctx context.Context, r *recorder) error {
		chat, gone, err := r.chats.Forget(ctx, r, party)
		if err != nil || !gone {
			return err
		}
		event, err := report(chat, []gateway.ChatAspect{gateway.ChatDeleted})
		if err != nil {
			return err
		}
		return r.Append(ctx, event)
	})
}
