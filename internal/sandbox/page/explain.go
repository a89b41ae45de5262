// Why the platform refuses something, in the reader's language.

package page

import (
	"strings"

	"github.com/recado-project/recado/internal/sandbox/refusal"
	"github.com/recado-project/recado/internal/web"
)

// reasons are the refusals that somebody can meet on the page. Those with changing parts
// are not among them, and are shown in English.
func reasons() []web.Word {
	return []web.Word{
		web.Word("the account has too many linked devices"),
		web.Word("the account is banned"),
		web.Word("the client has disconnected"),
		web.Word("the client that shows this code has been linked already"),
		web.Word("the client did not answer in time"),
		web.Word("the group has no members left"),
		web.Word("the message is too old to be deleted"),
		web.Word("the message is too old to be edited"), web.Word("only admins pin messages in this group"), web.Word("must be one of: 0, 86400, 604800, 2592000"),
		web.Word("the message was deleted"),
		web.Word("the number is not registered"),
		web.Word("the phone is not in this group"),
		web.Word("the message has no file"),
		web.Word("the message is no poll"), web.Word("the message is no event"), web.Word("the event was cancelled"), web.Word("must be a time in ISO 8601"),
		web.Word("must be in a group"),
		web.Word("must be options of the poll"),
		web.Word("are more than the poll allows"),
		web.Word("must be at most the number of options; 0 is any number"),
		web.Word("must not be negative"),
		web.Word("is not in the group"),
		web.Word("no client waits for a code for this number, or the code has expired"),
		web.Word("the code is wrong"),
		web.Word("the phone shows no code to compare"),
		web.Word("must be between 1 and 600"),
		web.Word("is required"),
		web.Word("must be a phone number"),
		web.Word("must be between 0 and 1"),
		web.Word("must be between -90 and 90"),
		web.Word("must be between -180 and 180"),
		web.Word("only texts and captions can be edited"),
		web.Word("the message carries no secret, so nobody can react to it here"),
		web.Word("the phone has not sent this message"),
		web.Word("must not be empty"),
		web.Word("a phone number has 7 to 15 digits"),
		web.Word("no phone can have this number: it begins with a country code, such as 55, and has as many digits as numbers of that country have"),
		web.Word("must be at least two texts"),
		web.Word("a group has at most 1024 members"),
		web.Word("no client shows this code, or it has expired"),
		web.Word("the code's keys are not those of the client that asked for it"),
		web.Word("the phone has no message with this id"),
		web.Word("must be a code between 1 and 999, or 0 for none"),
		web.Word("must not have more than 100 characters"),
		web.Word("must be a person"),
		web.Word("only admins may write to this group"),
		web.Word("must be a phone number or a personal chat ID"),
		web.Word("there is no group with this id"),
		web.Word("the phone has no file of this message"),
		web.Word("the phone has received no message with this id"),
		web.Word("the phone shows no message in this place"),
		web.Word("the phone shows no message with this id"),
		// How the question for a passkey ends.
		web.Word("another code was scanned meanwhile"),
		web.Word("nobody answered in time"),
		web.Word("somebody said on the phone that the codes are not the same"),
		web.Word("the code was not confirmed on both sides in time"),
		// The page's own.
		web.Word("the form can't be read"),
		web.Word("must be a number"),
		web.Word("must be a whole number"),
		web.Word("must be between now and ten years from now"),
		web.Word("there is no such phone"),
		web.Word("there is no such file"),
		web.Word("there is no such example"),
		web.Word("this can't be done to a message"),
		web.Word("this can't be done to a phone"),
		web.Word("this code is not shown any more"),
		web.Word("choose, paste or type a code"),
		web.Word("a number is too large"),
		web.Word("is not a data URI of a PNG or JPEG picture"),
		web.Word("is not a PNG or JPEG picture of a sensible size"),
		web.Word("the picture shows no QR code"),
	}
}

// knownReason returns a reason that is translated, "" for another one.
func knownReason(reason string) web.Word {
	for _, known := range reasons() {
		if string(known) == reason {
			return known
		}
	}
	return ""
}

// explain says why something was refused.
func (r *request) explain(refused *refusal.Error) string {
	reason := refused.Message
	if known := knownReason(reason); known != "" {
		reason = r.words(known)
	}
	switch {
	case strings.HasPrefix(refused.Message, "must "), strings.HasPrefix(refused.Message, "is "):
		return r.words(web.Word("Something in the form is not right: it %s."), reason)
	default:
		return web.Sentence(reason)
	}
}
