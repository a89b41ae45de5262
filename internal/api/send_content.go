// The operations that send content other than texts and files.

package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/body"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging"
)

type locationBody struct {
	Addressee

	Latitude  float64 `json:"latitude" minimum:"-90" maximum:"90" doc:"Degrees north." example:"-23.561414"`
	Longitude float64 `json:"longitude" minimum:"-180" maximum:"180" doc:"Degrees east." example:"-46.655881"`
	Name      string  `json:"name,omitempty" maxLength:"1024" doc:"Name of the place." example:"Our shop"`
	Address   string  `json:"address,omitempty" maxLength:"1024" doc:"Address of the place." example:"Avenida Paulista 1578, São Paulo"`

	LaterReply
	Outgoing
}

func (s sending) location() contract.Endpoint {
	return sendContent(s, contract.Operation{
		ID: "sendLocation", Summary: "Send a location", Description: "The recipient sees a map. ",
	}, func(b locationBody) (gateway.Content, error) {
		return gateway.Content{Type: gateway.TypeLocation, Location: &gateway.Location{
			Latitude: b.Latitude, Longitude: b.Longitude, Name: b.Name, Address: b.Address,
		}}, nil
	})
}

type contactBody struct {
	Addressee

	Contact  *Card  `json:"contact,omitempty" doc:"The contact on the card. Required, unless there are several: contacts."`
	Contacts []Card `json:"contacts,omitempty" fingerprint:"if set" nullable:"false" minItems:"2" maxItems:"30" doc:"Several contacts in one message, in place of contact: 2 to 30." sample:"-"`

	LaterReply
	Outgoing
}

// Card is the content of a contact card.
type Card struct {
	FullName     string `json:"fullName" minLength:"1" maxLength:"1024" doc:"The contact's name." example:"Ana Souza"`
	PhoneNumber  string `json:"phoneNumber" minLength:"1" format:"phone" doc:"The contact's number, with country code." example:"5511977776655"`
	Organization string `json:"organization,omitempty" maxLength:"1024" doc:"Where the contact works." example:"Shop Ltda."`
}

// TransformSchema says that one of the two fields has to be there.
func (contactBody) TransformSchema(_ huma.Registry, schema *huma.Schema) *huma.Schema {
	schema.Extensions = map[string]any{body.EitherOf: [2]string{"contact", "contacts"}}
	return schema
}

func (s sending) contact() contract.Endpoint {
	return sendContent(s, contract.Operation{
		ID: "sendContact", Summary: "Send a contact card, or several",
		Description: "The recipient can save the contacts, and write to those that have an account: the gateway looks them up. ",
	}, func(b contactBody) (gateway.Content, error) {
		given := b.Contacts
		if b.Contact != nil {
			given = []Card{*b.Contact}
		}
		content := gateway.Content{Type: gateway.TypeContact, Contacts: make([]gateway.ContactCard, len(given))}
		for n, card := range given {
			number, ok := gateway.ParseNumber(card.PhoneNumber)
			if !ok {
				return content, errors.New("api: the contact's number was checked")
			}
			content.Contacts[n] = gateway.ContactCard{FullName: card.FullName, PhoneNumber: number, Organization: card.Organization}
		}
		return content, nil
	})
}

type pollBody struct {
	Addressee

	Question   string   `json:"question" minLength:"1" maxLength:"255" doc:"What is asked." example:"When shall we deliver?"`
	Options    []string `json:"options" nullable:"false" minItems:"2" maxItems:"12" doc:"The answers to choose from: 2 to 12 different texts of at most 100 characters." example:"[\"Today\",\"Tomorrow\"]"`
	MaxAnswers *int     `json:"maxAnswers,omitempty" minimum:"0" maximum:"12" doc:"How many options somebody may choose; 0: any number. If left out: 1." example:"1"`
	OptionIDs  []string `json:"optionIds,omitempty" fingerprint:"if set" nullable:"false" maxItems:"12" doc:"What you call the options, one ID for each, in their order, of at most 256 characters; only where one may be chosen. Each person's first answer then has a selection with the ID: the event message.poll_vote of a vote, and message.received of a text that is an option, or its number from 1, while the poll is the account's last message in the chat." sample:"-"`
	Reference  string   `json:"reference,omitempty" fingerprint:"if set" maxLength:"256" doc:"Comes back in those selections: what the answer is for, such as a step of a flow. Only with optionIds." sample:"-"`

	Reply
	Outgoing
}

// maxOption is how long an option of a poll may be, in characters.
const maxOption = 100

// poll reads the options of a poll, and refuses what phones would not show.
func (b pollBody) poll() (poll gateway.Poll, menu gateway.Menu, err error) {
	poll.MaxAnswers = 1
	if b.MaxAnswers != nil {
		poll.MaxAnswers = *b.MaxAnswers
	}
	var wrong fieldErrors
	if poll.MaxAnswers > len(b.Options) {
		wrong.add("maxAnswers", "must be at most the number of options")
	}
	if poll.MaxAnswers != 1 && len(b.OptionIDs) == len(b.Options) {
		wrong.add("optionIds", "must come with a maxAnswers of 1")
	}
	checkOptions(b.Options, &wrong)
	for _, option := range b.Options {
		poll.Options = append(poll.Options, gateway.PollOption{Name: option})
	}
	menu = newMenu(b.Options, b.OptionIDs, b.Reference, &wrong)
	return poll, menu, wrong.err()
}

// checkOptions refuses options that can't be told apart, or would not be shown.
func checkOptions(options []string, wrong *fieldErrors) {
	seen := map[string]bool{}
	for n, option := range options {
		field := "options[" + strconv.Itoa(n) + "]"
		switch {
		case strings.TrimSpace(option) == "":
			wrong.add(field, "must not be empty")
		case utf8.RuneCountInString(option) > maxOption:
			wrong.add(field, "must have at most 100 characters")
		case seen[option]:
			wrong.add(field, "must differ from the options before it: votes could not tell them apart")
		}
		seen[option] = true
	}
}

// maxOptionID is how long the ID of an option may be, in characters.
const maxOptionID = 256

// newMenu reads what the program calls the options.
func newMenu(options, ids []string, reference string, wrong *fieldErrors) (menu gateway.Menu) {
	switch {
	case len(ids) == 0 && reference != "":
		wrong.add("reference", "must come with optionIds")
		return menu
	case len(ids) == 0:
		return menu
	case len(ids) != len(options):
		wrong.add("optionIds", "must have one item for each of the options")
		return menu
	}
	menu.Reference = reference
	seen := map[string]bool{}
	for n, id := range ids {
		field := "optionIds[" + strconv.Itoa(n) + "]"
		switch {
		case strings.TrimSpace(id) == "":
			wrong.add(field, "must not be empty")
		case utf8.RuneCountInString(id) > maxOptionID:
			wrong.add(field, "must have at most 256 characters")
		case strings.ContainsFunc(id, unicode.IsControl):
			wrong.add(field, "must not have control characters")
		case seen[id]:
			wrong.add(field, "must differ from the IDs before it")
		}
		seen[id] = true
		menu.Options = append(menu.Options, gateway.MenuOption{ID: id, Text: options[n]})
	}
	return menu
}

func (s sending) poll() contract.Endpoint {
	return sendContent(s, contract.Operation{
		ID: "sendPoll", Summary: "Send a poll",
		Description: "Votes are told by the event message.poll_vote, and counted by getVotes. With optionIds, the answer of each person names what was chosen by your ID. ",
	}, func(b pollBody) (gateway.Content, error) {
		poll, menu, err := b.poll()
		return gateway.Content{Type: gateway.TypePoll, Text: b.Question, Poll: &poll, Menu: menu}, err
	})
}

type albumBody struct {
	Addressee

	Items []AlbumItem `json:"items" nullable:"false" maxItems:"30" doc:"The pictures and videos in their order: 2 to 30."`

	Reply
	Outgoing
}

// AlbumItem is a picture or a video of an album.
type AlbumItem struct {
	Image   string `json:"image,omitempty" format:"media" doc:"The image: an http(s) URL, an upload (upload:<id>), or a base64 data URI while the whole body has a megabyte at most." example:"https://shop.example/model.jpg"`
	Video   string `json:"video,omitempty" format:"media" doc:"The video, in place of an image." sample:"-"`
	Caption string `json:"caption,omitempty" maxLength:"1024" doc:"Text below it, at most 1,024 characters." example:"The new model"`

	Mentioning
}

// SentAlbum names the messages of an album that was sent.
type SentAlbum struct {
	ID        string     `json:"id" format:"uuid" doc:"Internal identifier of the album." example:"019aa1f4-8d52-7c1e-b3a0-0f4de1c9a7b2"`
	MessageID string     `json:"messageId" doc:"Its identifier on the platform, which its messages have as albumId." example:"3EB0C431C26A1916E07A"`
	Items     []SentItem `json:"items" nullable:"false" doc:"What became of each picture and video, in their order."`
}

// SentItem names the message of a picture or a video, or says why there is none.
type SentItem struct {
	ID        *string `json:"id" format:"uuid" nullable:"true" doc:"Internal identifier; null if it failed." example:"019aa1f4-8d52-7c1e-b3a0-0f4de1c9a7b3"`
	MessageID *string `json:"messageId" nullable:"true" doc:"Identifier on the platform; null if it failed." example:"3EB0C431C26A1916E07B"`
	Error     *string `json:"error" nullable:"true" doc:"The code of its failure; null if there was none." sample:"null"`
	Message   *string `json:"message" nullable:"true" doc:"The failure for people; null if there was none." sample:"null"`
}

// albumAnswer is the answer of an album.
type albumAnswer struct {
	Status   int
	Applied  string `header:"Preference-Applied" enum:"respond-async" doc:"Set if the messages were left in the queue because the request prefers that."`
	Replayed string `header:"Idempotency-Replayed" enum:"true" doc:"Set if an earlier request with the same Idempotency-Key has begun the album: what it had sent was not sent again."`
	Body     SentAlbum
}

func (s sending) album() contract.Endpoint {
	return contract.HandleWhole(contract.Operation{
		ID: "sendAlbum", Tag: tagMessages, Status: http.StatusCreated,
		Summary: "Send an album",
		Description: "Sends pictures and videos that phones show together. Each is a message of its own, with identifiers and a status; so is the album, their frame. " +
			"All files are fetched first: if one is wrong, nothing is sent. If the platform refuses one later, its result says so, and the others are sent. " +
			"A repeat with the same Idempotency-Key sends what failed for lack of an answer, and nothing twice. " +
			"Returns when the platform has acknowledged every message; or, if the request prefers respond-async or says when to send, as soon as they are kept.",
		Later: "The messages are kept, and will be sent.",
		Codes: append(sendCodes(), gateway.CodeMessageNotFound, gateway.CodeMediaFetchFailed),
	}, func(ctx context.Context, in *sendInput[albumBody]) (*albumAnswer, error) {
		items, err := albumItems(in.Given().Items)
		if err != nil {
			return nil, err
		}
		request, err := requestOf(ctx, in)
		if err != nil {
			return nil, err
		}
		album, parts, err := s.use.SendAlbum(ctx, request, items)
		if err != nil {
			return nil, err
		}
		var sent []string
		for _, part := range parts {
			if part.Failure == nil {
				sent = append(sent, part.MessageID)
			}
		}
		contract.Accepted(ctx, album.ID, album.MessageID, slog.Any("item_platform_ids", sent))
		out := &albumAnswer{Status: http.StatusCreated, Body: newSentAlbum(album, parts)}
		if album.Queued {
			out.Status = http.StatusAccepted
			if in.later() {
				out.Applied = respondAsync
			}
		}
		if album.Replayed {
			out.Replayed = "true"
		}
		return out, nil
	})
}

// minAlbum is how many pictures and videos make an album.
const minAlbum = 2

// albumItems reads what an album is made of, and names every item that is wrong.
func albumItems(given []AlbumItem) ([]messaging.AlbumItem, error) {
	items := make([]messaging.AlbumItem, len(given))
	var wrong fieldErrors
	if len(given) < minAlbum {
		wrong.add("items", "must have at least 2 items")
	}
	for n, item := range given {
		kind, field, input := gateway.TypeImage, "image", item.Image
		if item.Video != "" {
			kind, field, input = gateway.TypeVideo, "video", item.Video
		}
		if (item.Image == "") == (item.Video == "") {
			wrong.add(fmt.Sprintf("items[%d]", n), "must have an image or a video")
		}
		people, err := readPeople(fmt.Sprintf("items[%d].mentions", n), item.Mentions)
		if err != nil {
			return nil, err
		}
		items[n] = messaging.AlbumItem{
			Kind: kind, Mentions: messaging.Mentions{Everyone: item.MentionEveryone, People: people},
			Params: messaging.MediaParams{Field: fmt.Sprintf("items[%d].%s", n, field), Input: input, Caption: item.Caption},
		}
	}
	return items, wrong.err()
}

func newSentAlbum(album messaging.Result, parts []messaging.AlbumPart) SentAlbum {
	sent := SentAlbum{ID: album.ID, MessageID: album.MessageID, Items: make([]SentItem, len(parts))}
	for n, part := range parts {
		if part.Failure != nil {
			sent.Items[n] = SentItem{Error: &part.Failure.Code, Message: &part.Failure.Message}
			continue
		}
		sent.Items[n] = SentItem{ID: &part.ID, MessageID: &part.MessageID}
	}
	return sent
}

type calendarEventBody struct {
	Addressee

	Name               string         `json:"name" minLength:"1" maxLength:"255" doc:"What it is called." example:"Dental check-up"`
	Start              time.Time      `json:"start" doc:"When it begins: ISO 8601 with an offset, from 2000 to 2099. Phones show it in their own time zone." example:"2031-05-06T10:00:00-03:00"`
	End                *time.Time     `json:"end,omitempty" doc:"When it ends, after it begins. If left out, that is open." example:"2031-05-06T10:30:00-03:00"`
	Description        string         `json:"description,omitempty" maxLength:"2048" doc:"What else people should know." example:"Bring your papers."`
	Location           *EventLocation `json:"location,omitempty" doc:"Where it takes place."`
	JoinLink           string         `json:"joinLink,omitempty" maxLength:"2048" doc:"A link to its call or meeting: http or https." example:"https://meet.example.com/room"`
	ExtraGuestsAllowed bool           `json:"extraGuestsAllowed,omitempty" default:"false" doc:"Whether people may bring others."`

	Reply
	Outgoing
}

// EventLocation is where a calendar event takes place.
type EventLocation struct {
	Name      string   `json:"name" minLength:"1" maxLength:"1024" doc:"Name of the place." example:"Our clinic"`
	Address   string   `json:"address,omitempty" maxLength:"1024" doc:"Address of the place." example:"Avenida Paulista 1578, São Paulo"`
	Latitude  *float64 `json:"latitude,omitempty" minimum:"-90" maximum:"90" doc:"Degrees north; together with longitude." example:"-23.561414"`
	Longitude *float64 `json:"longitude,omitempty" minimum:"-180" maximum:"180" doc:"Degrees east; together with latitude." example:"-46.655881"`
}

// The first and the last year in which a calendar event can be: phones show others wrong.
const (
	firstYear = 2000
	lastYear  = 2099
)

// event reads a calendar event, and refuses what phones would not show.
func (b calendarEventBody) event() (gateway.CalendarEvent, error) {
	event := gateway.CalendarEvent{
		Description: b.Description, Start: b.Start, JoinLink: b.JoinLink, ExtraGuestsAllowed: b.ExtraGuestsAllowed,
	}
	var wrong fieldErrors
	if outside(event.Start) {
		wrong.add("start", "must be in the years from 2000 to 2099")
	}
	if b.End != nil {
		event.End = *b.End
		switch {
		case outside(event.End):
			wrong.add("end", "must be in the years from 2000 to 2099")
		case event.End.Unix() <= event.Start.Unix(): // the platform counts in seconds
			wrong.add("end", "must be after start")
		}
	}
	if link, ok := gateway.ParseURL(b.JoinLink); ok {
		event.JoinLink = link.String()
	} else if b.JoinLink != "" {
		wrong.add("joinLink", "must be an http or https URL")
	}
	if place := b.Location; place != nil {
		if (place.Latitude == nil) != (place.Longitude == nil) {
			wrong.add("location", "must have both latitude and longitude, or none of them")
		}
		event.Place = &gateway.EventPlace{Name: place.Name, Address: place.Address, Latitude: place.Latitude, Longitude: place.Longitude}
	}
	return event, wrong.err()
}

func outside(at time.Time) bool { return at.UTC().Year() < firstYear || at.UTC().Year() > lastYear }

func (s sending) event() contract.Endpoint {
	return sendContent(s, contract.Operation{
		ID: "sendEvent", Summary: "Send a calendar event",
		Description: "People can put it into their calendars, and respond to it: the event message.event_response tells who comes. ",
	}, func(b calendarEventBody) (gateway.Content, error) {
		event, err := b.event()
		return gateway.Content{Type: gateway.TypeEvent, Text: b.Name, Event: &event}, err
	})
}

func (m messages) cancelEvent() contract.Endpoint {
	return contract.Do(contract.Operation{
		ID: "cancelEvent", Tag: tagMessages,
		Summary: "Cancel a calendar event",
		Description: "Cancels, for everybody who has it, a calendar event that this instance sent; phones still show it, as cancelled. One that is cancelled " +
			"already stays so.",
		Codes: messageCodes(gateway.CodeMessageIsNoEvent, gateway.CodeMessageNotEditable),
	}, func(ctx context.Context, in *MessagePath) error {
		return m.use.CancelEvent(ctx, contract.Instance(ctx).ID, messageRef(in.MessageID))
	})
}
