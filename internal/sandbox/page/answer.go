// One request for the page, and the ways to answer it.

package page

import (
	"errors"
	"log/slog"
	"net/http"

	"github.com/recado-project/recado/internal/sandbox/refusal"
	"github.com/recado-project/recado/internal/web"
)

// request is a request for the page. Its handler answers it once, or returns an error,
// which is shown.
type request struct {
	*http.Request

	w    http.ResponseWriter
	page *Page
}

// handler serves one route.
func (p *Page) handler(served route) http.Handler {
	limit := served.maxBody
	if limit == 0 {
		limit = maxForm
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, limit)
		asked := &request{Request: r, w: w, page: p}
		if err := served.handle(asked); err != nil {
			asked.fail(err) //nolint:contextcheck // the request has it
		}
	})
}

func (r *request) lang() string { return r.page.site.Language(r.Request) }

// words translates a text for the browser.
func (r *request) words(text web.Word, args ...any) string {
	return r.page.site.Words().Text(r.lang(), text, args...)
}

// number is the number of the phone in the path.
func (r *request) number() string { return r.PathValue("number") }

// dialog answers with the content of a dialog.
func (r *request) dialog(block string, data any) error {
	r.page.site.Fragment(r.w, r.Request, http.StatusOK, "dialogs", block, data)
	return nil
}

// done answers that something was done. What it changes comes by the stream. A text that
// is not empty is shown for a moment.
func (r *request) done(text web.Word) error {
	if r.Header.Get("HX-Request") == "" {
		// A browser without the page's script sees the page again.
		http.Redirect(r.w, r.Request, Path, http.StatusSeeOther)
		return nil
	}
	if text != "" {
		web.Notice(r.w, r.words(text))
	}
	r.w.WriteHeader(http.StatusNoContent)
	return nil
}

// open answers that the page is to show another place.
func (r *request) open(at place) error {
	if r.Header.Get("HX-Request") == "" {
		http.Redirect(r.w, r.Request, at.URL(), http.StatusSeeOther)
		return nil
	}
	r.w.Header().Set("HX-Redirect", at.URL())
	r.w.WriteHeader(http.StatusNoContent)
	return nil
}

// fail answers with what went wrong, which the page shows. Errors of the program itself
// are logged.
func (r *request) fail(err error) {
	status, text := http.StatusInternalServerError, r.words(web.Word("Something went wrong. The log says why."))
	if refused, ok := errors.AsType[*refusal.Error](err); ok {
		status, text = statusOf(refused.Kind), r.explain(refused)
	} else if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		status, text = http.StatusRequestEntityTooLarge, r.words(web.Word("This is too large: a file may have 64 MB."))
	} else if r.Context().Err() == nil {
		r.page.config.Logger.LogAttrs(r.Context(), slog.LevelError, "the phone page failed",
			slog.String("path", r.URL.Path), slog.Any("error", err))
	}
	web.Refuse(r.w, status, text)
}

func statusOf(kind refusal.Kind) int {
	switch kind {
	case refusal.NotFound:
		return http.StatusNotFound
	case refusal.Conflict:
		return http.StatusConflict
	case refusal.Timeout:
		return http.StatusGatewayTimeout
	default:
		return http.StatusBadRequest
	}
}
