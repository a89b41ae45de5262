package platform

import (
	"context"

	waBinary "go.mau.fi/whatsmeow/binary"
)

// Call has the phone of the number call somebody, or the members of a group, and
// returns the call's id. It rings on their linked devices, until nobody answers:
// what comes after the offer is not simulated.
func (s *Server) Call(ctx context.Context, number, to string, video bool) (callID string, err error) {
	from, err := s.phoneOf(ctx, number)
	if err != nil {
		return "", err
	}
	where, err := s.chatNamed(ctx, "to", to)
	if err != nil {
		return "", err
	}
	called := []*account{where.person}
	switch {
	case !from.isRegistered():
		return "", conflictf("the number is not registered")
	case where.group == nil && !where.person.isRegistered():
		return "", invalidf("to", "the number is not registered")
	case where.group != nil && !where.group.has(from):
		return "", invalidf("to", "the phone is not in this group")
	case where.group != nil:
		if called, err = s.people(ctx, where.group); err != nil {
			return "", err
		}
	}
	callID = newMessageID()
	u := s.newUnit()
	for _, of := range called {
		if of == from || of.blocks(from) {
			continue
		}
		for _, linked := range of.companions() {
			if err := u.toDevice(linked, s.callNode(from, where, callID, video)); err != nil {
				return "", err
			}
		}
	}
	return callID, u.commit(ctx)
}

// callNode is what tells a device that it is called: in a group by a notice, for
// the call is the group's.
func (s *Server) callNode(from *account, where chat, callID string, video bool) waBinary.Node {
	attrs := waBinary.Attrs{"call-id": callID, "call-creator": from.lidJID(), "caller_pn": from.shownPN()}
	call := waBinary.Node{Tag: "call", Attrs: waBinary.Attrs{
		"from": from.lidJID(), "id": newID(), "t": s.now().Unix(), "platform": "android", "version": "2.26.1",
		"notify": from.displayName(),
	}}
	if where.group != nil {
		attrs["type"], attrs["media"], attrs["group-jid"] = "group", "audio", where.group.jid()
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
