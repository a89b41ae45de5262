// The passkeys of phones, and what a phone shows while one is asked for.

package control

import (
	"bytes"
	"encoding/json"
	"net/http"
	"sync"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/passkey"
)

// passkeyRule is read from true, false, or an object with details.
type passkeyRule account.PasskeyRule

// UnmarshalJSON implements json.Unmarshaler.
func (p *passkeyRule) UnmarshalJSON(raw []byte) error {
	if json.Unmarshal(raw, &p.Needed) == nil {
		return nil
	}
	var body struct {
		Compare bool `json:"compare"`
		Seconds int  `json:"seconds"`
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&body); err != nil {
		return err
	}
	*p = passkeyRule{Needed: true, Compare: body.Compare, Seconds: body.Seconds}
	return nil
}

// passkeyQuestions are the questions of phones to browsers that make a passkey, the newest
// of each.
type passkeyQuestions struct {
	mu     sync.Mutex
	number map[string]passkey.Question
}

func (q *passkeyQuestions) keep(number string, question passkey.Question) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.number == nil {
		q.number = map[string]passkey.Question{}
	}
	q.number[number] = question
}

// take returns a question once.
func (q *passkeyQuestions) take(number string) (question passkey.Question, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	question, ok = q.number[number]
	delete(q.number, number)
	return question, ok
}

// getPasskey answers with what the phone shows of the question for a passkey.
func (a *api) getPasskey(r *http.Request) (any, error) {
	return a.config.Linking.Passkey(r.Context(), r.PathValue("number"))
}

// assertPasskey signs a request with the phone's own passkey, as a browser on the platform's
// page would.
func (a *api) assertPasskey(r *http.Request) (any, error) {
	var body struct {
		answered

		State   string          `json:"state"` // ignored, like the fields of answered
		Request json.RawMessage `json:"request"`
		Origin  string          `json:"origin"`
	}
	if err := decode(r, &body, false); err != nil {
		return nil, err
	}
	if len(body.Request) == 0 {
		return nil, validation(detail{"request", "is required"})
	}
	if body.Origin == "" {
		body.Origin = a.config.Passkeys.Page()
	}
	of, err := a.config.Accounts.Named(r.Context(), r.PathValue("number"))
	if err != nil {
		return nil, err
	}
	assertion, err := a.config.Passkeys.Sign(r.Context(), of, body.Request, body.Origin)
	return json.RawMessage(assertion), err
}

// confirmPasskey says on the phone that its code is that of the client.
func (a *api) confirmPasskey(r *http.Request) (any, error) {
	return nil, a.config.Linking.ConfirmPasskey(r.Context(), r.PathValue("number"))
}

// refusePasskey says on the phone that its code is not that of the client.
func (a *api) refusePasskey(r *http.Request) (any, error) {
	return nil, a.config.Linking.RefusePasskey(r.Context(), r.PathValue("number"))
}

// listPasskeys answers with the passkeys of the phone.
func (a *api) listPasskeys(r *http.Request) (any, error) {
	of, err := a.config.Accounts.Named(r.Context(), r.PathValue("number"))
	if err != nil {
		return nil, err
	}
	list, err := a.config.Passkeys.List(r.Context(), of.Number)
	return map[string]any{"data": list}, err
}

// askToRegisterPasskey answers with what a browser needs to make a passkey for the phone.
func (a *api) askToRegisterPasskey(r *http.Request) (any, error) {
	var body struct {
		Origin string `json:"origin"`
	}
	if err := decode(r, &body, false); err != nil {
		return nil, err
	}
	of, err := a.config.Accounts.Named(r.Context(), r.PathValue("number"))
	if err != nil {
		return nil, err
	}
	question, err := a.config.Passkeys.AskToRegister(r.Context(), of, body.Origin)
	if err != nil {
		return nil, err
	}
	a.asked.keep(of.Number, question)
	return json.RawMessage(question.Options), nil
}

// registerPasskey adds the passkey that a browser has made.
func (a *api) registerPasskey(r *http.Request) (any, error) {
	var body struct {
		Origin     string          `json:"origin"`
		Credential json.RawMessage `json:"credential"`
	}
	if err := decode(r, &body, false); err != nil {
		return nil, err
	}
	of, err := a.config.Accounts.Named(r.Context(), r.PathValue("number"))
	if err != nil {
		return nil, err
	}
	question, ok := a.asked.take(of.Number)
	if !ok {
		return nil, validation(detail{"credential", "nothing was asked: get the options first"})
	}
	return nil, a.config.Passkeys.Register(r.Context(), of, question, body.Origin, body.Credential)
}
