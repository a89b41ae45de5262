package whatsapp

import (
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// callArrived reports that somebody calls. A video call offers pictures besides sound.
func (s *session) callArrived(event *events.CallOffer) bool {
	video := false
	if event.Data != nil {
		_, video = event.Data.GetOptionalChildByTag("video")
	}
	return s.called(event.BasicCallMeta, video)
}

// callNoticeArrived reports that somebody calls a group.
func (s *session) callNoticeArrived(event *events.CallOfferNotice) bool {
	return s.called(event.BasicCallMeta, event.Media == "video")
}

func (s *session) called(meta types.BasicCallMeta, video bool) bool {
	caller := meta.CallCreator
	if caller.IsEmpty() {
		caller = meta.From
	}
	from := s.person(caller.ToNonAD(), meta.CallCreatorAlt.ToNonAD(), "")
	if self := s.Self(); self.Is(from.JID) || self.Is(from.LID) {
		return true // this account calls from another device
	}
	call := gateway.Call{
		ID: meta.CallID, From: from, Chat: gateway.Party{JID: from.JID, LID: from.LID},
		Video: video, At: meta.Timestamp.UTC(),
	}
	if !meta.GroupJID.IsEmpty() {
		call.Chat = wire.PartyOf(meta.GroupJID, types.EmptyJID, "")
	}
	return s.receive(call, "call")
}
