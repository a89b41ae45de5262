package platform

import (
	"bytes"
	"context"
	"fmt"
	"image"
	_ "image/gif"  // pictures that phones send
	_ "image/jpeg" // and
	_ "image/png"  // so on
	"math"

	"go.mau.fi/whatsmeow/proto/waE2E"

	"github.com/recado-project/recado/internal/sandbox/mediahost"
)

// OutgoingMessage is a message that a phone is to send.
type OutgoingMessage struct {
	To              string // a number or a chat ID
	Type            string // as in PhoneMessage
	Text            string
	Media           []byte
	MimeType        string // of Media
	Caption         string
	FileName        string
	ViewOnce        bool
	Latitude        float64
	Longitude       float64
	Name            string // of a place
	Address         string
	Contact         *Contact
	QuotedMessageID string   // "" where it is no reply
	Options         []string // of a poll, whose question is Text
	Kind            string   // of an unsupported message: order, pin or future
	Unavailable     bool     // with ViewOnce: linked devices hear only that there is a message
}

// SendMessage has the phone of the number send a message and returns its id once
// it is committed, together with what is to be delivered.
func (s *Server) SendMessage(ctx context.Context, number string, m OutgoingMessage) (messageID string, err error) {
	from, to, err := s.senderAndChat(ctx, number, m.To)
	if err != nil {
		return "", err
	}
	if m.Unavailable && (to.group != nil || !m.ViewOnce) {
		return "", invalidf("unavailable", "goes with viewOnce, and to a person")
	}
	message, err := s.compose(ctx, from, to, m)
	if err != nil {
		return "", err
	}
	from.phone.Lock()
	defer from.phone.Unlock()
	u := s.newUnit()
	messageID = newMessageID()
	out := phoneMessage{id: messageID, chat: to, at: s.now().Unix(), message: message, unavailable: m.Unavailable}
	if err := s.openPhone(u, from).sendAs(ctx, out); err != nil {
		return "", err
	}
	if err := u.commit(ctx); err != nil {
		return "", err
	}
	return messageID, nil
}

// senderAndChat returns who is to send a message, and the chat, where he may
// write.
func (s *Server) senderAndChat(ctx context.Context, number, where string) (from *account, to chat, err error) {
	if from, err = s.phoneOf(ctx, number); err != nil {
		return nil, chat{}, err
	}
	if to, err = s.chatNamed(ctx, "to", where); err != nil {
		return nil, chat{}, err
	}
	switch {
	case !from.isRegistered():
		return nil, chat{}, conflictf("the number is not registered")
	case to.group == nil && !to.person.isRegistered():
		return nil, chat{}, invalidf("to", "the number is not registered")
	case to.group != nil && !to.group.has(from):
		return nil, chat{}, invalidf("to", "the phone is not in this group")
	case to.group != nil && to.group.Announcement && !to.group.isAdmin(from):
		return nil, chat{}, invalidf("to", "only admins write to this group")
	}
	return from, to, nil
}

// compose builds what is sent.
func (s *Server) compose(ctx context.Context, from *account, to chat, m OutgoingMessage) (*waE2E.Message, error) {
	reply, err := s.quote(ctx, from, to, m.QuotedMessageID)
	if err != nil {
		return nil, err
	}
	switch m.Type {
	case "text":
		return composeText(m, reply)
	case "location":
		return composeLocation(m, reply)
	case "contact":
		return composeContact(m, reply)
	case "image", "video", "voice", "audio", "document", "sticker":
		return s.composeMedia(m, reply)
	case "poll":
		return composePoll(m, reply)
	case "unsupported":
		return composeUnsupported(m, reply)
	default:
		return nil, invalidf("type",
			"must be one of text, image, video, voice, audio, document, location, contact, sticker, poll, unsupported")
	}
}

// quote names the message that another one answers; nil where it is no reply.
func (s *Server) quote(ctx context.Context, from *account, to chat, id string) (*waE2E.ContextInfo, error) {
	if id == "" {
		return nil, nil
	}
	quoted, err := s.findAnyMessage(ctx, from, id)
	if err != nil {
		return nil, err
	}
	if quoted == nil {
		return nil, invalidf("quoteMessageId", "the phone has no message with this id")
	}
	original, err := quoted.message()
	if err != nil {
		return nil, err
	}
	author, err := s.authorOfKept(ctx, quoted)
	if err != nil {
		return nil, err
	}
	return &waE2E.ContextInfo{
		StanzaID: &quoted.id, Participant: new(to.memberJID(author).String()), QuotedMessage: original,
	}, nil
}

func composeText(m OutgoingMessage, reply *waE2E.ContextInfo) (*waE2E.Message, error) {
	if m.Text == "" {
		return nil, invalidf("text", "must not be empty")
	}
	if reply == nil {
		return &waE2E.Message{Conversation: &m.Text}, nil
	}
	return &waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: &m.Text, ContextInfo: reply}}, nil
}

func composeLocation(m OutgoingMessage, reply *waE2E.ContextInfo) (*waE2E.Message, error) {
	if math.Abs(m.Latitude) > 90 {
		return nil, invalidf("latitude", "must be between -90 and 90")
	}
	if math.Abs(m.Longitude) > 180 {
		return nil, invalidf("longitude", "must be between -180 and 180")
	}
	return &waE2E.Message{LocationMessage: &waE2E.LocationMessage{
		DegreesLatitude: &m.Latitude, DegreesLongitude: &m.Longitude,
		Name: optional(m.Name), Address: optional(m.Address), ContextInfo: reply,
	}}, nil
}

func composeContact(m OutgoingMessage, reply *waE2E.ContextInfo) (*waE2E.Message, error) {
	if m.Contact == nil || m.Contact.FullName == "" {
		return nil, invalidf("contact.fullName", "is required")
	}
	number, err := ParseNumber(m.Contact.PhoneNumber)
	if err != nil {
		return nil, invalidf("contact.phoneNumber", "must be a phone number")
	}
	card := *m.Contact
	card.PhoneNumber = number
	return &waE2E.Message{ContactMessage: &waE2E.ContactMessage{
		DisplayName: &card.FullName, Vcard: new(writeCard(card)), ContextInfo: reply,
	}}, nil
}

// composeMedia puts the file on the media host and builds the message that
// points to it.
func (s *Server) composeMedia(m OutgoingMessage, reply *waE2E.ContextInfo) (*waE2E.Message, error) {
	if len(m.Media) == 0 {
		return nil, invalidf("media", "is required")
	}
	message, kind := mediaTemplate(m, reply)
	// Clients ask their media host for the path: they reach it by another name
	// than the caller does.
	pointer, err := s.media.Put("", kind, m.Media)
	if err != nil {
		return nil, fmt.Errorf("platform: %w", err)
	}
	point(message, pointer)
	if m.Type == "document" && m.Caption != "" {
		message = &waE2E.Message{DocumentWithCaptionMessage: &waE2E.FutureProofMessage{Message: message}}
	}
	if !m.ViewOnce {
		return message, nil
	}
	once := &waE2E.FutureProofMessage{Message: message}
	if m.Type == "voice" {
		return &waE2E.Message{ViewOnceMessageV2Extension: once}, nil
	}
	return &waE2E.Message{ViewOnceMessageV2: once}, nil
}

// mediaTemplate builds a message with everything but where its file is.
func mediaTemplate(m OutgoingMessage, reply *waE2E.ContextInfo) (*waE2E.Message, mediahost.Kind) {
	size, once := new(uint64(len(m.Media))), optionalFlag(m.ViewOnce)
	width, height := dimensions(m.Media)
	switch m.Type {
	case "image":
		return &waE2E.Message{ImageMessage: &waE2E.ImageMessage{
			Mimetype: &m.MimeType, FileLength: size, Caption: optional(m.Caption), ViewOnce: once,
			Width: width, Height: height, ContextInfo: reply,
		}}, mediahost.Image
	case "sticker":
		return &waE2E.Message{StickerMessage: &waE2E.StickerMessage{
			Mimetype: &m.MimeType, FileLength: size, Width: width, Height: height, ContextInfo: reply,
		}}, mediahost.Image
	case "video":
		return &waE2E.Message{VideoMessage: &waE2E.VideoMessage{
			Mimetype: &m.MimeType, FileLength: size, Caption: optional(m.Caption), ViewOnce: once, ContextInfo: reply,
		}}, mediahost.Video
	case "voice", "audio":
		return &waE2E.Message{AudioMessage: &waE2E.AudioMessage{
			Mimetype: &m.MimeType, FileLength: size, PTT: new(m.Type == "voice"), ViewOnce: once, ContextInfo: reply,
		}}, mediahost.Audio
	default:
		return &waE2E.Message{DocumentMessage: &waE2E.DocumentMessage{
			Mimetype: &m.MimeType, FileLength: size, Caption: optional(m.Caption),
			FileName: optional(m.FileName), Title: optional(m.FileName), ContextInfo: reply,
		}}, mediahost.Document
	}
}

// point fills in where the file of a message is.
func point(message *waE2E.Message, to mediahost.Pointer) {
	switch {
	case message.ImageMessage != nil:
		v := message.ImageMessage
		v.DirectPath, v.MediaKey, v.FileSHA256, v.FileEncSHA256 = &to.DirectPath, to.Key, to.SHA256, to.EncryptedSHA256
	case message.StickerMessage != nil:
		v := message.StickerMessage
		v.DirectPath, v.MediaKey, v.FileSHA256, v.FileEncSHA256 = &to.DirectPath, to.Key, to.SHA256, to.EncryptedSHA256
	case message.VideoMessage != nil:
		v := message.VideoMessage
		v.DirectPath, v.MediaKey, v.FileSHA256, v.FileEncSHA256 = &to.DirectPath, to.Key, to.SHA256, to.EncryptedSHA256
	case message.AudioMessage != nil:
		v := message.AudioMessage
		v.DirectPath, v.MediaKey, v.FileSHA256, v.FileEncSHA256 = &to.DirectPath, to.Key, to.SHA256, to.EncryptedSHA256
	case message.DocumentMessage != nil:
		v := message.DocumentMessage
		v.DirectPath, v.MediaKey, v.FileSHA256, v.FileEncSHA256 = &to.DirectPath, to.Key, to.SHA256, to.EncryptedSHA256
	}
}

// dimensions returns the size of a picture in pixels, nil where it is none.
func dimensions(file []byte) (width, height *uint32) {
	config, _, err := image.DecodeConfig(bytes.NewReader(file))
	if err != nil || config.Width <= 0 || config.Height <= 0 || config.Width > math.MaxInt32 || config.Height > math.MaxInt32 {
		return nil, nil
	}
	return new(uint32(config.Width)), new(uint32(config.Height))
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func optionalFlag(on bool) *bool {
	if !on {
		return nil
	}
	return &on
}
