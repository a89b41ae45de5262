// Messages that wait to be sent.

package api

import (
	"cmp"
	"context"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging/queue"
)

// QueuedMessage is a message that waits to be sent.
type QueuedMessage struct {
	ID        string              `json:"id" format:"uuid" doc:"Internal identifier, as the send result has it." example:"019aa1f4-8d52-7c1e-b3a0-0f4de1c9a7b2"`
	MessageID string              `json:"messageId" doc:"Identifier that it will have on the platform." example:"3EB0C431C26A1916E07A"`
	To        string              `json:"to" doc:"The number in digits with country code, or the chat ID." example:"5511988887766"`
	Type      string              `json:"type" enum:"text,image,video,voice,audio,document,location,contact,sticker,poll,event,unsupported" example:"text"`
	Text      string              `json:"text" doc:"The text, or the caption." example:"Your order is on its way."`
	State     string              `json:"state" enum:"scheduled,waiting,held,sending" doc:"scheduled: it is not due yet; waiting: for its turn; held: it is due, and must not be sent for now; sending: it is being sent." example:"held"`
	Reason    *string             `json:"reason" nullable:"true" enum:"not_connected,pace,new_chats,restricted,retry" doc:"Why it is held. not_connected: the instance is not; pace, new_chats: a limit of the instance is reached; restricted: the platform restricts writing to new chats; retry: an attempt has failed." example:"pace"`
	HeldUntil *contract.Timestamp `json:"heldUntil" nullable:"true" doc:"While it is held: when it is looked at again."`
	SendAt    contract.Timestamp  `json:"sendAt" doc:"When it is due."`
	CreatedAt contract.Timestamp  `json:"createdAt" doc:"When it was left in the queue."`

	ClientData string `json:"clientData,omitempty" doc:"What your program has called it in the request that sent it; left out if nothing." example:"order 17"`
}

func newQueuedMessage(w queue.Waiting) QueuedMessage {
	return QueuedMessage{
		ID: w.ID, MessageID: w.PlatformID, To: cmp.Or(string(w.To.Chat), w.To.Number), Type: string(w.Type), Text: w.Text, ClientData: w.ClientData,
		State: string(w.State), Reason: contract.TextOrNil(string(w.Reason)), HeldUntil: contract.TimestampOrNil(w.Until),
		SendAt: contract.Timestamp(w.Since()), CreatedAt: contract.Timestamp(w.CreatedAt),
	}
}

// Cancelled says how many messages were taken out of the queue.
type Cancelled struct {
	Cancelled int64 `json:"cancelled" doc:"How many messages will not be sent." example:"3"`
}

type queuedPath struct {
	contract.InstancePath

	MessageID string `path:"messageId" doc:"The id of the send result, or its messageId." example:"019aa1f4-8d52-7c1e-b3a0-0f4de1c9a7b2"`
}

// queued is the resource of messages that wait to be sent.
type queued struct{ use *queue.Queue }

func (r queued) list() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "listQueue", Tag: tagMessages,
		Summary:     "List messages in the queue",
		Description: "Lists the messages of an instance that wait to be sent, in the order in which they came. What was sent, has failed or was cancelled is not there any more.",
		Codes:       []string{gateway.CodeValidation},
	}, func(ctx context.Context, in *instanceList) (contract.Envelope[QueuedMessage], error) {
		return contract.Listed(in.Paging, newQueuedMessage)(r.use.List(ctx, contract.Instance(ctx).ID, in.Request()))
	})
}

func (r queued) get() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getQueuedMessage", Tag: tagMessages,
		Summary: "Get a message in the queue", Description: "Returns a message that waits to be sent, as in the list.",
		Codes: []string{gateway.CodeMessageNotFound},
	}, func(ctx context.Context, in *queuedPath) (QueuedMessage, error) {
		found, ok, err := r.use.Find(ctx, contract.Instance(ctx).ID, in.MessageID)
		if err != nil {
			return QueuedMessage{}, err
		}
		if !ok {
			return QueuedMessage{}, notQueued()
		}
		return newQueuedMessage(found), nil
	})
}

func (r queued) cancel() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "cancelQueuedMessage", Tag: tagMessages,
		Summary: "Cancel a message in the queue", Description: "Takes a message out of the queue. It will not be sent, and there is no event of it; but if an attempt to send it was made, there is one that says that it failed, because the platform may have it.",
		Codes: []string{gateway.CodeMessageNotFound, gateway.CodeMessageBeingSent, gateway.CodeUnavailable},
	}, func(ctx context.Context, in *queuedPath) (contract.Empty, error) {
		ok, err := r.use.Cancel(ctx, contract.Instance(ctx).ID, in.MessageID)
		if err == nil && !ok {
			err = notQueued()
		}
		return contract.Empty{}, err
	})
}

func (r queued) cancelAll() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "cancelQueue", Tag: tagMessages,
		Summary:     "Cancel all messages in the queue",
		Description: "Takes all messages of an instance out of the queue, except for those that are being sent.",
		Codes:       []string{gateway.CodeUnavailable},
	}, func(ctx context.Context, _ *contract.InstancePath) (Cancelled, error) {
		n, err := r.use.CancelAll(ctx, contract.Instance(ctx).ID)
		return Cancelled{Cancelled: int64(n)}, err
	})
}

func notQueued() error {
	return gateway.Errorf(gateway.NotFound, gateway.CodeMessageNotFound, "no such message of the instance waits to be sent")
}
