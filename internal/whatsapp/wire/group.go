package wire

import (
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
)

// NewGroup translates what the platform knows about a group.
func NewGroup(info *types.GroupInfo) gateway.Group {
	group := gateway.Group{
		ID:           JIDOf(info.JID),
		Subject:      gateway.CleanName(info.Name),
		Description:  gateway.CleanText(info.Topic, gateway.MaxText),
		Owner:        PartyOf(info.OwnerJID, info.OwnerPN, ""),
		CreatedAt:    info.GroupCreated.UTC(),
		Participants: make([]gateway.Participant, len(info.Participants)),
	}
	for i, member := range info.Participants {
		participant := gateway.Participant{Party: PartyOf(member.JID, member.PhoneNumber, gateway.CleanName(member.DisplayName))}
		if member.JID.Server != types.HiddenUserServer {
			participant.Party = PartyOf(member.JID, member.LID, gateway.CleanName(member.DisplayName))
		}
		switch {
		case member.IsSuperAdmin:
			participant.Role = gateway.RoleSuperAdmin
		case member.IsAdmin:
			participant.Role = gateway.RoleAdmin
		}
		group.Participants[i] = participant
	}
	return group
}
