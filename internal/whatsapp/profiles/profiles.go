// Package profiles is the part of a session that is about its own account: what others see
// of it, what it lets them do, and whom it has blocked.
package profiles

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/appstate"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/chatstate"
	"github.com/recado-project/recado/internal/whatsapp/contacts"
	"github.com/recado-project/recado/internal/whatsapp/line"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// Profiles asks about the session's own account and changes it. It is safe for concurrent
// use.
type Profiles struct {
	line     *line.Line
	contacts *contacts.Contacts
	picture  func()
	blocks   blocks
}

var _ gateway.OwnAccount = (*Profiles)(nil)

// New returns the account's part of a session. picture is called when the account's picture
// was changed here.
func New(of *line.Line, people *contacts.Contacts, picture func()) *Profiles {
	return &Profiles{line: of, contacts: people, picture: picture}
}

// Self returns the account (gateway.Account).
func (p *Profiles) Self() gateway.Party { return p.line.Self() }

// changed reports a change that was made here, which the platform does not report back.
func (p *Profiles) changed(change gateway.AccountChange) {
	if change.Kind == gateway.AccountPictureChanged {
		p.picture()
	}
	p.line.WhileOpen(func() { p.line.Report(p.line.Context, change, "change of the account") })
}

// OwnProfile asks what others see of the account (gateway.OwnAccount).
func (p *Profiles) OwnProfile(ctx context.Context) (gateway.OwnProfile, error) {
	self := p.line.Self()
	jid, err := wire.ToJID(self.JID)
	if err != nil {
		return gateway.OwnProfile{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, p.line.Wait)
	defer cancel()
	client := p.line.Client()
	infos, err := client.GetUserInfo(ctx, []types.JID{jid})
	if err != nil {
		return gateway.OwnProfile{}, wire.Failure(err)
	}
	picture, err := p.contacts.ProfilePicture(ctx, self.JID)
	if err != nil {
		return gateway.OwnProfile{}, err
	}
	profile := gateway.OwnProfile{Profile: gateway.Profile{JID: self.JID, LID: self.LID, Name: self.Name, PictureURL: picture}.Cleaned()}
	for _, info := range infos {
		profile.About = gateway.CleanText(info.Status, gateway.MaxText)
	}
	business, err := client.GetBusinessProfile(ctx, jid)
	if _, refused := gateway.AsError(wire.Failure(err)); err != nil && refused {
		return gateway.OwnProfile{}, wire.Failure(err)
	}
	if err == nil { // an answer without a profile is an error of the library's
		profile.Business = contacts.BusinessOf(business)
	}
	return profile, nil
}

// ChangeProfile makes one change (gateway.OwnAccount).
func (p *Profiles) ChangeProfile(ctx context.Context, change gateway.ProfileUpdate) error {
	ctx, cancel := context.WithTimeout(ctx, p.line.Wait)
	defer cancel()
	client := p.line.Client()
	told := gateway.AccountChange{At: p.line.Now().UTC()}
	switch {
	case change.Name != nil:
		return p.rename(ctx, client, *change.Name)
	case change.About != nil:
		if err := client.SetStatusMessage(ctx, types.SetStatusInput{Text: change.About}); err != nil {
			return failure(err, gateway.CodeProfileRefused, "this text")
		}
		told.Kind, told.Text = gateway.AccountAboutChanged, *change.About
	case change.Picture != nil:
		picture := *change.Picture
		if len(picture) == 0 {
			picture = nil // removes it
		}
		id, err := client.SetGroupPhoto(ctx, types.EmptyJID, picture) // of nobody: the account's own
		if err != nil {
			return failure(err, gateway.CodeProfileRefused, "this picture")
		}
		told.Kind = gateway.AccountPictureChanged
		if picture != nil {
			told.SourceKey = PictureKey(id)
		}
	default:
		return errors.New("profiles: a change without anything to change")
	}
	p.changed(told)
	return nil
}

// PictureKey is the same for every report that the account has a certain picture.
func PictureKey(id string) string { return "account/picture/" + id }

// rename changes the account's name: in the settings that its devices share, and, with the
// presence that says so, for everybody else. The change comes back as one of the settings.
func (p *Profiles) rename(ctx context.Context, client *whatsmeow.Client, name string) error {
	if err := chatstate.Change(ctx, p.line, appstate.BuildSettingPushName(name)); err != nil {
		return SettingFailure(err)
	}
	inside := client.DangerousInternals() //nolint:staticcheck // the library sends a name only with a presence, which is not to change; the version is pinned
	if err := inside.SendNode(ctx, waBinary.Node{Tag: "presence", Attrs: waBinary.Attrs{"name": name}}); err != nil {
		return wire.Failure(err)
	}
	return nil
}

// SettingFailure says why a change of the settings that all devices share was not made.
func SettingFailure(err error) error {
	switch {
	case strings.Contains(err.Error(), "no app state keys found"): // the library has no value for it
		return gateway.Errorf(gateway.Conflict, gateway.CodeNotSynced,
			"the phone has not sent the keys of the account's settings yet, as it does shortly after linking; try again")
	case errors.Is(err, whatsmeow.ErrAppStateUpdate):
		refusal := gateway.Errorf(gateway.Conflict, gateway.CodeProfileRefused, "the platform does not accept this change: another device may have made one at the same time; try again")
		refusal.Cause = err
		return refusal
	}
	return failure(err, gateway.CodeProfileRefused, "this change")
}

// failure is wire.Failure, with a code for what the platform does not accept.
func failure(err error, code, what string) error {
	refused, ok := errors.AsType[*whatsmeow.IQError](err)
	if ok && refused.Code >= 400 && refused.Code < 500 && refused.Code != 429 {
		return gateway.Errorf(gateway.Conflict, code, "the platform does not accept %s (code %d)", what, refused.Code)
	}
	if errors.Is(err, whatsmeow.ErrInvalidImageFormat) {
		return gateway.Errorf(gateway.Conflict, code, "the platform does not accept %s", what)
	}
	return wire.Failure(err)
}

// seconds reads a duration as the platform writes it; anything else is none.
func seconds(text string) time.Duration {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(n) * time.Second
}
