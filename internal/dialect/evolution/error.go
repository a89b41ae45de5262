// Refusals, in that API's words.

package evolution

import (
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
)

// maxEcho is how much of what a request says is repeated in an answer.
const maxEcho = 255

// cut returns the beginning of a text of a request.
func cut(text string) string {
	if runes := []rune(text); len(runes) > maxEcho {
		return string(runes[:maxEcho]) + "…"
	}
	return text
}

// refusal is an error with the answer that says it.
type refusal struct {
	status  int
	message any // a text, or a list
	retry   time.Duration
}

// Error says it for people.
func (r *refusal) Error() string { return http.StatusText(r.status) }

// refuse makes a refusal with a message, or several.
func refuse(status int, messages ...string) *refusal {
	return &refusal{status: status, message: messages}
}

// errUnauthorized is the refusal of a request without a key that is known.
var errUnauthorized = &refusal{status: http.StatusUnauthorized, message: "Unauthorized"}

// noInstance is the refusal of a name that no instance of the key has.
func noInstance(named string) *refusal {
	return refuse(http.StatusNotFound, "The \""+cut(named)+"\" instance does not exist")
}

// notConnected is the refusal of what needs the session of the instance.
func (c *call) notConnected() *refusal {
	return refuse(http.StatusBadRequest, "The \""+c.called+"\" instance is not connected")
}

// missing is the refusal of a body without a field.
func missing(field string) *refusal {
	return refuse(http.StatusBadRequest, "instance requires property \""+field+"\"")
}

// noAccount is the refusal of a number without an account, by which flows tell it from other refusals.
func noAccount(number string) *refusal {
	return &refusal{status: http.StatusBadRequest, message: []object{{"jid": jidOf(number), "exists": false, "number": number}}}
}

// explain makes a refusal of an error of the gateway; nil if it is none that a client can do anything about.
func (c *call) explain(err error) *refusal {
	if refused, ok := errors.AsType[*refusal](err); ok {
		return refused
	}
	if refused, ok := errors.AsType[*client.Error](err); ok {
		return c.translate(refused)
	}
	if refused, ok := errors.AsType[*gateway.Error](err); ok { // of the body
		status := http.StatusBadRequest
		switch gateway.KindOf(refused) {
		case gateway.TooLarge:
			status = http.StatusRequestEntityTooLarge
		case gateway.Unavailable:
			status = http.StatusServiceUnavailable
		case gateway.Invalid:
		default:
			return nil
		}
		return refuse(status, refused.Error())
	}
	return nil
}

// translate makes a refusal of one of the API.
func (c *call) translate(err *client.Error) *refusal {
	switch err.Code {
	case client.CodeUnauthorized:
		return errUnauthorized
	case client.CodeInstanceNotFound:
		return noInstance(c.called)
	case client.CodeInstanceNotConnected:
		return c.notConnected()
	case client.CodeRecipientNotRegistered:
		return noAccount(c.fields.text("number"))
	}
	status := err.StatusCode
	if status < http.StatusBadRequest || http.StatusText(status) == "" {
		status = http.StatusInternalServerError
	}
	messages := make([]string, 0, 1+len(err.Details))
	for _, detail := range err.Details {
		messages = append(messages, fieldNamed(detail.Field)+" "+detail.Message)
	}
	if len(messages) == 0 {
		messages = append(messages, err.Message)
	}
	return &refusal{status: status, message: messages, retry: err.RetryAfter}
}

// fieldNamed is how a field of the API is called in the body that the client sent.
func fieldNamed(field string) string {
	switch field {
	case "to":
		return "number"
	case "message":
		return "text"
	case "value":
		return "token"
	default:
		return field
	}
}

// fail answers with an error, and returns what was said.
func (c *call) fail(w http.ResponseWriter, err error) *refusal {
	refused := c.explain(err)
	if refused == nil {
		if c.ctx().Err() == nil {
			c.handler.config.Logger.ErrorContext(c.ctx(), "a request of the dialect failed", slog.String("dialect", name), slog.Any("error", err))
		}
		refused = &refusal{status: http.StatusInternalServerError, message: "Internal Server Error"}
	}
	if refused.retry > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(refused.retry/time.Second)))
	}
	write(w, refused.status, object{
		"status": refused.status, "error": http.StatusText(refused.status), "response": object{"message": refused.message},
	})
	return refused
}
