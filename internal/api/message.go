package api

import (
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging"
)

// MessageChanges are the use cases of a message that exists.
type MessageChanges interface {
	Edit(ctx context.Context, instanceID string, ref gateway.MessageRef, text string) (messaging.Result, error)
	MarkRead(ctx context.Context, instanceID string, ref gateway.MessageRef) error
	Delete(ctx context.Context, instanceID string, ref gateway.MessageRef) error
	React(ctx context.Context, instanceID string, ref gateway.MessageRef, reaction string) error
	Votes(ctx context.Context, instanceID string, ref gateway.MessageRef) (messaging.Poll, error)
	CancelEvent(ctx context.Context, instanceID string, ref gateway.MessageRef) error
	Pin(ctx context.Context, instanceID string, ref gateway.MessageRef, lasts time.Duration) error
}

// messages is the resource of messages that exist.
type messages struct{ use MessageChanges }

// Subject is the field of every body about a message that exists.
type Subject struct {
	MessageID string `json:"messageId" minLength:"1" doc:"The message: its platform identifier, the composite form, or the id of a send result." example:"3EB0C431C26A1916E07A"`
}

type editMessageBody struct {
	Subject

	Message string `json:"message" minLength:"1" maxLength:"65536" doc:"The new text, at most 65,536 characters." example:"Your order arrives tomorrow."`
}

type markReadBody struct {
	Subject
}

type deleteMessageBody struct {
	Subject
}

type reactionBody struct {
	Subject

	Reaction string `json:"reaction" format:"emoji" doc:"One emoji; empty removes the reaction." example:"👍"`
}

// MarkedRead names the message that was marked as read.
type MarkedRead struct {
	MessageID string `json:"messageId" doc:"The identifier as it was given." example:"3EB0C431C26A1916E07A"`
}

// messageCodes are the refusals of every operation on a message that exists.
func messageCodes(more ...string) []string {
	return append(sessionCodes(gateway.CodeMessageNotFound, gateway.CodeGroupNotFound, gateway.CodeGroupAdminRequired), more...)
}

func (m messages) edit() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "editMessage", Tag: tagMessages,
		Summary: "Edit a message",
		Description: "Replaces the text of a text message that this instance sent. Other kinds of messages can't be edited, and the platform allows it only " +
			"for 15 minutes.",
		Codes: messageCodes(gateway.CodeMessageNotEditable, gateway.CodeEditWindowExpired, gateway.CodeChannelOwner),
	}, func(ctx context.Context, in *instanceBody[editMessageBody]) (Sent, error) {
		given := in.Given()
		result, err := m.use.Edit(ctx, contract.Instance(ctx).ID, messageRef(given.MessageID), given.Message)
		if err != nil {
			return Sent{}, err
		}
		contract.Accepted(ctx, result.ID, result.MessageID)
		return newSent(result), nil
	})
}

func (m messages) markRead() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "markRead", Tag: tagMessages,
		Summary: "Mark a message as read", Description: "The sender sees that the message was read.",
		Codes: messageCodes(),
	}, func(ctx context.Context, in *instanceBody[markReadBody]) (MarkedRead, error) {
		id := in.Given().MessageID
		if err := m.use.MarkRead(ctx, contract.Instance(ctx).ID, messageRef(id)); err != nil {
			return MarkedRead{}, err
		}
		return MarkedRead{MessageID: id}, nil
	})
}

func (m messages) delete() contract.Endpoint {
	return contract.Do(contract.Operation{
		ID: "deleteMessage", Tag: tagMessages,
		Summary:     "Delete a message for everyone",
		Description: "Deletes, for everybody, a message that this instance sent. The platform allows it for about an hour.",
		Codes:       messageCodes(gateway.CodeMessageNotDeletable, gateway.CodeDeleteWindowExpired, gateway.CodeChannelOwner),
	}, func(ctx context.Context, in *instanceBody[deleteMessageBody]) error {
		return m.use.Delete(ctx, contract.Instance(ctx).ID, messageRef(in.Given().MessageID))
	})
}

func (m messages) react() contract.Endpoint {
	return contract.Do(contract.Operation{
		ID: "sendReaction", Tag: tagMessages,
		Summary:     "React to a message",
		Description: "Adds one emoji to a message, replacing an earlier one from this instance, or removes it.",
		Codes:       messageCodes(gateway.CodeMessageNotReactable),
	}, func(ctx context.Context, in *instanceBody[reactionBody]) error {
		given := in.Given()
		return m.use.React(ctx, contract.Instance(ctx).ID, messageRef(given.MessageID), given.Reaction)
	})
}

type pinBody struct {
	Seconds int64 `json:"durationSeconds" minimum:"86400" maximum:"2592000" doc:"For how long: 86400 (24 hours), 604800 (7 days) or 2592000 (30 days)." example:"604800"`
}

type pinInput struct {
	MessagePath
	contract.JSON[pinBody]
}

func (m messages) pin() contract.Endpoint {
	return contract.Do(contract.Operation{
		ID: "pinMessage", Tag: tagMessages,
		Summary: "Pin a message",
		Description: "Pins a message in its chat, for everybody in it; one that is pinned already is pinned anew. Phones show three of a chat, the newest. " +
			"In a group whose settings only administrators change, only they pin messages.",
		Codes: messageCodes(gateway.CodeChannelRefused),
	}, func(ctx context.Context, in *pinInput) error {
		seconds := in.Given().Seconds
		if !slices.Contains([]int64{86_400, 604_800, 2_592_000}, seconds) {
			return gateway.InvalidField("durationSeconds", "must be one of: 86400, 604800, 2592000")
		}
		return m.use.Pin(ctx, contract.Instance(ctx).ID, messageRef(in.MessageID), time.Duration(seconds)*time.Second)
	})
}

func (m messages) unpin() contract.Endpoint {
	return contract.Do(contract.Operation{
		ID: "unpinMessage", Tag: tagMessages,
		Summary: "Unpin a message", Description: "Unpins a message for everybody in its chat, whoever pinned it.",
		Codes: messageCodes(gateway.CodeChannelRefused),
	}, func(ctx context.Context, in *MessagePath) error {
		return m.use.Pin(ctx, contract.Instance(ctx).ID, messageRef(in.MessageID), 0)
	})
}

// Votes is how a poll stands.
type Votes struct {
	ID         string        `json:"id" format:"uuid" doc:"The poll's internal identifier."`
	MessageID  string        `json:"messageId" doc:"Its identifier on the platform." example:"3EB0C431C26A1916E07A"`
	Question   string        `json:"question" example:"When shall we deliver?"`
	MaxAnswers int           `json:"maxAnswers" doc:"How many options somebody may choose; 0: any number." example:"1"`
	Voters     int           `json:"voters" doc:"How many people have a vote in it." example:"1"`
	Options    []OptionVotes `json:"options" doc:"Every option, in the poll's order."`
}

// OptionVotes is an option of a poll with its votes.
type OptionVotes struct {
	Option string             `json:"option" example:"Tomorrow"`
	Votes  int                `json:"votes" doc:"How many people chose it." example:"1"`
	Voters []*eventlog.Person `json:"voters" doc:"Who chose it, the first to vote first."`
}

// Schema is one with people as events name them.
func (Votes) Schema(registry huma.Registry) *huma.Schema {
	return contract.EventSchema(registry, "Votes", reflect.TypeFor[Votes]())
}

// Sample is the example of a poll with a vote.
func (Votes) Sample() any {
	ana := gateway.Party{JID: "5511988887766@s.whatsapp.net", LID: "123456789012345@lid", Name: "Ana"}
	return Votes{
		ID: "019aa1f4-8d52-7c1e-b3a0-0f4de1c9a7b2", MessageID: "3EB0C431C26A1916E07A", Question: "When shall we deliver?", MaxAnswers: 1, Voters: 1,
		Options: []OptionVotes{{Option: "Tomorrow", Votes: 1, Voters: []*eventlog.Person{eventlog.NewPerson(ana)}}},
	}
}

func (m messages) votes() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getVotes", Tag: tagMessages,
		Summary: "Get the votes in a poll",
		Description: "Votes in polls of this instance and of others, in chats that it is in. Those from before the poll came to the " +
			"instance are not known. A person's newest vote counts.",
		Codes: []string{gateway.CodeMessageNotFound, gateway.CodeMessageIsNoPoll},
	}, func(ctx context.Context, in *MessagePath) (Votes, error) {
		return contract.Answered(newVotes)(m.use.Votes(ctx, contract.Instance(ctx).ID, messageRef(in.MessageID)))
	})
}

func newVotes(poll messaging.Poll) Votes {
	shown := Votes{
		ID: poll.Message.ID, MessageID: poll.Message.PlatformID, Question: poll.Message.Text, MaxAnswers: poll.MaxAnswers,
		Voters: poll.Voters, Options: make([]OptionVotes, 0, len(poll.Options)),
	}
	for _, option := range poll.Options {
		votes := OptionVotes{Option: option.Name, Votes: len(option.Voters), Voters: make([]*eventlog.Person, 0, len(option.Voters))}
		for _, voter := range option.Voters {
			votes.Voters = append(votes.Voters, eventlog.NewPerson(voter))
		}
		shown.Options = append(shown.Options, votes)
	}
	return shown
}
