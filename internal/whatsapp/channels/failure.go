// Why the platform refuses something about a channel.

package channels

import (
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// The platform's codes.
const (
	codeBad          = 400
	codeNotAllowed   = 401
	codeForbidden    = 403
	codeNotFound     = 404
	codeUnacceptable = 406
	codeConflict     = 409
	codeGone         = 410
	codeBlocked      = 451
)

// Failure is wire.Failure for what is asked about a channel, or done to it.
func Failure(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := gateway.AsError(err); ok {
		return err
	}
	code, _ := wire.PlatformCode(err)
	switch code {
	case codeNotAllowed, codeForbidden:
		return gateway.Errorf(gateway.Forbidden, gateway.CodeChannelOwner,
			"only who owns or administers the channel may do this, or who follows it")
	case codeNotFound:
		return noChannel()
	case codeGone:
		return gateway.Errorf(gateway.Gone, gateway.CodeChannelGone, "the channel was deleted")
	case codeBlocked:
		return gateway.Errorf(gateway.Forbidden, gateway.CodeChannelBlocked, "the channel is not to be had in this account's country, or was suspended")
	case codeBad, codeUnacceptable, codeConflict:
		return gateway.Errorf(gateway.Conflict, gateway.CodeChannelRefused, "the platform does not accept this for a channel (code %d)", code)
	}
	return wire.Failure(err)
}

// mayFollow says of a refusal to follow that the channel is private.
func mayFollow(err error) error {
	if code, ok := wire.PlatformCode(err); ok && (code == codeForbidden || code == codeNotAllowed) {
		return gateway.Errorf(gateway.Forbidden, gateway.CodeChannelPrivate, "the channel is private: its owner lets nobody new follow it")
	}
	return err
}

func noChannel() error {
	return gateway.Errorf(gateway.NotFound, gateway.CodeChannelNotFound, "there is no such channel, or no such post in it")
}
