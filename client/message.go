package client

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// Sent names a message that the platform has acknowledged, or that was left in the queue.
type Sent struct {
	ID        string `json:"id"`        // the gateway's own UUID
	MessageID string `json:"messageId"` // the platform's identifier
	// Replayed says that an earlier request with the same IdempotencyKey was
	// accepted: this is its message, and no second one was sent.
	Replayed bool `json:"-"`
	// Queued says that the message was left in the queue.
	Queued bool `json:"-"`
}

// Text is a text message to send.
type Text struct {
	To             string `json:"to"`
	Message        string `json:"message"`
	QuoteMessageID string `json:"quoteMessageId,omitempty"`
	// Mentions are people whom the text mentions, in any form of a recipient: write "@" and
	// the same number into the text. MentionEveryone mentions all members of a group.
	Mentions        []string `json:"mentions,omitempty"`
	MentionEveryone bool     `json:"mentionEveryone,omitempty"`
	// LinkPreview has phones show the page behind the first link, which the gateway fetches.
	LinkPreview bool `json:"linkPreview,omitempty"`
	// Later leaves the message in the instance's queue: the call returns as soon as the
	// message is kept. SendAt leaves it there until that time, unless it is zero.
	Later  bool      `json:"-"`
	SendAt time.Time `json:"sendAt,omitzero"`
	// IdempotencyKey, if set, makes it safe to repeat the request: the gateway
	// sends once and returns the same answer.
	IdempotencyKey string `json:"-"`
}

// Location is a place to send.
type Location struct {
	To             string    `json:"to"`
	Latitude       float64   `json:"latitude"`  // degrees north
	Longitude      float64   `json:"longitude"` // degrees east
	Name           string    `json:"name,omitempty"`
	Address        string    `json:"address,omitempty"`
	SendAt         time.Time `json:"sendAt,omitzero"` // as in Text
	Later          bool      `json:"-"`               // as in Text
	IdempotencyKey string    `json:"-"`               // as in Text
}

// Contact is a contact card to send.
type Contact struct {
	To             string    `json:"to"`
	Contact        Card      `json:"contact,omitzero"`
	Contacts       []Card    `json:"contacts,omitempty"` // several in one message, in place of Contact: 2 to 30
	SendAt         time.Time `json:"sendAt,omitzero"`    // as in Text
	Later          bool      `json:"-"`                  // as in Text
	IdempotencyKey string    `json:"-"`                  // as in Text
}

// Poll is a poll to send.
type Poll struct {
	To       string   `json:"to"`
	Question string   `json:"question"`
	Options  []string `json:"options"` // 2 to 12 different texts of at most 100 characters
	// MaxAnswers is how many options somebody may choose; 0: any number, nil: one.
	MaxAnswers     *int      `json:"maxAnswers,omitempty"`
	QuoteMessageID string    `json:"quoteMessageId,omitempty"`
	SendAt         time.Time `json:"sendAt,omitzero"` // as in Text
	Later          bool      `json:"-"`               // as in Text
	IdempotencyKey string    `json:"-"`               // as in Text
}

// Votes is how a poll stands.
type Votes struct {
	ID         string        `json:"id"`
	MessageID  string        `json:"messageId"`
	Question   string        `json:"question"`
	MaxAnswers int           `json:"maxAnswers"` // how many options somebody may choose; 0: any number
	Voters     int           `json:"voters"`     // how many people have a vote in it
	Options    []OptionVotes `json:"options"`    // in the poll's order
}

// OptionVotes is an option of a poll with its votes.
type OptionVotes struct {
	Option string   `json:"option"`
	Votes  int      `json:"votes"`
	Voters []Person `json:"voters"` // the first to vote first
}

// Card is the content of a contact card.
type Card struct {
	FullName     string `json:"fullName"`
	PhoneNumber  string `json:"phoneNumber"` // with country code
	Organization string `json:"organization,omitempty"`
}

// Forward is a message to send on to somebody else.
type Forward struct {
	To             string    `json:"to"`
	MessageID      string    `json:"messageId"`
	SendAt         time.Time `json:"sendAt,omitzero"` // as in Text
	Later          bool      `json:"-"`               // as in Text
	IdempotencyKey string    `json:"-"`               // as in Text
}

// MediaLink is a temporary link to the file of a message.
type MediaLink struct {
	URL       string `json:"url"`          // it needs no API key
	ExpiresIn int    `json:"urlExpiresIn"` // seconds
	FileName  string `json:"fileName"`
}

// SendText sends a text. Like all methods that send, it returns when the platform has
// acknowledged the message, or when the message is kept in the queue.
func (c *Client) SendText(ctx context.Context, instanceID string, text Text) (Sent, error) {
	return c.send(ctx, instanceID, "/text", text.IdempotencyKey, text.Later, text)
}

// SendLocation sends a place.
func (c *Client) SendLocation(ctx context.Context, instanceID string, location Location) (Sent, error) {
	return c.send(ctx, instanceID, "/location", location.IdempotencyKey, location.Later, location)
}

// SendContact sends a contact card.
func (c *Client) SendContact(ctx context.Context, instanceID string, contact Contact) (Sent, error) {
	return c.send(ctx, instanceID, "/contact", contact.IdempotencyKey, contact.Later, contact)
}

// SendPoll sends a poll.
func (c *Client) SendPoll(ctx context.Context, instanceID string, poll Poll) (Sent, error) {
	return c.send(ctx, instanceID, "/poll", poll.IdempotencyKey, poll.Later, poll)
}

// Votes returns how a poll stands. The message may be named by any of its identifiers.
func (c *Client) Votes(ctx context.Context, instanceID, messageID string) (Votes, error) {
	var out Votes
	err := c.call(ctx, http.MethodGet, messagePath(instanceID, "/"+url.PathEscape(messageID)+"/votes"), nil, &out)
	return out, err
}

// Forward sends the content of a message of the instance to somebody else, marked as
// forwarded.
func (c *Client) Forward(ctx context.Context, instanceID string, forward Forward) (Sent, error) {
	return c.send(ctx, instanceID, "/forward", forward.IdempotencyKey, forward.Later, forward)
}

// Edit replaces the text of a text message that the instance sent.
func (c *Client) Edit(ctx context.Context, instanceID, messageID, message string) (Sent, error) {
	var out Sent
	in := map[string]string{"messageId": messageID, "message": message}
	err := c.callPatiently(ctx, http.MethodPost, messagePath(instanceID, "/edit"), in, &out)
	return out, err
}

// MarkRead shows the sender of a message that it was read.
func (c *Client) MarkRead(ctx context.Context, instanceID, messageID string) error {
	in := map[string]string{"messageId": messageID}
	return c.call(ctx, http.MethodPost, messagePath(instanceID, "/read"), in, nil)
}

// Delete deletes, for everybody, a message that the instance sent.
func (c *Client) Delete(ctx context.Context, instanceID, messageID string) error {
	in := map[string]string{"messageId": messageID}
	return c.callPatiently(ctx, http.MethodDelete, messagePath(instanceID, "/delete"), in, nil)
}

// React adds one emoji to a message, replacing an earlier one from the instance. An
// empty reaction removes it.
func (c *Client) React(ctx context.Context, instanceID, messageID, reaction string) error {
	in := map[string]string{"messageId": messageID, "reaction": reaction}
	return c.callPatiently(ctx, http.MethodPost, messagePath(instanceID, "/reaction"), in, nil)
}

// Pin pins a message in its chat, for everybody in it: for 24 hours, 7 days or 30 days.
func (c *Client) Pin(ctx context.Context, instanceID, messageID string, lasts time.Duration) error {
	in := map[string]int64{"durationSeconds": int64(lasts / time.Second)}
	return c.callPatiently(ctx, http.MethodPost, messagePath(instanceID, "/"+url.PathEscape(messageID)+"/pin"), in, nil)
}

// Unpin unpins a message for everybody in its chat.
func (c *Client) Unpin(ctx context.Context, instanceID, messageID string) error {
	return c.callPatiently(ctx, http.MethodDelete, messagePath(instanceID, "/"+url.PathEscape(messageID)+"/pin"), nil, nil)
}

// Star stars a message on all devices of the account; nobody else sees it.
func (c *Client) Star(ctx context.Context, instanceID, messageID string) error {
	return c.callPatiently(ctx, http.MethodPost, messagePath(instanceID, "/"+url.PathEscape(messageID)+"/star"), nil, nil)
}

// Unstar takes the star of a message away.
func (c *Client) Unstar(ctx context.Context, instanceID, messageID string) error {
	return c.callPatiently(ctx, http.MethodDelete, messagePath(instanceID, "/"+url.PathEscape(messageID)+"/star"), nil, nil)
}

// DeleteForMe deletes a message from the account's own devices, and its content and file on the
// gateway. The others in the chat keep it.
func (c *Client) DeleteForMe(ctx context.Context, instanceID, messageID string) error {
	return c.callPatiently(ctx, http.MethodDelete, messagePath(instanceID, "/"+url.PathEscape(messageID)+"/for-me"), nil, nil)
}

// MediaDownloadLink returns a link to the file of a sent or received message.
func (c *Client) MediaDownloadLink(ctx context.Context, instanceID, messageID string) (MediaLink, error) {
	var out MediaLink
	path := messagePath(instanceID, "/media-download-link/"+url.PathEscape(messageID))
	err := c.callPatiently(ctx, http.MethodGet, path, nil, &out)
	return out, err
}

func (c *Client) send(ctx context.Context, instanceID, kind, idempotencyKey string, later bool, in any) (Sent, error) {
	return c.sendFile(ctx, instanceID, kind, idempotencyKey, later, in, nil)
}

// sendFile is send with a file; nil for none.
func (c *Client) sendFile(ctx context.Context, instanceID, kind, idempotencyKey string, later bool, in any, file *File) (Sent, error) {
	var out Sent
	answer, err := c.answerOfSend(ctx, instanceID, kind, idempotencyKey, later, in, file, &out)
	if err != nil {
		return Sent{}, err
	}
	answer.mark(&out)
	return out, nil
}

// answerOfSend sends, and decodes what the gateway answers.
func (c *Client) answerOfSend(ctx context.Context, instanceID, kind, idempotencyKey string, later bool, in any, file *File, out any) (sentHow, error) {
	header := http.Header{}
	if later {
		header.Set("Prefer", "respond-async")
	}
	if idempotencyKey != "" {
		header.Set("Idempotency-Key", idempotencyKey)
	}
	answer, err := c.do(ctx, request{
		method: http.MethodPost, path: messagePath(instanceID, kind), header: header, in: in, file: file, timeout: c.sendTimeout,
	}, out)
	if err != nil {
		return sentHow{}, err
	}
	return sentHow{answer.header.Get("Idempotency-Replayed") == "true", answer.status == http.StatusAccepted}, nil
}

// sentHow is what an answer says beside its body.
type sentHow struct{ replayed, queued bool }

func (h sentHow) mark(sent *Sent) { sent.Replayed, sent.Queued = h.replayed, h.queued }

func messagePath(instanceID, rest string) string {
	return "/api/message/" + url.PathEscape(instanceID) + rest
}

// CalendarEvent is a calendar event to send.
type CalendarEvent struct {
	To                 string         `json:"to"`
	Name               string         `json:"name"`
	Start              time.Time      `json:"start"`
	End                time.Time      `json:"end,omitzero"` // zero: it is open
	Description        string         `json:"description,omitempty"`
	Location           *EventLocation `json:"location,omitempty"`
	JoinLink           string         `json:"joinLink,omitempty"`           // of its call or meeting
	ExtraGuestsAllowed bool           `json:"extraGuestsAllowed,omitempty"` // people may bring others
	QuoteMessageID     string         `json:"quoteMessageId,omitempty"`
	SendAt             time.Time      `json:"sendAt,omitzero"` // as in Text
	Later              bool           `json:"-"`               // as in Text
	IdempotencyKey     string         `json:"-"`               // as in Text
}

// EventLocation is where a calendar event takes place.
type EventLocation struct {
	Name    string `json:"name"`
	Address string `json:"address,omitempty"`
	// Latitude and Longitude are in degrees; nil where the place is not on the map.
	Latitude  *float64 `json:"latitude,omitempty"`
	Longitude *float64 `json:"longitude,omitempty"`
}

// SendEvent sends a calendar event. Who comes is told by TypeMessageEventResponse.
func (c *Client) SendEvent(ctx context.Context, instanceID string, event CalendarEvent) (Sent, error) {
	return c.send(ctx, instanceID, "/event", event.IdempotencyKey, event.Later, event)
}

// CancelEvent cancels a calendar event that the instance sent, for everybody who has it.
func (c *Client) CancelEvent(ctx context.Context, instanceID, messageID string) error {
	return c.call(ctx, http.MethodPost, messagePath(instanceID, "/"+url.PathEscape(messageID)+"/cancel"), nil, nil)
}
