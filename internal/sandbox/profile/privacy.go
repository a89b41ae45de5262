package profile

import (
	"context"
	"encoding/json"
	"log/slog"

	waBinary "go.mau.fi/whatsmeow/binary"

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
		"get w:biz business_profile":    s.iqBusinessProfile,
		"get w:mex query":               s.iqMex,
	}
}

// iqPrivacy answers with the account's privacy settings. Everybody may see
// everything.
func (s *Service) iqPrivacy(context.Context, account.Asker, waBinary.Node) ([]waBinary.Node, error) {
	settings := []string{"readreceipts", "last", "online", "profile", "status", "groupadd", "calladd"}
	categories := make([]waBinary.Node, 0, len(settings))
	for _, name := range settings {
		categories = append(categories, privacyCategory(name, "all"))
	}
	return []waBinary.Node{{Tag: "privacy", Content: categories}}, nil
}

// iqSetPrivacy confirms a change of the privacy settings but does not keep it.
func (s *Service) iqSetPrivacy(_ context.Context, _ account.Asker, iq waBinary.Node) ([]waBinary.Node, error) {
	change, _ := wire.Child(iq, "privacy", "category")
	return []waBinary.Node{{
		Tag:     "privacy",
		Content: []waBinary.Node{privacyCategory(wire.AttrString(change, "name"), wire.AttrString(change, "value"))},
	}}, nil
}

func privacyCategory(name, value string) waBinary.Node {
	return waBinary.Node{Tag: "category", Attrs: waBinary.Attrs{"name": name, "value": value}}
}

// iqStatusPrivacy answers that status broadcasts are shown to an empty list.
func (s *Service) iqStatusPrivacy(context.Context, account.Asker, waBinary.Node) ([]waBinary.Node, error) {
	return []waBinary.Node{{Tag: "privacy", Content: []waBinary.Node{
		{Tag: "list", Attrs: waBinary.Attrs{"type": "whitelist", "default": "true"}},
	}}}, nil
}

// iqSetAbout sets what the account says about itself.
func (s *Service) iqSetAbout(ctx context.Context, c account.Asker, iq waBinary.Node) ([]waBinary.Node, error) {
	return nil, s.setAbout(ctx, c.Device.Account, string(wire.ChildContent(iq, "status")))
}

// iqMex answers a query in JSON. The platform knows one: it sets what the account
// says about itself.
func (s *Service) iqMex(ctx context.Context, c account.Asker, iq waBinary.Node) ([]waBinary.Node, error) {
	const setTextStatus = "9152604461510864"
	query, _ := wire.Child(iq, "query")
	id := wire.AttrString(query, "query_id")
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
	if err := s.setAbout(ctx, c.Device.Account, request.Variables.Input.Text); err != nil {
		return nil, err
	}
	return []waBinary.Node{{Tag: "result", Content: []byte(`{"data":{}}`)}}, nil
}

// setAbout sets what the account says about itself.
func (s *Service) setAbout(ctx context.Context, of *account.Account, text string) error {
	u := s.config.Accounts.NewUnit()
	u.Exec("UPDATE accounts SET about = $1 WHERE number = $2", text, of.Number)
	u.Then(func() { of.SetAbout(text) })
	return u.Commit(ctx)
}

// iqBusinessProfile answers that the account is not a business.
func (s *Service) iqBusinessProfile(context.Context, account.Asker, waBinary.Node) ([]waBinary.Node, error) {
	return []waBinary.Node{{Tag: "business_profile"}}, nil
}
