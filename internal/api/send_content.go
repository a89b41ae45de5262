// The operations that send content other than texts and files.

package api

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/body"
	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging"
)

type locationBody struct {
	Addressee

	Latitude  float64 `json:"latitude" minimum:"-90" maximum:"90" doc:"Degrees north." example:"-23.561414"`
	Longitude float64 `json:"longitude" minimum:"-180" maximum:"180" doc:"Degrees east." example:"-46.655881"`
	Name      string  `json:"name,omitempty" maxLength:"1024" doc:"Name of the place." example:"Our shop"`
	Address   string  `json:"address,omitempty" maxLength:"1024" doc:"Address of the place." example:"Avenida Paulista 1578, São Paulo"`

	Schedule
}

func (s sending) location() contract.Endpoint {
	return handleSend(contract.Operation{
		ID: "sendLocation", Summary: "Send a location",
		Description: "The recipient sees a map. ",
	}, func(ctx context.Context, in *sendInput[locationBody]) (messaging.Result, error) {
		given := in.Given()
		request, err := newRequest(ctx, in, given.To, "", given.SendAt)
		if err != nil {
			return messaging.Result{}, err
		}
		return s.use.SendLocation(ctx, request, gateway.Location{
			Latitude: given.Latitude, Longitude: given.Longitude, Name: given.Name, Address: given.Address,
		})
	})
}

type cardBody struct {
	Addressee

	Contact  *Card  `json:"contact,omitempty" doc:"The contact on the card. Required, unless there are several: contacts."`
	Contacts []Card `json:"contacts,omitempty" fingerprint:"if set" nullable:"false" minItems:"2" maxItems:"30" doc:"Several contacts in one message, in place of contact: 2 to 30." sample:"-"`

	Schedule
}

// Card is the content of a contact card.
type Card struct {
	FullName     string `json:"fullName" minLength:"1" maxLength:"1024" doc:"The contact's name." example:"Ana Souza"`
	PhoneNumber  string `json:"phoneNumber" minLength:"1" format:"phone" doc:"The contact's number, with country code." example:"5511977776655"`
	Organization string `json:"organization,omitempty" maxLength:"1024" doc:"Where the contact works." example:"Shop Ltda."`
}

// TransformSchema says that one of the two fields has to be there.
func (cardBody) TransformSchema(_ huma.Registry, schema *huma.Schema) *huma.Schema {
	schema.Extensions = map[string]any{body.EitherOf: [2]string{"contact", "contacts"}}
	return schema
}

// cards reads the cards, of which there is one in contact, or several in contacts.
func (b cardBody) cards() ([]gateway.ContactCard, error) {
	given := b.Contacts
	if b.Contact != nil {
		given = []Card{*b.Contact}
	}
	cards := make([]gateway.ContactCard, len(given))
	for n, card := range given {
		number, ok := gateway.ParseNumber(card.PhoneNumber)
		if !ok {
			return nil, errors.New("api: the contact's number was checked")
		}
		cards[n] = gateway.ContactCard{FullName: card.FullName, PhoneNumber: number, Organization: card.Organization}
	}
	return cards, nil
}

func (s sending) contact() contract.Endpoint {
	return handleSend(contract.Operation{
		ID: "sendContact", Summary: "Send a contact card, or several",
		Description: "The recipient can save the contacts, and write to those that have an account: the gateway looks them up. ",
	}, func(ctx context.Context, in *sendInput[cardBody]) (messaging.Result, error) {
		given := in.Given()
		request, err := newRequest(ctx, in, given.To, "", given.SendAt)
		if err != nil {
			return messaging.Result{}, err
		}
		cards, err := given.cards()
		if err != nil {
			return messaging.Result{}, err
		}
		return s.use.SendContacts(ctx, request, cards)
	})
}

type pollBody struct {
	Addressee

	Question   string   `json:"question" minLength:"1" maxLength:"255" doc:"What is asked." example:"When shall we deliver?"`
	Options    []string `json:"options" nullable:"false" minItems:"2" maxItems:"12" doc:"The answers to choose from: 2 to 12 different texts of at most 100 characters." example:"[\"Today\",\"Tomorrow\"]"`
	MaxAnswers *int     `json:"maxAnswers,omitempty" minimum:"0" maximum:"12" doc:"How many options somebody may choose; 0: any number. If left out: 1." example:"1"`

	Reply
	Schedule
}

// maxOption is how long an option of a poll may be, in characters.
const maxOption = 100

// poll reads the options of a poll, and refuses what phones would not show.
func (b pollBody) poll() (gateway.Poll, error) {
	poll := gateway.Poll{MaxAnswers: 1}
	if b.MaxAnswers != nil {
		poll.MaxAnswers = *b.MaxAnswers
	}
	var wrong []gateway.FieldError
	if poll.MaxAnswers > len(b.Options) {
		wrong = append(wrong, gateway.FieldError{Field: "maxAnswers", Message: "must be at most the number of options"})
	}
	seen := map[string]bool{}
	for n, option := range b.Options {
		field := "options[" + strconv.Itoa(n) + "]"
		switch {
		case strings.TrimSpace(option) == "":
			wrong = append(wrong, gateway.FieldError{Field: field, Message: "must not be empty"})
		case utf8.RuneCountInString(option) > maxOption:
			wrong = append(wrong, gateway.FieldError{Field: field, Message: "must have at most 100 characters"})
		case seen[option]:
			wrong = append(wrong, gateway.FieldError{Field: field, Message: "must differ from the options before it: votes could not tell them apart"})
		}
		seen[option] = true
		poll.Options = append(poll.Options, gateway.PollOption{Name: option})
	}
	if len(wrong) > 0 {
		return gateway.Poll{}, gateway.InvalidFields(wrong...)
	}
	return poll, nil
}

func (s sending) poll() contract.Endpoint {
	return handleSend(contract.Operation{
		ID: "sendPoll", Summary: "Send a poll",
		Description: "Votes are told by the event message.poll_vote, and counted by getVotes. ",
		Codes:       []string{gateway.CodeMessageNotFound},
	}, func(ctx context.Context, in *sendInput[pollBody]) (messaging.Result, error) {
		given := in.Given()
		poll, err := given.poll()
		if err != nil {
			return messaging.Result{}, err
		}
		request, err := newRequest(ctx, in, given.To, given.QuoteMessageID, given.SendAt)
		if err != nil {
			return messaging.Result{}, err
		}
		return s.use.SendPoll(ctx, request, given.Question, poll)
	})
}
