package api

import (
	"context"
	"fmt"
	"net/http"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging"
)

const tagMessages = "Messages"

// Sent names a message that was sent.
type Sent struct {
	ID        string `json:"id" format:"uuid" doc:"Internal identifier." example:"019aa1f4-8d52-7c1e-b3a0-0f4de1c9a7b2"`
	MessageID string `json:"messageId" doc:"Identifier on the platform." example:"3EB0C431C26A1916E07A"`
}

// sentAnswer is the answer of every operation that sends.
type sentAnswer struct {
	Replayed string `header:"Idempotency-Replayed" enum:"true" doc:"Set where an earlier request with the same Idempotency-Key was accepted: this is its message, and not a second one."`
	Body     Sent
}

// sendInput is the input of every operation that sends content of one kind.
type sendInput[T any] struct {
	InstancePath
	Once
	JSON[T]
}

// Addressee is the field of every body that is sent to somebody.
type Addressee struct {
	To string `json:"to" minLength:"1" format:"recipient" doc:"A phone number with country code, a Brazilian mobile number of 11 digits, or a chat ID." example:"5511988887766"`
}

// Reply is the field of the bodies that can answer another message.
type Reply struct {
	QuoteMessageID string `json:"quoteMessageId,omitempty" doc:"Message to reply to: its platform identifier, the composite form, or the id of a send result." example:"3EB0C431C26A1916E07A" sample:"-"`
}

// textBody is the body of a text to send.
type textBody struct {
	Addressee

	Message string `json:"message" minLength:"1" maxLength:"65536" doc:"The text, at most 65,536 characters." example:"Your order is on its way."`

	Reply
}

func (s *service) registerMessages() {
	register(s, sendOperation("text", "sendText", "Send a text", "").refusing(gateway.CodeMessageNotFound), s.sendText)
	s.registerMedia()
	register(s, sendOperation("location", "sendLocation", "Send a location",
		"The recipient sees a map. "), s.sendLocation)
	register(s, sendOperation("contact", "sendContact", "Send a contact card",
		"The recipient can write to the contact, and keep it. "), s.sendContact)
	register(s, forwardOperation(), s.forward)
	s.registerMessage()
	s.registerMediaLink()
}

// sendCodes are the refusals that every send may meet.
func sendCodes() []string {
	return append(sessionCodes(), gateway.CodeNotRegistered, gateway.CodeGroupNotFound,
		gateway.CodeIdempotencyConflict, gateway.CodeRecipientRestricted)
}

// sessionCodes are the refusals of everything that asks the platform.
func sessionCodes() []string {
	return []string{
		gateway.CodePaymentRequired, gateway.CodeNotConnected, gateway.CodeRateLimited,
		gateway.CodePlatformError, gateway.CodePlatformTimeout, gateway.CodeUnavailable,
	}
}

// sendOperation declares the operation that sends one kind of content.
func sendOperation(kind, id, summary, description string) operation {
	return operation{
		id: id, method: http.MethodPost, path: "/api/message/{instanceId}/" + kind, tag: tagMessages,
		summary:     summary,
		description: description + "Answers when the platform has acknowledged the message.",
		status:      http.StatusCreated,
		codes:       sendCodes(),
	}
}

func (s *service) sendText(ctx context.Context, in *sendInput[textBody]) (*sentAnswer, error) {
	request, err := newRequest(ctx, in, in.Given().To, in.Given().QuoteMessageID)
	if err != nil {
		return nil, err
	}
	return newSentAnswer(s.Messages.SendText(ctx, request, in.Given().Message))
}

// newRequest makes what every kind of message has.
func newRequest[T any](ctx context.Context, in *sendInput[T], to, quoted string) (messaging.Request, error) {
	x := exchangeOf(ctx)
	recipient, err := parseRecipient(to)
	if err != nil {
		return messaging.Request{}, err
	}
	request := messaging.Request{InstanceID: x.instance.ID, To: recipient, Quote: messageRef(quoted)}
	if in.IdempotencyKey != "" {
		request.Repeat = &messaging.Repeat{KeyID: x.key.ID, Key: in.IdempotencyKey, Hash: fingerprint(x, in.Given())}
	}
	return request, nil
}

// parseRecipient reads a recipient whose format has been checked.
func parseRecipient(text string) (gateway.Recipient, error) {
	recipient, err := gateway.ParseRecipient(text)
	if err != nil {
		return gateway.Recipient{}, fmt.Errorf("api: the recipient was checked: %w", err)
	}
	return recipient, nil
}

// messageRef reads the identifier of a message. A composite one that names a chat
// and no message must not pass for no identifier at all.
func messageRef(text string) gateway.MessageRef {
	ref := gateway.ParseMessageRef(text)
	if ref.ID == "" && ref.Chat != "" {
		return gateway.MessageRef{ID: text}
	}
	return ref
}

func newSentAnswer(result messaging.Result, err error) (*sentAnswer, error) {
	if err != nil {
		return nil, err
	}
	out := &sentAnswer{Body: newSent(result)}
	if result.Replayed {
		out.Replayed = "true"
	}
	return out, nil
}

func newSent(result messaging.Result) Sent {
	return Sent{ID: result.ID, MessageID: result.MessageID}
}
