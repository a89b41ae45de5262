// What the queue asks of the service: how a message is kept, made and sent later.

package messaging

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/messaging/queue"
	"github.com/recado-project/recado/internal/share"
	"github.com/recado-project/recado/internal/trace"
)

// maxAhead is how far ahead a message may be scheduled.
const maxAhead = 366 * 24 * time.Hour

// enqueue leaves a message in the queue. It returns when the message is kept. Only the
// recipient's account is not looked up yet; everything else that can be wrong is found now.
func (s *Service) enqueue(ctx context.Context, request Request, compose composition) (_ Result, err error) {
	now := s.config.Now().UTC()
	if request.DueAt.After(now.Add(maxAhead)) {
		return Result{}, gateway.InvalidField("sendAt", "must lie within a year")
	}
	if _, err := s.config.Sessions.Session(ctx, request.InstanceID); gateway.KindOf(err) == gateway.PaymentRequired {
		return Result{}, err
	}
	quote, err := s.quote(ctx, request)
	if err != nil {
		return Result{}, err
	}
	preparing, prepared := s.untilStop(ctx)
	defer prepared()
	draft, err := compose(preparing)
	if err != nil {
		return Result{}, unlessStopped(preparing, err)
	}
	defer func() { err = errors.Join(err, draft.close()) }()
	if err := draft.fits(request.To); err != nil {
		return Result{}, err
	}
	if err := s.findPeopleSoon(ctx, request, &draft.content); err != nil {
		return Result{}, err
	}
	payload, err := s.encode(draft, quote)
	if err != nil {
		return Result{}, err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return Result{}, fmt.Errorf("messaging: choose message id: %w", err)
	}
	message := queue.Message{
		ID: id.String(), InstanceID: request.InstanceID, PlatformID: s.config.Encoder.NewMessageID(),
		To: request.To, Type: draft.content.Type, Text: draft.content.Text, Payload: payload, Menu: draft.content.Menu,
		ClientData: request.ClientData, CreatedAt: now,
	}
	if request.DueAt.After(now) {
		message.DueAt = request.DueAt.UTC()
	}
	if quote != nil {
		message.QuotedID = quote.PlatformID
	}
	if draft.file != nil {
		if err := s.keepQueuedFile(ctx, &message, draft.file); err != nil {
			return Result{}, err
		}
	}
	s.config.Tracer.Remember(ctx, message.ID)
	if err := s.queue.Add(ctx, message, request.Repeat.record(message.ID, message.InstanceID, message.CreatedAt)); err != nil {
		if _, refused := gateway.AsError(err); refused {
			err = errors.Join(err, s.config.QueuedFiles.DeleteFolder(context.WithoutCancel(ctx), message.ID))
		}
		if errors.Is(err, gateway.ErrDatabaseLost) {
			err = afterSending(err) // it may wait in the queue
		}
		return Result{}, err
	}
	return Result{ID: message.ID, MessageID: message.PlatformID, Queued: true}, nil
}

// queuedFile is the key of the file of a message that waits.
func queuedFile(messageID string) string { return messageID + "/file" }

// keepQueuedFile copies the file of a message to where it waits with it.
func (s *Service) keepQueuedFile(ctx context.Context, message *queue.Message, file *attachment) (err error) {
	content, err := file.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, content.Close()) }()
	message.FileSize = file.size
	return s.config.QueuedFiles.Put(ctx, queuedFile(message.ID), content, media.BlobMeta{MimeType: file.mimeType, Size: file.size})
}

// begins reports whether a message would begin a chat, as far as it is known without asking
// the platform, and the addresses that the chat may have.
func (s *Service) begins(ctx context.Context, instanceID string, to gateway.Recipient) (candidates []gateway.Party, begins bool, err error) {
	if candidates, err = s.config.Directory.Candidates(ctx, to); err != nil {
		return nil, false, err
	}
	for _, chat := range candidates {
		if isNew, err := s.isNewChat(ctx, instanceID, chat); err != nil || !isNew {
			return candidates, false, err
		}
	}
	return candidates, true, nil
}

// countsAsNew reports whether a message that is sent at once begins a chat, if the instance
// may begin only so many.
func (s *Service) countsAsNew(ctx context.Context, request Request) (bool, error) {
	instance, err := s.config.Store.GetInstance(ctx, request.InstanceID)
	if err != nil || instance.Sending.Pace.NewChats == (gateway.Budget{}) {
		return false, err
	}
	_, begins, err := s.begins(ctx, request.InstanceID, request.To)
	return begins, err
}

// sentAtOnce notes a message that did not go through the queue, if the pace of its instance
// counts them. begun says that it has begun a chat.
func (s *Service) sentAtOnce(ctx context.Context, message gateway.Message, begun bool) {
	s.queue.Sent(message.InstanceID)
	if !begun {
		return
	}
	if err := s.queue.Begun(context.WithoutCancel(ctx), message.InstanceID, message.Chat); err != nil {
		s.config.Logger.WarnContext(ctx, "new chat not counted",
			slog.String("instance_id", message.InstanceID), slog.String("message_id", message.ID), slog.Any("error", err))
	}
}

// runQueue sends what waits until ctx ends. Meanwhile it removes files whose message is
// gone: the process died before one was kept, or after the other was removed.
func (s *Service) runQueue(ctx context.Context) {
	var removing sync.WaitGroup
	defer removing.Wait()
	removing.Go(func() { // nothing waits for a place of files that is slow
		if err := s.removeQueuedFiles(ctx); err != nil && ctx.Err() == nil {
			s.config.Logger.WarnContext(ctx, "files without a message in the queue not removed; the next start tries again", slog.Any("error", err))
		}
	})
	sending, done := s.untilStop(ctx)
	defer done()
	if err := s.queue.Run(sending); err != nil {
		s.config.Logger.ErrorContext(ctx, "messages in the queue are not sent", slog.Any("error", err))
	}
}

// queuedFileGrace is the age from which a file without a message is nobody's.
const queuedFileGrace = time.Hour

func (s *Service) removeQueuedFiles(ctx context.Context) error {
	folders, err := s.config.QueuedFiles.Folders(ctx)
	if err != nil || len(folders) == 0 {
		return err
	}
	now, ok := s.config.RemovalTime(ctx)
	if !ok {
		return nil
	}
	ids, err := s.config.Store.AllQueued(ctx)
	if err != nil {
		return err
	}
	waiting := make(map[string]bool, len(ids))
	for _, id := range ids {
		waiting[id] = true
	}
	for _, id := range folders {
		if waiting[id] || id == media.UploadFolder {
			continue
		}
		if young, err := s.isYoung(ctx, id, now); err != nil {
			return err
		} else if young {
			continue // it may be that its message is about to be kept, by another process
		}
		if err := s.config.QueuedFiles.DeleteFolder(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// isYoung reports whether the file of a message, or the message itself, may have been made
// in the time of grace. The file of another process may still be on its way to its name.
func (s *Service) isYoung(ctx context.Context, messageID string, now time.Time) (bool, error) {
	if id, err := uuid.Parse(messageID); err == nil {
		if made := time.Unix(id.Time().UnixTime()); now.Sub(made) < queuedFileGrace {
			return true, nil
		}
	}
	kept, err := s.config.QueuedFiles.Stat(ctx, queuedFile(messageID))
	if gateway.KindOf(err) == gateway.NotFound {
		return false, nil
	}
	return err == nil && now.Sub(kept.Created) < queuedFileGrace, err
}

// queued is the service as the queue sees it.
type queued struct{ s *Service }

var _ queue.Sender = queued{}

// Begins reports whether a message begins a chat (queue.Sender).
func (q queued) Begins(ctx context.Context, message queue.Message) ([]gateway.Party, bool, error) {
	return q.s.begins(ctx, message.InstanceID, message.To)
}

// Address finds the chat of a message (queue.Sender).
func (q queued) Address(ctx context.Context, message queue.Message) (gateway.Party, error) {
	session, err := q.s.config.Sessions.Session(ctx, message.InstanceID)
	if err != nil {
		return gateway.Party{}, err
	}
	return q.s.recipient(ctx, session, Request{InstanceID: message.InstanceID, To: message.To})
}

// ShowTyping shows the chat that a text is being written (queue.Sender).
func (q queued) ShowTyping(ctx context.Context, message queue.Message, chat gateway.Party) {
	if chat.JID.IsStatus() {
		return // nobody sees that a post is being written
	}
	session, err := q.s.config.Sessions.Session(ctx, message.InstanceID)
	if err == nil {
		err = session.People().SetPresence(ctx, chat.Address(), gateway.PresenceComposing)
	}
	if err != nil {
		q.s.config.Logger.DebugContext(ctx, "typing not shown",
			slog.String("instance_id", message.InstanceID), slog.String("message_id", message.ID), slog.Any("error", err))
	}
}

// Send sends a message (queue.Sender).
func (q queued) Send(ctx context.Context, message queue.Message, chat gateway.Party, leaves func()) (err error) {
	ctx, span := q.s.config.Tracer.Start(q.s.config.Tracer.Recall(ctx, message.ID), "send from the queue",
		trace.Text("recado.instance_id", message.InstanceID), trace.Text("recado.message_id", message.ID))
	defer func() { span.End(err) }()
	session, err := q.s.config.Sessions.Session(ctx, message.InstanceID)
	if err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx) // once begun, its outcome is to be known
	known, found, err := q.accepted(ctx, message)
	switch {
	case err != nil:
		return err
	case !found:
		return q.sendFirst(ctx, session, message, chat, leaves)
	case known.Status != gateway.MessagePending:
		return nil
	default:
		// An earlier attempt was cut off. Under its identifier the platform recognises it.
		leaves()
		_, _, err := q.s.hand(ctx, session, known, func() error { return nil })
		return err
	}
}

// accepted returns the message as an earlier attempt has kept it.
func (q queued) accepted(ctx context.Context, message queue.Message) (gateway.Message, bool, error) {
	known, err := q.s.Find(ctx, message.InstanceID, gateway.MessageRef{ID: message.ID})
	if gateway.KindOf(err) == gateway.NotFound {
		return known, false, nil
	}
	return known, err == nil, err
}

// sendFirst sends a message for the first time.
func (q queued) sendFirst(
	ctx context.Context, session gateway.Session, message queue.Message, chat gateway.Party, leaves func(),
) error {
	if message.FileSize > 0 {
		var err error
		if message.Payload, err = q.uploaded(ctx, session, message, chat.Address()); err != nil {
			return err
		}
	}
	leaves()
	sent := q.message(message, chat, session.Account().Self())
	_, _, err := q.s.hand(ctx, session, sent, q.s.config.Store.AcceptMessage(ctx, sent, nil))
	return err
}

// uploaded leaves the file of a message with the platform, and returns the payload that
// points to it.
func (q queued) uploaded(ctx context.Context, session gateway.Session, message queue.Message, chat gateway.JID) (_ []byte, err error) {
	file, err := q.s.config.QueuedFiles.Get(ctx, queuedFile(message.ID))
	if gateway.KindOf(err) == gateway.NotFound {
		// It was there when the message was accepted, so it is the place that has changed.
		missing := gateway.Errorf(gateway.Unavailable, gateway.CodeUnavailable, "the file of the message is not at the place of files (is it mounted?)")
		missing.Cause = err
		return nil, missing
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	hash, err := q.hashToShare(ctx, message, file)
	if err != nil {
		return nil, err
	}
	upload, err := q.s.leave(ctx, session, chat, message.Type, gateway.File{Content: file, SHA256: hash}, message.FileSize)
	if err != nil {
		return nil, err
	}
	payload, err := q.s.config.Encoder.EncodeUploaded(message.Payload, upload)
	if err != nil {
		return nil, fmt.Errorf("messaging: encode message with its file: %w", err)
	}
	return payload, nil
}

// hashToShare is the hash under which the file of a message may share an upload; nil if it may not. It is computed: in
// the payload of a message that was forwarded, it is what a stranger has said.
func (q queued) hashToShare(ctx context.Context, message queue.Message, file io.Reader) ([]byte, error) {
	about, err := q.s.config.Encoder.Describe(ctx, message.Payload)
	if err != nil {
		return nil, fmt.Errorf("messaging: describe message with a file: %w", err)
	}
	if about.ViewOnce {
		return nil, nil
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, share.Yield(file)); err != nil {
		return nil, fmt.Errorf("messaging: read the file of a message: %w", err)
	}
	return hash.Sum(nil), nil
}

// message is a message from the queue as it is kept once it leaves it.
func (q queued) message(message queue.Message, chat, self gateway.Party) gateway.Message {
	now := q.s.config.Now().UTC()
	return gateway.Message{
		ID: message.ID, InstanceID: message.InstanceID, PlatformID: message.PlatformID,
		Chat: chat, Sender: self, FromMe: true, Source: gateway.SourceAPI,
		Type: message.Type, Text: message.Text, QuotedID: message.QuotedID, Payload: message.Payload, Menu: message.Menu, ClientData: message.ClientData,
		Status: gateway.MessagePending, StatusAt: now, SentAt: now, CreatedAt: now,
	}
}

// Fail writes that a message will not be sent (queue.Sender).
func (q queued) Fail(ctx context.Context, message queue.Message, why *gateway.Error) error {
	known, found, err := q.accepted(ctx, message)
	if err != nil {
		return err
	}
	if found {
		return q.s.failed(ctx, known, why)
	}
	candidates, err := q.s.config.Directory.Candidates(ctx, message.To)
	if err != nil {
		return err
	}
	instance, err := q.s.config.Store.GetInstance(ctx, message.InstanceID)
	if err != nil {
		return err
	}
	known = q.message(message, candidates[0], gateway.Party{JID: instance.Profile.JID, LID: instance.Profile.LID})
	known.Status = gateway.MessageFailed
	event, err := failureEvent(known, why)
	if err != nil {
		return err
	}
	_, err = q.s.config.Store.AddMessage(ctx, known, event)
	return err
}

// Remove removes messages with their files (queue.Sender).
func (q queued) Remove(ctx context.Context, instanceID string, ids ...string) error {
	if len(ids) == 0 {
		return nil
	}
	err := q.s.config.Store.RemoveQueued(ctx, instanceID, ids...)
	if errors.Is(err, gateway.ErrTenureOver) {
		// If the instance is deleted, so are its messages; if another node has it, so it has these.
		if _, gone := q.s.config.Store.GetInstance(ctx, instanceID); gateway.KindOf(gone) == gateway.NotFound {
			err = nil
		}
	}
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := q.s.config.QueuedFiles.DeleteFolder(ctx, id); err != nil {
			// The next start removes it: the message is gone.
			q.s.config.Logger.WarnContext(ctx, "file of a message that left the queue not removed",
				slog.String("instance_id", instanceID), slog.String("message_id", id), slog.Any("error", err))
		}
	}
	return nil
}
