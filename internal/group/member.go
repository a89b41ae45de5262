// Who is in a group, who waits, and how people come in.

package group

import (
	"context"
	"slices"

	"github.com/recado-project/recado/internal/gateway"
)

// people are those that a request names: each person is told to the platform once, however
// often and under whatever address the request names him.
type people struct {
	distinct []gateway.Party
	places   []int // in distinct, of each that was named; -1: has no account
}

// find finds the addresses of people. Its error is Invalid for a group or a channel among them.
func (s *Service) find(ctx context.Context, through gateway.People, named []gateway.Recipient) (people, error) {
	for _, who := range named {
		if !who.IsPerson() {
			return people{}, gateway.InvalidField("participants", "must be people: "+string(who.Chat)+" is none")
		}
	}
	parties, err := s.config.Directory.Parties(ctx, through, named)
	if err != nil {
		return people{}, err
	}
	found := people{places: make([]int, len(parties))}
	places := make(map[gateway.JID]int, len(parties))
	for i, party := range parties {
		if party.Address() == "" {
			found.places[i] = -1
			continue
		}
		place, known := places[party.LID]
		if !known || party.LID == "" {
			place, known = places[party.JID]
		}
		if !known {
			place = len(found.distinct)
			found.distinct = append(found.distinct, party)
		}
		for _, address := range []gateway.JID{party.JID, party.LID} {
			if address != "" {
				places[address] = place
			}
		}
		found.places[i] = place
	}
	return found, nil
}

// results puts what the platform answered about the distinct people in the order in which
// the request names them.
func (p people) results(of []gateway.MemberResult) []gateway.MemberResult {
	results := make([]gateway.MemberResult, len(p.places))
	for i, place := range p.places {
		if place < 0 {
			results[i].Refusal = gateway.Errorf(gateway.Invalid, gateway.CodeNotRegistered, "the number has no account on the platform")
			continue
		}
		results[i] = of[place]
	}
	return results
}

// ChangeMembers adds, removes, promotes or demotes people. There is a result for each of
// them, in their order. With invite, those who can't be added are sent the platform's invitation.
func (s *Service) ChangeMembers(
	ctx context.Context, instanceID string, id gateway.JID, action gateway.MemberAction, named []gateway.Recipient, invite bool,
) ([]gateway.MemberResult, error) {
	return s.each(ctx, instanceID, named, func(groups gateway.Groups, people []gateway.Party) ([]gateway.MemberResult, error) {
		results, err := groups.ChangeMembers(ctx, id, action, people)
		invited := func(result gateway.MemberResult) bool { return result.Invitation != nil }
		if err != nil || !invite || !slices.ContainsFunc(results, invited) {
			return results, err
		}
		group, err := groups.Group(ctx, id)
		if err != nil {
			group = gateway.Group{ID: id} // they were answered; the invitation has no name of the group then
		}
		s.invite(ctx, instanceID, group, results)
		return results, nil
	})
}

// invite sends their invitations to those who could not be added, and notes in each result what
// became of it. It goes on when the client leaves: the platform has the invitations.
func (s *Service) invite(ctx context.Context, instanceID string, group gateway.Group, results []gateway.MemberResult) {
	ctx = context.WithoutCancel(ctx)
	for n := range results {
		invitation := results[n].Invitation
		if invitation == nil {
			continue
		}
		messageID, err := s.config.Invite(ctx, instanceID, results[n].Party.Address(), gateway.GroupInvite{
			Group: group.ID, Name: group.Subject, Code: invitation.Code, ExpiresAt: invitation.ExpiresAt,
		})
		if err != nil {
			invitation.Failure = refusalOf(err)
			continue
		}
		invitation.MessageID = messageID
	}
}

// refusalOf is what a client may read of an error.
func refusalOf(err error) *gateway.Error {
	if refusal, ok := gateway.AsError(err); ok {
		return refusal
	}
	return gateway.Errorf(gateway.Internal, gateway.CodeInternal, "an internal error")
}

// each does something to people, if there are any that have an account.
func (s *Service) each(
	ctx context.Context, instanceID string, named []gateway.Recipient,
	do func(groups gateway.Groups, people []gateway.Party) ([]gateway.MemberResult, error),
) ([]gateway.MemberResult, error) {
	session, err := s.config.Sessions.Session(ctx, instanceID)
	if err != nil {
		return nil, err
	}
	people, err := s.find(ctx, session.People(), named)
	if err != nil {
		return nil, err
	}
	var results []gateway.MemberResult
	if len(people.distinct) > 0 {
		if results, err = do(session.Groups(), people.distinct); err != nil {
			return nil, err
		}
	}
	return people.results(results), nil
}

// JoinRequests returns who waits to be approved.
func (s *Service) JoinRequests(ctx context.Context, instanceID string, id gateway.JID) ([]gateway.JoinRequest, error) {
	groups, err := s.groups(ctx, instanceID)
	if err != nil {
		return nil, err
	}
	return groups.JoinRequests(ctx, id)
}

// AnswerJoinRequests approves or rejects people who wait. There is a result for each of
// them, in their order.
func (s *Service) AnswerJoinRequests(
	ctx context.Context, instanceID string, id gateway.JID, approve bool, named []gateway.Recipient,
) ([]gateway.MemberResult, error) {
	return s.each(ctx, instanceID, named, func(groups gateway.Groups, people []gateway.Party) ([]gateway.MemberResult, error) {
		return groups.AnswerJoinRequests(ctx, id, approve, people)
	})
}

// Invite returns the code of a group's link. reset makes a new one first.
func (s *Service) Invite(ctx context.Context, instanceID string, id gateway.JID, reset bool) (code string, err error) {
	groups, err := s.groups(ctx, instanceID)
	if err != nil {
		return "", err
	}
	return groups.GroupInvite(ctx, id, reset)
}

// LookAt returns the group that an invitation code leads to, without joining it. Its error
// is NotFound or Gone if the code leads nowhere.
func (s *Service) LookAt(ctx context.Context, instanceID, code string) (gateway.Group, error) {
	groups, err := s.groups(ctx, instanceID)
	if err != nil {
		return gateway.Group{}, err
	}
	return groups.InvitedGroup(ctx, code)
}

// Join follows an invitation code. joined is false if an administrator has to approve
// first. Its errors are those of LookAt, and Conflict if the group is full.
func (s *Service) Join(ctx context.Context, instanceID, code string) (id gateway.JID, joined bool, err error) {
	groups, err := s.groups(ctx, instanceID)
	if err != nil {
		return "", false, err
	}
	return groups.JoinGroup(ctx, code)
}

// Linked returns a page of the groups of a community, with what is known of each: of a
// group that this account is not in, that is its subject.
func (s *Service) Linked(ctx context.Context, instanceID string, community gateway.JID, page gateway.PageRequest) (gateway.Page[gateway.Group], error) {
	groups, err := s.groups(ctx, instanceID)
	if err != nil {
		return gateway.Page[gateway.Group]{}, err
	}
	linked, err := groups.LinkedGroups(ctx, community)
	if err != nil {
		return gateway.Page[gateway.Group]{}, err
	}
	joined, err := groups.JoinedGroups(ctx)
	if err != nil {
		return gateway.Page[gateway.Group]{}, err
	}
	known := make(map[gateway.JID]gateway.Group, len(joined))
	for _, group := range joined {
		known[group.ID] = group
	}
	for i, group := range linked {
		if full, ok := known[group.ID]; ok {
			linked[i] = full
		}
	}
	return pageOf(linked, page), nil
}

// Link puts a group into a community, or takes it out.
func (s *Service) Link(ctx context.Context, instanceID string, community, group gateway.JID, linked bool) error {
	groups, err := s.groups(ctx, instanceID)
	if err != nil {
		return err
	}
	return groups.LinkGroup(ctx, community, group, linked)
}
