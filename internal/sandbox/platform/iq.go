package platform

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
)

// iqHandler answers one kind of request: with the content of the result, or
// with an iqError.
type iqHandler func(ctx context.Context, c *connection, iq waBinary.Node) ([]waBinary.Node, error)

// iqTable finds the handler by type, namespace and the first child's name,
// separated by blanks; "*" stands for any child, or none.
type iqTable map[string]iqHandler

// iqError is an error that a client is told. Clients compare code and text.
type iqError struct {
	code int
	text string
}

func (e *iqError) Error() string { return fmt.Sprintf("%d %s", e.code, e.text) }

var (
	errBadRequest     = &iqError{400, "bad-request"}
	errNotAuthorized  = &iqError{401, "not-authorized"}
	errItemNotFound   = &iqError{404, "item-not-found"}
	errForbidden      = &iqError{403, "forbidden"}
	errNotAllowed     = &iqError{405, "not-allowed"}
	errNotAcceptable  = &iqError{406, "not-acceptable"}
	errInternal       = &iqError{500, "internal-server-error"}
	errNotImplemented = &iqError{501, "feature-not-implemented"}
)

// newIQTable lists every request that is answered.
func newIQTable() iqTable {
	table := iqTable{
		"get encrypt count":  iqPreKeyCount,
		"get encrypt key":    iqBundles,
		"get encrypt digest": iqDigest,
		"set encrypt rotate": iqRotate,
		"set encrypt *":      iqUploadPreKeys,

		"get usync usync": iqUsync,

		"set passive active":  iqEmpty, // delivery begins after the reply
		"set passive passive": iqEmpty,
		"get w:p *":           iqEmpty,

		"set md link_code_companion_reg": iqLinkCode,
		"set md remove-companion-device": iqLogout,

		"get blocklist *":               iqBlocklist,
		"set blocklist item":            iqBlock,
		"get privacy privacy":           iqPrivacy,
		"set privacy privacy":           iqSetPrivacy,
		"set privacy tokens":            iqEmpty,
		"get status privacy":            iqStatusPrivacy,
		"set status status":             iqSetAbout,
		"get w:profile:picture picture": iqPicture,
		"get w:biz business_profile":    iqBusinessProfile,
		"get w:mex query":               iqMex,

		"set w:sync:app:state sync": iqAppState,
		"set w:m media_conn":        iqMediaConn,
		"get w:m media_conn":        iqMediaConn,

		"get abt props":                   iqProps,
		"set urn:xmpp:whatsapp:dirty *":   iqEmpty,
		"set urn:xmpp:whatsapp:push *":    iqEmpty,
		"get disappearing_mode *":         iqEmpty,
		"set disappearing_mode *":         iqEmpty,
		"get urn:xmpp:whatsapp:account *": iqEmpty,
	}
	table.addGroupIQs()
	return table
}

// onIQ answers a request, or hands an answer to whoever waits for it.
func (c *connection) onIQ(ctx context.Context, iq waBinary.Node) error {
	id, kind := attrString(iq, "id"), attrString(iq, "type")
	switch kind {
	case "result", "error":
		c.waiting.answer(id, iq)
		return nil
	case "get", "set":
	default:
		return nil
	}
	content, err := c.answer(ctx, iq)
	reply := waBinary.Node{Tag: "iq", Attrs: waBinary.Attrs{"from": types.ServerJID, "id": id, "type": "result"}}
	if to := attrJID(iq, "to"); to.User != "" || to.Server == types.GroupServer {
		reply.Attrs["from"] = to
	}
	if err != nil {
		refusal, told := errors.AsType[*iqError](err)
		if !told {
			if ctx.Err() != nil {
				return err
			}
			c.s.logger.LogAttrs(ctx, slog.LevelError, "request failed",
				slog.String("xmlns", attrString(iq, "xmlns")), slog.Any("error", err))
			refusal = errInternal
		}
		reply.Attrs["type"] = "error"
		content = []waBinary.Node{{Tag: "error", Attrs: waBinary.Attrs{"code": refusal.code, "text": refusal.text}}}
	}
	if len(content) > 0 {
		reply.Content = content
	}
	if err := c.send(ctx, reply); err != nil {
		return err
	}
	c.s.answered.count(requestKind(iq))
	c.afterReply(iq)
	return nil
}

// requestKind names a request by its type, its namespace and its first child.
func requestKind(iq waBinary.Node) string {
	first := ""
	if children := iq.GetChildren(); len(children) > 0 {
		first = children[0].Tag
	}
	return attrString(iq, "type") + " " + attrString(iq, "xmlns") + " " + first
}

// answer finds and calls the handler.
func (c *connection) answer(ctx context.Context, iq waBinary.Node) ([]waBinary.Node, error) {
	first := ""
	if children := iq.GetChildren(); len(children) > 0 {
		first = children[0].Tag
	}
	prefix := attrString(iq, "type") + " " + attrString(iq, "xmlns") + " "
	if c.device == nil && prefix != "get w:p " && first != "link_code_companion_reg" {
		return nil, errNotAuthorized
	}
	handler, ok := c.s.iqs[prefix+first]
	if !ok {
		handler, ok = c.s.iqs[prefix+"*"]
	}
	if !ok {
		c.s.unknown.count(prefix + first)
		c.s.logger.LogAttrs(ctx, slog.LevelWarn, "unknown request refused", slog.String("request", prefix+first))
		return nil, errNotImplemented
	}
	return handler(ctx, c, iq)
}

// afterReply does what must not happen before the reply is on its way.
func (c *connection) afterReply(iq waBinary.Node) {
	if _, ok := child(iq, "active"); ok && attrString(iq, "xmlns") == "passive" {
		c.activate()
	}
	if _, ok := child(iq, "remove-companion-device"); ok {
		c.closeAfter(waBinary.Node{})
	}
}

// iqEmpty answers requests whose result says nothing.
func iqEmpty(context.Context, *connection, waBinary.Node) ([]waBinary.Node, error) {
	return nil, nil
}

// iqCounter counts requests by kind. Those that nobody answers show what a new
// version of a client needs.
type iqCounter struct {
	mu     sync.Mutex
	counts map[string]int
}

// maxUnknown bounds how many kinds are told apart.
const maxUnknown = 256

func newIQCounter() *iqCounter { return &iqCounter{counts: map[string]int{}} }

func (ic *iqCounter) count(kind string) {
	ic.mu.Lock()
	defer ic.mu.Unlock()
	if _, known := ic.counts[kind]; !known && len(ic.counts) >= maxUnknown {
		kind = "other"
	}
	ic.counts[kind]++
}

// UnknownRequests returns how often each kind of request came that the platform
// does not know, as "get xmlns child".
func (s *Server) UnknownRequests() map[string]int { return s.unknown.all() }

// AnsweredRequests returns how often each kind of request was answered, so that a
// test can wait until clients have asked what they ask by themselves.
func (s *Server) AnsweredRequests() map[string]int { return s.answered.all() }

func (ic *iqCounter) all() map[string]int {
	ic.mu.Lock()
	defer ic.mu.Unlock()
	counts := make(map[string]int, len(ic.counts))
	maps.Copy(counts, ic.counts)
	return counts
}
