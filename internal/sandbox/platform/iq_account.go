package platform

import (
	"context"
	"encoding/json"
	"log/slog"

	waBinary "go.mau.fi/whatsmeow/binary"
)

// iqPrivacy answers the account's privacy settings: everybody sees everything.
func iqPrivacy(context.Context, *connection, waBinary.Node) ([]waBinary.Node, error) {
	settings := []string{"readreceipts", "last", "online", "profile", "status", "groupadd", "calladd"}
	categories := make([]waBinary.Node, 0, len(settings))
	for _, name := range settings {
		categories = append(categories, privacyCategory(name, "all"))
	}
	return []waBinary.Node{{Tag: "privacy", Content: categories}}, nil
}

// iqSetPrivacy accepts a change and answers it; the platform keeps none.
func iqSetPrivacy(_ context.Context, _ *connection, iq waBinary.Node) ([]waBinary.Node, error) {
	change, _ := child(iq, "privacy", "category")
	return []waBinary.Node{{
		Tag:     "privacy",
		Content: []waBinary.Node{privacyCategory(attrString(change, "name"), attrString(change, "value"))},
	}}, nil
}

func privacyCategory(name, value string) waBinary.Node {
	return waBinary.Node{Tag: "category", Attrs: waBinary.Attrs{"name": name, "value": value}}
}

// iqStatusPrivacy answers who sees status broadcasts: a list of nobody.
func iqStatusPrivacy(context.Context, *connection, waBinary.Node) ([]waBinary.Node, error) {
	return []waBinary.Node{{Tag: "privacy", Content: []waBinary.Node{
		{Tag: "list", Attrs: waBinary.Attrs{"type": "whitelist", "default": "true"}},
	}}}, nil
}

// iqSetAbout keeps what the account says about itself.
func iqSetAbout(ctx context.Context, c *connection, iq waBinary.Node) ([]waBinary.Node, error) {
	return nil, c.s.setAbout(ctx, c.device.account, string(childContent(iq, "status")))
}

// iqMex answers a query in JSON. One is known: the change of what the account
// says about itself.
func iqMex(ctx context.Context, c *connection, iq waBinary.Node) ([]waBinary.Node, error) {
	const setTextStatus = "9152604461510864"
	query, _ := child(iq, "query")
	id := attrString(query, "query_id")
	if id != setTextStatus {
		c.s.unknown.count("get w:mex query " + id)
		c.s.logger.LogAttrs(ctx, slog.LevelWarn, "unknown query refused", slog.String("query_id", id))
		return nil, errNotImplemented
	}
	var request struct {
		Variables struct {
			Input struct {
				Text string `json:"text"`
			} `json:"input"`
		} `json:"variables"`
	}
	if err := json.Unmarshal(content(query), &request); err != nil {
		return nil, errBadRequest
	}
	if err := c.s.setAbout(ctx, c.device.account, request.Variables.Input.Text); err != nil {
		return nil, err
	}
	return []waBinary.Node{{Tag: "result", Content: []byte(`{"data":{}}`)}}, nil
}

// setAbout changes what the account says about itself.
func (s *Server) setAbout(ctx context.Context, of *account, text string) error {
	u := s.newUnit()
	u.exec("UPDATE accounts SET about = $1 WHERE number = $2", text, of.number)
	u.then(func() {
		of.mu.Lock()
		of.about = text
		of.mu.Unlock()
	})
	return u.commit(ctx)
}

// iqBusinessProfile answers that nobody is a business.
func iqBusinessProfile(context.Context, *connection, waBinary.Node) ([]waBinary.Node, error) {
	return []waBinary.Node{{Tag: "business_profile"}}, nil
}

// iqProps answers that no switch is set.
func iqProps(context.Context, *connection, waBinary.Node) ([]waBinary.Node, error) {
	return []waBinary.Node{{
		Tag: "props", Attrs: waBinary.Attrs{"protocol": "1", "hash": "sandbox", "refresh": "86400"},
	}}, nil
}
