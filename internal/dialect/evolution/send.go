// Sending messages.

package evolution

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/dialect"
)

// sending is what all sends have in common.
type sending struct {
	to, quote, key string
	mentions       []string
	everyone       bool
}

// begin reads what a send has in common with the others, and shows the chat typing, or recording, for as long as
// the request wants.
func (c *call) begin(presence string) (s sending, err error) {
	if s.to, err = c.number(); err != nil {
		return s, err
	}
	s.quote = c.fields.inner("quoted").inner("key").text("id")
	s.mentions, s.everyone = chatsOf(c.fields.texts("mentioned")), c.fields.yes("mentionsEveryOne")
	s.key = c.request.Header.Get("Idempotency-Key")
	delay := c.delay()
	if delay == 0 {
		return s, nil
	}
	if err := c.client.SendPresence(c.ctx(), c.id(), client.Presence{To: s.to, Presence: presence}); err != nil {
		return s, err
	}
	return s, c.wait(delay)
}

// sent answers with a message that was sent.
func (c *call) sent(sent client.Sent, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	if sent.Message.ID == "" {
		return object{ // it was sent: an error would have the flow send it again
			"key":    object{"remoteJid": jidOf(c.fields.text("number")), "fromMe": true, "id": sent.MessageID},
			"status": statusPending, "pushName": own, "message": object{}, "messageType": "unknown", "instanceId": c.id(), "source": sourceOf(sent.MessageID),
		}, nil
	}
	return messageOf(c.id(), &sent.Message.Message, statusPending), nil
}

func (c *call) sendText() (any, error) {
	text, err := c.fields.need("text")
	if err != nil {
		return nil, err
	}
	s, err := c.begin(client.PresenceComposing)
	if err != nil {
		return nil, err
	}
	preview := c.fields.optional("linkPreview")
	return c.sent(c.client.SendText(c.ctx(), c.id(), client.Text{
		To: s.to, Message: text, LinkPreview: preview == nil || *preview, QuoteMessageID: s.quote, Mentions: s.mentions, MentionEveryone: s.everyone, IdempotencyKey: s.key,
	}))
}

func (c *call) sendMedia() (any, error) {
	content, file, err := c.media("media")
	if err != nil {
		return nil, err
	}
	kind, err := c.fields.need("mediatype")
	if err != nil {
		return nil, err
	}
	presence := client.PresenceComposing
	if kind == client.TypeAudio {
		presence = client.PresenceRecording
	}
	fileName, caption := c.fields.text("fileName"), c.fields.text("caption")
	if kind == client.TypeDocument {
		if fileName == "" && file != nil {
			fileName = file.Name
		}
		if fileName == "" && !isURL(content) {
			return nil, refuse(http.StatusBadRequest, "For base64 the file name must be informed.")
		}
	}
	s, err := c.begin(presence)
	if err != nil {
		return nil, err
	}
	switch kind {
	case client.TypeImage:
		return c.sent(c.client.SendImage(c.ctx(), c.id(), client.Image{
			To: s.to, Image: content, File: file, Caption: caption, QuoteMessageID: s.quote, Mentions: s.mentions, MentionEveryone: s.everyone, IdempotencyKey: s.key,
		}))
	case client.TypeVideo:
		return c.sent(c.client.SendVideo(c.ctx(), c.id(), client.Video{
			To: s.to, Video: content, File: file, Caption: caption, QuoteMessageID: s.quote, Mentions: s.mentions, MentionEveryone: s.everyone, IdempotencyKey: s.key,
		}))
	case client.TypeAudio:
		return c.sent(c.client.SendAudioFile(c.ctx(), c.id(), client.AudioFile{To: s.to, Audio: content, File: file, QuoteMessageID: s.quote, IdempotencyKey: s.key}))
	case client.TypeDocument:
		return c.sent(c.client.SendDocument(c.ctx(), c.id(), client.Document{
			To: s.to, Document: content, File: file, FileName: fileName, Caption: caption, QuoteMessageID: s.quote, Mentions: s.mentions, MentionEveryone: s.everyone, IdempotencyKey: s.key,
		}))
	default:
		return nil, refuse(http.StatusBadRequest, "mediatype is not one of enum values: image,document,video,audio")
	}
}

// isURL reports whether media is fetched from an address.
func isURL(content string) bool {
	parsed, err := url.Parse(content)
	return err == nil && (strings.EqualFold(parsed.Scheme, "http") || strings.EqualFold(parsed.Scheme, "https"))
}

func (c *call) sendVoice() (any, error) {
	content, file, err := c.media("audio")
	if err != nil {
		return nil, err
	}
	s, err := c.begin(client.PresenceRecording)
	if err != nil {
		return nil, err
	}
	return c.sent(c.client.SendVoiceNote(c.ctx(), c.id(), client.VoiceNote{To: s.to, Audio: content, File: file, QuoteMessageID: s.quote, IdempotencyKey: s.key}))
}

func (c *call) sendVideoNote() (any, error) {
	content, file, err := c.media("video")
	if err != nil {
		return nil, err
	}
	s, err := c.begin(client.PresenceRecording)
	if err != nil {
		return nil, err
	}
	return c.sent(c.client.SendVideoNote(c.ctx(), c.id(), client.VideoNote{To: s.to, Video: content, File: file, QuoteMessageID: s.quote, IdempotencyKey: s.key}))
}

func (c *call) sendSticker() (any, error) {
	content, file, err := c.media("sticker")
	if err != nil {
		return nil, err
	}
	s, err := c.begin(client.PresenceComposing)
	if err != nil {
		return nil, err
	}
	return c.sent(c.client.SendSticker(c.ctx(), c.id(), client.Sticker{To: s.to, Sticker: content, File: file, Convert: true, QuoteMessageID: s.quote, IdempotencyKey: s.key}))
}

func (c *call) sendLocation() (any, error) {
	for _, degrees := range []string{"latitude", "longitude"} {
		if c.fields.text(degrees) == "" {
			return nil, missing(degrees)
		}
	}
	s, err := c.begin(client.PresenceComposing)
	if err != nil {
		return nil, err
	}
	return c.sent(c.client.SendLocation(c.ctx(), c.id(), client.Location{
		To: s.to, Latitude: c.fields.number("latitude"), Longitude: c.fields.number("longitude"),
		Name: c.fields.text("name"), Address: c.fields.text("address"), QuoteMessageID: s.quote, IdempotencyKey: s.key,
	}))
}

func (c *call) sendContact() (any, error) {
	var cards []client.Card
	for _, card := range c.fields.objects("contact") {
		number, _, _ := strings.Cut(card.first("phoneNumber", "wuid"), "@")
		cards = append(cards, client.Card{FullName: card.text("fullName"), PhoneNumber: number, Organization: card.text("organization")})
	}
	if len(cards) == 0 {
		return nil, missing("contact")
	}
	s, err := c.begin(client.PresenceComposing)
	if err != nil {
		return nil, err
	}
	contact := client.Contact{To: s.to, QuoteMessageID: s.quote, IdempotencyKey: s.key}
	if len(cards) == 1 {
		contact.Contact = cards[0]
	} else {
		contact.Contacts = cards
	}
	return c.sent(c.client.SendContact(c.ctx(), c.id(), contact))
}

// maxPollOptions is more than the platform lets a poll have.
const maxPollOptions = 100

func (c *call) sendPoll() (any, error) {
	question, err := c.fields.need("name")
	if err != nil {
		return nil, err
	}
	most := int64(1)
	if _, given := c.fields["selectableCount"]; given {
		most = int64(c.fields.count("selectableCount", maxPollOptions))
	}
	s, err := c.begin(client.PresenceComposing)
	if err != nil {
		return nil, err
	}
	return c.sent(c.client.SendPoll(c.ctx(), c.id(), client.Poll{
		To: s.to, Question: question, Options: c.fields.texts("values"), MaxAnswers: &most, QuoteMessageID: s.quote, IdempotencyKey: s.key,
	}))
}

// sendTemplate sends one of the gateway's own templates.
func (c *call) sendTemplate() (any, error) {
	message := client.TemplateMessage{}
	for field, into := range map[string]*string{"name": &message.Name, "language": &message.Language} {
		if *into = c.fields.text(field); *into == "" {
			return nil, missing(field)
		}
	}
	var components []dialect.TemplateComponent
	encoded, err := json.Marshal(c.fields.list("components"))
	if err == nil {
		err = json.Unmarshal(encoded, &components)
	}
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "components can't be read: each has a type and a list of parameters")
	}
	if err := dialect.FillTemplate(&message, components); err != nil {
		return nil, refuse(http.StatusBadRequest, err.Error())
	}
	s, err := c.begin(client.PresenceComposing)
	if err != nil {
		return nil, err
	}
	message.To, message.QuoteMessageID, message.IdempotencyKey = s.to, s.quote, s.key
	return c.sent(c.client.SendTemplate(c.ctx(), c.id(), message))
}

func (c *call) sendReaction() (any, error) {
	key := c.fields.inner("key")
	id, err := key.need("id")
	if err != nil {
		return nil, err
	}
	emoji, given := c.fields["reaction"].(string)
	if !given {
		return nil, missing("reaction")
	}
	if err := c.client.SendReaction(c.ctx(), c.id(), client.Reaction{MessageID: id, Reaction: emoji}); err != nil {
		return nil, err
	}
	chat := chatOf(key.text("remoteJid"))
	return object{
		"key": object{"remoteJid": chat, "fromMe": true, "id": ""}, "pushName": own, "status": statusPending, "messageType": "reactionMessage",
		"message":    object{"reactionMessage": object{"key": object{"remoteJid": chat, "fromMe": key.yes("fromMe"), "id": id}, "text": emoji}},
		"instanceId": c.id(), "source": "unknown",
	}, nil
}

// fonts are the fonts of a status text, by that API's numbers. The gateway has none for the others.
func fonts() map[int]string {
	return map[int]string{2: client.FontScript, 6: client.FontBold, 7: client.FontBreeze, 8: client.FontCalistoga, 9: client.FontExo, 10: client.FontTypewriter}
}

func (c *call) sendStatus() (any, error) {
	kind, err := c.fields.need("type")
	if err != nil {
		return nil, err
	}
	audience := chatsOf(c.fields.texts("statusJidList"))
	if c.fields.yes("allContacts") {
		audience = nil
	} else if len(audience) == 0 {
		return nil, refuse(http.StatusBadRequest, "At least one recipient must be informed: statusJidList, or allContacts")
	}
	key := c.request.Header.Get("Idempotency-Key")
	if kind == client.TypeText {
		text, err := c.fields.need("content")
		if err != nil {
			return nil, err
		}
		font := client.FontSystem
		if chosen := fonts()[c.fields.count("font", maxPollOptions)]; chosen != "" {
			font = chosen
		}
		return c.sent(c.client.PostStatusText(c.ctx(), c.id(), client.StatusText{Message: text, Background: c.fields.text("backgroundColor"), Font: font, Audience: audience, IdempotencyKey: key}))
	}
	content, file, err := c.media("content")
	if err != nil {
		return nil, err
	}
	switch kind {
	case client.TypeImage:
		return c.sent(c.client.PostStatusImage(c.ctx(), c.id(), client.StatusImage{Image: content, File: file, Caption: c.fields.text("caption"), Audience: audience, IdempotencyKey: key}))
	case client.TypeVideo:
		return c.sent(c.client.PostStatusVideo(c.ctx(), c.id(), client.StatusVideo{Video: content, File: file, Caption: c.fields.text("caption"), Audience: audience, IdempotencyKey: key}))
	case client.TypeAudio:
		return c.sent(c.client.PostStatusVoice(c.ctx(), c.id(), client.StatusVoice{Audio: content, File: file, Audience: audience, IdempotencyKey: key}))
	default:
		return nil, refuse(http.StatusBadRequest, "type is not one of enum values: text,image,audio,video")
	}
}
