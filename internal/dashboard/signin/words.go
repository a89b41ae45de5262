// What users read of an error, in their language.

package signin

import (
	"net/http"
	"strconv"
	"time"

	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/user"
	"github.com/recado-project/recado/internal/web"
)

// problem returns the status and the words for an error that a form can show, and whether
// it is one.
func problem(r *frame.Request, err error) (status int, text string, ok bool) {
	failure, ok := gateway.AsError(err)
	if !ok {
		return 0, "", false
	}
	switch failure.Code {
	case user.CodeWrongPassword:
		return http.StatusUnauthorized, r.Text(web.Word("The name or the password is wrong.")), true
	case user.CodeTooManyTries:
		r.W.Header().Set("Retry-After", strconv.Itoa(int(failure.RetryAfter/time.Second)+1))
		return http.StatusTooManyRequests, r.Text(web.Word("Too many attempts. Try again in %s."), wait(r, failure.RetryAfter)), true
	case user.CodeBusy:
		return http.StatusServiceUnavailable, r.Text(web.Word("Too many people are signing in right now. Try again in a moment.")), true
	case user.CodePassword:
		return http.StatusBadRequest, r.Text(web.Word("This password is too easy to guess. Use at least %d characters, and neither your name nor a common password."), user.MinPassword), true
	case user.CodeName:
		return http.StatusBadRequest, r.Text(web.Word("A name has up to 64 letters without accents, digits and . _ - + @, and begins with a letter or digit.")), true
	case user.CodeNameTaken:
		return http.StatusConflict, r.Text(web.Word("There is already a user with this name.")), true
	case user.CodeLastOwner:
		return http.StatusConflict, r.Text(web.Word("This is the last owner who can sign in. Make somebody else an owner first.")), true
	case user.CodeLinkEnded:
		return http.StatusGone, r.Text(web.Word("This link has expired: it was used, replaced, or is older than a day.")), true
	case user.CodePasskey:
		return http.StatusBadRequest, r.Text(web.Word("This passkey was not accepted.")), true
	default:
		return 0, "", false
	}
}

// wait writes a time to wait for people.
func wait(r *frame.Request, left time.Duration) string {
	switch {
	case left <= time.Second:
		return r.Text(web.Word("one second"))
	case left < time.Minute:
		return r.Text(web.Word("%d seconds"), int((left+time.Second-1)/time.Second))
	case left <= time.Minute:
		return r.Text(web.Word("one minute"))
	default:
		return r.Text(web.Word("%d minutes"), int((left+time.Minute-1)/time.Minute))
	}
}

// explain returns an error that the frame shows in the visitor's language.
func explain(r *frame.Request, err error) error {
	_, text, ok := problem(r, err)
	if !ok {
		return err
	}
	failure, _ := gateway.AsError(err)
	return gateway.Errorf(failure.Kind, failure.Code, "%s", text)
}
