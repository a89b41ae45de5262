package messaging

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// Edit replaces the text of a message that this instance sent. Its error is
// NotFound, or Invalid: not a text, not sent by this instance, deleted, too
// late.
func (s *Service) Edit(ctx context.Context, instanceID string, ref gateway.MessageRef, text string) (Result, error) {
	session, message, done, err := s.own(ctx, instanceID, ref, terms{
		code: gateway.CodeMessageNotEditable, verb: "edited",
		window: s.limits().EditWindow, late: gateway.CodeEditWindowExpired,
	})
	if err != nil {
		return Result{}, err
	}
	defer done()
	if message.Chat.JID.IsStatus() {
		return Result{}, gateway.Errorf(gateway.Invalid, gateway.CodeMessageNotEditable, "a status post can't be edited, only deleted")
	}
	if message.Type != gateway.TypeText {
		return Result{}, gateway.Errorf(gateway.Invalid, gateway.CodeMessageNotEditable,
			"only text messages can be edited; this one is of type %s", message.Type)
	}
	details, err := s.config.Encoder.Describe(ctx, message.Payload)
	if err != nil {
		return Result{}, fmt.Errorf("messaging: edit message: %w", err)
	}
	written := spellings{}
	for _, who := range details.Mentions { // they stay mentioned, and the client may write them as it did before
		written.add(who.Key(), who.JID.User(), who.LID.User())
	}
	text = written.readdress(text)
	payload, err := s.config.Encoder.EncodeEdited(message.Payload, text)
	if err != nil {
		return Result{}, fmt.Errorf("messaging: edit message: %w", err)
	}
	edit := gateway.Change{Kind: gateway.ChangeEdited, Text: text, Payload: payload}
	if err := s.change(ctx, session, message, edit); err != nil {
		return Result{}, err
	}
	return Result{ID: message.ID, MessageID: message.PlatformID}, nil
}

// Delete removes a message that this instance sent for everyone. Its error is
// NotFound, or Invalid: not sent by this instance, deleted already, too late.
func (s *Service) Delete(ctx context.Context, instanceID string, ref gateway.MessageRef) error {
	session, message, done, err := s.own(ctx, instanceID, ref, terms{
		code: gateway.CodeMessageNotDeletable, verb: "deleted for everyone",
		window: s.limits().DeleteWindow, late: gateway.CodeDeleteWindowExpired,
	})
	if err != nil {
		return err
	}
	defer done()
	return s.change(ctx, session, message, gateway.Change{Kind: gateway.ChangeDeleted})
}

// CancelEvent cancels a calendar event that this instance sent, for everybody who has it. It does
// nothing where that was done already. Its error is NotFound, or Invalid: no calendar event, not
// sent by this instance, deleted.
func (s *Service) CancelEvent(ctx context.Context, instanceID string, ref gateway.MessageRef) error {
	session, message, done, err := s.own(ctx, instanceID, ref, terms{
		code: gateway.CodeMessageNotEditable, verb: "cancelled", window: math.MaxInt64, late: gateway.CodeMessageNotEditable,
	})
	if err != nil {
		return err
	}
	defer done()
	if message.Type != gateway.TypeEvent {
		return gateway.Errorf(gateway.Invalid, gateway.CodeMessageIsNoEvent, "the message is no calendar event; its type is %s", message.Type)
	}
	payload, _, err := s.config.Encoder.EncodeCancelled(message.Payload)
	if err != nil {
		return fmt.Errorf("messaging: cancel a calendar event: %w", err)
	}
	if bytes.Equal(payload, message.Payload) {
		return nil
	}
	return s.change(ctx, session, message, gateway.Change{Kind: gateway.ChangeCancelled, Payload: payload})
}

// change sends a change to the platform, applies it to its message and appends its event.
// It goes on when the client leaves, because the platform may have the change by then.
func (s *Service) change(ctx context.Context, session gateway.Session, message gateway.Message, change gateway.Change) error {
	payload, err := session.Messages().EncodeChange(message.Key(), change)
	if err != nil {
		return fmt.Errorf("messaging: encode a change: %w", err)
	}
	// Kept before it is sent: if the process dies in between, or the acknowledgement is
	// lost, a receipt for the change confirms it.
	sent := gateway.SentChange{
		PlatformID: s.config.Encoder.NewMessageID(),
		InstanceID: message.InstanceID,
		MessageID:  message.ID,
		Kind:       change.Kind,
		By:         session.Account().Self(),
		Text:       textOf(change),
		Payload:    payload,
		At:         s.config.Now().UTC(),
	}
	done, err := s.turn(ctx, message.InstanceID)
	if err != nil {
		return err
	}
	defer done()
	if err := s.config.Store.AcceptChange(ctx, sent); err != nil {
		return notSent(err)
	}
	ctx = context.WithoutCancel(ctx)
	s.underway.Add(1)
	defer s.underway.Done()
	began := s.config.Now()
	sending, sentOrLate := s.untilLate(ctx)
	defer sentOrLate()
	_, err = session.Messages().Send(sending, gateway.Outgoing{
		PlatformID: sent.PlatformID,
		Chat:       message.Chat.Address(),
		Payload:    payload,
	})
	err = unlessLate(sending, err)
	s.config.Watcher.Sent(wordFor(change.Kind), err, s.config.Now().Sub(began))
	if err != nil {
		if isFinal(err) {
			if dropErr := s.config.Store.DropChange(ctx, sent.InstanceID, sent.PlatformID); dropErr != nil {
				// The client gets the refusal; the change that stays has no effect.
				s.config.Logger.ErrorContext(ctx, "refused change not removed",
					slog.String("instance_id", sent.InstanceID), slog.String("platform_id", sent.PlatformID), slog.Any("error", dropErr))
			}
		}
		return afterSending(err)
	}
	if _, err := s.config.Store.ConfirmChange(ctx, sent.InstanceID, sent.PlatformID, s.reporter.confirm); err != nil {
		return afterSending(fmt.Errorf("messaging: write a change: %w", err))
	}
	return nil
}

// textOf is what is kept of a change until it is confirmed.
func textOf(change gateway.Change) string {
	if change.Kind == gateway.ChangePin {
		return strconv.FormatInt(int64(change.For/time.Second), 10)
	}
	return change.Text + change.Reaction // one of them is empty
}

// wordFor is the kind of a change as the Watcher is told.
func wordFor(kind gateway.ChangeKind) string {
	switch kind {
	case gateway.ChangeEdited:
		return "edit"
	case gateway.ChangeDeleted:
		return "deletion"
	case gateway.ChangeReaction:
		return "reaction"
	case gateway.ChangePin:
		return "pin"
	case gateway.ChangeCancelled:
		return "cancellation"
	}
	return "change"
}

// terms say when the platform lets people change their own messages.
type terms struct {
	code   string // of the error for a message of somebody else, or a deleted one
	verb   string // what is done to the message, for people
	window time.Duration
	late   string // the code of the error after the window
}

// own finds a message of this instance that may be changed, and its session. No other
// request changes the message until done is called.
func (s *Service) own(ctx context.Context, instanceID string, ref gateway.MessageRef, t terms) (
	session gateway.Session, message gateway.Message, done func(), err error,
) {
	session, message, err = s.locate(ctx, instanceID, ref)
	if err != nil {
		return nil, gateway.Message{}, nil, err
	}
	if done, err = s.messageLocks.Lock(ctx, message.ID); err != nil {
		return nil, gateway.Message{}, nil, err
	}
	// Another request may have changed it while this one waited.
	if message, err = s.Find(ctx, instanceID, gateway.MessageRef{ID: message.ID}); err == nil {
		err = s.mayChange(message, t)
	}
	if err != nil {
		done()
		return nil, gateway.Message{}, nil, err
	}
	return session, message, done, nil
}

// mayChange refuses what the platform would not accept.
func (s *Service) mayChange(message gateway.Message, t terms) error {
	switch {
	case !message.FromMe:
		return gateway.Errorf(gateway.Invalid, t.code, "only messages that this instance sent can be %s", t.verb)
	case !message.DeletedAt.IsZero():
		return gateway.Errorf(gateway.Invalid, t.code, "the message was deleted already")
	case s.config.Now().Sub(message.SentAt) > t.window:
		return gateway.Errorf(gateway.Invalid, t.late,
			"the message was sent more than %s ago; it can no longer be %s", t.window, t.verb)
	}
	return nil
}

// locate finds a message, and the session of its instance.
func (s *Service) locate(ctx context.Context, instanceID string, ref gateway.MessageRef) (gateway.Session, gateway.Message, error) {
	session, err := s.config.Sessions.Session(ctx, instanceID)
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
// error is NotFound, also for a message that was deleted.
func (s *Service) React(ctx context.Context, instanceID string, ref gateway.MessageRef, reaction string) error {
	session, message, err := s.locate(ctx, instanceID, ref)
	if err != nil {
		return err
	}
	if !message.DeletedAt.IsZero() {
		return gateway.Errorf(gateway.NotFound, gateway.CodeMessageNotFound, "the message was deleted")
	}
	if message.Chat.JID.IsStatus() {
		return gateway.InvalidField("messageId", "must not be a status post: reply to it, and quote it")
	}
	if message.Chat.JID.IsChannel() {
		return gateway.InvalidField("messageId", "must not be a post of a channel: POST …/channels/{channelId}/messages/{messageId}/reaction reacts to it")
	}
	return s.change(ctx, session, message, gateway.Change{Kind: gateway.ChangeReaction, Reaction: reaction})
}

// Pin pins a message for a time, for everybody in its chat; zero unpins it. Its error is
// NotFound, also for a message that was deleted, or Forbidden where only administrators of the
// group may pin.
func (s *Service) Pin(ctx context.Context, instanceID string, ref gateway.MessageRef, lasts time.Duration) error {
	session, message, err := s.locate(ctx, instanceID, ref)
	if err != nil {
		return err
	}
	if !message.DeletedAt.IsZero() {
		return gateway.Errorf(gateway.NotFound, gateway.CodeMessageNotFound, "the message was deleted")
	}
	if message.Chat.JID.IsStatus() {
		return gateway.InvalidField("messageId", "must not be a status post, which can't be pinned")
	}
	if message.Chat.JID.IsChannel() {
		return gateway.Errorf(gateway.Conflict, gateway.CodeChannelRefused, "posts of channels can't be pinned")
	}
	return s.change(ctx, session, message, gateway.Change{Kind: gateway.ChangePin, For: lasts})
}
