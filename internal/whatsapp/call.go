// Calls: that they ring, that they have ended, and rejecting one.

package whatsapp

import (
	"context"

	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/caches"
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
	call, own := s.callOf(meta)
	if own {
		return true // this account calls from another device
	}
	call.Call.Video = video
	s.ringing.Add(call)
	return s.line.Receive(call.Call, "call")
}

// callOf is the call that a report is about. own is true for one of this account's.
func (s *session) callOf(meta types.BasicCallMeta) (call caches.RingingCall, own bool) {
	caller := meta.CallCreator
	if caller.IsEmpty() {
		caller = meta.From
	}
	from := s.line.Person(caller.ToNonAD(), meta.CallCreatorAlt.ToNonAD(), "")
	if self := s.line.Self(); self.Is(from.JID) || self.Is(from.LID) {
		return caches.RingingCall{}, true
	}
	call = caches.RingingCall{Creator: caller, Call: gateway.Call{
		ID: gateway.CleanID(meta.CallID), From: from, Chat: gateway.Party{JID: from.JID, LID: from.LID}, At: meta.Timestamp.UTC(),
	}}
	if !meta.GroupJID.IsEmpty() {
		call.Call.Chat = wire.PartyOf(meta.GroupJID, types.EmptyJID, "")
	}
	return call, false
}

// callEnded reports that a call has ended that rang. Who is told of the end can't reject the call any
// more. What is known of it stays known if its end can't be kept: the platform brings that once more.
func (s *session) callEnded(meta types.BasicCallMeta, reason gateway.CallEndReason) bool {
	id := gateway.CleanID(meta.CallID)
	call, found := s.ringing.End(id)
	rang := call
	if !found {
		var own bool
		if call, own = s.callOf(meta); own {
			return true
		}
	}
	call.Call.At = meta.Timestamp.UTC()
	kept := s.line.Receive(endOf(call.Call, reason), "end of a call")
	if !kept && found {
		s.ringing.Add(rang)
	}
	return kept
}

// callTerminated reports how the platform says that a call has ended.
func (s *session) callTerminated(event *events.CallTerminate) bool {
	reason := gateway.CallEnded
	switch event.Reason {
	case "timeout", "": // nobody has answered; the caller gave up
		reason = gateway.CallMissed
	case "accepted_elsewhere":
		reason = gateway.CallAccepted
	case "rejected_elsewhere":
		reason = gateway.CallRejected
	}
	return s.callEnded(event.BasicCallMeta, reason)
}

func endOf(call gateway.Call, reason gateway.CallEndReason) gateway.CallEnd {
	return gateway.CallEnd{ID: call.ID, From: call.From, Chat: call.Chat, Reason: reason, At: call.At}
}

// RejectCall rejects a call that rings (gateway.Calls).
func (s *session) RejectCall(ctx context.Context, callID string) error {
	call, found := s.ringing.End(callID)
	if !found {
		return gateway.Errorf(gateway.NotFound, gateway.CodeCallNotFound, "no such call rings: it has ended, or rang before the gateway was started")
	}
	ctx, cancel := context.WithTimeout(ctx, s.line.Wait)
	defer cancel()
	if err := s.line.Client().RejectCall(ctx, call.Creator, call.Call.ID); err != nil {
		s.ringing.Add(call) // it rings on
		return wire.Failure(err)
	}
	call.Call.At = s.line.Now().UTC()
	s.line.WhileOpen(func() { s.line.Receive(endOf(call.Call, gateway.CallRejected), "end of a call") })
	return nil
}
