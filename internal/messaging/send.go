package messaging

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/trace"
)

// Result names a message that was sent (contract, "Send result").
type Result struct {
	ID        string // the internal UUID
	MessageID string // the platform's identifier
	// Replayed says that an earlier request with the same Idempotency-Key was
	// accepted: this is its message, and not a second one.
	Replayed bool
	// Queued says that the message was left in the queue.
	Queued bool
	// Message is the message as it was kept when the platform had it. It is nil if it was left in the queue, if
	// an earlier request sent it, or where something else than one message was sent.
	Message *gateway.Message
}

// Request is what every kind of message to be sent has.
type Request struct {
	InstanceID string
	To         gateway.Recipient
	Quote      gateway.MessageRef  // the message to answer; its zero value for none
	Mentions   Mentions            // of a text or a caption
	Audience   []gateway.Recipient // of a status post: those alone who are shown it; none for all who may see it
	Preview    bool                // of a text: show the page behind its first link
	ClientData string              // what the client calls the message; it comes back in its events. Empty for nothing
	Repeat     *Repeat             // nil if the client gave no Idempotency-Key
	// Later leaves the message in the queue, which sends it when it is due. The zero DueAt
	// is at once.
	Later bool
	DueAt time.Time
}

// draft is what a message is made of, before it is known who gets it.
type draft struct {
	content gateway.Content
	payload []byte      // sent instead of the encoded content; nil: that is
	file    *attachment // that the content or the payload describes; nil: none. The receiver of the draft closes it
}

// composition makes the draft of a message.
type composition func(ctx context.Context) (draft, error)

// Send sends content that needs no file, and returns when the platform has acknowledged it. The
// errors of every kind of message are Invalid (the number has no account), NotFound (the quoted
// message), Conflict, PaymentRequired, RateLimited, PlatformFailed, PlatformTimeout.
func (s *Service) Send(ctx context.Context, request Request, content gateway.Content) (Result, error) {
	return s.send(ctx, request, func(ctx context.Context) (draft, error) {
		if request.Preview && s.config.Previews != nil {
			content.Preview = s.config.Previews.Find(ctx, content.Text)
		}
		return draft{content: content}, nil
	})
}

func (s *Service) send(ctx context.Context, request Request, compose composition) (Result, error) {
	if request.Repeat == nil {
		return s.accept(ctx, request, compose)
	}
	result, err := s.sendUnlessRepeated(ctx, request, compose)
	// Whatever was done: under its key, a repeat does no harm.
	switch {
	case errors.Is(err, gateway.ErrTenureOver):
		return result, gateway.ErrTenureOver
	case errors.Is(err, gateway.ErrDatabaseLost), errors.Is(err, gateway.ErrDatabaseAway):
		return result, gateway.Shortage(fmt.Errorf("%w: %s", gateway.ErrDatabaseAway, err)) //nolint:errorlint // what it means for the client is another thing
	}
	return result, err
}

// accept sends a message at once, or leaves it in the queue.
func (s *Service) accept(ctx context.Context, request Request, compose composition) (Result, error) {
	if request.Later {
		return s.enqueue(ctx, request, compose)
	}
	return s.sendOnce(ctx, request, compose)
}

// sendOnce accepts a message and hands it to the platform.
func (s *Service) sendOnce(ctx context.Context, request Request, compose composition) (Result, error) {
	session, err := s.config.Sessions.Session(ctx, request.InstanceID)
	if err != nil {
		return Result{}, err
	}
	begins, err := s.countsAsNew(ctx, request)
	if err != nil {
		return Result{}, err
	}
	preparing, prepared := s.untilStop(ctx)
	defer prepared()
	message, err := s.newMessage(preparing, session, request, compose)
	if err != nil {
		return Result{}, unlessStopped(preparing, err)
	}
	done, err := s.turn(ctx, request.InstanceID)
	if err != nil {
		return Result{}, err
	}
	defer done()
	// Kept before it is sent, under the identifier that it will carry: so a crash in
	// between never sends it twice under two identifiers. The session waits for it when it
	// has encrypted the message.
	kept := s.config.Store.AcceptMessage(ctx, message, request.Repeat.record(message.ID, message.InstanceID, message.CreatedAt))
	result, err := s.transmit(ctx, session, message, kept)
	if err == nil {
		s.sentAtOnce(ctx, message, begins)
	}
	return result, err
}

// newMessage makes the message as it will be kept and sent.
func (s *Service) newMessage(
	ctx context.Context, session gateway.Session, request Request, compose composition,
) (_ gateway.Message, err error) {
	found, step := trace.Step(ctx, "find recipient")
	chat, err := s.recipient(found, session, request)
	step.End(err)
	if err != nil {
		return gateway.Message{}, err
	}
	quote, err := s.quote(ctx, request)
	if err != nil {
		return gateway.Message{}, err
	}
	draft, err := compose(ctx)
	if err != nil {
		return gateway.Message{}, err
	}
	defer func() { err = errors.Join(err, draft.close()) }()
	if err := draft.fits(request.To); err != nil {
		return gateway.Message{}, err
	}
	if err := s.findPeople(ctx, session, request, &draft.content); err != nil {
		return gateway.Message{}, err
	}
	if err := s.upload(ctx, session, chat.Address(), &draft); err != nil {
		return gateway.Message{}, err
	}
	_, step = trace.Step(ctx, "encode")
	payload, err := s.encode(draft, quote)
	step.End(err)
	if err != nil {
		return gateway.Message{}, err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return gateway.Message{}, fmt.Errorf("messaging: choose message id: %w", err)
	}
	now := s.config.Now().UTC()
	message := gateway.Message{
		ID:         id.String(),
		InstanceID: request.InstanceID,
		PlatformID: s.config.Encoder.NewMessageID(),
		Chat:       chat,
		Sender:     session.Account().Self(),
		FromMe:     true,
		Source:     gateway.SourceAPI,
		Type:       draft.content.Type,
		Text:       draft.content.Text,
		Status:     gateway.MessagePending,
		StatusAt:   now,
		SentAt:     now,
		Payload:    payload,
		Menu:       draft.content.Menu,
		ClientData: request.ClientData,
		CreatedAt:  now,
	}
	if quote != nil {
		message.QuotedID = quote.PlatformID
	}
	return message, nil
}

// close removes the file.
func (d draft) close() error {
	if d.file == nil {
		return nil
	}
	return d.file.close()
}

// encode writes the payload of a draft.
func (s *Service) encode(draft draft, quote *gateway.Quote) ([]byte, error) {
	if draft.payload != nil {
		return draft.payload, nil
	}
	draft.content.Quote = quote
	payload, err := s.config.Encoder.Encode(draft.content)
	if err != nil {
		return nil, fmt.Errorf("messaging: encode message: %w", err)
	}
	return payload, nil
}

// quote finds the message that is answered; nil if there is none.
func (s *Service) quote(ctx context.Context, request Request) (*gateway.Quote, error) {
	if request.Quote.ID == "" {
		return nil, nil //nolint:nilnil // no quote is an ordinary case
	}
	quoted, err := s.Find(ctx, request.InstanceID, request.Quote)
	if err != nil {
		return nil, err
	}
	if !quoted.DeletedAt.IsZero() {
		return nil, gateway.Errorf(gateway.NotFound, gateway.CodeMessageNotFound, "the message was deleted; there is nothing to answer")
	}
	return &gateway.Quote{
		PlatformID: quoted.PlatformID,
		Chat:       quoted.Chat.JID,
		Sender:     quoted.Sender.Address(),
		Payload:    quoted.Payload,
	}, nil
}

// transmit sends an accepted message and writes the outcome. It goes on when the client
// leaves, because the message is accepted. kept waits until the message is kept; nil if it
// is.
func (s *Service) transmit(ctx context.Context, session gateway.Session, message gateway.Message, kept func() error) (Result, error) {
	if kept == nil {
		kept = func() error { return nil }
	}
	ctx = context.WithoutCancel(ctx)
	s.underway.Add(1)
	defer s.underway.Done()
	taken, sent, err := s.hand(ctx, session, message, kept)
	if err == nil {
		return Result{ID: message.ID, MessageID: message.PlatformID, Message: &sent}, nil
	}
	if kept() != nil {
		return Result{}, notSent(err)
	}
	err = afterSending(err)
	if taken {
		return Result{}, err
	}
	if markErr := s.failed(ctx, message, err); markErr != nil {
		// The client gets the failure of the send; this one is only logged.
		s.config.Logger.ErrorContext(ctx, "message not marked as failed",
			slog.String("instance_id", message.InstanceID), slog.String("message_id", message.ID), slog.Any("error", markErr))
	}
	return Result{}, err
}

// afterSending is the error of something that the platform has, or may have. However it came
// about, a client must not take it for one after which a repeat does no harm, as that of a
// database which is away.
func afterSending(err error) error {
	why := ""
	switch {
	case errors.Is(err, gateway.ErrTenureOver):
		why = "the instance has moved to another node of the gateway meanwhile"
	case errors.Is(err, gateway.ErrDatabaseAway), errors.Is(err, gateway.ErrDatabaseLost):
		why = "the database went away meanwhile"
	}
	if why != "" {
		return &gateway.Error{
			Kind: gateway.PlatformTimeout, Code: gateway.CodePlatformTimeout, Cause: err, Message: why + ": what was asked for may have been done",
		}
	}
	if _, ok := gateway.AsError(err); ok {
		return err
	}
	return &gateway.Error{Kind: gateway.Internal, Code: gateway.CodeInternal, Message: internalMessage, Cause: err}
}

// notSent is the error of something that could not be kept before it was to be sent: whether it was kept or
// not, the platform does not have it, and nobody sends it later.
func notSent(err error) error {
	if errors.Is(err, gateway.ErrDatabaseLost) {
		return fmt.Errorf("%w: %w", gateway.ErrDatabaseAway, err)
	}
	return err
}

// internalMessage is what clients read of an internal error.
const internalMessage = "an internal error occurred"

// hand hands a message to the platform, and writes that the platform has it. taken says
// whether it has; now is the message as it was kept then.
func (s *Service) hand(
	ctx context.Context, session gateway.Session, message gateway.Message, kept func() error,
) (taken bool, now gateway.Message, err error) {
	began := s.config.Now()
	defer func() { s.config.Watcher.Sent(string(message.Type), err, s.config.Now().Sub(began)) }()
	s.config.Tracer.Remember(ctx, traceKey(message.InstanceID, message.PlatformID))
	ctx, span := trace.Step(ctx, "send")
	span.Set(
		trace.Text("recado.instance_id", message.InstanceID), trace.Text("recado.message_id", message.ID), trace.Text("recado.kind", string(message.Type)),
	)
	defer func() { span.End(err) }()
	payload, err := disappearing(ctx, s.config.Store, s.config.Encoder, message)
	if err != nil {
		return false, message, err
	}
	sending, sentOrLate := s.untilLate(ctx)
	defer sentOrLate()
	sent, err := session.Messages().Send(sending, gateway.Outgoing{
		PlatformID: message.PlatformID,
		Chat:       message.Chat.Address(),
		Payload:    payload,
		Stored:     func(context.Context) error { return kept() },
	})
	if keptErr := kept(); keptErr != nil {
		return false, message, keptErr // nothing was sent
	}
	if err != nil {
		return false, message, unlessLate(sending, err)
	}
	now, err = s.acknowledged(ctx, message, sent)
	return true, now, err
}

// acknowledged writes that the platform has the message, and appends its events. It returns the message as it
// is then, with its details.
func (s *Service) acknowledged(ctx context.Context, message gateway.Message, sent gateway.Sent) (now gateway.Message, err error) {
	ctx, step := trace.Step(ctx, "write acknowledgement")
	defer func() { step.End(err) }()
	now = message // if it was removed meanwhile
	err = s.reporter.describing(ctx, func(d *descriptions) error {
		return s.update(ctx, message, func(m *gateway.Message) ([]eventlog.Event, error) {
			m.SentAt = sent.At
			if m.Chat.JID == "" {
				m.Chat.JID = sent.Chat.JID
			}
			if m.Chat.LID == "" {
				m.Chat.LID = sent.Chat.LID
			}
			events, err := s.reporter.advance(m, gateway.MessageSent, gateway.Party{}, sent.At, d)
			now = *m
			now.Details = d.known[m.ID]
			return events, err
		})
	}, message)
	if err != nil {
		return now, fmt.Errorf("messaging: mark message as sent: %w", err)
	}
	return now, nil
}

// failed writes that the message was not sent, and appends the event, which says why. Only
// a pending message fails: an acknowledgement or a receipt is better evidence.
func (s *Service) failed(ctx context.Context, message gateway.Message, why error) error {
	err := s.update(ctx, message, func(m *gateway.Message) ([]eventlog.Event, error) {
		if m.Status != gateway.MessagePending {
			return nil, nil
		}
		m.Status, m.StatusAt = gateway.MessageFailed, s.config.Now().UTC()
		event, err := failureEvent(*m, why)
		return []eventlog.Event{event}, err
	})
	if err != nil {
		return fmt.Errorf("messaging: mark message as failed: %w", err)
	}
	return nil
}

// update changes one message, if it is still there.
func (s *Service) update(ctx context.Context, message gateway.Message, change func(*gateway.Message) ([]eventlog.Event, error)) error {
	return s.config.Store.UpdateMessages(ctx, message.InstanceID, []string{message.PlatformID},
		func(found []gateway.Message) ([]gateway.Message, []eventlog.Event, error) {
			n := slices.IndexFunc(found, func(m gateway.Message) bool { return m.ID == message.ID })
			if n < 0 {
				return nil, nil, nil
			}
			events, err := change(&found[n])
			return found[n : n+1], events, err
		})
}

// asGateway returns the Error that a client gets for err.
func asGateway(err error) *gateway.Error {
	if e, ok := gateway.AsError(err); ok {
		return e
	}
	return gateway.Errorf(gateway.Internal, gateway.CodeInternal, internalMessage)
}
