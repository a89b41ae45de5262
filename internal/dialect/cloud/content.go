// What messages hold, type by type.

package cloud

import (
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
)

// product is in every answer of Meta's that is about messages.
const product = "whatsapp"

// The types of messages that are spoken of more than once.
const (
	typeText     = "text"
	typeImage    = "image"
	typeVideo    = "video"
	typeAudio    = "audio"
	typeDocument = "document"
	typeSticker  = "sticker"
	typeReaction = "reaction"
	typeLocation = "location"
	typeContacts = "contacts"

	typeInteractive = "interactive"
	typeTemplate    = "template"
)

// sender sends a message, and returns it.
type sender func(c *call, out *outgoing, to string) (client.Sent, error)

// senders are those of all types.
func senders() map[string]sender {
	return map[string]sender{
		typeText:     sendText,
		typeImage:    sendImage,
		typeVideo:    sendVideo,
		typeAudio:    sendAudio,
		typeDocument: sendDocument,
		typeSticker:  sendSticker,
		typeReaction: sendReaction,
		typeLocation: sendLocation,
		typeContacts: sendContacts,

		typeInteractive: sendInteractive,
		typeTemplate:    sendTemplate,
	}
}

type text struct {
	Body    string `json:"body"`
	Preview bool   `json:"preview_url"`
}

func sendText(c *call, out *outgoing, to string) (client.Sent, error) {
	if out.Text == nil || out.Text.Body == "" {
		return client.Sent{}, missing("text.body")
	}
	return c.sendText(out, to, out.Text.Body, out.Text.Preview)
}

func (c *call) sendText(out *outgoing, to, body string, preview bool) (client.Sent, error) {
	sent, err := c.api.SendText(c.http.Context(), c.instance.InstanceID, client.Text{
		To: to, Message: body, LinkPreview: preview, QuoteMessageID: out.quoted(), ClientData: string(out.Data),
	})
	return sent, err
}

// file is a file that is sent: behind a link, or uploaded before.
type file struct {
	Link     string `json:"link"`
	ID       loose  `json:"id"`
	Caption  string `json:"caption"`
	FileName string `json:"filename"`
	Voice    bool   `json:"voice"`
}

// link is where the file is, as the API takes it. of is the type of the message.
func (f *file) link(of string) (string, error) {
	switch {
	case f != nil && f.Link != "":
		return f.Link, nil
	case f != nil && isUploadID(string(f.ID)):
		return "upload:" + string(f.ID), nil
	case f != nil && f.ID != "":
		return "", &graphError{
			status: http.StatusBadRequest, code: numberMediaUpload, title: "Media upload error",
			details: "The field " + of + ".id is not the ID of an upload. The file of a message is sent by its link.",
		}
	default:
		return "", missing(of + ".link or " + of + ".id")
	}
}

func sendImage(c *call, out *outgoing, to string) (client.Sent, error) {
	link, err := out.Image.link(typeImage)
	if err != nil {
		return client.Sent{}, err
	}
	sent, err := c.api.SendImage(c.http.Context(), c.instance.InstanceID, client.Image{
		To: to, Image: link, Caption: out.Image.Caption, QuoteMessageID: out.quoted(), ClientData: string(out.Data),
	})
	return sent, ofFile(err, typeImage)
}

func sendVideo(c *call, out *outgoing, to string) (client.Sent, error) {
	link, err := out.Video.link(typeVideo)
	if err != nil {
		return client.Sent{}, err
	}
	sent, err := c.api.SendVideo(c.http.Context(), c.instance.InstanceID, client.Video{
		To: to, Video: link, Caption: out.Video.Caption, QuoteMessageID: out.quoted(), ClientData: string(out.Data),
	})
	return sent, ofFile(err, typeVideo)
}

// sendAudio sends a voice note if the client asks for one, or if the file looks like one by its name: older
// clients can't ask. What turns out not to be one is sent as a file, unless it was asked for.
func sendAudio(c *call, out *outgoing, to string) (client.Sent, error) {
	link, err := out.Audio.link(typeAudio)
	if err != nil {
		return client.Sent{}, err
	}
	if out.Audio.Voice || c.looksLikeVoice(link) {
		sent, err := c.api.SendVoiceNote(c.http.Context(), c.instance.InstanceID, client.VoiceNote{To: to, Audio: link, QuoteMessageID: out.quoted(), ClientData: string(out.Data)})
		if out.Audio.Voice || !client.IsCode(err, client.CodeValidationError) {
			return sent, ofFile(err, typeAudio)
		}
	}
	sent, err := c.api.SendAudioFile(c.http.Context(), c.instance.InstanceID, client.AudioFile{To: to, Audio: link, QuoteMessageID: out.quoted(), ClientData: string(out.Data)})
	return sent, ofFile(err, typeAudio)
}

// looksLikeVoice reports whether a link has the name of an OGG with Opus, or an upload is an OGG.
func (c *call) looksLikeVoice(link string) bool {
	if id, is := gateway.UploadID(link); is {
		found, err := c.api.GetUpload(c.http.Context(), id)
		return err == nil && strings.HasPrefix(found.MimeType, "audio/ogg") // the send says what is wrong
	}
	parsed, err := url.Parse(link)
	if err != nil {
		return false
	}
	switch strings.ToLower(path.Ext(parsed.Path)) {
	case ".ogg", ".oga", ".opus":
		return true
	default:
		return false
	}
}

func sendDocument(c *call, out *outgoing, to string) (client.Sent, error) {
	link, err := out.Document.link(typeDocument)
	if err != nil {
		return client.Sent{}, err
	}
	sent, err := c.api.SendDocument(c.http.Context(), c.instance.InstanceID, client.Document{
		To: to, Document: link, Caption: out.Document.Caption, FileName: out.Document.FileName, QuoteMessageID: out.quoted(), ClientData: string(out.Data),
	})
	return sent, ofFile(err, typeDocument)
}

func sendSticker(c *call, out *outgoing, to string) (client.Sent, error) {
	link, err := out.Sticker.link(typeSticker)
	if err != nil {
		return client.Sent{}, err
	}
	sent, err := c.api.SendSticker(c.http.Context(), c.instance.InstanceID, client.Sticker{To: to, Sticker: link, QuoteMessageID: out.quoted(), ClientData: string(out.Data)})
	return sent, ofFile(err, typeSticker)
}

type reaction struct {
	MessageID string `json:"message_id"`
	Emoji     string `json:"emoji"`
}

// sendReaction reacts to a message. A reaction has no identifier in the API: the answer has that of the message.
func sendReaction(c *call, out *outgoing, _ string) (client.Sent, error) {
	if out.Reaction == nil || out.Reaction.MessageID == "" {
		return client.Sent{}, missing("reaction.message_id")
	}
	sent := client.Sent{MessageID: out.Reaction.MessageID}
	err := c.api.SendReaction(c.http.Context(), c.instance.InstanceID, client.Reaction{MessageID: out.Reaction.MessageID, Reaction: out.Reaction.Emoji})
	if err != nil {
		return sent, err
	}
	if reacted, err := c.api.GetMessage(c.http.Context(), c.instance.InstanceID, out.Reaction.MessageID); err == nil { // if not, the number is as it was given
		sent.Message = reacted
	}
	return sent, nil
}

type place struct {
	Latitude  loose  `json:"latitude"`
	Longitude loose  `json:"longitude"`
	Name      string `json:"name"`
	Address   string `json:"address"`
}

func sendLocation(c *call, out *outgoing, to string) (client.Sent, error) {
	if out.Location == nil {
		return client.Sent{}, missing("location")
	}
	latitude, err := strconv.ParseFloat(string(out.Location.Latitude), 64)
	if err != nil {
		return client.Sent{}, invalid("location.latitude is not a number")
	}
	longitude, err := strconv.ParseFloat(string(out.Location.Longitude), 64)
	if err != nil {
		return client.Sent{}, invalid("location.longitude is not a number")
	}
	sent, err := c.api.SendLocation(c.http.Context(), c.instance.InstanceID, client.Location{
		To: to, Latitude: latitude, Longitude: longitude, Name: out.Location.Name, Address: out.Location.Address, QuoteMessageID: out.quoted(), ClientData: string(out.Data),
	})
	return sent, err
}

// card is somebody's card, sent or received.
type card struct {
	Name   cardName    `json:"name"`
	Phones []cardPhone `json:"phones,omitempty"`
	Emails []cardEmail `json:"emails,omitempty"`
	Org    *cardOrg    `json:"org,omitempty"`
}

type cardName struct {
	Formatted string `json:"formatted_name"`
	First     string `json:"first_name,omitempty"`
	Last      string `json:"last_name,omitempty"`
}

type cardPhone struct {
	Phone  loose  `json:"phone"`
	Number loose  `json:"wa_id,omitempty"`
	Type   string `json:"type,omitempty"`
}

type cardEmail struct {
	Email string `json:"email"`
}

type cardOrg struct {
	Company string `json:"company,omitempty"`
}

func sendContacts(c *call, out *outgoing, to string) (client.Sent, error) {
	cards := make([]client.Card, 0, len(out.Contacts))
	for n, given := range out.Contacts {
		made, err := given.card("contacts[" + strconv.Itoa(n) + "]")
		if err != nil {
			return client.Sent{}, err
		}
		cards = append(cards, made)
	}
	contact := client.Contact{To: to, QuoteMessageID: out.quoted(), ClientData: string(out.Data)}
	switch len(cards) {
	case 0:
		return client.Sent{}, missing("contacts")
	case 1:
		contact.Contact = cards[0]
	default:
		contact.Contacts = cards
	}
	sent, err := c.api.SendContact(c.http.Context(), c.instance.InstanceID, contact)
	return sent, err
}

// card is the card as the API takes it: with one number.
func (given card) card(field string) (client.Card, error) {
	made := client.Card{FullName: given.Name.Formatted}
	if made.FullName == "" {
		made.FullName = strings.TrimSpace(given.Name.First + " " + given.Name.Last)
	}
	if made.FullName == "" {
		return made, missing(field + ".name.formatted_name")
	}
	if given.Org != nil {
		made.Organization = given.Org.Company
	}
	for _, phone := range given.Phones {
		made.PhoneNumber = string(phone.Number)
		if made.PhoneNumber == "" {
			made.PhoneNumber = string(phone.Phone)
		}
		if made.PhoneNumber != "" {
			return made, nil
		}
	}
	return made, missing(field + ".phones")
}
