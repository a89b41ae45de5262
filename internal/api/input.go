// Inputs that several operations have.

package api

import (
	"context"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/body/format"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media"
)

// instanceList is the input of a list of an instance.
type instanceList struct {
	contract.InstancePath
	contract.Paging
}

// instanceBody is the input of an operation on an instance that reads a body.
type instanceBody[T any] struct {
	contract.InstancePath
	contract.JSON[T]
}

// MessagePath is the path of a message.
type MessagePath struct {
	contract.InstancePath

	MessageID string `path:"messageId" doc:"The message: its platform identifier, the composite form, or the id of a send result." example:"3EB0C431C26A1916E07A"`
}

// checkedMessagePath is the path of a message, without texts that can't be an identifier.
type checkedMessagePath struct{ MessagePath }

// Resolve refuses a text that can't be an identifier.
func (p *checkedMessagePath) Resolve(huma.Context) []error {
	return checkSegment("messageId", p.MessageID)
}

// checkSegment refuses a text of a path that can't be an identifier.
func checkSegment(field, text string) []error {
	if wrong := format.CheckSegment(text); wrong != "" {
		return contract.Wrong(field, wrong)
	}
	return nil
}

// pictureIn is the picture of a body, by its URL or as it is in the body; nil for none.
func pictureIn(ctx context.Context, url string) *media.Picture {
	hints := media.Hints{Field: "picture"}
	switch hints.Decoded = contract.Media(ctx); {
	case hints.Decoded != nil:
		return &media.Picture{Hints: hints}
	case url != "":
		return &media.Picture{Input: url, Hints: hints}
	default:
		return nil
	}
}

// fieldErrors collect what is wrong with the fields of a body.
type fieldErrors []gateway.FieldError

func (e *fieldErrors) add(field, message string) {
	*e = append(*e, gateway.FieldError{Field: field, Message: message})
}

// refuseNull adds the fields that are null, of those that can't be removed.
func (e *fieldErrors) refuseNull(in interface{ IsNull(field string) bool }, fields ...string) {
	for _, field := range fields {
		if in.IsNull(field) {
			e.add(field, "must not be null: leave it out to change nothing")
		}
	}
}

// disappearing reads after how many seconds messages disappear; nil if it is left out.
func (e *fieldErrors) disappearing(field string, seconds *int64) *time.Duration {
	if seconds == nil {
		return nil
	}
	if !slices.Contains([]int64{0, 86_400, 604_800, 7_776_000}, *seconds) {
		e.add(field, "must be one of: 0, 86400, 604800, 7776000")
	}
	return new(time.Duration(*seconds) * time.Second)
}

// err is nil if nothing is wrong.
func (e *fieldErrors) err() error {
	if len(*e) == 0 {
		return nil
	}
	return gateway.InvalidFields(*e...)
}

// nothingToChange refuses a body that would change nothing.
func nothingToChange() error {
	return gateway.InvalidField("body", "must have a field to change")
}
