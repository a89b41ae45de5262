// Messages that are sent, and marks that one was read.

package cloud

import (
	"errors"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/dialect"
	"github.com/recado-project/recado/internal/gateway"
)

// loose is a text that some clients write as a number.
type loose = dialect.Loose

// outgoing is the body of a request to messages: a message, or a mark that one was read.
type outgoing struct {
	To            loose  `json:"to"`
	Recipient     loose  `json:"recipient"` // somebody's ID where the number is not known
	RecipientType string `json:"recipient_type"`
	Type          string `json:"type"`

	Context  *repliedTo `json:"context"`
	Text     *text      `json:"text"`
	Image    *file      `json:"image"`
	Video    *file      `json:"video"`
	Audio    *file      `json:"audio"`
	Document *file      `json:"document"`
	Sticker  *file      `json:"sticker"`
	Reaction *reaction  `json:"reaction"`
	Location *place     `json:"location"`
	Contacts []card     `json:"contacts"`
	// Interactive has buttons, a list or a link.
	Interactive *interactive  `json:"interactive"`
	Template    *usedTemplate `json:"template"`
	// Data comes back in the statuses of the message.
	Data loose `json:"biz_opaque_callback_data"`

	Status    string    `json:"status"`
	MessageID string    `json:"message_id"`
	Typing    *struct{} `json:"typing_indicator"`
}

type repliedTo struct {
	MessageID string `json:"message_id"`
}

// quoted is the message that this one answers; empty for none.
func (o *outgoing) quoted() string {
	if o.Context == nil {
		return ""
	}
	return o.Context.MessageID
}

// sentMessage is the answer to a message.
type sentMessage struct {
	Product  string        `json:"messaging_product"`
	Contacts []sentTo      `json:"contacts"`
	Messages []sentContent `json:"messages"`
}

type sentTo struct {
	Input  string `json:"input"`
	Number string `json:"wa_id,omitempty"`
	UserID string `json:"user_id,omitempty"`
}

type sentContent struct {
	ID     string `json:"id"`
	Status string `json:"message_status,omitempty"` // of a template
}

// maxData is how long biz_opaque_callback_data may be, in characters.
const maxData = 512

// postMessage sends a message, or marks one as read.
func postMessage(c *call) (any, error) {
	var out outgoing
	if err := c.decode(&out); err != nil {
		return nil, err
	}
	if out.Status != "" {
		return c.markRead(&out)
	}
	to, err := out.recipient()
	if err != nil {
		return nil, err
	}
	if out.Type == "" {
		out.Type = typeText
	}
	send, known := senders()[out.Type]
	if !known {
		return nil, notHere(numberUnsupported, "Messages of the type "+shortened(out.Type)+" can't be sent through this gateway.")
	}
	if utf8.RuneCountInString(string(out.Data)) > maxData {
		return nil, invalid("biz_opaque_callback_data must have 512 characters or less")
	}
	sent, err := send(c, &out, to)
	if err != nil {
		return nil, err
	}
	input := string(out.To)
	if input == "" {
		input = string(out.Recipient)
	}
	content := sentContent{ID: sent.MessageID}
	if out.Type == typeTemplate {
		content.Status = "accepted"
	}
	return sentMessage{Product: product, Contacts: []sentTo{newSentTo(sent, input, to)}, Messages: []sentContent{content}}, nil
}

// newSentTo says whom a message went to: under the platform's own form of the number, if that is known.
func newSentTo(sent client.Sent, input, to string) sentTo {
	chat := gateway.JID(to)
	if sent.Message.ID != "" {
		chat = gateway.JID(sent.Message.Chat.Chat)
	}
	switch {
	case chat.IsLID():
		return sentTo{Input: input, UserID: userID(chat)}
	case strings.Contains(string(chat), "@"):
		return sentTo{Input: input, Number: chat.User()}
	default:
		return sentTo{Input: input, Number: digits(to)}
	}
}

// markRead marks a message as read, and may show that an answer is being written.
func (c *call) markRead(out *outgoing) (any, error) {
	if out.Status != "read" {
		return nil, invalid("status can only be read")
	}
	if out.MessageID == "" {
		return nil, missing("message_id")
	}
	if _, err := c.api.MarkRead(c.http.Context(), c.instance.InstanceID, client.MarkRead{MessageID: out.MessageID}); err != nil {
		return nil, err
	}
	if out.Typing == nil {
		return success{true}, nil
	}
	read, err := c.api.GetMessage(c.http.Context(), c.instance.InstanceID, out.MessageID)
	if err != nil {
		return nil, err
	}
	err = c.api.SendPresence(c.http.Context(), c.instance.InstanceID, client.Presence{To: read.Chat.Chat, Presence: client.PresenceComposing})
	return success{true}, err
}

// userIDs are Meta's IDs of people whose numbers are not known. Ours have lidCountry in place of
// the country, and the digits of the LID.
var userIDs = regexp.MustCompile(`^[A-Z]{2}\.(?:ENT\.)?[a-zA-Z0-9]+$`)

const lidCountry = "LI."

// userID is the ID of a person with a LID.
func userID(lid gateway.JID) string { return lidCountry + lid.User() }

// recipient is whom a message goes to, as the API takes it.
func (o *outgoing) recipient() (string, error) {
	given := strings.TrimSpace(string(o.Recipient))
	if given == "" {
		given = strings.TrimSpace(string(o.To))
	}
	switch lid, ours := strings.CutPrefix(given, lidCountry); {
	case given == "":
		return "", missing("to")
	case ours && digits(lid) == lid:
		return lid + "@" + gateway.LIDSuffix, nil
	case userIDs.MatchString(given):
		return "", &graphError{status: 400, code: numberUndeliverable, title: "Message undeliverable", details: "The user ID " + shortened(given) + " is not one that this gateway has told: those begin with " + lidCountry}
	case o.RecipientType == "group" && !strings.Contains(given, "@"):
		return given + "@" + gateway.GroupSuffix, nil
	default:
		return given, nil
	}
}

// digits are those of a text.
func digits(of string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, of)
}

// ofFile makes the refusal of a file, as a refusal of the message would blame the wrong thing.
func ofFile(err error, field string) error {
	refused, ok := errors.AsType[*client.Error](err)
	if !ok || refused.Code != client.CodeValidationError {
		return err
	}
	for _, detail := range refused.Details {
		if detail.Field == field {
			return &graphError{status: 400, code: numberMediaUpload, title: "Media upload error", details: refused.Message + " " + detail.Message}
		}
	}
	return err
}
