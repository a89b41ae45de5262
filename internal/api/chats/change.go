// Arranging chats, over HTTP.

package chats

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

type changeChatBody struct {
	Archived     *bool   `json:"archived,omitempty" doc:"Whether the chat is archived. Archiving unpins it." example:"true"`
	Pinned       *bool   `json:"pinned,omitempty" doc:"Whether the chat is pinned." example:"false"`
	MutedUntil   *string `json:"mutedUntil,omitempty" nullable:"true" maxLength:"64" doc:"Until when the chat is muted: a time to come (ISO 8601), or forever. Null or empty: no longer." example:"forever"`
	Read         *bool   `json:"read,omitempty" doc:"true: all messages are read, on the devices of the account; their senders get no receipts. false: the chat is marked as unread." example:"true"`
	Disappearing *int64  `json:"disappearingSeconds,omitempty" minimum:"0" maximum:"7776000" doc:"After how many seconds new messages disappear: 86400 (a day), 604800 (a week) or 7776000 (90 days); 0: never. Everybody in the chat is told." example:"604800"`
}

type changeInput struct {
	Path
	contract.JSON[changeChatBody]
}

// change reads what is to be changed: a field that is absent changes nothing.
func (in *changeInput) change(now time.Time) (gateway.ChatChange, error) {
	if err := in.RefuseUnknown(); err != nil {
		return gateway.ChatChange{}, err
	}
	given := in.Given()
	var wrong []gateway.FieldError
	refuse := func(field, message string) { wrong = append(wrong, gateway.FieldError{Field: field, Message: message}) }
	for _, field := range []string{"archived", "pinned", "read", "disappearingSeconds"} {
		if in.IsNull(field) {
			refuse(field, "must not be null: leave it out to change nothing")
		}
	}
	change := gateway.ChatChange{Archived: given.Archived, Pinned: given.Pinned, Read: given.Read}
	if given.Archived != nil && *given.Archived && given.Pinned != nil && *given.Pinned {
		refuse("pinned", "must not be true with archived: an archived chat is not pinned")
	}
	if until, problem := mutedUntil(given.MutedUntil, in.IsNull("mutedUntil"), now); problem != "" {
		refuse("mutedUntil", problem)
	} else {
		change.MutedUntil = until
	}
	if seconds := given.Disappearing; seconds != nil {
		if !slices.Contains([]int64{0, 86_400, 604_800, 7_776_000}, *seconds) {
			refuse("disappearingSeconds", "must be one of: 0, 86400, 604800, 7776000")
		}
		change.Disappearing = new(time.Duration(*seconds) * time.Second)
	}
	if len(wrong) > 0 {
		return gateway.ChatChange{}, gateway.InvalidFields(wrong...)
	}
	if change == (gateway.ChatChange{}) {
		return gateway.ChatChange{}, gateway.InvalidFields(gateway.FieldError{Field: "body", Message: "must have a field to change"})
	}
	return change, nil
}

// mutedUntil reads the end of a mute; nil if the field is absent.
func mutedUntil(given *string, null bool, now time.Time) (until *time.Time, problem string) {
	switch {
	case null || given != nil && *given == "":
		return &time.Time{}, ""
	case given == nil:
		return nil, ""
	case *given == eventlog.Forever:
		return new(gateway.MutedForever()), ""
	}
	end, err := time.Parse(time.RFC3339, *given)
	switch {
	case err != nil:
		return nil, "must be a time (ISO 8601), forever, or empty"
	case !end.After(now):
		return nil, "must be a time to come"
	case !end.Before(gateway.MutedForever()):
		return nil, "is too far away: say forever"
	}
	return new(end.UTC()), ""
}

// Change arranges a chat.
func (r Resource) Change() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "changeChat", Tag: Tag,
		Summary: "Archive, pin, mute a chat, or mark it",
		Description: "Changes what the body names and leaves the rest, on all devices of the account: the phone shows it too. " +
			"If a field is wrong, nothing is changed. The platform has a request for each kind of setting, so if it refuses one, others may have been changed. " +
			"How long messages of a group stay is one of the group's settings, which its administrators may have kept for themselves.",
		Codes: []string{
			gateway.CodeValidation, gateway.CodeChatNotFound, gateway.CodeNotConnected, gateway.CodeNotSynced, gateway.CodeChatRefused,
			gateway.CodeGroupNotFound, gateway.CodeGroupAdminRequired, gateway.CodeGroupRefused,
			gateway.CodePaymentRequired, gateway.CodeRateLimited, gateway.CodePlatformError, gateway.CodePlatformTimeout,
		},
	}, func(ctx context.Context, in *changeInput) (*contract.Answer[Chat], error) {
		change, err := in.change(r.Now())
		if err != nil {
			return nil, err
		}
		changed, err := r.Use.Change(ctx, contract.Instance(ctx).ID, in.with, change)
		if err != nil {
			return nil, err
		}
		return &contract.Answer[Chat]{Body: newChat(changed)}, nil
	})
}

// Delete deletes a chat.
func (r Resource) Delete() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "deleteChat", Tag: Tag,
		Summary: "Delete a chat",
		Description: "Deletes a chat on all devices of the account, and its messages and their files here. Those who are in the chat keep theirs. " +
			"A message that comes later begins the chat anew.",
		Status: http.StatusNoContent,
		Codes: []string{
			gateway.CodeValidation, gateway.CodeChatNotFound, gateway.CodeNotConnected, gateway.CodeNotSynced, gateway.CodeChatRefused,
			gateway.CodePaymentRequired, gateway.CodeRateLimited, gateway.CodePlatformError, gateway.CodePlatformTimeout,
		},
	}, func(ctx context.Context, in *Path) (*struct{}, error) {
		return nil, r.Use.Delete(ctx, contract.Instance(ctx).ID, in.with)
	})
}
