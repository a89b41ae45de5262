// The platform's question for a passkey, on the page of an instance that is being linked.

package dashboard

import (
	"encoding/json"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/web"
)

// shownPasskey is the question as the page shows it.
type shownPasskey struct {
	ID        string // of its element: another one for each question
	Name      string // that the passkey is for
	Page      string // the messenger's own, where the request is signed; "" if it is another one
	Request   string // JSON, while it is requested
	Snippet   string // signs it in the console of a browser
	ExpiresAt time.Time
	Code      string   // to compare, while it is to be confirmed
	Confirmed bool     // here
	Reason    string   // why it failed, in English
	Why       web.Word // the same for the reader, "" if only Reason says it
}

// passkeyOf returns what the page shows of a question, nil for nothing.
func passkeyOf(question gateway.PasskeyQuestion) *shownPasskey {
	switch question.State {
	case gateway.PasskeyRequested:
		hash := fnv.New64a()
		_, _ = hash.Write(question.Request) // a hash never fails
		return &shownPasskey{
			ID: strconv.FormatUint(hash.Sum64(), 36), Name: gateway.PasskeyName(question.Request), Page: gateway.PasskeyPage(question.Request),
			Request: string(question.Request), Snippet: gateway.PasskeySnippet(question.Request), ExpiresAt: question.ExpiresAt,
		}
	case gateway.PasskeyConfirm:
		return &shownPasskey{Code: question.Code, Confirmed: question.Confirmed, ExpiresAt: question.ExpiresAt}
	case gateway.PasskeyFailed:
		return &shownPasskey{Reason: question.Reason, Why: whyNotLinked(question.Reason)}
	default:
		return nil
	}
}

// whyNotLinked returns a reason without changing parts, for the reader. The page shows the
// next code anyway.
func whyNotLinked(reason string) web.Word {
	known := []web.Word{
		web.Word("nobody answered in time"),
		web.Word("the code was not confirmed in time"),
		web.Word("the code was not confirmed on the phone in time"),
		web.Word("the connection to the platform ended"),
		web.Word("the platform's request was not understood"),
		web.Word("the phone has linked the device, and its keys did not fit"),
	}
	begin, _, _ := strings.Cut(reason, ";")
	if slices.Contains(known, web.Word(begin)) {
		return web.Word(begin)
	}
	return ""
}

// Open reports whether something is still to be done.
func (s *shownPasskey) Open() bool { return s != nil && (s.Request != "" || s.Code != "") }

// stateOf says how an instance is doing, also while its account asks for its passkey.
func (p *pages) stateOf(i gateway.Instance) state {
	if i.Status != gateway.StatusPendingQR || !p.Instances.Passkey(i.ID).Open() {
		return stateOf(i)
	}
	return state{
		"info", web.Word("Waiting for passkey"), web.Word("A phone used the code, and its account requires a passkey to link a device."), "",
	}
}

// answerPasskey takes what a browser has signed: here, or elsewhere and pasted.
func (p *pages) answerPasskey(r *frame.Request, found gateway.Instance) error {
	answer := []byte(r.FormValue("answer"))
	if !json.Valid(answer) {
		return gateway.InvalidField("answer", "must be what the browser has copied: it begins with { and ends with }")
	}
	if err := p.Instances.AnswerPasskey(r.Context(), found.ID, answer); err != nil {
		return err
	}
	return r.Done("/instances/"+found.ID, web.Word("The platform accepted the passkey."))
}
