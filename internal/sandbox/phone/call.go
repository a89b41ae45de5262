package phone

import (
	"context"

	waBinary "go.mau.fi/whatsmeow/binary"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/chat"
	"github.com/recado-project/recado/internal/sandbox/refusal"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// Call lets the phone of a number call a person, or the members of a group, and
// returns the ID of the call. The call rings on their linked devices. What follows
// the offer is not simulated, so the call is never answered.
func (s *Service) Call(ctx context.Context, number, to string, video bool) (callID string, err error) {
	from, err := s.config.Accounts.Named(ctx, number)
	if err != nil {
		return "", err
	}
	where, err := s.config.Chats.Named(ctx, "to", to)
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
		if called, err = s.groups.People(ctx, where.Group); err != nil {
			return "", err
		}
	}
	callID = wire.NewMessageID()
	u := s.config.Accounts.NewUnit()
	for _, of := range called {
		if of == from || of.Blocks(from) {
			continue
		}
		if rings, err := s.config.Accounts.Lets(ctx, of, account.PrivacyCalls, from); err != nil || !rings {
			if err != nil {
				return "", err
			}
			continue
		}
		for _, linked := range of.Companions() {
			if err := u.ToDevice(linked, s.callNode(from, where, callID, video)); err != nil {
				return "", err
			}
		}
	}
	return callID, u.Commit(ctx)
}

// callNode builds the stanza that offers a call to a device. In a group it is a
// notice, because the call belongs to the group.
func (s *Service) callNode(from *account.Account, where chat.Chat, callID string, video bool) waBinary.Node {
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
