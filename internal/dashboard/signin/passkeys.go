// What the pages' script asks about passkeys.

package signin

import (
	"encoding/base64"
	"encoding/json"
	"net/http"

	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/user"
)

// maxAnswer bounds what a script sends: the answer of a device with a name.
const maxAnswer = user.MaxPasskeyAnswer + 4<<10

// deviceAnswer is what a script sends: what a device has answered, and a name for people.
type deviceAnswer struct {
	Name   string          `json:"name"`
	Answer json.RawMessage `json:"answer"`
}

// askForAnyPasskey begins to sign in with a passkey.
func (d *Door) askForAnyPasskey(r *frame.Request) error {
	question, err := d.Users.AskForAnyPasskey(d.Origin(r.Request), d.Address(r.Request))
	return d.ask(r, question, err)
}

// askForPasskey begins to register a passkey.
func (d *Door) askForPasskey(r *frame.Request) error {
	question, err := d.Users.AskForPasskey(r.Context(), r.Visitor.Actor, d.Origin(r.Request))
	return d.ask(r, question, err)
}

// ask gives a question to the script, and keeps it for the answer.
func (d *Door) ask(r *frame.Request, question user.Question, err error) error {
	if err != nil {
		return explain(r, err)
	}
	d.cookies.keep(r.Context(), keyChallenge, string(question.Challenge))
	header := r.W.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "no-store")
	r.W.WriteHeader(http.StatusOK)
	_, _ = r.W.Write(question.Options) // if it fails, the browser is gone
	return nil
}

// answer reads what the script sends, and the question that it answers, which is asked
// only once.
func (d *Door) answer(r *frame.Request) (deviceAnswer, []byte, error) {
	var given deviceAnswer
	if err := json.NewDecoder(r.Body).Decode(&given); err != nil {
		return given, nil, gateway.Errorf(gateway.Invalid, gateway.CodeValidation, "the answer of the device can't be read")
	}
	return given, []byte(d.cookies.take(r.Context(), keyChallenge)), nil
}

// signInWithPasskey takes the answer of a sign-in.
func (d *Door) signInWithPasskey(r *frame.Request) error {
	given, challenge, err := d.answer(r)
	if err != nil {
		return err
	}
	signedIn, err := d.Users.SignInWithPasskey(r.Context(), d.Origin(r.Request), challenge, given.Answer, d.Address(r.Request))
	if gateway.KindOf(err) == gateway.Unauthorized {
		// 401 would mean to the script that it should load the page again.
		err = gateway.Errorf(gateway.Invalid, user.CodePasskey, "this passkey is not known here")
	}
	if err != nil {
		return explain(r, err)
	}
	return d.enter(r, signedIn, nextPage(r.URL.Query().Get("next")))
}

// addPasskey takes the answer of a registration.
func (d *Door) addPasskey(r *frame.Request) error {
	given, challenge, err := d.answer(r)
	if err != nil {
		return err
	}
	err = d.Users.AddPasskey(r.Context(), r.Visitor.Actor, d.Origin(r.Request), challenge, given.Answer, given.Name)
	if err != nil {
		return explain(r, err)
	}
	return r.Go("/profile")
}

// removePasskey removes a passkey of the visitor.
func (d *Door) removePasskey(r *frame.Request) error {
	id, err := base64.RawURLEncoding.DecodeString(r.PathValue("passkeyId"))
	if err != nil {
		return gateway.Errorf(gateway.NotFound, gateway.CodeNotFound, "there is no such passkey")
	}
	if err := d.Users.RemovePasskey(r.Context(), r.Visitor.Actor, id); err != nil {
		return err
	}
	return r.Go("/profile")
}
