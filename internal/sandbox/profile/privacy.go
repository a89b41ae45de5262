package profile

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// Requests lists the requests about people.
func (s *Service) Requests() map[string]account.Handler {
	return map[string]account.Handler{
		"get usync usync":               s.iqUsync,
		"get blocklist *":               s.iqBlocklist,
		"set blocklist item":            s.iqBlock,
		"get privacy privacy":           s.iqPrivacy,
		"set privacy privacy":           s.iqSetPrivacy,
		"get status privacy":            s.iqStatusPrivacy,
		"set status status":             s.iqSetAbout,
		"get w:profile:picture picture": s.iqPicture,
		"set w:profile:picture *":       s.iqSetPicture,

		"set disappearing_mode disappearing_mode": s.iqSetDisappearing,

		"get w:biz business_profile": s.iqBusinessProfile,
		"get w:mex query":            s.iqMex,
	}
}

// iqPrivacy answers with the account's privacy settings.
func (s *Service) iqPrivacy(_ context.Context, c account.Asker, _ waBinary.Node) ([]waBinary.Node, error) {
	settings, _ := account.PrivacyChoices()
	categories := make([]waBinary.Node, 0, len(settings))
	for _, name := range settings {
		categories = append(categories, privacyCategory(name, c.Device.Account.Choice(name)))
	}
	return []waBinary.Node{{Tag: "privacy", Content: categories}}, nil
}

// iqSetPrivacy changes a privacy setting.
func (s *Service) iqSetPrivacy(ctx context.Context, c account.Asker, iq waBinary.Node) ([]waBinary.Node, error) {
	change, _ := wire.Child(iq, "privacy", "category")
	name, value := wire.AttrString(change, "name"), wire.AttrString(change, "value")
	if _, choices := account.PrivacyChoices(); !slices.Contains(choices[name], value) {
		return nil, wire.ErrBadRequest
	}
	if err := s.setPrivacy(ctx, c.Device.Account, c.Device, map[string]string{name: value}, nil); err != nil {
		return nil, err
	}
	return []waBinary.Node{{Tag: "privacy", Content: []waBinary.Node{privacyCategory(name, value)}}}, nil
}

// iqSetDisappearing sets after which time messages of new chats vanish.
func (s *Service) iqSetDisappearing(ctx context.Context, c account.Asker, iq waBinary.Node) ([]waBinary.Node, error) {
	mode, _ := wire.Child(iq, "disappearing_mode")
	duration := wire.AttrInt(mode, "duration")
	if duration < 0 {
		return nil, wire.ErrBadRequest
	}
	return nil, s.setPrivacy(ctx, c.Device.Account, c.Device, nil, &duration)
}

// setPrivacy changes settings, and tells the account's devices but the one that has made the
// change.
func (s *Service) setPrivacy(ctx context.Context, of *account.Account, by *account.Device, choices map[string]string, disappearing *int) error {
	chosen := of.Privacy()
	if chosen.Choices == nil {
		chosen.Choices = map[string]string{}
	}
	maps.Copy(chosen.Choices, choices)
	if disappearing != nil {
		chosen.Disappearing = *disappearing
	}
	encoded, err := json.Marshal(chosen)
	if err != nil {
		return fmt.Errorf("profile: keep privacy: %w", err)
	}
	u := s.config.Accounts.NewUnit()
	u.Exec("UPDATE accounts SET privacy = $1 WHERE number = $2", string(encoded), of.Number)
	u.Then(func() { of.SetPrivacy(chosen) })
	changed := waBinary.Node{Tag: "privacy"}
	var categories []waBinary.Node
	for _, name := range slices.Sorted(maps.Keys(choices)) {
		categories = append(categories, privacyCategory(name, choices[name]))
	}
	if changed.Content = categories; len(categories) > 0 {
		if err := s.tellDevices(u, of, by, changed); err != nil {
			return err
		}
	}
	return u.Commit(ctx)
}

// tellDevices tells the devices of an account, but the one that has made it, of a change of
// the account.
func (s *Service) tellDevices(u *account.Unit, of *account.Account, by *account.Device, change waBinary.Node) error {
	for _, linked := range of.Companions() {
		if linked == by {
			continue
		}
		err := u.ToDevice(linked, waBinary.Node{
			Tag:     "notification",
			Attrs:   waBinary.Attrs{"from": types.ServerJID, "type": "account_sync", "id": wire.NewID(), "t": s.now().Unix()},
			Content: []waBinary.Node{change},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func privacyCategory(name, value string) waBinary.Node {
	return waBinary.Node{Tag: "category", Attrs: waBinary.Attrs{"name": name, "value": value}}
}

// iqStatusPrivacy answers who sees the account's status posts. It names people who hide their
// number by their LID alone, as everywhere.
func (s *Service) iqStatusPrivacy(ctx context.Context, c account.Asker, _ waBinary.Node) ([]waBinary.Node, error) {
	chosen := c.Device.Account.Privacy().Posts
	people := make([]waBinary.Node, 0, len(chosen.People))
	for _, number := range chosen.People {
		who, err := s.config.Accounts.Ensure(ctx, number)
		if err != nil {
			return nil, err
		}
		name := who.PN()
		if who.ShownPN() == nil {
			name = who.LIDJID()
		}
		people = append(people, waBinary.Node{Tag: "user", Attrs: waBinary.Attrs{"jid": name}})
	}
	return []waBinary.Node{{Tag: "privacy", Content: []waBinary.Node{
		{Tag: "list", Attrs: waBinary.Attrs{"type": cmp.Or(chosen.Show, "contacts"), "default": "true"}, Content: people},
	}}}, nil
}

// iqSetAbout sets what the account says about itself.
func (s *Service) iqSetAbout(ctx context.Context, c account.Asker, iq waBinary.Node) ([]waBinary.Node, error) {
	return nil, s.setAbout(ctx, c.Device.Account, c.Device, string(wire.ChildContent(iq, "status")))
}

// iqMex answers a query in JSON: one that sets what the account says about itself, or one of
// another package.
func (s *Service) iqMex(ctx context.Context, c account.Asker, iq waBinary.Node) ([]waBinary.Node, error) {
	const setTextStatus = "9152604461510864"
	query, _ := wire.Child(iq, "query")
	id := wire.AttrString(query, "query_id")
	if answer, ok := s.config.Queries[id]; ok {
		return answer(ctx, c, iq)
	}
	if id != setTextStatus {
		s.config.Unknown.Count("get w:mex query " + id)
		s.config.Logger.LogAttrs(ctx, slog.LevelWarn, "unknown query refused", slog.String("query_id", id))
		return nil, wire.ErrNotImplemented
	}
	var request struct {
		Variables struct {
			Input struct {
				Text string `json:"text"`
			} `json:"input"`
		} `json:"variables"`
	}
	if err := json.Unmarshal(wire.Content(query), &request); err != nil {
		return nil, wire.ErrBadRequest
	}
	if err := s.setAbout(ctx, c.Device.Account, c.Device, request.Variables.Input.Text); err != nil {
		return nil, err
	}
	return []waBinary.Node{{Tag: "result", Content: []byte(`{"data":{}}`)}}, nil
}

// maxAbout bounds what an account says about itself, in bytes.
const maxAbout = 1024

// setAbout sets what the account says about itself, and tells its devices but the one that
// has made the change.
func (s *Service) setAbout(ctx context.Context, of *account.Account, by *account.Device, text string) error {
	if len(text) > maxAbout {
		return wire.ErrNotAcceptable
	}
	u := s.config.Accounts.NewUnit()
	u.Exec("UPDATE accounts SET about = $1 WHERE number = $2", text, of.Number)
	u.Then(func() { of.SetAbout(text) })
	for _, linked := range of.Companions() {
		if linked == by {
			continue
		}
		err := u.ToDevice(linked, waBinary.Node{
			Tag:     "notification",
			Attrs:   waBinary.Attrs{"from": of.PN(), "type": "status", "id": wire.NewID(), "t": s.now().Unix()},
			Content: []waBinary.Node{{Tag: "set", Content: []byte(text)}},
		})
		if err != nil {
			return err
		}
	}
	return u.Commit(ctx)
}
