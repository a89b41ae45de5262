package api

import (
	"context"
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/body/format"
	"github.com/recado-project/recado/internal/gateway"
)

// Directory are the use cases of numbers and people.
type Directory interface {
	People
	Budgets
}

// People are the use cases that ask the platform about somebody, or tell him something.
type People interface {
	CheckNumbers(ctx context.Context, instanceID string, numbers []string) ([]gateway.Registration, error)
	SendPresence(ctx context.Context, instanceID string, to gateway.Recipient, presence gateway.Presence) error
	ProfilePicture(ctx context.Context, instanceID string, of gateway.Recipient) (string, error)
	Block(ctx context.Context, instanceID string, who gateway.Recipient, blocked bool) error
}

// people is the resource of numbers and people.
type people struct{ directory People }

// ContactPath is the path of a person or a group.
type ContactPath struct {
	contract.InstancePath

	Phone string `path:"phone" doc:"A phone number with country code, a Brazilian mobile number of 11 digits, or a chat ID." example:"5511988887766"`

	contact gateway.Recipient
}

// Resolve reads the contact.
func (p *ContactPath) Resolve(huma.Context) []error {
	contact, err := gateway.ParseRecipient(p.Phone)
	if err != nil {
		return contract.Wrong("phone", err.Error())
	}
	if contact.Chat.IsChannel() {
		return contract.Wrong("phone", "must be a person or a group: GET …/channels/{channelId} shows the picture of a channel")
	}
	p.contact = contact
	return nil
}

// PersonPath is the path of every operation on a person.
type PersonPath struct {
	contract.InstancePath

	Phone string `path:"phone" doc:"A phone number with country code, a Brazilian mobile number of 11 digits, a personal chat ID or a LID." example:"5511988887766"`

	person gateway.Recipient
}

// Resolve reads the person, and refuses a group.
func (p *PersonPath) Resolve(huma.Context) []error {
	person, err := gateway.ParseRecipient(p.Phone)
	if err != nil {
		return contract.Wrong("phone", err.Error())
	}
	if !person.IsPerson() {
		return contract.Wrong("phone", "must be a person, not a group or a channel")
	}
	p.person = person
	return nil
}

// Picture is the picture of a contact.
type Picture struct {
	URL *string `json:"url" nullable:"true" doc:"Null if there is no picture or this account may not see it." example:"https://pps.example/v/t61/picture.jpg"`
}

func (p people) profilePicture() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getProfilePicture", Tag: tagDirectory,
		Summary: "Get a profile picture", Description: "Returns the URL of the picture of a person or group, if this account may see it.",
		Codes: sessionCodes(gateway.CodeValidation),
	}, func(ctx context.Context, in *ContactPath) (Picture, error) {
		url, err := p.directory.ProfilePicture(ctx, contract.Instance(ctx).ID, in.contact)
		return Picture{URL: contract.TextOrNil(url)}, err
	})
}

func (p people) block() contract.Pair {
	return contract.Switch(contract.Operation{Tag: tagDirectory, Codes: sessionCodes(gateway.CodeValidation, gateway.CodeNotRegistered, gateway.CodeBlockRefused)},
		contract.Named{
			ID: "blockContact", Summary: "Block a contact",
			Description: "The contact can't write to this account any more. Blocking a blocked contact changes nothing.",
		},
		contract.Named{
			ID: "unblockContact", Summary: "Unblock a contact",
			Description: "The contact can write to this account again. Unblocking a contact who is not blocked changes nothing.",
		},
		func(ctx context.Context, in *PersonPath, on bool) error {
			return p.directory.Block(ctx, contract.Instance(ctx).ID, in.person, on)
		})
}

type checkNumbersBody struct {
	Numbers []string `json:"numbers" nullable:"false" minLength:"1" format:"number" maxItems:"500" doc:"Phone numbers with country code, Brazilian mobile numbers of 11 digits, or personal chat IDs; at most 500." example:"5511988887766,11977776655"`
}

// NumberCheck is the answer about one number.
type NumberCheck struct {
	Number string `json:"number" doc:"The digits that were looked up." example:"5511988887766"`
	Exists bool   `json:"exists" doc:"Whether the number has an account." example:"true"`
	JID    string `json:"jid,omitempty" doc:"Personal chat ID of the account; left out if there is none." example:"5511988887766@s.whatsapp.net"`
}

// NumberChecks are the answers about all numbers.
type NumberChecks struct {
	Results []NumberCheck `json:"results" nullable:"false" doc:"One result for each given number, in the same order, duplicates included."`
}

func (p people) checkNumbers() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "checkNumbers", Tag: tagDirectory,
		Summary: "Check numbers", Description: "Asks the platform which numbers have an account. Its answers are remembered for an hour. " +
			"What it is asked counts towards the instance's budget (`numberChecks`): a request that does not fit into what is left is refused, and nothing is asked.",
		Codes: sessionCodes(),
	}, func(ctx context.Context, in *instanceBody[checkNumbersBody]) (NumberChecks, error) {
		given := in.Given().Numbers
		numbers := make([]string, len(given))
		for i, text := range given {
			number, ok := format.ParseNumber(text)
			if !ok {
				return NumberChecks{}, fmt.Errorf("api: number %d was checked", i)
			}
			numbers[i] = number
		}
		registrations, err := p.directory.CheckNumbers(ctx, contract.Instance(ctx).ID, numbers)
		if err != nil {
			return NumberChecks{}, err
		}
		results := make([]NumberCheck, len(registrations))
		for i, registration := range registrations {
			results[i] = NumberCheck{Number: registration.Number, Exists: registration.Exists}
			if registration.Exists {
				results[i].JID = string(registration.JID)
			}
		}
		return NumberChecks{Results: results}, nil
	})
}

type presenceBody struct {
	Addressee

	Presence string `json:"presence" enum:"composing,recording,paused,available,unavailable" doc:"composing: typing; recording: recording audio; paused: stopped typing or recording; available: online; unavailable: offline." example:"composing"`
}

func (p people) sendPresence() contract.Endpoint {
	return contract.Do(contract.Operation{
		ID: "sendPresence", Tag: tagDirectory,
		Summary: "Send presence",
		Description: "Shows a contact that this account is typing or recording, or that it has stopped. " +
			"Online and offline are shown to everybody who may see them, not only to this contact.",
		Codes: sessionCodes(gateway.CodeNotRegistered),
	}, func(ctx context.Context, in *instanceBody[presenceBody]) error {
		given := in.Given()
		to, err := gateway.ParseRecipient(given.To)
		if err != nil {
			return fmt.Errorf("api: the recipient was checked: %w", err)
		}
		if to.Chat.IsChannel() {
			return gateway.InvalidField("to", "must be a person or a group: nobody types in a channel")
		}
		return p.directory.SendPresence(ctx, contract.Instance(ctx).ID, to, gateway.Presence(given.Presence))
	})
}
