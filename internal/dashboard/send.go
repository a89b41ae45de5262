// The field to write in, and the form of a new message of any kind.

package dashboard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/dashboard/sentence"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging"
	"github.com/recado-project/recado/internal/user"
	"github.com/recado-project/recado/internal/web"
)

// messageKind is a kind of message, as people call it.
type messageKind struct {
	Kind gateway.MessageType
	Name web.Word
}

// sendKinds are the kinds that the form sends, in its order.
func sendKinds() []messageKind {
	var kinds []messageKind
	for _, kind := range []gateway.MessageType{
		gateway.TypeText, gateway.TypeImage, gateway.TypeVideo, gateway.TypeVoice, gateway.TypeAudio, gateway.TypeDocument,
		gateway.TypeSticker, gateway.TypeLocation, gateway.TypeContact,
	} {
		kinds = append(kinds, messageKind{kind, sentence.Kind(kind)})
	}
	return kinds
}

// sendMessage sends a message as the API would, and says where it went.
func (p *pages) sendMessage(r *frame.Request) error {
	found, err := p.instanceOf(r)
	if err != nil {
		return err
	}
	done, err := r.ReadForm("file")
	if err != nil {
		return err
	}
	defer done()
	to, err := gateway.ParseRecipient(r.FormValue("to"))
	if err != nil {
		return gateway.InvalidField("to", err.Error())
	}
	repeat, err := repeatOf(r)
	if err != nil {
		return err
	}
	request := messaging.Request{InstanceID: found.ID, To: to, Repeat: repeat, Quote: gateway.ParseMessageRef(r.FormValue("quote")), Preview: true}
	if request.Later, request.DueAt, err = p.later(r); err != nil {
		return err
	}
	kind := kindIn(r)
	r.Entry.Detail = string(kind)
	result, err := p.send(r, request, kind)
	if err != nil {
		return err
	}
	if r.FormValue("answer") == "on" {
		p.markRead(r, found.ID, to)
	}
	return p.sent(r, found.ID, request, result)
}

// kindIn is the kind of the message in a form: the one that was chosen, or else what fits the file,
// and a text without one.
func kindIn(r *frame.Request) gateway.MessageType {
	if kind := r.FormValue("kind"); kind != "" {
		return gateway.MessageType(kind)
	}
	file, _, err := r.File("file")
	if err != nil {
		return gateway.TypeText
	}
	switch kind, _, _ := strings.Cut(file.Declared, "/"); kind {
	case "image", "video", "audio":
		return gateway.MessageType(kind)
	default:
		return gateway.TypeDocument
	}
}

// markRead marks a chat as read that somebody has answered, as phones do. That it can't be is no
// reason to refuse the answer, which has been sent.
func (p *pages) markRead(r *frame.Request, instanceID string, with gateway.Recipient) {
	found, err := p.Chats.Find(r.Context(), instanceID, with)
	if err == nil && (found.Unread > 0 || found.MarkedUnread) {
		_, err = p.Chats.Change(r.Context(), instanceID, with, gateway.ChatChange{Read: new(true)})
	}
	if err != nil && gateway.KindOf(err) != gateway.NotFound {
		p.Logger.WarnContext(r.Context(), "a chat that was answered could not be marked as read", slog.String("instance_id", instanceID), slog.Any("error", err))
	}
}

// repeatOf identifies the message of a form, so that it is sent once, also by several nodes and
// over a restart; nil where the form has no key.
func repeatOf(r *frame.Request) (*messaging.Repeat, error) {
	once, err := r.Once()
	if err != nil || once == "" {
		return nil, err
	}
	return &messaging.Repeat{KeyID: "user " + r.Visitor.Actor.UserID, Key: once, Hash: []byte(once)}, nil
}

// later reads whether the message is to wait in the queue, and until when at least; the
// zero time is not at all.
func (p *pages) later(r *frame.Request) (later bool, due time.Time, err error) {
	if r.FormValue("at") == "" {
		return r.FormValue("queue") == "on", time.Time{}, nil
	}
	refused := func(message string) (bool, time.Time, error) {
		return false, time.Time{}, gateway.InvalidField("at", message)
	}
	// The time that was chosen means something in the browser's time zone alone.
	due, err = time.Parse(time.RFC3339, r.FormValue("moment"))
	if err != nil {
		return refused("must be a time, and the browser must run the page's script, which knows the time zone")
	}
	if due.Before(p.Now().Add(-time.Minute)) { // the minute that was chosen has begun
		return refused("lies in the past")
	}
	return true, due, nil
}

// leftView is what the form says of a message that was left in the queue.
type leftView struct {
	InstanceID string
	DueAt      time.Time // zero: as soon as possible
}

// sent answers that a message was sent, or left in the queue.
func (p *pages) sent(r *frame.Request, id string, request messaging.Request, result messaging.Result) error {
	p.Logger.InfoContext(r.Context(), "message accepted on the dashboard", slog.String("instance_id", id),
		slog.String("message_id", result.ID), slog.String("platform_id", result.MessageID))
	if result.Queued {
		r.Entry.Action = user.ActionMessageQueued
	}
	switch {
	case result.Queued && r.Live():
		return r.Fragment("chats", "left", leftView{InstanceID: id, DueAt: request.DueAt})
	case result.Queued:
		return r.Go("/instances/" + id + "/queue")
	case r.Live():
		// What the form has said of an earlier message goes. An answer is seen in the chat.
		if r.FormValue("answer") == "" {
			web.Notice(r.W, r.Text(web.Word("Sent.")))
		}
		return r.Fragment("chats", "left", leftView{})
	default:
		return r.Go(chatURL(id, gateway.Recipient{Chat: gateway.JID(r.FormValue("to"))}))
	}
}

// send sends what the form describes.
func (p *pages) send(r *frame.Request, request messaging.Request, kind gateway.MessageType) (messaging.Result, error) {
	ctx := r.Context()
	switch kind {
	case gateway.TypeText:
		text, err := textIn(r)
		if err != nil {
			return messaging.Result{}, err
		}
		return p.Messages.Send(ctx, request, gateway.Content{Type: kind, Text: text})
	case gateway.TypeLocation:
		place, err := placeIn(r)
		if err != nil {
			return messaging.Result{}, err
		}
		return p.Messages.Send(ctx, request, gateway.Content{Type: kind, Location: &place})
	case gateway.TypeContact:
		cards, err := cardsIn(r.FormValue("cards"))
		if err != nil {
			return messaging.Result{}, err
		}
		return p.Messages.Send(ctx, request, gateway.Content{Type: kind, Contacts: cards})
	case gateway.TypeImage, gateway.TypeVideo, gateway.TypeVoice, gateway.TypeAudio, gateway.TypeDocument, gateway.TypeSticker:
		return p.sendFile(ctx, r, request, kind)
	default:
		return messaging.Result{}, gateway.InvalidField("kind", "is not a kind of message")
	}
}

// maxText and maxCaption are the contract's limits, in characters.
const (
	maxText    = 65_536
	maxCaption = 1024
)

// textIn reads the text of a message. Forms end their lines as no phone does.
func textIn(r *frame.Request) (string, error) {
	text := strings.ReplaceAll(r.FormValue("text"), "\r\n", "\n")
	if strings.TrimSpace(text) == "" || len([]rune(text)) > maxText {
		return "", gateway.InvalidField("text", fmt.Sprintf("must have 1 to %d characters", maxText))
	}
	return text, nil
}

// sendFile sends the form's file.
func (p *pages) sendFile(ctx context.Context, r *frame.Request, request messaging.Request, kind gateway.MessageType) (messaging.Result, error) {
	file, name, err := r.File("file")
	if err != nil {
		return messaging.Result{}, err
	}
	caption := cmp.Or(r.FormValue("caption"), r.FormValue("text"))
	if len([]rune(caption)) > maxCaption {
		return messaging.Result{}, gateway.InvalidField("caption", fmt.Sprintf("must have at most %d characters", maxCaption))
	}
	params := messaging.MediaParams{Decoded: file, Field: "file", ViewOnce: r.FormValue("viewOnce") == "on"}
	if kind == gateway.TypeImage || kind == gateway.TypeVideo || kind == gateway.TypeDocument {
		params.Caption = caption
	}
	if kind == gateway.TypeDocument {
		params.FileName = gateway.CleanName(filepath.Base(name))
	}
	return p.Messages.SendMedia(ctx, request, kind, params)
}

// maxCards is how many contact cards a message has at most, as in the API.
const maxCards = 30

// cardsIn reads contact cards: one a line, the name before the last comma and the number behind it.
func cardsIn(text string) ([]gateway.ContactCard, error) {
	refused := func(message string) error {
		return gateway.InvalidField("cards", message)
	}
	var cards []gateway.ContactCard
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		comma := strings.LastIndex(line, ",")
		name := gateway.CleanName(line[:max(comma, 0)])
		number, ok := gateway.ParseNumber(line[comma+1:])
		if !ok || name == "" {
			return nil, refused("each line needs a name, a comma, and a number with its country code")
		}
		cards = append(cards, gateway.ContactCard{FullName: name, PhoneNumber: number})
	}
	if len(cards) == 0 || len(cards) > maxCards {
		return nil, refused(fmt.Sprintf("must be 1 to %d contacts", maxCards))
	}
	return cards, nil
}

// placeIn reads the place of a location.
func placeIn(r *frame.Request) (gateway.Location, error) {
	latitude, latitudeErr := strconv.ParseFloat(strings.ReplaceAll(r.FormValue("latitude"), ",", "."), 64)
	longitude, longitudeErr := strconv.ParseFloat(strings.ReplaceAll(r.FormValue("longitude"), ",", "."), 64)
	if errors.Join(latitudeErr, longitudeErr) != nil || !(latitude >= -90 && latitude <= 90) || !(longitude >= -180 && longitude <= 180) {
		return gateway.Location{}, gateway.InvalidField("latitude", "must be degrees: latitude from -90 to 90, longitude from -180 to 180")
	}
	return gateway.Location{Latitude: latitude, Longitude: longitude, Name: gateway.CleanName(r.FormValue("place"))}, nil
}
