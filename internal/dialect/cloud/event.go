// What is posted to webhooks.

package cloud

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

// The names of the formats of webhooks.
const (
	FormatName           = "cloud"
	FormatNameByInstance = "cloud-by-instance"
)

// Formats are the formats by the names that webhooks have for them.
func Formats() map[string]Format {
	return map[string]Format{FormatName: {}, FormatNameByInstance: {ByInstance: true}}
}

// Format is the language of Meta's webhooks: a message or a status in each request, because clients read the
// first alone. Groups, channels and status posts are left out: clients would take what is written
// there for a message to the account. Its zero value is ready for use.
type Format struct {
	// ByInstance names the account by the UUID of its instance, in place of its number.
	ByInstance bool
}

// TakesFiles reports that deliveries have links to files alone.
func (Format) TakesFiles() bool { return false }

// Signs reports that deliveries are signed with the app secret.
func (Format) Signs() bool { return true }

// SetHeaders adds the signature of a body with a secret.
func (Format) SetHeaders(header http.Header, _ time.Time, secret string, body []byte) {
	if secret == "" {
		return
	}
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = mac.Write(body) // it never fails
	header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
}

// Refuses reports whether an endpoint does not know the kind of event: Typebot answers so to messages of a type
// that it has not heard of.
func (Format) Refuses(status int) bool { return status == http.StatusBadRequest }

// The fields of a business account that webhooks report.
const (
	fieldMessages = "messages"
	fieldEchoes   = "smb_message_echoes"
)

// delivered is the body of a delivery.
type delivered struct {
	Object string  `json:"object"`
	Entry  []entry `json:"entry"`
}

type entry struct {
	ID      string        `json:"id"`
	Changes []fieldChange `json:"changes"`
}

type fieldChange struct {
	Value changeValue `json:"value"`
	Field string      `json:"field"`
}

type changeValue struct {
	Product  string     `json:"messaging_product"`
	Metadata metadata   `json:"metadata"`
	Contacts []writer   `json:"contacts,omitempty"`
	Messages []incoming `json:"messages,omitempty"`
	Statuses []status   `json:"statuses,omitempty"`
	Echoes   []incoming `json:"message_echoes,omitempty"`
}

type metadata struct {
	Display string `json:"display_phone_number"`
	ID      string `json:"phone_number_id"`
}

// Body returns what is posted for an event; nothing is added to the path. link leads to the file of the
// event's message, if it is not empty.
func (f Format) Body(of gateway.Instance, event eventlog.Event, link string, _ []byte) (path string, body []byte, ok bool) {
	data, err := client.Event{Type: string(event.Kind), Data: event.Data}.Decode()
	if err != nil {
		return "", nil, false
	}
	field := fieldMessages
	var value changeValue
	switch data := data.(type) {
	case client.MessageReceivedEvent:
		value, ok = received(of, data, link)
	case client.MessageSentEvent:
		if data.Source == client.SourceAPI {
			value, ok = changedStatus(client.MessageStatusEvent{
				MessageID: data.MessageID, Chat: data.Chat, Status: client.StatusSent, Timestamp: data.Timestamp, ClientData: data.ClientData,
			})
			break
		}
		field = fieldEchoes
		value, ok = echoed(of, data, link)
	case client.MessageStatusEvent:
		// A receipt may overtake the platform's acknowledgement, and then there is no such status: that it is
		// sent is said by the event of the message, which always comes, and comes first.
		if data.Status != client.StatusSent {
			value, ok = changedStatus(data)
		}
	case client.MessagePollVoteEvent:
		value, ok = voted(of, event, data)
	case client.MessageReactionEvent:
		value, ok = reacted(of, event, data)
	case client.MessageEditedEvent:
		value, ok = edited(of, event, data)
	default:
	}
	if !ok {
		return "", nil, false
	}
	id := of.Profile.JID.User()
	if id == "" || f.ByInstance {
		id = of.ID // it may have been unlinked meanwhile
	}
	value.Product, value.Metadata = product, metadata{Display: of.Profile.JID.User(), ID: id}
	body, err = json.Marshal(delivered{Object: "whatsapp_business_account", Entry: []entry{{
		ID: id, Changes: []fieldChange{{Value: value, Field: field}},
	}}})
	return "", body, err == nil
}

// writer is who has written a message.
type writer struct {
	Profile writerProfile `json:"profile"`
	Number  string        `json:"wa_id,omitempty"`
	UserID  string        `json:"user_id,omitempty"`
}

type writerProfile struct {
	Name     string `json:"name"`
	Username string `json:"username,omitempty"`
}

// newWriter makes the writer of a message. ok is false for nobody, and for somebody without an address.
func newWriter(person *client.Person) (made writer, ok bool) {
	if person == nil {
		return made, false
	}
	made.Number, made.UserID = numberOf(person.JID), userIDOf(person.LID)
	switch {
	case person.Name != nil && *person.Name != "":
		made.Profile.Name = *person.Name
	case made.Number != "":
		made.Profile.Name = made.Number
	default:
		made.Profile.Name = made.UserID
	}
	return made, made.Number != "" || made.UserID != ""
}

// numberOf is the number in an address; empty if there is none.
func numberOf(jid *string) string {
	if jid == nil || !gateway.JID(*jid).IsPersonal() {
		return ""
	}
	return gateway.JID(*jid).User()
}

// userIDOf is the ID of somebody with a LID; empty if there is none.
func userIDOf(lid *string) string {
	if lid == nil || !gateway.JID(*lid).IsLID() {
		return ""
	}
	return userID(gateway.JID(*lid))
}

// isDirect reports whether a chat is with one person.
func isDirect(chat client.Chat) bool {
	jid := gateway.JID(chat.Chat)
	return jid.IsPersonal() || jid.IsLID()
}

// peer are the addresses of a chat with one person.
func peer(chat client.Chat) (number, id string) {
	number, id = numberOf(&chat.Chat), userIDOf(chat.ChatLID)
	if id == "" {
		id = userIDOf(&chat.Chat)
	}
	return number, id
}

// isOwn reports whether a person is the account itself.
func isOwn(of gateway.Instance, person *client.Person) bool {
	return person != nil && (person.JID != nil && gateway.JID(*person.JID) == of.Profile.JID || person.LID != nil && gateway.JID(*person.LID) == of.Profile.LID)
}

// seconds is a time as webhooks write it: as a text.
func seconds(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }

// received is a message from somebody else.
func received(of gateway.Instance, event client.MessageReceivedEvent, link string) (value changeValue, ok bool) {
	from, known := newWriter(event.From)
	if !known || !isDirect(event.Chat) || event.FromMe {
		return value, false
	}
	if event.SenderUsername != nil {
		from.Profile.Username = *event.SenderUsername
	}
	message := newIncoming(of.ID, event.Message, link)
	message.From, message.FromUserID = from.Number, from.UserID
	return changeValue{Contacts: []writer{from}, Messages: []incoming{message}}, message.Type != ""
}

// echoed is a message that was written on the phone. What was sent through the API is known to whoever
// sent it.
func echoed(of gateway.Instance, event client.MessageSentEvent, link string) (value changeValue, ok bool) {
	if event.Source != client.SourceDevice || !isDirect(event.Chat) {
		return value, false
	}
	message := newIncoming(of.ID, event.Message, link)
	message.From = of.Profile.JID.User()
	message.To, message.ToUserID = peer(event.Chat)
	return changeValue{Echoes: []incoming{message}}, message.Type != ""
}

// status is how far a message has come.
type status struct {
	ID              string        `json:"id"`
	Status          string        `json:"status"`
	Timestamp       string        `json:"timestamp"`
	Recipient       string        `json:"recipient_id,omitempty"`
	RecipientUserID string        `json:"recipient_user_id,omitempty"`
	Conversation    *conversation `json:"conversation,omitempty"`
	Pricing         *pricing      `json:"pricing,omitempty"`
	Errors          []problem     `json:"errors,omitempty"`
	Data            string        `json:"biz_opaque_callback_data,omitempty"`
}

type conversation struct {
	ID     string `json:"id"`
	Origin origin `json:"origin"`
}

type origin struct {
	Type string `json:"type"`
}

type pricing struct {
	Billable bool   `json:"billable"`
	Model    string `json:"pricing_model"`
	Category string `json:"category"`
}

// problem is an error in a webhook.
type problem struct {
	Code    int       `json:"code"`
	Title   string    `json:"title"`
	Message string    `json:"message"`
	Data    errorData `json:"error_data"`
}

func newProblem(code int, title, details string) []problem {
	return []problem{{Code: code, Title: title, Message: title, Data: errorData{Details: details}}}
}

// changedStatus is how far a message of the account has come.
func changedStatus(event client.MessageStatusEvent) (value changeValue, ok bool) {
	if !isDirect(event.Chat) {
		return value, false
	}
	made := status{ID: event.MessageID, Status: event.Status, Timestamp: seconds(event.Timestamp), Data: event.ClientData}
	made.Recipient, made.RecipientUserID = peer(event.Chat)
	switch event.Status {
	case client.StatusSent, client.StatusDelivered, client.StatusRead:
		made.bill()
	case client.StatusPlayed: // clients do not know it
		made.Status = client.StatusRead
		made.bill()
	case client.StatusFailed:
		made.Errors = newProblem(numberSomething, "Something went wrong", "The platform does not say why.")
		if event.Failure != nil {
			means := meaningOf(event.Failure.Code, http.StatusInternalServerError)
			made.Errors = newProblem(means.number, means.title, event.Failure.Message)
		}
	default:
		return value, false
	}
	return changeValue{Statuses: []status{made}}, true
}

// bill says that it costs nothing.
func (s *status) bill() {
	id := s.Recipient
	if id == "" {
		id = s.RecipientUserID
	}
	s.Conversation = &conversation{ID: id, Origin: origin{"service"}}
	s.Pricing = &pricing{Model: "PMP", Category: "service"}
}

// voted is a vote that answers buttons or a list: a message, which gets the identifier of the event. Other votes are
// nothing for a client.
func voted(of gateway.Instance, event eventlog.Event, data client.MessagePollVoteEvent) (value changeValue, ok bool) {
	from, known := newWriter(data.From)
	if data.Selection == nil || !known || !isDirect(data.Chat) {
		return value, false
	}
	return changeValue{Contacts: []writer{from}, Messages: []incoming{{
		From: from.Number, FromUserID: from.UserID, ID: event.ID, Timestamp: seconds(event.At), Type: typeInteractive,
		Context: &answered{From: of.Profile.JID.User(), ID: data.MessageID}, Interactive: newChosen(*data.Selection),
	}}}, true
}

// reacted is a reaction of somebody else, which has no identifier of its own: it gets that of the event.
func reacted(of gateway.Instance, event eventlog.Event, data client.MessageReactionEvent) (value changeValue, ok bool) {
	from, known := newWriter(data.From)
	if !known || !isDirect(data.Chat) || isOwn(of, data.From) {
		return value, false
	}
	return changeValue{Contacts: []writer{from}, Messages: []incoming{{
		From: from.Number, FromUserID: from.UserID, ID: event.ID, Timestamp: seconds(event.At), Type: typeReaction,
		Reaction: &incomingReaction{MessageID: data.MessageID, Emoji: data.Reaction},
	}}}, true
}

// editMark stands before the text of a message that was edited: clients know no edits, and get it again.
const editMark = "✏️ "

// edited is a message of somebody else that was edited: a new one, which answers the old one.
func edited(of gateway.Instance, event eventlog.Event, data client.MessageEditedEvent) (value changeValue, ok bool) {
	from, known := newWriter(data.From)
	if !known || !isDirect(data.Chat) || isOwn(of, data.From) || data.Text == "" {
		return value, false
	}
	return changeValue{Contacts: []writer{from}, Messages: []incoming{{
		From: from.Number, FromUserID: from.UserID, ID: event.ID, Timestamp: seconds(event.At), Type: typeText,
		Context: &answered{From: from.Number, ID: data.MessageID}, Text: &incomingText{editMark + data.Text},
	}}}, true
}
