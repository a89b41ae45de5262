// Privacy settings, in the gateway's words and in the platform's.

package profiles

import (
	"context"
	"maps"
	"time"

	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// settings are the platform's names of the settings.
func settings() map[gateway.PrivacySetting]types.PrivacySettingType {
	return map[gateway.PrivacySetting]types.PrivacySettingType{
		gateway.PrivacyLastSeen:     types.PrivacySettingTypeLastSeen,
		gateway.PrivacyOnline:       types.PrivacySettingTypeOnline,
		gateway.PrivacyPicture:      types.PrivacySettingTypeProfile,
		gateway.PrivacyAbout:        types.PrivacySettingTypeStatus,
		gateway.PrivacyReadReceipts: types.PrivacySettingTypeReadReceipts,
		gateway.PrivacyGroups:       types.PrivacySettingTypeGroupAdd,
		gateway.PrivacyCalls:        types.PrivacySettingTypeCallAdd,
		gateway.PrivacyMessages:     types.PrivacySettingTypeMessages,
	}
}

// choices are the platform's names of the choices.
func choices() map[gateway.PrivacyChoice]types.PrivacySetting {
	return map[gateway.PrivacyChoice]types.PrivacySetting{
		gateway.PrivacyAll:            types.PrivacySettingAll,
		gateway.PrivacyContacts:       types.PrivacySettingContacts,
		gateway.PrivacyContactsExcept: types.PrivacySettingContactBlacklist,
		gateway.PrivacyNone:           types.PrivacySettingNone,
		gateway.PrivacyKnown:          types.PrivacySettingKnown,
		gateway.PrivacyAsLastSeen:     types.PrivacySettingMatchLastSeen,
	}
}

// choiceOf reads the platform's word; empty for one that is not known.
func choiceOf(word types.PrivacySetting) gateway.PrivacyChoice {
	for choice, name := range maps.All(choices()) {
		if name == word {
			return choice
		}
	}
	return ""
}

// Privacy asks what the account lets others see and do (gateway.OwnAccount).
func (p *Profiles) Privacy(ctx context.Context) (gateway.Privacy, error) {
	ctx, cancel := context.WithTimeout(ctx, p.line.Wait)
	defer cancel()
	answer, err := p.askPrivacy(ctx, "get")
	if err != nil {
		return gateway.Privacy{}, wire.Failure(err)
	}
	said := map[string]gateway.PrivacyChoice{}
	list := answer.GetChildByTag("privacy")
	for _, category := range list.GetChildrenByTag("category") {
		attrs := category.AttrGetter()
		said[attrs.OptionalString("name")] = choiceOf(types.PrivacySetting(attrs.OptionalString("value")))
	}
	privacy := gateway.Privacy{Choices: map[gateway.PrivacySetting]gateway.PrivacyChoice{}}
	for setting, name := range settings() {
		privacy.Choices[setting] = said[string(name)]
	}
	privacy.Disappearing, err = p.disappearing(ctx)
	return privacy, err
}

// askPrivacy asks the platform for the settings, or changes some. The library would answer with
// what it remembers: a change on the phone may not have come yet, and is written into it while
// others read.
func (p *Profiles) askPrivacy(ctx context.Context, kind whatsmeow.DangerousInfoQueryType, changes ...waBinary.Node) (*waBinary.Node, error) {
	inside := p.line.Client().DangerousInternals() //nolint:staticcheck // see above; the version is pinned
	return inside.SendIQ(ctx, whatsmeow.DangerousInfoQuery{
		Namespace: "privacy", Type: kind, To: types.ServerJID, Content: []waBinary.Node{{Tag: "privacy", Content: changes}},
	})
}

// disappearing asks after which time messages of new chats vanish.
func (p *Profiles) disappearing(ctx context.Context) (time.Duration, error) {
	self, err := wire.ToJID(p.line.Self().JID)
	if err != nil {
		return 0, err
	}
	inside := p.line.Client().DangerousInternals() //nolint:staticcheck // the library can set it, but not ask; the version is pinned
	list, err := inside.Usync(ctx, []types.JID{self}, "query", "interactive", []waBinary.Node{{Tag: "disappearing_mode"}})
	if err != nil {
		return 0, wire.Failure(err)
	}
	for _, user := range list.GetChildren() {
		if mode, ok := user.GetOptionalChildByTag("disappearing_mode"); ok {
			return seconds(mode.AttrGetter().OptionalString("duration")), nil
		}
	}
	return 0, nil
}

// SetPrivacy changes one setting (gateway.OwnAccount).
func (p *Profiles) SetPrivacy(ctx context.Context, change gateway.PrivacyUpdate) error {
	ctx, cancel := context.WithTimeout(ctx, p.line.Wait)
	defer cancel()
	client := p.line.Client()
	var err error
	if change.Disappearing != nil {
		err = client.SetDefaultDisappearingTimer(ctx, *change.Disappearing)
	} else {
		_, err = p.askPrivacy(ctx, "set", waBinary.Node{Tag: "category", Attrs: waBinary.Attrs{
			"name": string(settings()[change.Setting]), "value": string(choices()[change.Choice]),
		}})
	}
	if err != nil {
		return failure(err, gateway.CodePrivacyRefused, "this choice")
	}
	if change.Disappearing == nil {
		// The library remembers it: whether it tells others what was read.
		if _, err := client.TryFetchPrivacySettings(ctx, true); err != nil {
			return wire.Failure(err)
		}
	}
	p.changed(gateway.AccountChange{
		Kind: gateway.AccountPrivacyChanged, Settings: []gateway.PrivacySetting{change.Setting}, At: p.line.Now().UTC(),
	})
	return nil
}

// PrivacyChange is the change that was made on another device.
func PrivacyChange(event *events.PrivacySettings, at time.Time) gateway.AccountChange {
	change := gateway.AccountChange{Kind: gateway.AccountPrivacyChanged, At: at.UTC()}
	for _, part := range []struct {
		changed bool
		setting gateway.PrivacySetting
	}{
		{event.LastSeenChanged, gateway.PrivacyLastSeen},
		{event.OnlineChanged, gateway.PrivacyOnline},
		{event.ProfileChanged, gateway.PrivacyPicture},
		{event.StatusChanged, gateway.PrivacyAbout},
		{event.ReadReceiptsChanged, gateway.PrivacyReadReceipts},
		{event.GroupAddChanged, gateway.PrivacyGroups},
		{event.CallAddChanged, gateway.PrivacyCalls},
		{event.MessagesChanged, gateway.PrivacyMessages},
		{event.DefenseChanged || event.StickersChanged, gateway.PrivacyOther},
	} {
		if part.changed {
			change.Settings = append(change.Settings, part.setting)
		}
	}
	return change
}
