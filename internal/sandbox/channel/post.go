// Posts of channels: written, read, and reacted to.

package channel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/database"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// maxPage bounds how many posts one answer has.
const maxPage = 100

// post is a post of a channel.
type post struct {
	number    int
	id        string
	at        int64 // Unix seconds
	kind      string
	payload   []byte            // waE2E.Message; nil: it was deleted
	reactions map[string]string // by number of the person
}

// node is the post as clients read it.
func (p post) node() waBinary.Node {
	content := []waBinary.Node{{Tag: "plaintext", Content: p.payload}}
	if p.payload == nil {
		content = nil
	}
	counts := map[string]int{}
	for _, reaction := range p.reactions {
		counts[reaction]++
	}
	var reactions []waBinary.Node
	for _, code := range slices.Sorted(maps.Keys(counts)) {
		reactions = append(reactions, waBinary.Node{Tag: "reaction", Attrs: waBinary.Attrs{"code": code, "count": counts[code]}})
	}
	content = append(content, waBinary.Node{Tag: "views_count", Attrs: waBinary.Attrs{"count": 1}})
	if len(reactions) > 0 {
		content = append(content, waBinary.Node{Tag: "reactions", Content: reactions})
	}
	return waBinary.Node{
		Tag: "message", Attrs: waBinary.Attrs{"id": p.id, "server_id": p.number, "t": p.at, "type": p.kind}, Content: content,
	}
}

// posts reads posts of a channel, oldest first: those with a number between two, the last or
// the first of them.
func (s *Service) posts(ctx context.Context, id string, after, before, limit int, newest bool) (list []post, err error) {
	order := "ASC"
	if newest {
		order = "DESC"
	}
	rows, err := s.db.Reader().QueryContext(ctx, `SELECT number, id, at, kind, payload, reactions FROM channel_posts
		WHERE channel = $1 AND number > $2 AND number < $3 ORDER BY number `+order+` LIMIT $4`, id, after, before, limit)
	if err != nil {
		return nil, fmt.Errorf("channel: read posts: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var one post
		var reactions string
		if err := rows.Scan(&one.number, &one.id, &one.at, &one.kind, &one.payload, &reactions); err != nil {
			return nil, fmt.Errorf("channel: read posts: %w", err)
		}
		if err := json.Unmarshal([]byte(reactions), &one.reactions); err != nil {
			return nil, fmt.Errorf("channel: read posts: %w", err)
		}
		list = append(list, one)
	}
	if newest {
		slices.Reverse(list)
	}
	return list, rows.Err()
}

// Requests returns the handlers of clients' requests that are not in JSON.
func (s *Service) Requests() map[string]account.Handler {
	return map[string]account.Handler{
		"get newsletter messages":        s.iqMessages,
		"get newsletter message_updates": s.iqMessages,
		"set newsletter live_updates":    iqLive,
		"set tos notice":                 func(context.Context, account.Asker, waBinary.Node) ([]waBinary.Node, error) { return nil, nil },
	}
}

// iqMessages answers with posts of a channel.
func (s *Service) iqMessages(ctx context.Context, c account.Asker, iq waBinary.Node) ([]waBinary.Node, error) {
	request := iq.GetChildren()[0]
	key := wire.AttrJID(iq, "to").User
	if key == "" {
		key = keyOf(wire.AttrString(request, "jid") + wire.AttrString(request, "key"))
	}
	found, err := s.present(ctx, key)
	switch code := codeOf(err); {
	case code != 0:
		return nil, &wire.Error{Code: code, Text: "refused"}
	case err != nil:
		return nil, err
	case found.Blocked:
		return nil, &wire.Error{Code: codeBlocked, Text: "unavailable-for-legal-reasons"}
	case found.Private && found.role(c.Device.Account.Number) == "GUEST":
		return nil, wire.ErrForbidden
	}
	after, before := wire.AttrInt(request, "after"), wire.AttrInt(request, "before")
	newest := after == 0
	if before == 0 {
		before = found.Posts + 1
	}
	limit := wire.AttrInt(request, "count")
	if limit <= 0 || limit > maxPage {
		limit = maxPage
	}
	list, err := s.posts(ctx, found.ID, after, before, limit, newest)
	if err != nil {
		return nil, err
	}
	nodes := make([]waBinary.Node, len(list))
	for n, one := range list {
		nodes[n] = one.node()
	}
	messages := waBinary.Node{Tag: "messages", Attrs: waBinary.Attrs{"jid": found.JID(), "t": s.now().Unix()}, Content: nodes}
	if request.Tag == "message_updates" {
		messages = waBinary.Node{Tag: "message_updates", Content: []waBinary.Node{messages}}
	}
	return []waBinary.Node{messages}, nil
}

// iqLive answers for how long a client will be told of views and reactions; here it is not.
func iqLive(context.Context, account.Asker, waBinary.Node) ([]waBinary.Node, error) {
	return []waBinary.Node{{Tag: "live_updates", Attrs: waBinary.Attrs{"duration": "300"}}}, nil
}

// The edits of a client's message that change a post.
const (
	editAdmin   = "3"
	editUnreact = "7"
	editRevoke  = "8"
)

// Take takes what a client sends to a channel: a post, a change of one, or a reaction. It
// returns the number of the post, or the code with which it is refused.
func (s *Service) Take(ctx context.Context, device *account.Device, n waBinary.Node) (number, code int, err error) {
	who, key, edit := device.Account, wire.AttrJID(n, "to").User, wire.AttrString(n, "edit")
	switch payload := wire.ChildContent(n, "plaintext"); {
	case wire.AttrString(n, "type") == "reaction":
		reaction, _ := wire.Child(n, "reaction")
		number, err = s.react(ctx, who, key, wire.AttrInt(n, "server_id"), wire.AttrString(reaction, "code"))
	case edit == editAdmin, edit == editRevoke:
		number, err = s.rewrite(ctx, who, device, key, wire.AttrString(n, "id"), edit, payload)
	case !s.hasItsFile(n, payload):
		return 0, codeBad, nil
	default:
		number, err = s.write(ctx, who, device, key, post{id: wire.AttrString(n, "id"), kind: wire.AttrString(n, "type"), payload: payload})
	}
	if code := codeOf(err); code != 0 {
		return 0, code, nil
	}
	return number, 0, err
}

// write writes a post, and delivers it to those who follow.
func (s *Service) write(ctx context.Context, who *account.Account, by *account.Device, key string, written post) (number int, err error) {
	_, err = s.change(ctx, key, func(u *account.Unit, c *Channel) error {
		if c.Owner != who.Number {
			return refused(codeForbidden)
		}
		before, err := s.postWith(ctx, c.ID, "id = $2", written.id)
		if err != nil || before != nil {
			if before != nil {
				number = before.number // a frame that came twice
			}
			return err
		}
		c.Posts++
		number, written.number, written.at = c.Posts, c.Posts, s.now().Unix()
		u.Exec("INSERT INTO channel_posts (channel, number, id, at, kind, payload) VALUES ($1, $2, $3, $4, $5, $6)",
			c.ID, written.number, written.id, written.at, written.kind, written.payload)
		return s.deliver(ctx, u, c, by, written, "")
	})
	return number, err
}

// rewrite changes a post, or deletes it.
func (s *Service) rewrite(ctx context.Context, who *account.Account, by *account.Device, key, id, edit string, payload []byte) (number int, err error) {
	_, err = s.change(ctx, key, func(u *account.Unit, c *Channel) error {
		if c.Owner != who.Number {
			return refused(codeForbidden)
		}
		changed, err := s.postWith(ctx, c.ID, "id = $2", id)
		if err != nil {
			return err
		}
		if changed == nil {
			return refused(codeNotFound)
		}
		number, changed.payload = changed.number, payload
		if edit == editRevoke {
			changed.payload = nil
		}
		u.Exec("UPDATE channel_posts SET payload = $1 WHERE channel = $2 AND number = $3", changed.payload, c.ID, changed.number)
		return s.deliver(ctx, u, c, by, *changed, edit)
	})
	return number, err
}

// react sets somebody's reaction to a post; "" takes it away.
func (s *Service) react(ctx context.Context, who *account.Account, key string, number int, reaction string) (int, error) {
	_, err := s.change(ctx, key, func(u *account.Unit, c *Channel) error {
		if c.role(who.Number) == "GUEST" {
			return refused(codeForbidden)
		}
		found, err := s.postWith(ctx, c.ID, "number = $2", number)
		if err != nil {
			return err
		}
		if found == nil {
			return refused(codeNotFound)
		}
		if reaction == "" {
			delete(found.reactions, who.Number)
		} else {
			found.reactions[who.Number] = reaction
		}
		written, err := json.Marshal(found.reactions)
		if err != nil {
			return fmt.Errorf("channel: write reactions: %w", err)
		}
		u.Exec("UPDATE channel_posts SET reactions = $1 WHERE channel = $2 AND number = $3", string(written), c.ID, number)
		return nil
	})
	return number, err
}

// postWith returns one post of a channel; nil if there is none.
func (s *Service) postWith(ctx context.Context, channel, condition string, value any) (*post, error) {
	var number int
	row := s.db.Reader().QueryRowContext(ctx, "SELECT number FROM channel_posts WHERE channel = $1 AND "+condition, channel, value)
	if found, err := database.One(row, &number); err != nil || !found {
		return nil, err
	}
	list, err := s.posts(ctx, channel, number-1, number+1, 1, false)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}

// deliver adds to the unit that the devices of those who follow get a post, but the one that
// has written it.
func (s *Service) deliver(ctx context.Context, u *account.Unit, c *Channel, but *account.Device, written post, edit string) error {
	attrs := waBinary.Attrs{"from": c.JID(), "id": written.id, "server_id": written.number, "t": s.now().Unix(), "type": written.kind}
	content := []waBinary.Node{{Tag: "plaintext", Content: written.payload}}
	if edit != "" {
		attrs["edit"] = edit
		content = append(content, waBinary.Node{Tag: "meta", Attrs: waBinary.Attrs{
			"msg_edit_t": strconv.FormatInt(s.now().UnixMilli(), 10), "original_msg_t": strconv.FormatInt(written.at, 10),
		}})
	}
	numbers := []string{c.Owner}
	for _, follows := range c.Followers {
		numbers = append(numbers, follows.Number)
	}
	for _, number := range numbers {
		who, err := s.accounts.Find(ctx, number)
		if err != nil {
			return err
		}
		if who == nil {
			continue
		}
		for _, device := range who.Companions() {
			if device == but {
				continue
			}
			if err := u.ToDevice(device, waBinary.Node{Tag: "message", Attrs: attrs, Content: content}); err != nil {
				return err
			}
		}
	}
	return nil
}

// text is the payload of a text.
func text(of string) ([]byte, error) {
	payload, err := proto.Marshal(&waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: new(of)}})
	if err != nil {
		return nil, fmt.Errorf("channel: write a text: %w", err)
	}
	return payload, nil
}
