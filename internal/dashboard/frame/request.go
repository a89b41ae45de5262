// One request for a page, and the ways to answer it.

package frame

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/recado-project/recado/internal/body"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/web"
)

// Request is a request of a visitor who may make it. Its handler answers it once, or
// returns an error, which the frame shows.
type Request struct {
	*http.Request

	W       http.ResponseWriter
	Visitor Visitor
	// Entry is what the audit list gets when the handler has answered; handlers set its
	// subject.
	Entry Entry

	pages *Pages
	form  *body.Body // that ReadForm has read; nil for none
}

// View is a whole page: what the layout shows, and the page's own data, which is the dot
// of its block "content".
type View struct {
	Title   string // of the browser's window, after translation
	Section string // the link of the layout that leads here
	Public  bool   // strangers read it as well: below a bar, and not in the narrow column of the sign-in
	Body    any
}

// shown is the dot of the layout.
type shown struct {
	View

	Visitor Visitor
	Sandbox bool
	Texts   map[string]string // for the page's script
}

// Lang is the language of the answer.
func (r *Request) Lang() string { return r.pages.config.Site.Language(r.Request) }

// Text translates a text for the visitor.
func (r *Request) Text(text web.Word, args ...any) string {
	return r.pages.config.Site.Words().Text(r.Lang(), text, args...)
}

// Live reports whether the page's script made the request, and not the browser itself.
func (r *Request) Live() bool { return r.Header.Get("HX-Request") == "true" }

// Page answers with a whole page.
func (r *Request) Page(page string, view View) error {
	r.pages.record(r)
	r.page(http.StatusOK, page, view)
	return nil
}

// Show answers with a whole page and a status, such as a form to fill in again. It records
// nothing.
func (r *Request) Show(status int, page string, view View) error {
	r.page(status, page, view)
	return nil
}

func (r *Request) page(status int, page string, view View) {
	r.pages.config.Site.Page(r.W, r.Request, status, page, shown{
		View: view, Visitor: r.Visitor, Sandbox: r.pages.config.Sandbox, Texts: map[string]string{
			"copied":      r.Text(web.Word("Copied.")),
			"close":       r.Text(web.Word("Close")),
			"failed":      r.Text(web.Word("Something went wrong. The log says why.")),
			"unreachable": r.Text(web.Word("The gateway can't be reached.")),
		},
	})
}

// Fragment answers with one block of a page.
func (r *Request) Fragment(page, block string, data any) error {
	r.pages.record(r)
	r.pages.config.Site.Fragment(r.W, r.Request, http.StatusOK, page, block, data)
	return nil
}

// Done answers that something was done: with a short notice for the page's script, or
// with the way back to the page for a browser without it.
func (r *Request) Done(back string, text web.Word, args ...any) error {
	r.pages.record(r)
	if !r.Live() {
		http.Redirect(r.W, r.Request, back, http.StatusSeeOther)
		return nil
	}
	web.Notice(r.W, r.Text(text, args...))
	r.W.WriteHeader(http.StatusNoContent)
	return nil
}

// Go answers that another page is next.
func (r *Request) Go(path string) error {
	r.pages.record(r)
	if r.Live() {
		r.W.Header().Set("HX-Redirect", path)
		r.W.WriteHeader(http.StatusNoContent)
		return nil
	}
	http.Redirect(r.W, r.Request, path, http.StatusSeeOther)
	return nil
}

// problem is what the page of an error shows.
type problem struct {
	Title  web.Word
	Detail string // what was said below, in English
}

// fail answers with what went wrong: a notice for the page's script, or a whole page.
func (p *Pages) fail(ctx context.Context, r *Request, err error) {
	if shortage := gateway.Shortage(err); shortage != nil {
		p.config.Logger.ErrorContext(ctx, "page failed", slog.String("path", r.URL.Path), slog.Any("error", err))
		err = shortage
	}
	status, title := outcome(gateway.KindOf(err))
	shownProblem := problem{Title: title}
	if failure, ok := errors.AsType[*gateway.Error](err); ok {
		shownProblem.Detail = wordsOf(failure)
		if failure.RetryAfter > 0 {
			r.W.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(failure.RetryAfter.Seconds()))))
		}
	}
	// Not the path itself: the numbers of people are in those of chats.
	attrs := []slog.Attr{slog.String("route", r.Pattern)}
	if id := r.PathValue("instanceId"); id != "" {
		attrs = append(attrs, slog.String("instance_id", id))
	}
	switch {
	case status == http.StatusInternalServerError && ctx.Err() == nil:
		p.config.Logger.LogAttrs(ctx, slog.LevelError, "page failed", append(attrs, slog.Any("error", err))...)
	case status == http.StatusForbidden, status == http.StatusTooManyRequests:
		p.config.Logger.LogAttrs(ctx, slog.LevelInfo, "page refused", append(attrs, slog.Int("status", status),
			slog.String("user_id", r.Visitor.Actor.UserID), slog.String("client", r.Visitor.Actor.Address))...)
	}
	if !r.Live() {
		r.page(status, "problem", View{Title: r.Text(title), Body: shownProblem})
		return
	}
	text := r.Text(title)
	if shownProblem.Detail != "" {
		text += " " + r.said(shownProblem.Detail)
	}
	var wrong []web.WrongField
	if failure, ok := errors.AsType[*gateway.Error](err); ok {
		for _, field := range failure.Fields {
			wrong = append(wrong, web.WrongField{Field: field.Field, Text: r.said(field.Message)})
		}
	}
	web.Refuse(r.W, status, text, wrong...)
}

// said is a sentence of a refusal for the visitor.
func (r *Request) said(message string) string {
	return web.Sentence(r.pages.config.Site.Words().Said(r.Lang(), message))
}

// ForNow returns why something can't be read now, for the function "said" of templates, if it may
// well be another time: then it is no error.
func ForNow(err error) (why string, rest error) {
	refusal, ok := gateway.AsError(err)
	if !ok {
		return "", err
	}
	switch refusal.Kind {
	case gateway.Conflict, gateway.PaymentRequired, gateway.RateLimited, gateway.Unavailable, gateway.PlatformFailed, gateway.PlatformTimeout:
		return wordsOf(refusal), nil
	default:
		return "", err
	}
}

// wordsOf are the words of a refusal for who looks at the dashboard already: those for clients
// send them here.
func wordsOf(refusal *gateway.Error) string {
	if strings.Contains(refusal.Message, "; the dashboard says why") {
		return gateway.Errorf(refusal.Kind, refusal.Code, "the instance is not connected").Message
	}
	return refusal.Message
}

// outcome is the status and the words for a kind of error. What the use case itself says
// is shown after them.
func outcome(kind gateway.Kind) (int, web.Word) {
	outcomes := map[gateway.Kind]struct {
		status int
		title  web.Word
	}{
		gateway.Invalid:          {http.StatusBadRequest, web.Word("Please check the form.")},
		gateway.Unauthorized:     {http.StatusUnauthorized, web.Word("You are not signed in.")},
		gateway.Forbidden:        {http.StatusForbidden, web.Word("You don't have permission to do this.")},
		gateway.NotFound:         {http.StatusNotFound, web.Word("Not found.")},
		gateway.MethodNotAllowed: {http.StatusMethodNotAllowed, web.Word("This page doesn't accept that kind of request.")},
		gateway.Conflict:         {http.StatusConflict, web.Word("This is not possible right now.")},
		gateway.TooLarge:         {http.StatusRequestEntityTooLarge, web.Word("This is too large.")},
		gateway.Gone:             {http.StatusGone, web.Word("Not found.")},
		gateway.PaymentRequired:  {http.StatusPaymentRequired, web.Word("The instance has a payment pending.")},
		gateway.PlatformFailed:   {http.StatusBadGateway, web.Word("The platform refused this.")},
		gateway.PlatformTimeout:  {http.StatusGatewayTimeout, web.Word("The platform did not answer in time.")},
		gateway.Unavailable:      {http.StatusServiceUnavailable, web.Word("Not available right now.")},
		gateway.RateLimited:      {http.StatusTooManyRequests, web.Word("Too many requests. Wait a moment.")},
	}
	if known, ok := outcomes[kind]; ok {
		return known.status, known.title
	}
	return http.StatusInternalServerError, web.Word("Something went wrong. The log says why.")
}

// maxSearch bounds what is searched for, in bytes.
const maxSearch = 100

// Search is what the request searches for; empty for everything, and for what is too long.
func (r *Request) Search() string {
	search := strings.TrimSpace(r.URL.Query().Get("search"))
	if len(search) > maxSearch {
		return ""
	}
	return search
}
