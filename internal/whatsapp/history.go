// The history that a phone hands over.

package whatsapp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/share"
	"github.com/recado-project/recado/internal/whatsapp/history"
	"github.com/recado-project/recado/internal/whatsapp/transport"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

const (
	// maxHistory bounds how many messages of one history are passed on.
	maxHistory = 10_000
	// historyTries bounds how often a history is fetched that could not be read, and
	// historyPause is the time between two tries.
	historyTries = 3
	historyPause = 5 * time.Second
)

// historyAnnounced has a history read in the background: the phone has uploaded one, or
// sent it along. whatsmeow would load all of it into memory.
//
// The announcement itself is acknowledged at once, by whatsmeow's own peer_msg receipt;
// the phone is told that the history was received when it was kept. A crash in between
// loses messages from before the link, and no new ones.
func (s *session) historyAnnounced(info *types.MessageInfo, notification *waE2E.HistorySyncNotification) {
	client, id := s.line.Client(), info.ID
	if !s.histories.Add(func() { s.takeHistory(client, id, notification) }) && s.ctx.Err() == nil {
		s.logger.WarnContext(s.ctx, "history not read: too many of them wait")
	}
}

// takeHistory reads one history, the only one in the process at that time, and sends the
// phone a receipt.
func (s *session) takeHistory(client *whatsmeow.Client, id types.MessageID, notification *waE2E.HistorySyncNotification) {
	var err error
	select {
	case s.connector.histories <- struct{}{}:
		defer func() { <-s.connector.histories }()
	case <-s.ctx.Done():
		return
	}
	take := func(from history.Packed) error { return s.handOver(client, from) }
	if notification.GetSyncType() == waE2E.HistorySyncType_ON_DEMAND {
		asked := s.older.Claim(notification.GetPeerDataRequestSessionID())
		if asked == nil {
			s.logger.WarnContext(s.ctx, "a history that nobody has asked for is left out")
			return
		}
		take = func(from history.Packed) error { return s.takeOlder(client, from, asked) }
		defer func() { s.older.Finish(asked, err == nil) }()
	}
	for range historyTries {
		if err = s.readHistory(client, notification, take); err == nil || !worthAnother(err) {
			break
		}
		timer := time.NewTimer(historyPause)
		select {
		case <-timer.C:
		case <-s.ctx.Done():
			timer.Stop()
			return
		}
	}
	if err != nil && s.ctx.Err() == nil {
		s.logger.WarnContext(s.ctx, "history not read", slog.String("kind", notification.GetSyncType().String()),
			slog.Uint64("bytes", notification.GetFileLength()), slog.Any("error", err))
	}
	if err != nil && !errors.Is(err, history.ErrTooBig) {
		return
	}
	// Without the receipt the phone believes that the history is still being read, which
	// does no harm. It may have to wait for a connection, and other histories do not.
	s.line.Tasks.Add(func() {
		if err := client.SendProtocolMessageReceipt(s.ctx, id, types.ReceiptTypeHistorySync); err != nil {
			s.logger.DebugContext(s.ctx, "history not acknowledged", slog.Any("error", err))
		}
	})
}

// worthAnother reports whether another try may succeed.
func worthAnother(err error) bool {
	if errors.Is(err, transport.ErrSilent) {
		return true
	}
	return !errors.Is(err, history.ErrTooBig) && !errors.Is(err, history.ErrMalformed) && !errors.Is(err, errNotStored) &&
		!errors.Is(err, context.Canceled) && !wire.IsGone(err)
}

// errNotStored says that the receiver refused a part of a history. What it has kept before
// stays.
var errNotStored = errors.New("whatsapp: a part of the history was not kept")

func (s *session) readHistory(client *whatsmeow.Client, notification *waE2E.HistorySyncNotification, take func(history.Packed) error) error {
	if inline := notification.GetInitialHistBootstrapInlinePayload(); inline != nil {
		return take(history.Packed{
			Open: func() (io.Reader, error) { return bytes.NewReader(inline), nil },
			Size: int64(len(inline)),
		})
	}
	limit := s.connector.config.HistoryMaxBytes
	if notification.GetFileLength() > uint64(limit) { //nolint:gosec // it is not negative
		return history.ErrTooBig
	}
	file, err := os.CreateTemp(s.connector.config.TempDir, "recado-history-*")
	if err != nil {
		return fmt.Errorf("whatsapp: make room for a history: %w", err)
	}
	defer func() { _, _ = file.Close(), os.Remove(file.Name()) }() // it is of no more use
	ctx, cancel := context.WithTimeout(s.ctx, transport.TransferTime(limit))
	defer cancel()
	if err := client.DownloadToFile(ctx, notification, transport.Limited(file, limit, history.ErrTooBig)); err != nil {
		return fmt.Errorf("whatsapp: fetch history: %w", err)
	}
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("whatsapp: read history: %w", err)
	}
	return take(history.Packed{Size: size, Open: func() (io.Reader, error) {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return nil, fmt.Errorf("whatsapp: read history: %w", err)
		}
		return file, nil
	}})
}

// handOver reads a history twice: first the names and addresses, so that both addresses of
// everybody are known when the messages are read.
func (s *session) handOver(client *whatsmeow.Client, from history.Packed) error {
	inside := client.DangerousInternals() //nolint:staticcheck // what whatsmeow does with a history it has loaded; the version is pinned
	facts, err := from.Facts(
		func(names []*waHistorySync.Pushname) { inside.HandleHistoricalPushNames(s.ctx, names) },
		func(pairs []*waHistorySync.PhoneNumberToLIDMapping) {
			inside.StoreHistoricalPNLIDMappings(s.ctx, pairs)
		},
	)
	if err != nil {
		return err
	}
	if err := inside.StoreNCTSalt(s.ctx, facts.GetNctSalt()); err != nil {
		s.logger.WarnContext(s.ctx, "salt of a history not kept", slog.Any("error", err))
	}
	total := 0
	if perChat := s.connector.config.HistoryPerChat; perChat > 0 {
		total, err = s.takeMessages(client, from, perChat)
	}
	if err == nil {
		level := slog.LevelInfo
		if total == 0 {
			level = slog.LevelDebug // a phone sends several, and most are empty
		}
		s.logger.Log(s.ctx, level, "history read", slog.Int("messages", total))
	}
	return err
}

// takeMessages passes on the messages of a history and returns how many these were.
func (s *session) takeMessages(client *whatsmeow.Client, from history.Packed, perChat int) (total int, err error) {
	inside := client.DangerousInternals() //nolint:staticcheck // as above
	take := func(conversation *waHistorySync.Conversation) error {
		inside.StoreHistoricalMessageSecrets(s.ctx, []*waHistorySync.Conversation{conversation})
		messages := s.historyMessages(client, conversation)
		messages = messages[:min(len(messages), maxHistory-total)]
		if total += len(messages); len(messages) > 0 {
			if err := s.historyArrived(gateway.History(messages)); err != nil {
				return err
			}
			if seconds := conversation.GetEphemeralExpiration(); seconds > 0 {
				err := s.historyArrived(gateway.ChatArrangements{{
					Chat: messages[0].Chat, ChatChange: gateway.ChatChange{Disappearing: new(time.Duration(seconds) * time.Second)},
				}})
				if err != nil {
					return err
				}
			}
		}
		if total == maxHistory {
			return history.ErrEnough
		}
		return nil
	}
	err = from.Conversations(perChat, func(conversation *waHistorySync.Conversation) error {
		if s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		return share.Rested(s.ctx, func() error { return take(conversation) })
	})
	return total, err
}

// takeOlder passes on the messages of an answer to a request. Of what else the answer holds
// nothing is believed.
func (s *session) takeOlder(client *whatsmeow.Client, from history.Packed, asked *history.Request) error {
	inside := client.DangerousInternals() //nolint:staticcheck // as above
	return from.Conversations(asked.Count(), func(conversation *waHistorySync.Conversation) error {
		if s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		messages := asked.Take(s.historyMessages(client, conversation))
		if len(messages) == 0 {
			return nil
		}
		asked.Told(conversation)
		inside.StoreHistoricalMessageSecrets(s.ctx, []*waHistorySync.Conversation{conversation})
		return s.historyArrived(gateway.History(messages))
	})
}

func (s *session) historyArrived(part gateway.Incoming) (err error) {
	s.line.WhileOpen(func() { err = s.line.Deliver(s.ctx, part) })
	if err != nil {
		return fmt.Errorf("%w: %w", errNotStored, err)
	}
	return nil
}

// historyMessages translates the messages of a conversation, and leaves out everything
// that is no message of a chat.
func (s *session) historyMessages(client *whatsmeow.Client, conversation *waHistorySync.Conversation) []gateway.Message {
	chat, err := types.ParseJID(conversation.GetID())
	if chat.Server == types.LegacyUserServer {
		chat.Server = types.DefaultUserServer
	}
	if err != nil || chat.Server != types.GroupServer && chat.Server != types.DefaultUserServer && chat.Server != types.HiddenUserServer {
		return nil
	}
	messages := make([]gateway.Message, 0, len(conversation.GetMessages()))
	for _, old := range conversation.GetMessages() {
		if old.GetMessage().GetMessage() == nil || old.GetMessage().GetKey().GetID() == "" {
			continue // a notice in the chat
		}
		event, err := client.ParseWebMessage(chat, old.GetMessage())
		if err != nil {
			continue // without a sender it is no message
		}
		s.line.Complete(&event.Info.MessageSource)
		message, ok, err := wire.MessageOf(event, s.line.Self(), s.line.Now(), s.line.Other)
		if err != nil || !ok {
			continue
		}
		if message.FromMe {
			message.Status = wire.HistoryStatus(old.GetMessage().GetStatus())
		}
		message.Starred = old.GetMessage().GetStarred()
		messages = append(messages, message)
	}
	return messages
}
