// Requests of clients, and the table of their handlers.

package session

import (
	"context"
	"errors"
	"log/slog"
	"maps"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/link"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// iqTable has the handlers by type, namespace and the name of the first child,
// separated by blanks. "*" stands for any child or none.
type iqTable map[string]account.Handler

// newIQTable joins the handlers of other packages with the requests that need none
// of them.
func newIQTable(parts ...map[string]account.Handler) iqTable {
	table := iqTable{
		"set passive active":  iqEmpty, // delivery begins after the reply
		"set passive passive": iqEmpty,
		"get w:p *":           iqEmpty,

		"set privacy tokens":              iqEmpty,
		"set w:m media_conn":              iqMediaConn,
		"get w:m media_conn":              iqMediaConn,
		"get abt props":                   iqProps,
		"set urn:xmpp:whatsapp:dirty *":   iqEmpty,
		"set urn:xmpp:whatsapp:push *":    iqEmpty,
		"get disappearing_mode *":         iqEmpty,
		"get urn:xmpp:whatsapp:account *": iqEmpty,
	}
	for _, part := range parts {
		maps.Copy(table, part)
	}
	return table
}

// onIQ answers a request, or passes an answer on.
func (c *client) onIQ(ctx context.Context, iq waBinary.Node) error {
	id, kind := wire.AttrString(iq, "id"), wire.AttrString(iq, "type")
	switch kind {
	case "result", "error":
		c.Connection.Answer(id, iq)
		return nil
	case "get", "set":
	default:
		return nil
	}
	content, err := c.answer(ctx, iq)
	reply := waBinary.Node{Tag: "iq", Attrs: waBinary.Attrs{"from": types.ServerJID, "id": id, "type": "result"}}
	if to := wire.AttrJID(iq, "to"); to.User != "" || to.Server == types.GroupServer {
		reply.Attrs["from"] = to
	}
	if err != nil {
		refusal, known := errors.AsType[*wire.Error](err)
		if !known {
			if ctx.Err() != nil {
				return err
			}
			c.s.config.Logger.LogAttrs(ctx, slog.LevelError, "request failed",
				slog.String("xmlns", wire.AttrString(iq, "xmlns")), slog.Any("error", err))
			refusal = wire.ErrInternal
		}
		reply.Attrs["type"] = "error"
		content = []waBinary.Node{{Tag: "error", Attrs: waBinary.Attrs{"code": refusal.Code, "text": refusal.Text}}}
	}
	if len(content) > 0 {
		reply.Content = content
	}
	if err := c.Connection.Send(ctx, reply); err != nil {
		return err
	}
	c.s.answered.Count(wire.RequestKind(iq))
	c.afterReply(iq)
	return nil
}

// answer calls the handler of a request.
func (c *client) answer(ctx context.Context, iq waBinary.Node) ([]waBinary.Node, error) {
	first := ""
	if children := iq.GetChildren(); len(children) > 0 {
		first = children[0].Tag
	}
	prefix := wire.AttrString(iq, "type") + " " + wire.AttrString(iq, "xmlns") + " "
	if link.IsStep(prefix + first) {
		if c.candidate == nil {
			return nil, wire.ErrNotAllowed
		}
		return c.s.config.Linking.Step(ctx, c.candidate, prefix+first, iq)
	}
	if c.device == nil && prefix != "get w:p " {
		return nil, wire.ErrNotAuthorized
	}
	answer, ok := c.s.iqs[prefix+first]
	if !ok {
		answer, ok = c.s.iqs[prefix+"*"]
	}
	if !ok {
		c.s.config.Unknown.Count(prefix + first)
		c.s.config.Logger.LogAttrs(ctx, slog.LevelWarn, "unknown request refused", slog.String("request", prefix+first))
		return nil, wire.ErrNotImplemented
	}
	return answer(ctx, account.Asker{Device: c.device, Origin: c.Connection.Origin}, iq)
}

// afterReply does what must not happen before the reply is queued.
func (c *client) afterReply(iq waBinary.Node) {
	if _, ok := wire.Child(iq, "active"); ok && wire.AttrString(iq, "xmlns") == "passive" {
		c.Connection.Activate()
	}
	if _, ok := wire.Child(iq, "remove-companion-device"); ok {
		c.Connection.CloseAfter(waBinary.Node{})
	}
}

// iqEmpty answers with an empty result.
func iqEmpty(context.Context, account.Asker, waBinary.Node) ([]waBinary.Node, error) {
	return nil, nil
}

// iqProps answers that no properties are set.
func iqProps(context.Context, account.Asker, waBinary.Node) ([]waBinary.Node, error) {
	return []waBinary.Node{{
		Tag: "props", Attrs: waBinary.Attrs{"protocol": "1", "hash": "sandbox", "refresh": "86400"},
	}}, nil
}

// UnknownRequests returns how often clients sent requests that the platform does
// not know, by kind, such as "get xmlns child".
func (s *Service) UnknownRequests() map[string]int { return s.config.Unknown.All() }

// AnsweredRequests returns how often requests were answered, by kind, so that tests
// can wait for the requests that clients send by themselves.
func (s *Service) AnsweredRequests() map[string]int { return s.answered.All() }
