// Marking messages as read: one that a client names, and those of instances that mark what comes in by themselves.

package messaging

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

const (
	// dueReadsAtOnce is how many messages are looked at together.
	dueReadsAtOnce = 100
	// dueReadAge is how long a message is due, while the platform can't be reached: after that nobody is told of it.
	dueReadAge = 24 * time.Hour
)

// MarkRead sends the sender of a message a receipt that it was read. Nobody has to be sent
// a receipt for one's own message, so this does nothing then. Its error is NotFound.
func (s *Service) MarkRead(ctx context.Context, instanceID string, ref gateway.MessageRef) error {
	session, message, err := s.locate(ctx, instanceID, ref)
	if err != nil || message.FromMe {
		return err
	}
	return s.markRead(ctx, session, []gateway.Message{message})
}

// markRead marks messages of one sender in one chat.
func (s *Service) markRead(ctx context.Context, session gateway.Session, messages []gateway.Message) error {
	first := messages[0]
	ids := make([]string, len(messages))
	for n, message := range messages {
		ids[n] = message.PlatformID
	}
	if err := session.Messages().MarkRead(ctx, first.Key(), s.config.Now(), ids[1:]...); err != nil {
		return err
	}
	if first.Chat.JID.IsStatus() {
		return nil // no list of chats has it
	}
	return s.config.Chats.Keep(ctx, first.InstanceID, gateway.ChatUpdate{Chat: first.Chat, ReadIDs: ids, At: s.config.Now().UTC()})
}

// ReadsDue tells that an instance may have messages that it marks as read by itself: one was stored, or the
// instance is connected. It does not wait.
func (s *Service) ReadsDue(ctx context.Context, instanceID string) { s.reads.Ask(ctx, instanceID) }

// markDue marks what is due of an instance.
func (s *Service) markDue(ctx context.Context, instanceID string) {
	for {
		more, err := s.markSomeDue(ctx, instanceID)
		if err != nil && ctx.Err() == nil && !gateway.IsAway(err) {
			s.config.Logger.WarnContext(ctx, "messages not marked as read; the next connection or message tries again",
				slog.String("instance_id", instanceID), slog.Any("error", err))
		}
		if err != nil || !more {
			return
		}
	}
}

// markSomeDue marks the oldest of what is due, and reports whether there may be more. What did not reach the
// platform is still due, for a day at most. What the platform refuses is given up.
func (s *Service) markSomeDue(ctx context.Context, instanceID string) (more bool, err error) {
	due, err := s.config.Store.DueReads(ctx, instanceID, dueReadsAtOnce)
	if err != nil || len(due) == 0 {
		return false, err
	}
	instance, err := s.config.Store.GetInstance(ctx, instanceID)
	if err != nil {
		return false, err
	}
	var failed error
	for _, messages := range bySender(due) {
		err := s.markUnlessOff(ctx, instance, messages)
		if gateway.IsAway(err) && !s.isPast(messages) {
			return false, err
		}
		if kind := gateway.KindOf(err); err != nil && !s.isPast(messages) && kind != gateway.PlatformFailed {
			failed = err // those of others may be marked all the same
			continue
		}
		if err != nil {
			s.config.Logger.InfoContext(ctx, "messages can't be marked as read", slog.String("instance_id", instanceID),
				slog.String("platform_id", messages[0].PlatformID), slog.Int("messages", len(messages)), slog.Any("error", err))
		}
		ids := make([]string, len(messages))
		for n, message := range messages {
			ids[n] = message.ID
		}
		if err := s.config.Store.EndDueReads(ctx, instanceID, ids); err != nil {
			return false, fmt.Errorf("messaging: note what was marked as read: %w", err)
		}
	}
	return failed == nil && len(due) == dueReadsAtOnce, failed
}

// markUnlessOff marks messages of one sender in one chat, unless the setting for it was switched off meanwhile.
func (s *Service) markUnlessOff(ctx context.Context, instance gateway.Instance, messages []gateway.Message) error {
	if !marksRead(instance.Switches, messages[0]) {
		return nil
	}
	session, err := s.config.Sessions.Session(ctx, instance.ID)
	if err != nil {
		return err
	}
	return s.markRead(ctx, session, messages)
}

// isPast reports whether the newest of messages has been due for too long.
func (s *Service) isPast(messages []gateway.Message) bool {
	return s.config.Now().Sub(messages[len(messages)-1].CreatedAt) > dueReadAge
}

// marksRead reports whether an instance that is set so marks a message as read by itself: one that somebody else
// wrote, but no post of a channel.
func marksRead(set gateway.Switches, message gateway.Message) bool {
	switch {
	case message.FromMe || message.Chat.JID.IsChannel():
		return false
	case message.Chat.JID.IsStatus():
		return set.ReadStatuses
	default:
		return set.ReadMessages
	}
}

// bySender divides messages by their chats and senders: the platform takes a receipt for one sender's messages in
// one chat. Each keeps their order.
func bySender(messages []gateway.Message) (divided [][]gateway.Message) {
	type side struct{ chat, sender gateway.JID }
	places := map[side]int{}
	for _, message := range messages {
		of := side{message.Chat.Key(), message.Sender.Key()}
		place, known := places[of]
		if !known {
			place = len(divided)
			places[of], divided = place, append(divided, nil)
		}
		divided[place] = append(divided[place], message)
	}
	return divided
}
