package frame_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/user"
	"github.com/recado-project/recado/internal/web"
)

// noAudit records nothing.
type noAudit struct{}

func (noAudit) Record(context.Context, user.Actor, user.Action, string, string) {}

// repeated is a page with one form, whose handler answers when it is told how.
type repeated struct {
	pages *frame.Pages
	begun int
	how   chan string
}

func newRepeated(t *testing.T) *repeated {
	t.Helper()
	r := &repeated{how: make(chan string)}
	var err error
	r.pages, err = frame.New(frame.Config{Site: new(web.Site), Logger: slog.New(slog.DiscardHandler), Users: noAudit{}},
		frame.Route{Method: http.MethodPost, Path: "/do", Handle: func(request *frame.Request) error {
			r.begun++
			if how := <-r.how; how == "panic" {
				panic(how)
			}
			if err := request.Context().Err(); err != nil {
				return err
			}
			request.W.WriteHeader(http.StatusNoContent)
			return nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// send sends the form, and returns what it is answered with.
func (r *repeated) send(ctx context.Context) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	request := httptest.NewRequestWithContext(ctx, http.MethodPost, "/do", strings.NewReader("once=key"))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	go func() {
		defer func() { _ = recover() }() // as the server does
		r.pages.ServeHTTP(answer, request)
	}()
	synctest.Wait()
	return answer
}

// Who sends a form again gets the answer to the first, also when the first browser has left; and an
// error where it panics: then the form can be sent anew.
func TestRepeatIsAnswered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRepeated(t)
		first, second := r.send(t.Context()), r.send(t.Context())
		r.how <- "panic"
		synctest.Wait()
		if r.begun != 1 || second.Code != http.StatusInternalServerError || first.Body.Len() > 0 {
			t.Errorf("after a panic %d have begun, and the second gets %d", r.begun, second.Code)
		}

		left, leave := context.WithCancel(t.Context())
		r.send(left)
		again := r.send(t.Context())
		leave()
		r.how <- "well"
		synctest.Wait()
		if r.begun != 2 || again.Code != http.StatusNoContent {
			t.Errorf("after the first has left %d have begun, and the second gets %d", r.begun, again.Code)
		}
		if late := r.send(t.Context()); r.begun != 2 || late.Code != http.StatusNoContent {
			t.Errorf("later %d have begun, and it gets %d", r.begun, late.Code)
		}
	})
}
