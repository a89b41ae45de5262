package contract

import (
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/recado-project/recado/internal/gateway"
)

// Audience is who may use an operation.
type Audience int

// The audiences.
const (
	KeyHolders Audience = iota // everybody with an API key
	Partners                   // everybody with a partner key
	Everybody                  // also without a key
)

// Operation declares one operation of the API.
type Operation struct {
	ID          string
	Tag         string
	Summary     string
	Description string
	Status      int      // of success; 0 means 200, or 204 without an answer
	Codes       []string // of its refusals, beside those that follow from the rest
	Audience    Audience
	Stream      bool // it answers events until its reader leaves
	// Destructive says that it ends or removes what nobody can bring back; DELETE says so by itself.
	Destructive bool
	// Later describes the answer 202 that the operation may give as well; empty if it
	// never does. The handler's answer chooses by its field Status.
	Later string

	Method, Path string       // set from its route
	Body         reflect.Type // of the JSON that it reads, set from its handler; nil for none
	Answer       reflect.Type // of the JSON that it answers, set from its handler; nil for none

	mediaField string // of that body, where it may hold a file
}

// SuccessStatus is the status of an answer that is no refusal.
func (op Operation) SuccessStatus() int {
	switch {
	case op.Status != 0:
		return op.Status
	case op.Answer == nil:
		return http.StatusNoContent
	default:
		return http.StatusOK
	}
}

// ofInstance reports whether the path names an instance.
func (op Operation) ofInstance() bool { return strings.Contains(op.Path, "{instanceId}") }

// RefusalCodes lists the codes of all refusals of the operation, in order.
func (op Operation) RefusalCodes() []string {
	codes := slices.Clone(op.Codes)
	if op.Audience != Everybody {
		codes = append(codes, gateway.CodeUnauthorized, gateway.CodeRateLimited, gateway.CodeInternal, gateway.CodeUnavailable)
	}
	if op.Audience == Partners || op.ofInstance() {
		codes = append(codes, gateway.CodeForbidden)
	}
	if op.ofInstance() {
		codes = append(codes, gateway.CodeInstanceNotFound)
	}
	if op.Body != nil {
		codes = append(codes, gateway.CodeValidation, gateway.CodePayloadTooLarge)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}
