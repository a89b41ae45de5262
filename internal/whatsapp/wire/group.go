package wire

import (
	"errors"
	"time"

	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
)

// NewGroup translates what the platform knows about a group. self is this account. Those who
// could not be added are left out.
func NewGroup(info *types.GroupInfo, self gateway.Party) gateway.Group {
	group := gateway.Group{
		ID:           JIDOf(info.JID),
		Subject:      gateway.CleanName(info.Name),
		Description:  gateway.CleanText(info.Topic, gateway.MaxText),
		Owner:        PartyOf(info.OwnerJID, info.OwnerPN, ""),
		CreatedAt:    info.GroupCreated.UTC(),
		Participants: make([]gateway.Participant, 0, min(len(info.Participants), gateway.MaxGroupMembers)),
		Rules: gateway.GroupRules{
			AdminsWrite: info.IsAnnounce, AdminsEdit: info.IsLocked, AdminsAdd: info.MemberAddMode == types.GroupMemberAddModeAdmin,
			Approval: info.IsJoinApprovalRequired,
		},
		Community: JIDOf(info.LinkedParentJID), IsCommunity: info.IsParent, Announces: info.IsDefaultSubGroup,
	}
	if info.IsEphemeral {
		group.Rules.Disappearing = time.Duration(info.DisappearingTimer) * time.Second
	}
	for _, member := range info.Participants {
		if len(group.Participants) == gateway.MaxGroupMembers {
			break
		}
		if member.Error != 0 {
			continue
		}
		participant := gateway.Participant{Party: MemberOf(member), Address: JIDOf(member.JID)}
		switch {
		case member.IsSuperAdmin:
			participant.Role = gateway.RoleSuperAdmin
		case member.IsAdmin:
			participant.Role = gateway.RoleAdmin
		}
		if self.Is(participant.Party.JID) || self.Is(participant.Party.LID) {
			group.Role = participant.Role
		}
		group.Participants = append(group.Participants, participant)
	}
	group.Size = max(info.ParticipantCount, len(group.Participants), 0)
	return group
}

// MemberOf names a member of a group under both addresses.
func MemberOf(member types.GroupParticipant) gateway.Party {
	other := member.PhoneNumber
	if member.JID.Server != types.HiddenUserServer {
		other = member.LID
	}
	return PartyOf(member.JID, other, gateway.CleanName(member.DisplayName))
}

// NewLinkedGroup translates a group of a community.
func NewLinkedGroup(target *types.GroupLinkTarget, community gateway.JID) gateway.Group {
	return gateway.Group{
		ID: JIDOf(target.JID), Subject: gateway.CleanName(target.Name), Community: community, Announces: target.IsDefaultSubGroup,
	}
}

// JoinRequest is somebody who waits to be approved, under one address and the other, which
// may be empty.
type JoinRequest struct {
	Who, Other types.JID
	At         time.Time
}

// JoinRequestsOf reads the platform's answer about who waits to be approved.
func JoinRequestsOf(answer *waBinary.Node) []JoinRequest {
	if answer == nil {
		return nil
	}
	list := answer.GetChildByTag("membership_approval_requests")
	var requests []JoinRequest
	for _, child := range list.GetChildrenByTag("membership_approval_request") {
		attrs := child.AttrGetter()
		request := JoinRequest{Who: attrs.OptionalJIDOrEmpty("jid"), Other: attrs.OptionalJIDOrEmpty("phone_number"), At: attrs.OptionalUnixTime("request_time")}
		if request.Who.Server == types.DefaultUserServer {
			request.Other = attrs.OptionalJIDOrEmpty("lid")
		}
		if request.Who.User != "" && len(requests) < gateway.MaxGroupMembers {
			requests = append(requests, request)
		}
	}
	return requests
}

// The platform's codes about groups, in errors and about one person in an answer.
const (
	codeBadRequest   = 400
	codeNotAllowed   = 401
	codePrivacy      = 403
	codeNoPerson     = 404
	codeNotPossible  = 405 // the thing does not have this
	codeUnacceptable = 406
	codeLeft         = 408
	codeAlready      = 409
	codeGone         = 410
	codeCommunity    = 417 // privacy, of a community
	codeFull         = 419
)

// MemberRefusal says why the platform did not do something to one person; nil if it did.
func MemberRefusal(action gateway.MemberAction, code int) *gateway.Error {
	switch code {
	case 0, 200: //nolint:mnd // success, as HTTP has it
		return nil
	case codePrivacy, codeCommunity:
		if action == gateway.MembersAdd {
			return gateway.Errorf(gateway.Forbidden, gateway.CodeParticipantPrivacy,
				"the person's privacy settings don't allow adding: send the person the group's invite link")
		}
	case codeNoPerson:
		if action == gateway.MembersAdd {
			return gateway.Errorf(gateway.Invalid, gateway.CodeNotRegistered, "the person has no account on the platform")
		}
		return gateway.Errorf(gateway.NotFound, gateway.CodeNotParticipant, "the person is not in the group")
	case codeLeft:
		return gateway.Errorf(gateway.Conflict, gateway.CodeParticipantLeft, "the person left the group recently and can't be added: send the person the group's invite link")
	case codeAlready:
		return gateway.Errorf(gateway.Conflict, gateway.CodeAlreadyParticipant, "the person is in the group already")
	case codeFull:
		return groupFull()
	}
	return gateway.Errorf(gateway.PlatformFailed, gateway.CodeParticipantRefused, "the platform refuses this for this person (code %d)", code)
}

// JoinRefusal says why the platform did not approve or reject somebody; nil if it did.
func JoinRefusal(code int) *gateway.Error {
	if code == codeNoPerson {
		return gateway.Errorf(gateway.NotFound, gateway.CodeNoJoinRequest, "the person does not wait to join the group")
	}
	return MemberRefusal("", code)
}

func groupFull() *gateway.Error {
	return gateway.Errorf(gateway.Conflict, gateway.CodeGroupFull, "the group is full")
}

// GroupFailure is Failure for what is asked about a group of this account, or done to it.
// An account that is not in the group and one that does not administer it get the same
// answer from the platform: the error then is Forbidden with CodeGroupAdminRequired.
func GroupFailure(err error) error {
	code, known := platformCode(err)
	switch {
	case err == nil:
		return nil
	case !known:
		return Failure(err)
	}
	switch code {
	case codeNotAllowed, codePrivacy:
		return gateway.Errorf(gateway.Forbidden, gateway.CodeGroupAdminRequired, "only an administrator of the group may do this")
	case codeNoPerson:
		return NoGroup()
	case codeNotPossible, codeUnacceptable, codeAlready:
		return gateway.Errorf(gateway.Conflict, gateway.CodeGroupRefused, "the platform does not accept this change of the group (code %d)", code)
	case codeFull:
		return groupFull()
	}
	return Failure(err)
}

// InviteFailure is Failure for following an invitation.
func InviteFailure(err error) error {
	code, known := platformCode(err)
	switch {
	case errors.Is(err, whatsmeow.ErrInviteLinkRevoked) || known && code == codeGone:
		return gateway.Errorf(gateway.Gone, gateway.CodeInviteExpired, "the invite link was reset, or has expired")
	case errors.Is(err, whatsmeow.ErrInviteLinkInvalid), known && (code == codeNoPerson || code == codeUnacceptable || code == codeBadRequest):
		return gateway.Errorf(gateway.NotFound, gateway.CodeInviteNotValid, "the invite link leads to no group")
	case known && (code == codeNotAllowed || code == codePrivacy):
		return gateway.Errorf(gateway.Forbidden, gateway.CodeInviteRefused, "the platform does not let this account into the group: it was removed, or is blocked there")
	case known && code == codeFull:
		return groupFull()
	}
	return Failure(err)
}
