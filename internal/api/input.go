// Inputs that several operations have.

package api

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/body/format"
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
