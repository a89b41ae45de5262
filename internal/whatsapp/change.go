package whatsapp

import (
	"log/slog"

	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// changeArrived passes on a change of a message that its author may make, and reports
// whether it was kept.
func (s *session) changeArrived(event *events.Message, change gateway.Change) bool {
	if change.Kind == gateway.ChangeDeleted && !change.FromMe && change.Chat.JID.IsGroup() && !wire.IsOwnDeletion(event) {
		// The platform has checked an administrator's right only if the stanza says that
		// one deletes; which message is deleted stands where only we can read it.
		change.ByAdmin = event.Info.Edit == types.EditAttributeAdminRevoke && s.isAdmin(change.Chat.JID, change.By)
		if !s.line.Connected() {
			return false // the answer about the group was lost with the connection
		}
		if !change.ByAdmin {
			s.logger.InfoContext(s.ctx, "a deletion was ignored: only an administrator deletes messages of others",
				slog.String("platform_id", change.PlatformID))
			return true
		}
	}
	if change.Kind == gateway.ChangePin && !change.FromMe && !s.groups.MayPin(s.ctx, change.Chat.JID, change.By) {
		s.logger.InfoContext(s.ctx, "a pin was ignored: its author may not pin in this group", slog.String("platform_id", change.PlatformID))
		return s.line.Connected() // else the answer about the group was lost with the connection
	}
	return s.line.Receive(change, "change of a message", slog.String("platform_id", change.PlatformID))
}

// voteArrived decrypts a vote in a poll and passes it on, and reports whether it was kept. One
// that can't be decrypted is forged, or belongs to a poll from before the link.
func (s *session) voteArrived(event *events.Message) bool {
	opened, err := s.line.Client().DecryptPollVote(s.ctx, event)
	if err != nil {
		s.logger.InfoContext(s.ctx, "vote not opened", slog.String("platform_id", event.Info.ID))
		return true
	}
	vote, ok := wire.VoteOf(event, opened, s.line.Self())
	if !ok {
		return true
	}
	if group := vote.Chat.JID; group.IsGroup() && !vote.FromMe && !s.mayBeMember(group, vote.By) {
		s.logger.InfoContext(s.ctx, "a vote is ignored: its sender is not in the group", slog.String("platform_id", event.Info.ID))
		return true
	}
	return s.line.Receive(vote, "vote", slog.String("platform_id", event.Info.ID))
}

// responseArrived decrypts a response to a calendar event and passes it on, and reports whether it
// was kept. One that can't be decrypted is forged, or belongs to an event from before the link.
func (s *session) responseArrived(event *events.Message) bool {
	ignored := func(why string) bool {
		s.logger.InfoContext(s.ctx, "a response to an event is ignored", slog.String("platform_id", event.Info.ID), slog.String("why", why))
		return true
	}
	opened, err := openResponse(s.ctx, s.line.Client(), event)
	response, ok := wire.ResponseOf(event, opened, s.line.Self())
	if err != nil || !ok {
		return ignored("it can't be opened, or says nothing")
	}
	if group := response.Chat.JID; group.IsGroup() && !response.FromMe && !s.mayBeMember(group, response.By) {
		return ignored("its sender is not in the group")
	}
	return s.line.Receive(response, "response to an event", slog.String("platform_id", event.Info.ID))
}
