package contract

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"github.com/recado-project/recado/internal/body"
	"github.com/recado-project/recado/internal/gateway"
)

// init replaces settings that huma has only as package variables. By default huma
// answers the text of internal errors, repeats refused values, and takes field
// names in any case.
func init() { //nolint:gochecknoinits // see above
	huma.ValidateStrictCasing = true
	huma.NewError = func(int, string, ...error) huma.StatusError { return &Error{} } // huma asks for its schema
	huma.NewErrorWithContext = func(ctx huma.Context, _ int, message string, errs ...error) huma.StatusError {
		return exchangeOf(ctx.Context()).refusal(invalid(message, errs))
	}
	validation.MsgExpectedBoolean = "must be true or false"
	validation.MsgExpectedNumber = "must be a number"
	validation.MsgExpectedInteger = "must be a whole number"
	validation.MsgExpectedString = "must be a string"
	validation.MsgExpectedArray = "must be an array"
	validation.MsgExpectedObject = "must be an object"
	validation.MsgExpectedRFC3339DateTime = "must be a date and time like 2026-11-20T14:22:10Z"
	validation.MsgExpectedMatchPattern = "must match %s"
	validation.MsgExpectedOneOf = "must be one of: %s"
	validation.MsgExpectedMinimumNumber = "must be %v or more"
	validation.MsgExpectedMaximumNumber = "must be %v or less"
	validation.MsgExpectedMinLength = "must have %d characters or more"
	validation.MsgExpectedMaxLength = "must have %d characters or less"
	validation.MsgExpectedMinItems = "must have %d items or more"
	validation.MsgExpectedMaxItems = "must have %d items or less"
}

// invalid makes one validation error of everything that is wrong with a request. An
// error that is not about a field is internal.
func invalid(message string, errs []error) error {
	fields := make([]gateway.FieldError, 0, len(errs))
	for _, err := range errs {
		if field, ok := errors.AsType[*body.FieldError](err); ok {
			fields = append(fields, field.FieldError)
			continue
		}
		detail, ok := errors.AsType[*huma.ErrorDetail](err)
		if !ok {
			return fmt.Errorf("contract: %s: %w", message, errors.Join(errs...))
		}
		fields = append(fields, translate(detail))
	}
	if len(fields) == 0 {
		return fmt.Errorf("contract: %s", message)
	}
	slices.SortStableFunc(fields, func(a, b gateway.FieldError) int { return cmp.Compare(a.Field, b.Field) })
	// One sentence for each field is enough, and the first is the most helpful one.
	fields = slices.CompactFunc(fields, func(a, b gateway.FieldError) bool { return a.Field == b.Field })
	return gateway.InvalidFields(fields...)
}

// translate makes a field error of a finding of huma, whose location begins with the
// place of the field ("body.to", "query.page").
func translate(detail *huma.ErrorDetail) gateway.FieldError {
	field := detail.Location
	if _, rest, found := strings.Cut(field, "."); found {
		field = rest
	}
	message := detail.Message
	switch {
	case message == "invalid integer": // of a parameter; huma has no variable for it
		message = validation.MsgExpectedInteger
	case detail.Value == nil:
		message = "is required" // null counts as absent
	}
	return gateway.FieldError{Field: field, Message: message}
}
