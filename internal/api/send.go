package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging"
)

// Sending are the use cases that send a message.
type Sending interface {
	SendText(ctx context.Context, request messaging.Request, text string) (messaging.Result, error)
	PostStatusText(ctx context.Context, request messaging.Request, text string, look gateway.StatusLook) (messaging.Result, error)
	SendMedia(ctx context.Context, request messaging.Request, kind gateway.MessageType, params messaging.MediaParams) (messaging.Result, error)
	SendAlbum(ctx context.Context, request messaging.Request, items []messaging.AlbumItem) (messaging.Result, []messaging.AlbumPart, error)
	SendLocation(ctx context.Context, request messaging.Request, location gateway.Location) (messaging.Result, error)
	SendContacts(ctx context.Context, request messaging.Request, cards []gateway.ContactCard) (messaging.Result, error)
	SendPoll(ctx context.Context, request messaging.Request, question string, poll gateway.Poll) (messaging.Result, error)
	SendEvent(ctx context.Context, request messaging.Request, name string, event gateway.CalendarEvent) (messaging.Result, error)
	Forward(ctx context.Context, request messaging.Request, ref gateway.MessageRef) (messaging.Result, error)
}

// sending is the resource of messages to send, each kind of content in its file.
type sending struct{ use Sending }

// Sent names a message that was sent.
type Sent struct {
	ID        string `json:"id" format:"uuid" doc:"Internal identifier." example:"019aa1f4-8d52-7c1e-b3a0-0f4de1c9a7b2"`
	MessageID string `json:"messageId" doc:"Identifier on the platform." example:"3EB0C431C26A1916E07A"`
}

// sentAnswer is the answer of every operation that sends.
type sentAnswer struct {
	Status   int
	Applied  string `header:"Preference-Applied" enum:"respond-async" doc:"Set if the message was left in the queue because the request prefers that."`
	Replayed string `header:"Idempotency-Replayed" enum:"true" doc:"Set if an earlier request with the same Idempotency-Key was accepted: the answer names its message, and no second one was sent."`
	Body     Sent
}

// sendInput is the input of every operation that sends content of one kind.
type sendInput[T any] struct {
	contract.InstancePath
	contract.Idempotency
	Preference
	contract.JSON[T]
}

// Preference is the header that leaves a message in the queue.
type Preference struct {
	Prefer string `header:"Prefer" maxLength:"255" doc:"respond-async (RFC 7240): the message is left in the queue of the instance, and the answer 202 comes as soon as it is kept. What becomes of it is told by events." example:"-"`
}

// later reports whether the client prefers not to wait.
func (p Preference) later() bool {
	for preference := range strings.SplitSeq(p.Prefer, ",") {
		name, _, _ := strings.Cut(preference, ";")
		if strings.EqualFold(strings.TrimSpace(name), respondAsync) {
			return true
		}
	}
	return false
}

const respondAsync = "respond-async"

// Schedule is the field of the bodies that can be sent later.
type Schedule struct {
	SendAt *time.Time `json:"sendAt,omitempty" doc:"Leave the message in the queue, and send it at this time, within a year, or soon after. A time that is over is at once." sample:"-"`
}

// Addressee is the field of every body that is sent to somebody.
type Addressee struct {
	To string `json:"to" minLength:"1" format:"recipient" doc:"A phone number with country code, a Brazilian mobile number of 11 digits, or a chat ID." example:"5511988887766"`
}

// Reply is the field of the bodies that can answer another message.
type Reply struct {
	QuoteMessageID string `json:"quoteMessageId,omitempty" doc:"Message to reply to: its platform identifier, the composite form, or the id of a send result." example:"3EB0C431C26A1916E07A" sample:"-"`
}

// Mentioning are the fields of the bodies whose text or caption can mention people.
type Mentioning struct {
	Mentions        []string `json:"mentions,omitempty" fingerprint:"if set" nullable:"false" maxItems:"100" doc:"People whom the text mentions, in any form of a recipient; 100 at most. Write \"@\" and the same number into the text, where phones show the name." sample:"-"`
	MentionEveryone bool     `json:"mentionEveryone,omitempty" fingerprint:"if set" default:"false" doc:"Mention all members of the group." sample:"-"`
}

// mentions reads whom to mention.
func (m Mentioning) mentions() (messaging.Mentions, error) {
	people, err := readPeople("mentions", m.Mentions)
	return messaging.Mentions{Everyone: m.MentionEveryone, People: people}, err
}

// readPeople reads the people whom a field names.
func readPeople(field string, given []string) (people []gateway.Recipient, err error) {
	var wrong []gateway.FieldError
	for n, text := range given {
		who, err := gateway.ParseRecipient(text)
		if err != nil || !who.IsPerson() {
			wrong = append(wrong, gateway.FieldError{
				Field: fmt.Sprintf("%s[%d]", field, n), Message: "must be a phone number with country code, or the chat ID of a person",
			})
		}
		people = append(people, who)
	}
	if len(wrong) > 0 {
		return nil, gateway.InvalidFields(wrong...)
	}
	return people, nil
}

// textBody is the body of a text to send.
type textBody struct {
	Addressee

	Message     string `json:"message" minLength:"1" maxLength:"65536" doc:"The text, at most 65,536 characters." example:"Your order is on its way."`
	LinkPreview *bool  `json:"linkPreview,omitempty" doc:"Whether phones show title, description and picture of the page behind the first link. The gateway fetches the page for it, in 5 seconds at most; if it can't, the text is sent without." sample:"-"`

	Mentioning
	Reply
	Schedule
}

// sendCodes are the refusals of every operation that sends.
func sendCodes() []string {
	return sessionCodes(gateway.CodeNotRegistered, gateway.CodeGroupNotFound, gateway.CodeGroupAdminRequired,
		gateway.CodeChannelNotFound, gateway.CodeChannelOwner, gateway.CodeChannelGone, gateway.CodeChannelContent,
		gateway.CodeIdempotencyConflict, gateway.CodeRecipientRestricted, gateway.CodeQueueFull)
}

// sessionCodes are the refusals of every operation that needs the platform, and more.
func sessionCodes(more ...string) []string {
	return append([]string{
		gateway.CodePaymentRequired, gateway.CodeNotConnected, gateway.CodeRateLimited,
		gateway.CodePlatformError, gateway.CodePlatformTimeout, gateway.CodeUnavailable,
	}, more...)
}

// handleSend makes the endpoint of an operation that sends one kind of content, and
// completes its declaration with what all of them share.
func handleSend[T any](op contract.Operation, send func(ctx context.Context, in *sendInput[T]) (messaging.Result, error)) contract.Endpoint {
	op.Tag, op.Status = tagMessages, http.StatusCreated
	op.Description += "Returns when the platform has acknowledged the message; or, if the request prefers respond-async or says when to send, as soon as the message is kept."
	op.Later = "The message is kept, and will be sent."
	op.Codes = append(sendCodes(), op.Codes...)
	return contract.Handle(op, func(ctx context.Context, in *sendInput[T]) (*sentAnswer, error) {
		result, err := send(ctx, in)
		if err != nil {
			return nil, err
		}
		contract.Accepted(ctx, result.ID, result.MessageID)
		out := &sentAnswer{Status: http.StatusCreated, Body: newSent(result)}
		if result.Queued {
			out.Status = http.StatusAccepted
			if in.later() {
				out.Applied = respondAsync
			}
		}
		if result.Replayed {
			out.Replayed = "true"
		}
		return out, nil
	})
}

func (s sending) text() contract.Endpoint {
	return handleSend(contract.Operation{
		ID: "sendText", Summary: "Send a text", Codes: []string{gateway.CodeMessageNotFound},
	}, func(ctx context.Context, in *sendInput[textBody]) (messaging.Result, error) {
		given := in.Given()
		request, err := newRequest(ctx, in, given.To, given.QuoteMessageID, given.SendAt)
		if err != nil {
			return messaging.Result{}, err
		}
		if request.Mentions, err = given.mentions(); err != nil {
			return messaging.Result{}, err
		}
		request.Preview = given.LinkPreview != nil && *given.LinkPreview
		return s.use.SendText(ctx, request, given.Message)
	})
}

type forwardBody struct {
	Addressee

	MessageID string `json:"messageId" minLength:"1" doc:"Message to forward: its platform identifier, the composite form, or the id of a send result." example:"3EB0C431C26A1916E07A"`

	Schedule
}

func (s sending) forward() contract.Endpoint {
	return handleSend(contract.Operation{
		ID: "forwardMessage", Summary: "Forward a message",
		Description: "Sends the content of a message of this instance to somebody else, marked as forwarded. ",
		Codes:       []string{gateway.CodeMessageNotFound},
	}, func(ctx context.Context, in *sendInput[forwardBody]) (messaging.Result, error) {
		given := in.Given()
		request, err := newRequest(ctx, in, given.To, "", given.SendAt)
		if err != nil {
			return messaging.Result{}, err
		}
		return s.use.Forward(ctx, request, messageRef(given.MessageID))
	})
}

// newRequest makes the part of a request that every kind of message has.
func newRequest[T any](ctx context.Context, in *sendInput[T], to, quoted string, at *time.Time) (messaging.Request, error) {
	recipient, err := parseRecipient(to)
	if err != nil {
		return messaging.Request{}, err
	}
	request := requestTo(ctx, in, recipient, at)
	request.Quote = messageRef(quoted)
	return request, nil
}

// requestTo is newRequest for a recipient that was read already, and without a quote.
func requestTo[T any](ctx context.Context, in *sendInput[T], to gateway.Recipient, at *time.Time) messaging.Request {
	request := messaging.Request{InstanceID: contract.Instance(ctx).ID, To: to, Later: in.later()}
	if at != nil {
		request.Later, request.DueAt = true, *at
	}
	if in.IdempotencyKey != "" {
		hash := contract.Fingerprint(ctx, in.Given())
		if request.Later { // to be answered at once is another request
			hash = append(hash, respondAsync...)
		}
		request.Repeat = &messaging.Repeat{KeyID: contract.Key(ctx).ID, Key: in.IdempotencyKey, Hash: hash}
	}
	return request
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
// and no message must not count as no identifier at all.
func messageRef(text string) gateway.MessageRef {
	ref := gateway.ParseMessageRef(text)
	if ref.ID == "" && ref.Chat != "" {
		return gateway.MessageRef{ID: text}
	}
	return ref
}

func newSent(result messaging.Result) Sent {
	return Sent{ID: result.ID, MessageID: result.MessageID}
}
