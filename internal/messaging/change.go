package messaging

import (
	"context"
	"fmt"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

// Edit replaces the text of a message that this instance sent. Its error is
// NotFound, or Invalid: not a text, not sent by this instance, deleted, too
// late.
func (s *Service) Edit(ctx context.Context, instanceID string, ref gateway.MessageRef, text string) (Result, error) {
	session, message, err := s.own(ctx, instanceID, ref, change{
		code: gateway.CodeMessageNotEditable, done: "edited",
		window: s.EditWindow, late: gateway.CodeEditWindowExpired,
	})
	if err != nil {
		return Result{}, err
	}
	if message.Type != gateway.TypeText {
		return Result{}, gateway.Errorf(gateway.Invalid, gateway.CodeMessageNotEditable,
			"only text messages can be edited; this one is of type %s", message.Type)
	}
	payload, err := s.Encoder.EncodeEdited(message.Payload, text)
	if err != nil {
		return Result{}, fmt.Errorf("messaging: edit message: %w", err)
	}
	if err := session.Edit(ctx, message.Key(), payload); err != nil {
		return Result{}, err
	}
	if err := s.changed(ctx, session, message, gateway.Change{
		Kind: gateway.ChangeEdited, Text: text, Payload: payload,
	}); err != nil {
		return Result{}, err
	}
	return Result{ID: message.ID, MessageID: message.PlatformID}, nil
}

// Delete removes a message that this instance sent for everyone. Its error is
// NotFound, or Invalid: not sent by this instance, deleted already, too late.
func (s *Service) Delete(ctx context.Context, instanceID string, ref gateway.MessageRef) error {
	session, message, err := s.own(ctx, instanceID, ref, change{
		code: gateway.CodeMessageNotDeletable, done: "deleted for everyone",
		window: s.DeleteWindow, late: gateway.CodeDeleteWindowExpired,
	})
	if err != nil {
		return err
	}
	if err := session.Delete(ctx, message.Key()); err != nil {
		return err
	}
	return s.changed(ctx, session, message, gateway.Change{Kind: gateway.ChangeDeleted})
}

// changed writes what this account did to a message, and tells of it. The
// platform has it: the client's leaving must not keep us from knowing.
func (s *Service) changed(ctx context.Context, session gateway.Session, message gateway.Message, change gateway.Change) error {
	change.PlatformID, change.Chat = message.PlatformID, message.Chat
	change.By, change.FromMe, change.At = session.Self(), true, s.Now().UTC()
	event, err := changeEvent(message.InstanceID, change)
	if err != nil {
		return fmt.Errorf("messaging: tell of a change: %w", err)
	}
	ctx = context.WithoutCancel(ctx)
	if change.Kind == gateway.ChangeReaction {
		err = s.Log.Append(ctx, event)
	} else {
		err = s.Store.UpdateMessages(ctx, message.InstanceID, []string{message.ID},
			func(found []gateway.Message) ([]gateway.Message, []eventlog.Event, error) {
				if len(found) == 0 {
					return nil, nil, nil
				}
				return apply(change, found[0]), []eventlog.Event{event}, nil
			})
	}
	if err != nil {
		return fmt.Errorf("messaging: write a change: %w", err)
	}
	return nil
}

// change is what the platform allows to do to one's own messages.
type change struct {
	code   string // where the message is not one's own, or gone
	done   string // what can't be done, for people
	window time.Duration
	late   string // the code beyond the window
}

// own finds a message that may be changed, and the session to do it with.
func (s *Service) own(ctx context.Context, instanceID string, ref gateway.MessageRef, c change) (gateway.Session, gateway.Message, error) {
	session, message, err := s.reach(ctx, instanceID, ref)
	switch {
	case err != nil:
		return nil, gateway.Message{}, err
	case !message.FromMe:
		return nil, gateway.Message{}, gateway.Errorf(gateway.Invalid, c.code,
			"only messages that this instance sent can be %s", c.done)
	case !message.DeletedAt.IsZero():
		return nil, gateway.Message{}, gateway.Errorf(gateway.Invalid, c.code, "the message was deleted already")
	case s.Now().Sub(message.SentAt) > c.window:
		return nil, gateway.Message{}, gateway.Errorf(gateway.Invalid, c.late,
			"the message was sent more than %s ago; it can no longer be %s", c.window, c.done)
	}
	return session, message, nil
}

// reach finds a message, and the session of its instance.
func (s *Service) reach(ctx context.Context, instanceID string, ref gateway.MessageRef) (gateway.Session, gateway.Message, error) {
	session, err := s.Sessions.Session(ctx, instanceID)
	if err != nil {
		return nil, gateway.Message{}, err
	}
	message, err := s.Find(ctx, instanceID, ref)
	if err != nil {
		return nil, gateway.Message{}, err
	}
	return session, message, nil
}

// React sets this account's reaction to a message; the empty one removes it. Its
// error is NotFound.
func (s *Service) React(ctx context.Context, instanceID string, ref gateway.MessageRef, reaction string) error {
	session, message, err := s.reach(ctx, instanceID, ref)
	if err != nil {
		return err
	}
	if err := session.React(ctx, message.Key(), reaction); err != nil {
		return err
	}
	return s.changed(ctx, session, message, gateway.Change{Kind: gateway.ChangeReaction, Reaction: reaction})
}

// MarkRead tells the sender that a message was read. Of an own message there is
// nobody to tell, which is no error. Its error is NotFound.
func (s *Service) MarkRead(ctx context.Context, instanceID string, ref gateway.MessageRef) error {
	session, message, err := s.reach(ctx, instanceID, ref)
	if err != nil || message.FromMe {
		return err
	}
	return session.MarkRead(ctx, message.Key(), s.Now())
}
