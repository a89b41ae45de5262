package control

import (
	"encoding/json"
	"net/http"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/profile"
	"github.com/recado-project/recado/internal/sandbox/scan"
)

// listPhones answers with all phones.
func (a *api) listPhones(r *http.Request) (any, error) {
	phones, err := a.config.Profiles.List(r.Context())
	return list[account.Phone]{phones}, err
}

func (a *api) getPhone(r *http.Request) (any, error) {
	return a.config.Profiles.Get(r.Context(), r.PathValue("number"))
}

func (a *api) putPhone(r *http.Request) (any, error) {
	var body struct {
		Name           *string      `json:"name"`
		NameBase64     []byte       `json:"nameBase64"`
		Registered     *bool        `json:"registered"`
		Online         *bool        `json:"online"`
		HideNumber     *bool        `json:"hideNumber"`
		Passkey        *passkeyRule `json:"passkey"`
		ProfilePicture removable    `json:"profilePicture"`
		AddToGroups    *bool        `json:"addToGroups"`

		About    *string           `json:"about"`
		Username *string           `json:"username"`
		Privacy  map[string]string `json:"privacy"`
		Business *account.Business `json:"business"`
	}
	if err := decode(r, &body, true); err != nil {
		return nil, err
	}
	if body.AddToGroups != nil {
		if err := a.config.Groups.SetAddable(r.Context(), r.PathValue("number"), *body.AddToGroups); err != nil {
			return nil, err
		}
	}
	change := profile.Update{
		Name: either(body.Name, body.NameBase64), Registered: body.Registered, Online: body.Online, HideNumber: body.HideNumber,
		SetPicture: body.ProfilePicture.present, About: body.About, Username: body.Username, Privacy: body.Privacy, Business: body.Business,
	}
	change.Passkey = (*account.PasskeyRule)(body.Passkey)
	if input := body.ProfilePicture.value; input != nil {
		file, err := a.readMedia(r, "profilePicture", *input)
		if err != nil {
			return nil, err
		}
		change.Picture = file.content
	}
	return a.config.Profiles.Update(r.Context(), r.PathValue("number"), change)
}

// removable is a field that null removes. If it is absent, nothing changes.
type removable struct {
	present bool
	value   *string
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *removable) UnmarshalJSON(raw []byte) error {
	f.present = true
	return json.Unmarshal(raw, &f.value)
}

// answered are the fields that the gateway's answer has beside a code, so that the
// answer can be sent to a phone unchanged. They are ignored.
type answered struct {
	InstanceID string  `json:"instanceId"`
	ExpiresAt  float64 `json:"expiresAt"`
}

// scan lets a phone scan a QR code, and so links the client that shows it.
func (a *api) scan(r *http.Request) (any, error) {
	var body struct {
		answered

		QRCode  string  `json:"qrCode"`
		Code    string  `json:"code"`    // ignored, like the fields of answered: the picture says the same
		Attempt float64 `json:"attempt"` // likewise
	}
	if err := decode(r, &body, false); err != nil {
		return nil, err
	}
	if body.QRCode == "" {
		return nil, validation(detail{"qrCode", "is required"})
	}
	code, err := scan.Read(body.QRCode)
	if err != nil {
		return nil, validation(detail{"qrCode", err.Error()})
	}
	return nil, a.config.Linking.Scan(r.Context(), r.PathValue("number"), code)
}

// enterCode types a pairing code into a phone.
func (a *api) enterCode(r *http.Request) (any, error) {
	var body struct {
		answered

		Code        string `json:"code"`
		PairingCode string `json:"pairingCode"` // the gateway's name for it
	}
	if err := decode(r, &body, false); err != nil {
		return nil, err
	}
	if body.Code == "" {
		body.Code = body.PairingCode
	}
	if body.Code == "" {
		return nil, validation(detail{"code", "is required"})
	}
	return nil, a.config.Linking.EnterCode(r.Context(), r.PathValue("number"), body.Code)
}

func (a *api) unlink(r *http.Request) (any, error) {
	return nil, a.config.Linking.Unlink(r.Context(), r.PathValue("number"))
}

func (a *api) setPresence(r *http.Request) (any, error) {
	var body struct {
		To       string `json:"to"`
		Presence string `json:"presence"`
	}
	if err := decode(r, &body, false); err != nil {
		return nil, err
	}
	if alone := body.Presence == "available" || body.Presence == "unavailable"; body.To == "" && !alone {
		return nil, validation(detail{"to", "is required"})
	}
	return nil, a.config.Presences.Set(r.Context(), r.PathValue("number"), body.To, body.Presence)
}

// block blocks somebody, and unblock unblocks him.
func (a *api) block(r *http.Request) (any, error)   { return nil, a.setBlocked(r, true) }
func (a *api) unblock(r *http.Request) (any, error) { return nil, a.setBlocked(r, false) }

func (a *api) setBlocked(r *http.Request, blocked bool) error {
	return a.config.Profiles.Block(r.Context(), r.PathValue("number"), r.PathValue("who"), blocked)
}

func (a *api) listActivity(r *http.Request) (any, error) {
	entries, err := a.config.Activities.Of(r.Context(), r.PathValue("number"))
	return list[account.Activity]{entries}, err
}

func (a *api) ban(r *http.Request) (any, error) {
	var body struct {
		Seconds *float64 `json:"seconds"`
	}
	if err := decode(r, &body, true); err != nil {
		return nil, err
	}
	var left float64
	if body.Seconds != nil {
		if left = *body.Seconds; left <= 0 || left > maxSeconds {
			return nil, validation(detail{"seconds", "must be more than 0 and at most 100 years"})
		}
	}
	return nil, a.config.Sessions.Ban(r.Context(), r.PathValue("number"), seconds(left))
}

func (a *api) liftBan(r *http.Request) (any, error) {
	return nil, a.config.Sessions.LiftBan(r.Context(), r.PathValue("number"))
}

// maxSeconds is a hundred years, which fits into a time.Duration.
const maxSeconds = 100 * 365 * 24 * 3600

func (a *api) replace(r *http.Request) (any, error) {
	return nil, a.config.Sessions.Replace(r.Context(), r.PathValue("number"))
}

// restrict forbids an account to write to new contacts. Zero seconds lift the
// restriction.
func (a *api) restrict(r *http.Request) (any, error) {
	var body struct {
		Seconds float64 `json:"seconds"`
	}
	if err := decode(r, &body, true); err != nil {
		return nil, err
	}
	if body.Seconds < 0 || body.Seconds > maxSeconds {
		return nil, validation(detail{"seconds", "must be between 0 and 100 years"})
	}
	return nil, a.config.Sessions.Restrict(r.Context(), r.PathValue("number"), seconds(body.Seconds))
}

func (a *api) call(r *http.Request) (any, error) {
	var body struct {
		To    string `json:"to"`
		Video bool   `json:"video"`
	}
	if err := decode(r, &body, false); err != nil {
		return nil, err
	}
	if body.To == "" {
		return nil, validation(detail{"to", "is required"})
	}
	id, err := a.config.Calls.Call(r.Context(), r.PathValue("number"), body.To, body.Video)
	return struct {
		CallID string `json:"callId"`
	}{id}, err
}

// endCall ends a call that rings.
func (a *api) endCall(r *http.Request) (any, error) {
	var body struct {
		How string `json:"how"`
	}
	if err := decode(r, &body, false); err != nil {
		return nil, err
	}
	return nil, a.config.Calls.End(r.Context(), r.PathValue("number"), r.PathValue("call"), body.How)
}

// setHistory sets the made-up history for devices that are linked from now on.
func (a *api) setHistory(r *http.Request) (any, error) {
	var history account.MadeUpHistory
	if err := decode(r, &history, true); err != nil {
		return nil, err
	}
	return nil, a.config.Phones.SetHistory(r.Context(), r.PathValue("number"), history)
}

// loseKeys lets a phone lose its encryption sessions.
func (a *api) loseKeys(r *http.Request) (any, error) {
	return nil, a.config.Phones.LoseKeys(r.Context(), r.PathValue("number"))
}
