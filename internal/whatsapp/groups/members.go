// Who is in a group, who administers it, who waits, and how people come in.

package groups

import (
	"context"
	"slices"
	"strings"
	"time"

	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// ChangeMembers does the same to each person (gateway.GroupMembers).
func (g *Groups) ChangeMembers(
	ctx context.Context, id gateway.JID, action gateway.MemberAction, people []gateway.Party,
) (results []gateway.MemberResult, err error) {
	defer g.cache.Forget(id)
	listed := people
	if action != gateway.MembersAdd {
		// The platform knows a member by the address under which it lists him.
		group, err := g.Group(ctx, id)
		if err != nil {
			return nil, err
		}
		listed = listedAs(group, people)
	}
	jids, err := addressesOf(listed)
	if err != nil {
		return nil, err
	}
	var answer []types.GroupParticipant
	err = g.do(ctx, id, func(ctx context.Context, client *whatsmeow.Client, jid types.JID) (err error) {
		answer, err = client.UpdateGroupParticipants(ctx, jid, jids, whatsmeow.ParticipantChange(action))
		return err
	})
	if err != nil {
		return nil, err
	}
	return g.results(people, answer, func(code int) *gateway.Error { return wire.MemberRefusal(action, code) }), nil
}

// JoinRequests returns who waits to be approved (gateway.GroupMembers).
func (g *Groups) JoinRequests(ctx context.Context, id gateway.JID) ([]gateway.JoinRequest, error) {
	var answer *waBinary.Node
	err := g.do(ctx, id, func(ctx context.Context, client *whatsmeow.Client, jid types.JID) (err error) {
		// The library's own question drops the numbers of those who wait.
		answer, err = client.DangerousInternals().SendGroupIQ(ctx, "get", jid, waBinary.Node{Tag: "membership_approval_requests"}) //nolint:staticcheck // the version is pinned
		return err
	})
	if err != nil {
		return nil, err
	}
	waiting := wire.JoinRequestsOf(answer)
	requests := make([]gateway.JoinRequest, len(waiting))
	for i, request := range waiting {
		requests[i] = gateway.JoinRequest{Party: g.line.Person(request.Who, request.Other, ""), At: possible(request.At)}
	}
	return requests, nil
}

// AnswerJoinRequests approves or rejects people (gateway.GroupMembers).
func (g *Groups) AnswerJoinRequests(
	ctx context.Context, id gateway.JID, approve bool, people []gateway.Party,
) ([]gateway.MemberResult, error) {
	defer g.cache.Forget(id)
	jids, err := addressesOf(people)
	if err != nil {
		return nil, err
	}
	action := whatsmeow.ParticipantChangeReject
	if approve {
		action = whatsmeow.ParticipantChangeApprove
	}
	var answer []types.GroupParticipant
	err = g.do(ctx, id, func(ctx context.Context, client *whatsmeow.Client, jid types.JID) (err error) {
		answer, err = client.UpdateGroupRequestParticipants(ctx, jid, jids, action)
		return err
	})
	if err != nil {
		return nil, err
	}
	return g.results(people, answer, wire.JoinRefusal), nil
}

// GroupInvite returns the code of the group's link (gateway.GroupInvites).
func (g *Groups) GroupInvite(ctx context.Context, id gateway.JID, reset bool) (string, error) {
	var link string
	err := g.do(ctx, id, func(ctx context.Context, client *whatsmeow.Client, jid types.JID) (err error) {
		link, err = client.GetGroupInviteLink(ctx, jid, reset)
		return err
	})
	return gateway.CleanID(strings.TrimPrefix(link, whatsmeow.InviteLinkPrefix)), err
}

// InvitedGroup returns the group that a code leads to (gateway.GroupInvites).
func (g *Groups) InvitedGroup(ctx context.Context, code string) (gateway.Group, error) {
	ctx, cancel := context.WithTimeout(ctx, g.line.Wait)
	defer cancel()
	info, err := g.line.Client().GetGroupInfoFromLink(ctx, code)
	if err != nil {
		return gateway.Group{}, wire.InviteFailure(err)
	}
	return wire.NewGroup(info, g.line.Self()), nil
}

// JoinGroup follows a code (gateway.GroupInvites).
func (g *Groups) JoinGroup(ctx context.Context, code string) (id gateway.JID, joined bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, g.line.Wait)
	defer cancel()
	jid, err := g.line.Client().JoinGroupWithLink(ctx, code)
	if err != nil {
		return "", false, wire.InviteFailure(err)
	}
	id = wire.JIDOf(jid)
	g.cache.Forget(id)
	// The library has the same answer for both: somebody who waits is not in the group.
	_, err = g.Group(ctx, id)
	if gateway.KindOf(err) == gateway.NotFound {
		return id, false, nil
	}
	return id, err == nil, err
}

// LinkedGroups returns the groups of a community (gateway.Communities).
func (g *Groups) LinkedGroups(ctx context.Context, community gateway.JID) ([]gateway.Group, error) {
	var answer []*types.GroupLinkTarget
	err := g.do(ctx, community, func(ctx context.Context, client *whatsmeow.Client, jid types.JID) (err error) {
		answer, err = client.GetSubGroups(ctx, jid)
		return err
	})
	if err != nil {
		return nil, err
	}
	linked := make([]gateway.Group, 0, min(len(answer), gateway.MaxGroups))
	for _, target := range answer[:cap(linked)] {
		linked = append(linked, wire.NewLinkedGroup(target, community))
	}
	return linked, nil
}

// LinkGroup puts a group into a community, or takes it out (gateway.Communities).
func (g *Groups) LinkGroup(ctx context.Context, community, group gateway.JID, linked bool) error {
	child, err := wire.ToJID(group)
	if err != nil {
		return err
	}
	defer g.cache.Forget(community)
	defer g.cache.Forget(group)
	return g.do(ctx, community, func(ctx context.Context, client *whatsmeow.Client, parent types.JID) error {
		if linked {
			return client.LinkGroup(ctx, parent, child)
		}
		return client.UnlinkGroup(ctx, parent, child)
	})
}

// addressesOf are the addresses by which the platform is told of people.
func addressesOf(people []gateway.Party) ([]types.JID, error) {
	jids := make([]types.JID, len(people))
	for i, who := range people {
		jid, err := wire.ToJID(who.Address())
		if err != nil {
			return nil, err
		}
		jids[i] = jid
	}
	return jids, nil
}

// listedAs names the members of a group by the addresses under which it lists them. Others
// keep theirs: the platform says that they are not in it.
func listedAs(group gateway.Group, people []gateway.Party) []gateway.Party {
	listed := slices.Clone(people)
	for i, who := range people {
		n := slices.IndexFunc(group.Participants, func(p gateway.Participant) bool { return p.Party.Is(who.JID) || p.Party.Is(who.LID) })
		if n >= 0 {
			listed[i] = gateway.Party{JID: group.Participants[n].Address} // wherever it belongs: it is only an address
		}
	}
	return listed
}

// results finds the platform's answer about each person. Somebody about whom it says
// nothing is refused, because nobody knows whether it was done.
func (g *Groups) results(
	people []gateway.Party, answer []types.GroupParticipant, refusalOf func(code int) *gateway.Error,
) []gateway.MemberResult {
	answered := make(map[gateway.JID]int, 2*len(answer)) //nolint:mnd // two addresses
	answer = answer[:min(len(answer), gateway.MaxGroupMembers)]
	for i := range answer {
		member := &answer[i]
		party := g.line.Person(member.JID, otherOf(member), "")
		for _, address := range []gateway.JID{party.JID, party.LID} {
			if address != "" {
				answered[address] = i
			}
		}
	}
	results := make([]gateway.MemberResult, len(people))
	for n, who := range people {
		result := gateway.MemberResult{Party: who}
		i, ok := answered[who.LID]
		if !ok {
			i, ok = answered[who.JID]
		}
		if !ok {
			result.Refusal = gateway.Errorf(gateway.PlatformFailed, gateway.CodeParticipantRefused, "the platform said nothing about this person")
			results[n] = result
			continue
		}
		result.Refusal = refusalOf(answer[i].Error)
		if request := answer[i].AddRequest; request != nil && result.Refusal != nil {
			result.Invitation = &gateway.GroupInvitation{Code: gateway.CleanID(request.Code), ExpiresAt: possible(request.Expiration)}
		}
		results[n] = result
	}
	return results
}

// possible is a time to come, as the platform says it; zero if it can't be true.
func possible(at time.Time) time.Time {
	const first, last = 2009, 2200
	if at.Year() < first || at.Year() > last {
		return time.Time{}
	}
	return at.UTC()
}

// otherOf is the second address of somebody in an answer.
func otherOf(member *types.GroupParticipant) types.JID {
	if member.JID.Server == types.HiddenUserServer {
		return member.PhoneNumber
	}
	return member.LID
}
