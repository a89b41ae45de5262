// What clients ask in JSON: most of what they do with channels.

package channel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// The codes of refusals.
const (
	codeBad       = 400
	codeForbidden = 403
	codeNotFound  = 404
	codeGone      = 410
	codeBlocked   = 451
)

// refusal is a refusal of what a client asked in JSON.
type refusal struct{ code int }

func refused(code int) error { return &refusal{code} }

// Error returns the code.
func (r *refusal) Error() string { return "refused with code " + strconv.Itoa(r.code) }

// codeOf returns the code of a refusal; 0 for another error.
func codeOf(err error) int {
	if refusal, ok := errors.AsType[*refusal](err); ok {
		return refusal.code
	}
	return 0
}

// asked is one question: who asks, and the variables of it.
type asked struct {
	account.Asker `json:"-"`

	Input struct {
		Key         string  `json:"key"`
		Name        string  `json:"name"`
		Description *string `json:"description"`
		Picture     []byte  `json:"picture"`
	} `json:"input"`
	NewsletterInput json.RawMessage `json:"newsletter_input"` //nolint:tagliatelle // the platform's name
	NewsletterID    string          `json:"newsletter_id"`    //nolint:tagliatelle // the platform's name
}

func (a *asked) account() *account.Account { return a.Device.Account }

// Queries returns the handlers of the queries in JSON, by their IDs. Each client has its own
// IDs for the same question.
func (s *Service) Queries() map[string]account.Handler {
	table := map[string]account.Handler{}
	add := func(handler account.Handler, ids ...string) {
		for _, id := range ids {
			table[id] = handler
		}
	}
	add(answering("xwa2_newsletter", s.info), "6563316087068696")
	add(answering("xwa2_newsletter_subscribed", s.subscribed), "6388546374527196")
	add(answering("xwa2_newsletter_create", s.made), "6234210096708695", "8823471724422422")
	add(answering("xwa2_newsletter_join_v2", s.followed(true)), "9926858900719341", "24404358912487870")
	add(answering("xwa2_newsletter_leave_v2", s.followed(false)), "6392786840836363", "9767147403369991")
	add(answering("xwa2_newsletter_mute_v2", s.muted(true)), "6274038279359549", "29766401636284406")
	add(answering("xwa2_newsletter_unmute_v2", s.muted(false)), "6068417879924485", "9864994326891137")
	return table
}

// answering reads a query, and writes what came of it under its name.
func answering(name string, answer func(ctx context.Context, a *asked) (any, error)) account.Handler {
	return func(ctx context.Context, c account.Asker, iq waBinary.Node) ([]waBinary.Node, error) {
		query, _ := wire.Child(iq, "query")
		var request struct {
			Variables asked `json:"variables"`
		}
		if err := json.Unmarshal(wire.Content(query), &request); err != nil {
			return nil, wire.ErrBadRequest
		}
		a := &request.Variables
		a.Asker = c
		if len(a.NewsletterInput) > 0 {
			if err := json.Unmarshal(a.NewsletterInput, &a.Input); err != nil {
				return nil, wire.ErrBadRequest
			}
		}
		data, err := answer(ctx, a)
		body := map[string]any{"data": map[string]any{name: data}}
		if code := codeOf(err); code != 0 {
			body = map[string]any{"data": nil, "errors": []any{map[string]any{
				"message": "refused", "path": []string{name},
				"extensions": map[string]any{"error_code": code, "is_retryable": false, "severity": "CRITICAL"},
			}}}
		} else if err != nil {
			return nil, err
		}
		written, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("channel: write an answer: %w", err)
		}
		return []waBinary.Node{{Tag: "result", Content: written}}, nil
	}
}

// keyOf is the ID of a channel without its suffix, or an invitation code.
func keyOf(text string) string { return strings.TrimSuffix(text, "@"+types.NewsletterServer) }

func (s *Service) info(ctx context.Context, a *asked) (any, error) {
	found, err := s.present(ctx, keyOf(a.Input.Key))
	if err != nil {
		return nil, err
	}
	return s.metadata(found, a.account().Number, a.Origin.Plain), nil
}

func (s *Service) subscribed(ctx context.Context, a *asked) (any, error) {
	all, err := s.all(ctx, a.account().Number)
	shown := make([]any, len(all))
	for n, one := range all {
		shown[n] = s.metadata(one, a.account().Number, a.Origin.Plain)
	}
	return shown, err
}

// maxName and maxDescription bound what clients may name a channel, in bytes.
const (
	maxName        = 400
	maxDescription = 8192
)

func (s *Service) made(ctx context.Context, a *asked) (any, error) {
	wanted := draft{name: []byte(a.Input.Name), picture: a.Input.Picture}
	if a.Input.Description != nil {
		wanted.description = []byte(*a.Input.Description)
	}
	if len(wanted.name) == 0 || len(wanted.name) > maxName || len(wanted.description) > maxDescription {
		return nil, refused(codeBad)
	}
	created, err := s.create(ctx, a.account(), a.Device, wanted)
	if err != nil {
		return nil, err
	}
	return s.metadata(created, a.account().Number, a.Origin.Plain), nil
}

func (s *Service) followed(wanted bool) func(context.Context, *asked) (any, error) {
	return func(ctx context.Context, a *asked) (any, error) {
		return short(s.follow(ctx, a.account(), a.Device, keyOf(a.NewsletterID), wanted))
	}
}

func (s *Service) muted(muted bool) func(context.Context, *asked) (any, error) {
	return func(ctx context.Context, a *asked) (any, error) {
		return short(s.mute(ctx, a.account(), a.Device, keyOf(a.NewsletterID), muted))
	}
}

// short is the answer to a change.
func short(c *Channel, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return map[string]any{"id": c.JID().String(), "state": state(c)}, nil
}

func state(c *Channel) map[string]any {
	if c.Blocked {
		return map[string]any{"type": "GEOSUSPENDED"}
	}
	return map[string]any{"type": "ACTIVE"}
}

// metadata is what clients read of a channel. host is where its picture can be fetched.
func (s *Service) metadata(c *Channel, number, host string) map[string]any {
	text := func(raw []byte, id string) map[string]any {
		return map[string]any{"text": string(raw), "id": id, "update_time": strconv.FormatInt(c.CreatedAt*1_000_000, 10)}
	}
	picture := map[string]any{"id": c.Picture, "type": "IMAGE", "direct_path": ""}
	if c.Picture != "" {
		picture["direct_path"] = s.pictures + c.Picture
		if host != "" {
			picture["url"] = host + s.pictures + c.Picture
		}
	}
	muted := false
	if follows := c.of(number); follows != nil {
		muted = follows.Muted
	}
	return map[string]any{
		"id": c.JID().String(), "state": state(c),
		"thread_metadata": map[string]any{
			"creation_time": strconv.FormatInt(c.CreatedAt, 10), "invite": c.Invite, "name": text(c.Name, "1"), "description": text(c.Description, "2"),
			"subscribers_count": strconv.Itoa(len(c.Followers)), "verification": "UNVERIFIED", "picture": picture, "preview": picture,
			"settings": map[string]any{"reaction_codes": map[string]any{"value": "ALL"}},
		},
		"viewer_metadata": map[string]any{"mute": onOff(muted), "role": c.role(number)},
	}
}

// tell adds to the unit that the devices of an account, but one, learn what it has done.
func (s *Service) tell(u *account.Unit, who *account.Account, but *account.Device, operation, name string, data any) error {
	body, err := json.Marshal(map[string]any{"data": map[string]any{name: data}})
	if err != nil {
		return fmt.Errorf("channel: tell devices: %w", err)
	}
	for _, device := range who.Companions() {
		if device == but {
			continue
		}
		err := u.ToDevice(device, waBinary.Node{
			Tag: "notification", Attrs: waBinary.Attrs{"from": types.ServerJID, "type": "mex", "id": wire.NewID(), "t": s.now().Unix()},
			Content: []waBinary.Node{{Tag: "update", Attrs: waBinary.Attrs{"op_name": operation}, Content: body}},
		})
		if err != nil {
			return err
		}
	}
	return nil
}
