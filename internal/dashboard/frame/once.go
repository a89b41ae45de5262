// Forms that act once, however often they are sent.

package frame

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	// onceField is the field of a form with the key that was drawn with it: see the function
	// "once" of templates.
	onceField = "once"
	// repeatAge is how long the answer to a form is kept for who sends it again, and maxAnswers how
	// many are kept: more of them are given once.
	repeatAge  = time.Minute
	maxAnswers = 1000
)

// Once identifies what the visitor wants: it is the same for the same form, sent again with the
// same fields and the same file, and another one for everything else. It is empty where the form
// has no key. ReadForm has read a form with a file.
func (r *Request) Once() (string, error) {
	key := r.PostFormValue(onceField)
	if key == "" {
		return "", nil
	}
	sum := sha256.New()
	_, _ = fmt.Fprintf(sum, "%s %q\n", r.Method, r.URL.Path)
	for _, name := range slices.Sorted(maps.Keys(r.PostForm)) {
		_, _ = fmt.Fprintf(sum, "%q=%q\n", name, r.PostForm[name])
	}
	if file := r.form.Media(); file != nil {
		if _, err := io.Copy(sum, io.NewSectionReader(file.Content, 0, file.Size)); err != nil {
			return "", fmt.Errorf("frame: read the file of a form: %w", err)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// repeats knows the answers to the forms of the last minute, also those with a new key: who sent
// the form gets it again, and nobody else.
type repeats struct {
	now func() time.Time

	mu      sync.Mutex
	answers map[string]*answer // by user and Once
}

// answer is what a handler answered, for all who sent the same.
type answer struct {
	done   chan struct{} // closed once there is one
	at     time.Time     // when it began
	failed bool          // nothing was done, and a repeat may succeed
	status int           // that of a handler that never answers, because it panics, is 500
	begun  bool          // the status is the handler's
	header http.Header
	body   bytes.Buffer
}

// serve lets handle answer a form, unless the same was sent before: then it answers the same. A
// form that failed is handled again.
func (s *repeats) serve(ctx context.Context, w http.ResponseWriter, key string, handle func(w http.ResponseWriter)) {
	first, found := s.enter(key)
	if !found {
		defer close(first.done)
		first.failed = true // also where handle panics
		defer s.forgetFailed(key, first)
		handle(first)
		first.failed = first.status >= http.StatusBadRequest
		first.writeTo(w)
		return
	}
	select {
	case <-first.done:
		first.writeTo(w)
	case <-ctx.Done(): // who sent it again has left
	}
}

// enter returns the answer under a key, and whether somebody else makes it.
func (s *repeats) enter(key string) (_ *answer, found bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	maps.DeleteFunc(s.answers, func(_ string, a *answer) bool { return now.Sub(a.at) > repeatAge })
	if a := s.answers[key]; a != nil {
		return a, true
	}
	a := &answer{done: make(chan struct{}), at: now, status: http.StatusInternalServerError, header: http.Header{}}
	if len(s.answers) < maxAnswers {
		s.answers[key] = a
	}
	return a, false
}

func (s *repeats) forgetFailed(key string, a *answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.failed && s.answers[key] == a {
		delete(s.answers, key)
	}
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) { a.status, a.begun = status, true }

func (a *answer) Write(content []byte) (int, error) {
	if !a.begun {
		a.WriteHeader(http.StatusOK)
	}
	return a.body.Write(content)
}

func (a *answer) writeTo(w http.ResponseWriter) {
	maps.Copy(w.Header(), a.header)
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body.Bytes())
}
