// What an error of the platform means.

package wire

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
)

// Codes of the platform that have a meaning of their own.
const (
	codeReachoutTimelock = 463 // writing to new contacts is restricted
	codeTooMany          = 429
	codeTrouble          = 500 // and beyond: the platform has trouble of its own
)

// Failure says in the gateway's words why the platform did not do what it was asked.
func Failure(err error) error {
	switch {
	case errors.Is(err, whatsmeow.ErrNotConnected), errors.Is(err, whatsmeow.ErrNotLoggedIn):
		lost := gateway.Errorf(gateway.Conflict, gateway.CodeNotConnected, "the instance lost its connection; it reconnects by itself")
		lost.RetryAfter = reconnectWait
		return lost
	case errors.Is(err, whatsmeow.ErrMessageTimedOut), errors.Is(err, whatsmeow.ErrIQTimedOut),
		errors.Is(err, context.DeadlineExceeded), isDisconnected(err):
		return gateway.Errorf(gateway.PlatformTimeout, gateway.CodePlatformTimeout, "the platform did not acknowledge in time")
	}
	code, ok := platformCode(err)
	if !ok {
		return fmt.Errorf("wire: %w", anonymous{err})
	}
	switch code {
	case codeReachoutTimelock:
		return gateway.Errorf(gateway.RateLimited, gateway.CodeRecipientRestricted,
			"the platform restricts this account from writing to new contacts (code %d)", code)
	case codeTooMany:
		return gateway.Errorf(gateway.RateLimited, gateway.CodeRateLimited, "the platform asks for fewer requests (code %d)", code)
	}
	refusal := gateway.Errorf(gateway.PlatformFailed, gateway.CodePlatformError, "the platform refused (code %d)", code)
	if code >= codeTrouble {
		refusal.RetryAfter = troubleWait // it has trouble of its own
	}
	return refusal
}

// reconnectWait is when a session has probably connected again.
const reconnectWait = 2 * time.Second

// troubleWait is when the platform is asked again after trouble of its own.
const troubleWait = 5 * time.Second

// OutOfTime gives an error of whatsmeow the end of ctx back as its cause, where whatsmeow drops it: when
// the keys of a recipient do not come in time, it says only that there is no session with that recipient.
func OutOfTime(ctx context.Context, err error) error {
	if errors.Is(err, whatsmeow.ErrNoSession) && ctx.Err() != nil {
		return fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	return err
}

func isDisconnected(err error) bool {
	_, ok := errors.AsType[*whatsmeow.DisconnectedError](err)
	return ok
}

// PlatformCode finds the platform's code in an error of whatsmeow.
func PlatformCode(err error) (int, bool) { return platformCode(err) }

func platformCode(err error) (int, bool) {
	if refusal, ok := errors.AsType[types.GraphQLError](err); ok {
		return refusal.Extensions.ErrorCode, true
	}
	if iq, ok := errors.AsType[*whatsmeow.IQError](err); ok {
		return iq.Code, true
	}
	if !errors.Is(err, whatsmeow.ErrServerReturnedError) {
		return 0, false
	}
	// The refusal of a message has its code only in the text.
	text := err.Error()
	code, convErr := strconv.Atoi(text[strings.LastIndexByte(text, ' ')+1:])
	return code, convErr == nil
}

// NotRegistered is the error of sending to somebody without an account.
func NotRegistered() error {
	return gateway.Errorf(gateway.Invalid, gateway.CodeNotRegistered, "the recipient has no account on the platform")
}

// IsNoGroup reports whether whatsmeow says that a group does not exist, or that this
// account is not in it.
func IsNoGroup(err error) bool {
	return errors.Is(err, whatsmeow.ErrGroupNotFound) || errors.Is(err, whatsmeow.ErrNotInGroup)
}

// NoGroup is the error of a group that does not exist, or not for this account.
func NoGroup() error {
	return gateway.Errorf(gateway.NotFound, gateway.CodeGroupNotFound, "there is no such group, or this account is not in it")
}

// IsGone reports whether the platform no longer has a file.
func IsGone(err error) bool {
	return errors.Is(err, whatsmeow.ErrMediaDownloadFailedWith403) ||
		errors.Is(err, whatsmeow.ErrMediaDownloadFailedWith404) ||
		errors.Is(err, whatsmeow.ErrMediaDownloadFailedWith410)
}

// MediaFailure is Failure for the transfer of a file.
func MediaFailure(err error) error {
	if err == nil {
		return nil
	}
	if refusal, ok := errors.AsType[whatsmeow.DownloadHTTPError](err); ok {
		return gateway.Errorf(gateway.PlatformFailed, gateway.CodePlatformError,
			"the platform's media host answered %d", refusal.StatusCode)
	}
	return Failure(err)
}

// IsNotAllowed reports whether the platform refuses a message to a group because of who sends it: who
// is not in it, who may not write, who may not pin.
func IsNotAllowed(err error) bool {
	code, refused := platformCode(err)
	return refused && (code == codeNotAllowed || code == codePrivacy)
}
