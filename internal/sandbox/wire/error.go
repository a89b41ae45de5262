package wire

import "fmt"

// Error is the answer to a request that fails. Clients compare its code and its
// text.
type Error struct {
	Code int
	Text string
}

func (e *Error) Error() string { return fmt.Sprintf("%d %s", e.Code, e.Text) }

// The errors that requests are answered with.
var (
	ErrBadRequest     = &Error{400, "bad-request"}
	ErrNotAuthorized  = &Error{401, "not-authorized"}
	ErrItemNotFound   = &Error{404, "item-not-found"}
	ErrForbidden      = &Error{403, "forbidden"}
	ErrNotAllowed     = &Error{405, "not-allowed"}
	ErrNotAcceptable  = &Error{406, "not-acceptable"}
	ErrLinkGone       = &Error{410, "gone"}
	ErrFull           = &Error{419, "resource-limit"}
	ErrInternal       = &Error{500, "internal-server-error"}
	ErrNotImplemented = &Error{501, "feature-not-implemented"}
)
