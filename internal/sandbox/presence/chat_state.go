package presence

import (
	"context"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/chat"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// PassChatState passes on that a client is typing or recording.
func (s *Service) PassChatState(ctx context.Context, from *account.Account, n waBinary.Node) error {
	where, ok, err := s.chats.At(ctx, wire.AttrJID(n, "to"))
	if err != nil || !ok || len(n.GetChildren()) != 1 {
		return err
	}
	if where.Person != nil {
		s.Acquaint(from, where.Person)
	}
	return s.chatState(ctx, from, where, n.GetChildren()[0])
}

// chatState shows the phones of a chat, and their linked devices, that somebody is
// typing there.
func (s *Service) chatState(ctx context.Context, from *account.Account, where chat.Chat, state waBinary.Node) error {
	value := state.Tag
	if value == string(types.ChatPresenceComposing) && wire.AttrString(state, "media") == string(types.ChatPresenceMediaAudio) {
		value = "recording"
	}
	seers := []*account.Account{where.Person}
	attrs := waBinary.Attrs{"from": from.LIDJID(), "sender_pn": from.ShownPN()}
	if where.Group != nil {
		var err error
		if seers, err = s.chats.Groups.People(ctx, where.Group); err != nil || !where.Group.Has(from) {
			return err
		}
		attrs = waBinary.Attrs{"from": where.Group.JID(), "participant": from.LIDJID(), "participant_pn": from.ShownPN(), "addressing_mode": "lid"}
	}
	for _, to := range seers {
		if (to == from && where.Group != nil) || to.Blocks(from) {
			continue
		}
		entry := account.NewActivity("chatstate", from, to, value)
		if where.Group != nil {
			entry.To = where.Group.JID().String()
		}
		s.activities.Add(to, entry)
		for _, linked := range to.Companions() {
			linked.Offer(waBinary.Node{
				Tag: "chatstate", Attrs: attrs,
				Content: []waBinary.Node{{Tag: state.Tag, Attrs: waBinary.Attrs{"media": state.Attrs["media"]}}},
			})
		}
	}
	return nil
}
