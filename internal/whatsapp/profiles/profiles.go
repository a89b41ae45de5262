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
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// Config is what the account's part of a session needs of it. All of it is required.
type Config struct {
	Client func() *whatsmeow.Client // in use
	Self   func() gateway.Party
	// Person names somebody as completely as possible.
	Person func(one, other types.JID, name string) gateway.Party
	// Picture returns the URL of somebody's picture; empty if there is none.
	Picture func(ctx context.Context, of gateway.JID) (string, error)
	// Changed is told of every change that was made here and that the platform does not
	// report back.
	Changed func(change gateway.AccountChange)
	Now     func() time.Time
	Wait    time.Duration // how long the platform may take for one answer
}

// Profiles asks about the session's own account and changes it. It is safe for concurrent
// use.
type Profiles struct {
	config Config
	blocks blocks
}

var _ gateway.OwnAccount = (*Profiles)(nil)

// New returns the account's part of a session.
func New(config Config) *Profiles { return &Profiles{config: config} }

// The bounds of what a business says of itself, which the platform has not checked here.
const (
	maxBusinessText = 512
	maxBusinessList = 32
)

// OwnProfile asks what others see of the account (gateway.OwnAccount).
func (p *Profiles) OwnProfile(ctx context.Context) (gateway.OwnProfile, error) {
	self := p.config.Self()
	jid, err := wire.ToJID(self.JID)
	if err != nil {
		return gateway.OwnProfile{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, p.config.Wait)
	defer cancel()
	client := p.config.Client()
	infos, err := client.GetUserInfo(ctx, []types.JID{jid})
	if err != nil {
		return gateway.OwnProfile{}, wire.Failure(err)
	}
	picture, err := p.config.Picture(ctx, self.JID)
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
		profile.Business = BusinessOf(business)
	}
	return profile, nil
}

// BusinessOf translates what a business says of itself, cleaned and bounded.
func BusinessOf(found *types.BusinessProfile) *gateway.Business {
	clean := func(text string) string { return gateway.CleanText(text, maxBusinessText) }
	business := &gateway.Business{Address: clean(found.Address), Email: clean(found.Email), TimeZone: clean(found.BusinessHoursTimeZone)}
	for _, category := range found.Categories[:min(len(found.Categories), maxBusinessList)] {
		business.Categories = append(business.Categories, clean(category.Name))
	}
	for _, hours := range found.BusinessHours[:min(len(found.BusinessHours), maxBusinessList)] {
		business.Hours = append(business.Hours, gateway.BusinessHours{
			Day: clean(hours.DayOfWeek), Mode: clean(hours.Mode), Opens: clean(hours.OpenTime), Closes: clean(hours.CloseTime),
		})
	}
	return business
}

// ChangeProfile makes one change (gateway.OwnAccount).
func (p *Profiles) ChangeProfile(ctx context.Context, change gateway.ProfileUpdate) error {
	ctx, cancel := context.WithTimeout(ctx, p.config.Wait)
	defer cancel()
	client := p.config.Client()
	told := gateway.AccountChange{At: p.config.Now().UTC()}
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
	p.config.Changed(told)
	return nil
}

// PictureKey is the same for every report that the account has a certain picture.
func PictureKey(id string) string { return "account/picture/" + id }

// rename changes the account's name: in the settings that its devices share, and, with the
// presence that says so, for everybody else. The change comes back as one of the settings.
func (p *Profiles) rename(ctx context.Context, client *whatsmeow.Client, name string) error {
	err := chatstate.Guard(ctx, func(ctx context.Context) error {
		return client.SendAppState(ctx, appstate.BuildSettingPushName(name))
	})
	if err != nil {
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
