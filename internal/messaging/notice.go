package messaging

import (
	"context"
	"fmt"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

// notice is an event of something that is not kept otherwise: a call that rings, a
// change of a group or a contact.
type notice struct {
	origin

	sourceKey string // the same for every delivery; empty if there is only one
	data      eventlog.Data
}

// noticeOf makes the notice of what was received. Kinds that are not worth a placeholder
// have no origin.what.
func noticeOf(incoming gateway.Incoming) (notice, error) {
	switch incoming := incoming.(type) {
	case gateway.GroupChange:
		return notice{
			origin: origin{
				what: "group_change", chat: gateway.Party{JID: incoming.Group}, by: incoming.Actor,
				key: incoming.SourceKey, at: incoming.At,
			},
			sourceKey: incoming.SourceKey, data: eventlog.NewGroupUpdated(incoming),
		}, nil
	case gateway.ContactChange:
		return notice{
			origin: origin{
				what: "contact_change", chat: incoming.Contact, by: incoming.Contact,
				key: incoming.SourceKey, at: incoming.At,
			},
			sourceKey: incoming.SourceKey, data: eventlog.NewContactUpdated(incoming),
		}, nil
	case gateway.Call:
		return notice{
			origin:    origin{what: "call", chat: incoming.Chat, by: incoming.From, key: incoming.ID, at: incoming.At},
			sourceKey: "call/" + incoming.ID, data: eventlog.NewCallReceived(incoming),
		}, nil
	case gateway.CallEnd:
		return notice{
			origin:    origin{what: "call_end", chat: incoming.Chat, by: incoming.From, key: "end/" + incoming.ID, at: incoming.At},
			sourceKey: "call-end/" + incoming.ID, data: eventlog.NewCallEnded(incoming),
		}, nil
	case gateway.ChannelChange:
		return notice{
			origin:    origin{what: "channel_change", chat: gateway.Party{JID: incoming.ID}, key: incoming.SourceKey, at: incoming.At},
			sourceKey: incoming.SourceKey, data: eventlog.NewChannelUpdated(incoming),
		}, nil
	case gateway.HistoryAnswer:
		return notice{origin: origin{chat: incoming.Chat, at: incoming.At}, sourceKey: "history/" + incoming.RequestID, data: eventlog.NewChatHistory(incoming)}, nil
	case gateway.AccountChange:
		return notice{origin: origin{at: incoming.At}, sourceKey: incoming.SourceKey, data: eventlog.NewAccountUpdated(incoming)}, nil
	default:
		return notice{}, fmt.Errorf("messaging: receive: no way to keep a %T", incoming)
	}
}

// appendNotice appends the event of what is not kept otherwise.
func (r receiver) appendNotice(ctx context.Context, incoming gateway.Incoming) (origin, error) {
	notice, err := noticeOf(incoming)
	if err != nil {
		return origin{}, err
	}
	event, err := eventlog.NewEvent(r.instanceID, notice.chat.Key(), notice.sourceKey, notice.at, notice.data)
	if err != nil {
		return origin{}, fmt.Errorf("messaging: make event %s: %w", notice.data.Kind(), err)
	}
	if err := r.append(ctx, event); err != nil {
		return notice.origin, err
	}
	if call, rings := incoming.(gateway.Call); rings && r.config.Rings != nil {
		r.config.Rings(ctx, r.instanceID, call)
	}
	return notice.origin, nil
}
