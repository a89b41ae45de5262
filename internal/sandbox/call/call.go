// Package call has the calls that phones make. They ring on linked devices until somebody ends
// them.
package call

import (
	"context"
	"slices"
	"sync"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/chat"
	"github.com/recado-project/recado/internal/sandbox/refusal"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// Service has the calls that ring. It is safe for concurrent use.
type Service struct {
	accounts   *account.Directory
	chats      chat.Finder
	activities *account.ActivityLog
	now        func() time.Time
	ringing    ringingCalls
}

// New returns the service, where no call rings.
func New(chats chat.Finder, activities *account.ActivityLog) *Service {
	return &Service{accounts: chats.Accounts, chats: chats, activities: activities, now: chats.Accounts.Now}
}

// Call lets the phone of a number call a person, or the members of a group, and
// returns the ID of the call. The call rings on their linked devices until End, or
// until one of them rejects it. Nobody hears anything.
func (s *Service) Call(ctx context.Context, number, to string, video bool) (callID string, err error) {
	from, err := s.accounts.Named(ctx, number)
	if err != nil {
		return "", err
	}
	where, err := s.chats.Named(ctx, "to", to)
	if err != nil {
		return "", err
	}
	called := []*account.Account{where.Person}
	switch {
	case !from.IsRegistered():
		return "", refusal.Conflictf("the number is not registered")
	case where.Group == nil && !where.Person.IsRegistered():
		return "", refusal.Invalidf("to", "the number is not registered")
	case where.Group != nil && !where.Group.Has(from):
		return "", refusal.Invalidf("to", "the phone is not in this group")
	case where.Group != nil:
		if called, err = s.chats.Groups.People(ctx, where.Group); err != nil {
			return "", err
		}
	}
	callID = wire.NewMessageID()
	var rings []*account.Account
	u := s.accounts.NewUnit()
	for _, of := range called {
		if of == from || of.Blocks(from) {
			continue
		}
		if rings, err := s.accounts.Lets(ctx, of, account.PrivacyCalls, from); err != nil || !rings {
			if err != nil {
				return "", err
			}
			continue
		}
		rings = append(rings, of)
		for _, linked := range of.Companions() {
			if err := u.ToDevice(linked, s.node(from, where, callID, video)); err != nil {
				return "", err
			}
		}
	}
	u.Then(func() { s.ringing.add(&ringingCall{id: callID, from: from, where: where, called: rings}) })
	return callID, u.Commit(ctx)
}

// maxRinging bounds the calls that ring at a time. More of them end the oldest silently.
const maxRinging = 1000

// ringingCall is a call that rings.
type ringingCall struct {
	id     string
	from   *account.Account
	where  chat.Chat
	called []*account.Account // whose devices ring
}

// ringingCalls are in memory, as a call is over when the platform is.
type ringingCalls struct {
	mu   sync.Mutex
	list []*ringingCall // oldest first
}

func (r *ringingCalls) add(call *ringingCall) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.list = append(r.list, call); len(r.list) > maxRinging {
		r.list = slices.Clone(r.list[1:])
	}
}

// end takes a call out; nil if it does not ring, or not for this account.
func (r *ringingCalls) end(id string, who *account.Account) *ringingCall {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := slices.IndexFunc(r.list, func(c *ringingCall) bool {
		return c.id == id && (c.from == who || slices.Contains(c.called, who))
	})
	if at < 0 {
		return nil
	}
	call := r.list[at]
	r.list = slices.Delete(r.list, at, at+1)
	return call
}

// End lets the phone of a number end a call that rings: hangup of who calls, answer or
// reject of who is called, and timeout of nobody, which either may name.
func (s *Service) End(ctx context.Context, number, callID, how string) error {
	reasons := map[string]string{"hangup": "", "timeout": "timeout", "answer": "accepted_elsewhere", "reject": "rejected_elsewhere"}
	reason, known := reasons[how]
	if !known {
		return refusal.Invalidf("how", "must be one of hangup, timeout, answer, reject")
	}
	who, err := s.accounts.Named(ctx, number)
	if err != nil {
		return err
	}
	call := s.ringing.end(callID, who)
	if call == nil {
		return refusal.NotFoundf("no such call rings")
	}
	return s.tellEnd(ctx, call, who, nil, reason)
}

// Take takes what a linked device says about a call. It knows one thing: that the device
// rejects it.
func (s *Service) Take(ctx context.Context, by *account.Device, n waBinary.Node) error {
	reject, ok := wire.Child(n, "reject")
	if !ok {
		return nil
	}
	call := s.ringing.end(wire.AttrString(reject, "call-id"), by.Account)
	if call == nil || call.from == by.Account {
		return nil // it rings no more
	}
	return s.tellEnd(ctx, call, by.Account, by, "rejected_elsewhere")
}

// tellEnd tells the devices on which a call rings that it has ended, but the one that has
// ended it, and the phones of both sides.
func (s *Service) tellEnd(ctx context.Context, call *ringingCall, who *account.Account, by *account.Device, reason string) error {
	u := s.accounts.NewUnit()
	for _, of := range call.called {
		for _, linked := range of.Companions() {
			if linked == by {
				continue
			}
			attrs := waBinary.Attrs{"call-id": call.id, "call-creator": call.from.LIDJID(), "caller_pn": call.from.ShownPN()}
			if reason != "" {
				attrs["reason"] = reason
			}
			if call.where.Group != nil {
				attrs["group-jid"] = call.where.Group.JID()
			}
			err := u.ToDevice(linked, waBinary.Node{
				Tag:     "call",
				Attrs:   waBinary.Attrs{"from": call.from.LIDJID(), "id": wire.NewID(), "t": s.now().Unix()},
				Content: []waBinary.Node{{Tag: "terminate", Attrs: attrs}},
			})
			if err != nil {
				return err
			}
		}
	}
	value := reason
	if value == "" {
		value = "hangup"
	}
	u.Then(func() { s.activities.Add(call.from, account.NewActivity("call", who, call.from, value)) })
	return u.Commit(ctx)
}

// node builds the stanza that offers a call to a device. In a group it is a
// notice, because the call belongs to the group.
func (s *Service) node(from *account.Account, where chat.Chat, callID string, video bool) waBinary.Node {
	attrs := waBinary.Attrs{"call-id": callID, "call-creator": from.LIDJID(), "caller_pn": from.ShownPN()}
	call := waBinary.Node{Tag: "call", Attrs: waBinary.Attrs{
		"from": from.LIDJID(), "id": wire.NewID(), "t": s.now().Unix(), "platform": "android", "version": "2.26.1",
		"notify": from.DisplayName(),
	}}
	if where.Group != nil {
		attrs["type"], attrs["media"], attrs["group-jid"] = "group", "audio", where.Group.JID()
		if video {
			attrs["media"] = "video"
		}
		call.Content = []waBinary.Node{{Tag: "offer_notice", Attrs: attrs}}
		return call
	}
	media := []waBinary.Node{{Tag: "audio", Attrs: waBinary.Attrs{"enc": "opus", "rate": "16000"}}}
	if video {
		media = append(media, waBinary.Node{Tag: "video", Attrs: waBinary.Attrs{"enc": "vp8", "dec": "vp8"}})
	}
	call.Content = []waBinary.Node{{Tag: "offer", Attrs: attrs, Content: media}}
	return call
}
