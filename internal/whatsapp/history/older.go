// Requests to the phone for messages that are older than those which it handed over when it
// was linked, and which of its answers count.

package history

import (
	"context"
	"sync"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/line"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// maxRequests bounds the requests that the phone has not answered.
const maxRequests = 16

// Requests are those that the phone has not answered. They are safe for concurrent use.
type Requests struct {
	line     *line.Line
	patience time.Duration

	mu      sync.Mutex
	pending map[types.MessageID]*Request
	closed  bool
}

// NewRequests returns the requests of a session. patience is how long the phone may take to
// answer one.
func NewRequests(of *line.Line, patience time.Duration) *Requests {
	return &Requests{line: of, patience: patience, pending: map[types.MessageID]*Request{}}
}

// Request is one of them.
type Request struct {
	id     types.MessageID
	before gateway.Message
	count  int
	timer  *time.Timer

	taken map[string]struct{} // the platform's identifiers of its messages
	more  *bool
}

// Ask asks the phone for messages of a chat (gateway.OlderMessages).
func (r *Requests) Ask(ctx context.Context, before gateway.Message, count int) (string, error) {
	chat, err := wire.ToJID(before.Chat.Key())
	if err != nil {
		return "", err
	}
	client := r.line.Client()
	request := &Request{id: client.GenerateMessageID(), before: before, count: count, taken: map[string]struct{}{}}
	if err := r.add(request); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, r.line.Wait)
	defer cancel()
	message := client.BuildHistorySyncRequest(&types.MessageInfo{
		MessageSource: types.MessageSource{Chat: chat, IsFromMe: before.FromMe}, ID: before.PlatformID, Timestamp: before.SentAt,
	}, count)
	self := client.Store.GetJID().ToNonAD()
	if _, err := client.SendMessage(ctx, self, message, whatsmeow.SendRequestExtra{ID: request.id, Peer: true}); err != nil {
		r.remove(request.id)
		return "", wire.Failure(err)
	}
	return request.id, nil
}

// add notes a request, unless there is another one of the same chat, or too many.
func (r *Requests) add(request *Request) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, other := range r.pending {
		if chat := request.before.Chat; other.isAbout(chat) {
			return gateway.Errorf(gateway.Conflict, gateway.CodeHistoryPending, "the phone has not answered the last request for messages of this chat yet")
		}
	}
	if r.closed || len(r.pending) >= maxRequests {
		return gateway.Errorf(gateway.Conflict, gateway.CodeHistoryPending, "the phone has %d requests for messages to answer, which is as many as it may", maxRequests)
	}
	request.timer = time.AfterFunc(r.patience, func() {
		if r.remove(request.id) {
			r.end(request, false)
		}
	})
	r.pending[request.id] = request
	return nil
}

func (r *Requests) remove(id types.MessageID) (was bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	request, was := r.pending[id]
	if was {
		request.timer.Stop()
		delete(r.pending, id)
	}
	return was
}

// Claim takes the request that an answer is for; nil if there is none: then nobody has asked. An
// answer that names no request is for the only one that there is.
func (r *Requests) Claim(id types.MessageID) *Request {
	r.mu.Lock()
	if id == "" && len(r.pending) == 1 {
		for only := range r.pending {
			id = only
		}
	}
	request := r.pending[id]
	r.mu.Unlock()
	if request == nil || !r.remove(id) {
		return nil
	}
	return request
}

// Finish passes on that a request was answered, or that its answer was of no use.
func (r *Requests) Finish(request *Request, answered bool) { r.end(request, answered) }

func (r *Requests) end(request *Request, answered bool) {
	answer := gateway.HistoryAnswer{
		RequestID: request.id, Chat: request.before.Chat, Answered: answered, Messages: len(request.taken), More: request.more, At: r.line.Now().UTC(),
	}
	if answered && len(request.taken) == 0 {
		answer.More = new(false)
	}
	r.line.WhileOpen(func() { r.line.Report(r.line.Context, answer, "the end of a request for older messages") })
}

// Close ends all requests without an answer.
func (r *Requests) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for _, request := range r.pending {
		request.timer.Stop()
	}
	clear(r.pending)
}

// Count is how many messages were asked for.
func (q *Request) Count() int { return q.count }

// isAbout reports whether a chat is the one of the request.
func (q *Request) isAbout(chat gateway.Party) bool {
	return q.before.Chat.Is(chat.JID) || q.before.Chat.Is(chat.LID)
}

// Take returns the messages of an answer, which come oldest first, that were asked for: of this chat, not newer than the one
// that the phone was told, each once, and no more than were asked for.
func (q *Request) Take(messages []gateway.Message) (taken []gateway.Message) {
	for _, message := range messages {
		if _, twice := q.taken[message.PlatformID]; twice || len(q.taken) >= q.count || !q.isAbout(message.Chat) ||
			message.SentAt.IsZero() || message.SentAt.After(q.before.SentAt) || message.PlatformID == q.before.PlatformID {
			continue
		}
		q.taken[message.PlatformID] = struct{}{}
		taken = append(taken, message)
	}
	// The platform's times are seconds. Each message stands before the one that it came before, so
	// that the oldest is the oldest the next time.
	next := q.before.CreatedAt
	for n := len(taken) - 1; n >= 0; n-- {
		if taken[n].CreatedAt = taken[n].SentAt; !taken[n].CreatedAt.Before(next) {
			taken[n].CreatedAt = next.Add(-time.Millisecond)
		}
		next = taken[n].CreatedAt
	}
	return taken
}

// Told notes what the phone says of the rest of the chat.
func (q *Request) Told(conversation *waHistorySync.Conversation) {
	if conversation.EndOfHistoryTransferType == nil {
		return
	}
	more := conversation.GetEndOfHistoryTransferType()
	q.more = new(more == waHistorySync.Conversation_COMPLETE_BUT_MORE_MESSAGES_REMAIN_ON_PRIMARY ||
		more == waHistorySync.Conversation_COMPLETE_ON_DEMAND_SYNC_BUT_MORE_MSG_REMAIN_ON_PRIMARY)
}
