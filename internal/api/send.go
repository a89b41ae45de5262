package api

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/chat"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging"
)

// Sending are the use cases that send a message.
type Sending interface {
	// Send sends content that needs no file.
	Send(ctx context.Context, request messaging.Request, content gateway.Content) (messaging.Result, error)
	SendMedia(ctx context.Context, request messaging.Request, kind gateway.MessageType, params messaging.MediaParams) (messaging.Result, error)
	SendAlbum(ctx context.Context, request messaging.Request, items []messaging.AlbumItem) (messaging.Result, []messaging.AlbumPart, error)
	// SendTemplate sends what render says: a text, a poll, or a file, whose kind it is, with the text below it.
	SendTemplate(ctx context.Context, request messaging.Request, render func(ctx context.Context) (gateway.Content, error), file messaging.MediaParams) (messaging.Result, error)
	Forward(ctx context.Context, request messaging.Request, ref gateway.MessageRef) (messaging.Result, error)
}

// sending is the resource of messages to send, each kind of content in its file.
type sending struct {
	use  Sending
	kept *chat.Service // where a message that an earlier request has sent is looked up
}

// Sent names a message that was sent.
type Sent struct {
	ID        string `json:"id" format:"uuid" doc:"Internal identifier." example:"019aa1f4-8d52-7c1e-b3a0-0f4de1c9a7b2"`
	MessageID string `json:"messageId" doc:"Identifier on the platform." example:"3EB0C431C26A1916E07A"`

	Message *StoredMessage `json:"message,omitempty" doc:"The message as it was sent, if the request prefers return=representation." sample:"-"`
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

// Preference is the header that leaves a message in the queue, or wants to have it in the answer.
type Preference struct {
	Prefer string `header:"Prefer" maxLength:"255" doc:"respond-async (RFC 7240): the message is left in the queue of the instance, and the answer 202 comes as soon as it is kept. What becomes of it is told by events. return=representation: the answer has the message as it was sent, which is not that of an album and was not left in the queue." example:"-"`
}

// later reports whether the client prefers not to wait.
func (p Preference) later() bool { return p.has(respondAsync) }

// whole reports whether the client prefers to read the message in the answer.
func (p Preference) whole() bool { return p.has(returnRepresentation) }

func (p Preference) has(wanted string) bool {
	for preference := range strings.SplitSeq(p.Prefer, ",") {
		name, _, _ := strings.Cut(preference, ";")
		if strings.EqualFold(strings.TrimSpace(name), wanted) {
			return true
		}
	}
	return false
}

const (
	respondAsync         = "respond-async"
	returnRepresentation = "return=representation"
)

// part is what bodies of several operations say of a message beside its content. A body embeds the
// parts that it has.
type part interface {
	// addTo puts what the part says into the request.
	addTo(request *messaging.Request) error
	// refusals are the codes of the operations that have the part.
	refusals() []string
}

// partsOf returns the parts of a body.
func partsOf(body any) []part {
	var parts []part
	fields := reflect.ValueOf(body)
	for n := range fields.NumField() {
		if found, ok := reflect.TypeAssert[part](fields.Field(n)); ok && fields.Type().Field(n).Anonymous {
			parts = append(parts, found)
		}
	}
	return parts
}

// Outgoing are the fields of the bodies of every message.
type Outgoing struct {
	ClientData string `json:"clientData,omitempty" fingerprint:"if set" maxLength:"512" doc:"What your program calls the message, such as the number of an order. It comes back in the message's events message.sent and message.status, and wherever the message is looked up; the recipient does not get it." sample:"-"`

	SendAt *time.Time `json:"sendAt,omitempty" doc:"Leave the message in the queue, and send it at this time, within a year, or soon after. A time that is over is at once." sample:"-"`
}

func (o Outgoing) addTo(request *messaging.Request) error { //nolint:unparam // other parts fail
	request.ClientData = o.ClientData
	if o.SendAt != nil {
		request.Later, request.DueAt = true, *o.SendAt
	}
	return nil
}

func (Outgoing) refusals() []string { return nil }

// Addressee is the field of every body that is sent to somebody.
type Addressee struct {
	To string `json:"to" minLength:"1" format:"recipient" doc:"A phone number with country code, a Brazilian mobile number of 11 digits, or a chat ID." example:"5511988887766"`
}

func (a Addressee) addTo(request *messaging.Request) (err error) {
	if request.To, err = gateway.ParseRecipient(a.To); err != nil {
		return fmt.Errorf("api: the recipient was checked: %w", err)
	}
	return nil
}

func (Addressee) refusals() []string { return nil }

// Reply is the field of the bodies that can answer another message.
type Reply struct {
	QuoteMessageID string `json:"quoteMessageId,omitempty" doc:"Message to reply to: its platform identifier, the composite form, or the id of a send result." example:"3EB0C431C26A1916E07A" sample:"-"`
}

func (r Reply) addTo(request *messaging.Request) error {
	request.Quote = messageRef(r.QuoteMessageID)
	return nil
}

func (Reply) refusals() []string { return []string{gateway.CodeMessageNotFound} }

// LaterReply is Reply in the bodies that have got it later: without it their fingerprint is as it was.
type LaterReply struct {
	QuoteMessageID string `json:"quoteMessageId,omitempty" fingerprint:"if set" doc:"Message to reply to: its platform identifier, the composite form, or the id of a send result." example:"3EB0C431C26A1916E07A" sample:"-"`
}

func (r LaterReply) addTo(request *messaging.Request) error { return Reply(r).addTo(request) }

func (LaterReply) refusals() []string { return Reply{}.refusals() }

// Mentioning are the fields of the bodies whose text or caption can mention people.
type Mentioning struct {
	Mentions        []string `json:"mentions,omitempty" fingerprint:"if set" nullable:"false" maxItems:"100" doc:"People whom the text mentions, in any form of a recipient; 100 at most. Write \"@\" and the same number into the text, where phones show the name." sample:"-"`
	MentionEveryone bool     `json:"mentionEveryone,omitempty" fingerprint:"if set" default:"false" doc:"Mention all members of the group." sample:"-"`
}

func (m Mentioning) addTo(request *messaging.Request) error {
	people, err := readPeople("mentions", m.Mentions)
	request.Mentions = messaging.Mentions{Everyone: m.MentionEveryone, People: people}
	return err
}

func (Mentioning) refusals() []string { return nil }

// readPeople reads the people whom a field names.
func readPeople(field string, given []string) (people []gateway.Recipient, err error) {
	var wrong fieldErrors
	for n, text := range given {
		who, err := gateway.ParseRecipient(text)
		if err != nil || !who.IsPerson() {
			wrong.add(fmt.Sprintf("%s[%d]", field, n), "must be a phone number with country code, or the chat ID of a person")
		}
		people = append(people, who)
	}
	return people, wrong.err()
}

// textBody is the body of a text to send.
type textBody struct {
	Addressee

	Message     string `json:"message" minLength:"1" maxLength:"65536" doc:"The text, at most 65,536 characters." example:"Your order is on its way."`
	LinkPreview *bool  `json:"linkPreview,omitempty" default:"false" doc:"Whether phones show title, description and picture of the page behind the first link. The gateway fetches the page for it, in 5 seconds at most; if it can't, the text is sent without." sample:"-"`

	Mentioning
	Reply

	Options   []string `json:"options,omitempty" fingerprint:"if set" nullable:"false" maxItems:"12" doc:"What the text can be answered with: up to 12 different texts of at most 100 characters, which the text itself has to say. Only with optionIds." sample:"-"`
	OptionIDs []string `json:"optionIds,omitempty" fingerprint:"if set" nullable:"false" maxItems:"12" doc:"What you call the options, one ID for each, in their order, of at most 256 characters. Each person's first answer, which is an option or its number from 1 while the text is the account's last message in the chat, then has a selection with the ID in message.received." sample:"-"`
	Reference string   `json:"reference,omitempty" fingerprint:"if set" maxLength:"256" doc:"Comes back in those selections. Only with optionIds." sample:"-"`

	Outgoing
}

// menu reads what the text can be answered with.
func (b textBody) menu() (gateway.Menu, error) {
	var wrong fieldErrors
	if len(b.OptionIDs) == 0 && len(b.Options) > 0 {
		wrong.add("options", "must come with optionIds")
	}
	checkOptions(b.Options, &wrong)
	menu := newMenu(b.Options, b.OptionIDs, b.Reference, &wrong)
	return menu, wrong.err()
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
func handleSend[T any](s sending, op contract.Operation, send func(ctx context.Context, request messaging.Request, body T) (messaging.Result, error)) contract.Endpoint {
	op.Tag, op.Status = tagMessages, http.StatusCreated
	op.Description += "Returns when the platform has acknowledged the message; or, if the request prefers respond-async or says when to send, as soon as the message is kept."
	op.Later = "The message is kept, and will be sent."
	op.Codes = append(sendCodes(), op.Codes...)
	for _, part := range partsOf(*new(T)) {
		op.Codes = append(op.Codes, part.refusals()...)
	}
	return contract.HandleWhole(op, func(ctx context.Context, in *sendInput[T]) (*sentAnswer, error) {
		request, err := requestOf(ctx, in)
		if err != nil {
			return nil, err
		}
		result, err := send(ctx, request, in.Given())
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
		if in.whole() && !result.Queued {
			out.Body.Message = s.whole(ctx, result)
		}
		return out, nil
	})
}

// whole returns a message that was sent; nil if it can't be read, because a client that were told of an error
// would send the message again.
func (s sending) whole(ctx context.Context, sent messaging.Result) *StoredMessage {
	message := sent.Message
	if message == nil {
		found, err := s.kept.Message(ctx, contract.Instance(ctx).ID, gateway.MessageRef{ID: sent.ID})
		if err != nil {
			return nil
		}
		message = &found
	}
	shown := newStoredMessage(*message)
	return &shown
}

// sendContent is handleSend for content that needs no file; content makes it of the body.
func sendContent[T any](s sending, op contract.Operation, content func(body T) (gateway.Content, error)) contract.Endpoint {
	return handleSend(s, op, func(ctx context.Context, request messaging.Request, body T) (messaging.Result, error) {
		made, err := content(body)
		if err != nil {
			return messaging.Result{}, err
		}
		return s.use.Send(ctx, request, made)
	})
}

func (s sending) text() contract.Endpoint {
	return handleSend(s, contract.Operation{
		ID: "sendText", Summary: "Send a text",
	}, func(ctx context.Context, request messaging.Request, b textBody) (messaging.Result, error) {
		request.Preview = b.LinkPreview != nil && *b.LinkPreview
		menu, err := b.menu()
		if err != nil {
			return messaging.Result{}, err
		}
		return s.use.Send(ctx, request, gateway.Content{Type: gateway.TypeText, Text: b.Message, Menu: menu})
	})
}

type forwardBody struct {
	Addressee

	MessageID string `json:"messageId" minLength:"1" doc:"Message to forward: its platform identifier, the composite form, or the id of a send result." example:"3EB0C431C26A1916E07A"`

	Outgoing
}

func (s sending) forward() contract.Endpoint {
	return handleSend(s, contract.Operation{
		ID: "forwardMessage", Summary: "Forward a message",
		Description: "Sends the content of a message of this instance to somebody else, marked as forwarded. ",
		Codes:       []string{gateway.CodeMessageNotFound},
	}, func(ctx context.Context, request messaging.Request, b forwardBody) (messaging.Result, error) {
		return s.use.Forward(ctx, request, messageRef(b.MessageID))
	})
}

// requestOf reads what the parts of a body and the headers say of a message.
func requestOf[T any](ctx context.Context, in *sendInput[T]) (messaging.Request, error) {
	request := messaging.Request{InstanceID: contract.Instance(ctx).ID, Later: in.later()}
	for _, part := range partsOf(in.Given()) {
		if err := part.addTo(&request); err != nil {
			return request, err
		}
	}
	if in.IdempotencyKey != "" {
		hash := contract.Fingerprint(ctx, in.Given())
		if request.Later { // to be answered at once is another request
			hash = append(hash, respondAsync...)
		}
		request.Repeat = &messaging.Repeat{KeyID: contract.Key(ctx).ID, Key: in.IdempotencyKey, Hash: hash}
	}
	return request, nil
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
