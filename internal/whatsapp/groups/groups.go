// Package groups is the part of a session that is about groups (gateway.Groups): it asks
// the platform, translates its answers, and remembers them until the platform reports a
// change.
package groups

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/caches"
	"github.com/recado-project/recado/internal/whatsapp/line"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// maxAskedAlone is how many groups that have changed are asked for one by one. If there are
// more, all are asked for at once.
const maxAskedAlone = 16

// Groups asks for groups and changes them. It is safe for concurrent use.
type Groups struct {
	line   *line.Line
	store  Store
	cache  caches.Groups
	asking sync.Mutex // held while the list is asked for, which Line.Wait bounds
	kept   kept       // guarded by asking
}

var _ gateway.Groups = (*Groups)(nil)

// Store keeps the list of all groups for as long as there is no connection; nil keeps none.
type Store func(ctx context.Context, list []byte) error

// New returns the groups of a session.
func New(of *line.Line, store Store) *Groups { return &Groups{line: of, store: store} }

// Forget drops a group that has changed.
func (g *Groups) Forget(id gateway.JID) { g.cache.Forget(id) }

// ForgetAll drops everything: the platform does not always report what changed while the
// connection was down.
func (g *Groups) ForgetAll() { g.cache.ForgetAll() }

// Group returns what is known about a group (gateway.OwnGroups). It is asked for once and
// held until the platform reports a change.
func (g *Groups) Group(ctx context.Context, id gateway.JID) (gateway.Group, error) {
	if group, ok := g.cache.Get(id); ok {
		return group, nil
	}
	jid, err := wire.ToJID(id)
	if err != nil {
		return gateway.Group{}, err
	}
	since := g.cache.Seen()
	ctx, cancel := context.WithTimeout(ctx, g.line.Wait)
	defer cancel()
	info, err := g.line.Client().GetGroupInfo(ctx, jid)
	switch {
	case wire.IsNoGroup(err):
		g.cache.Left(id)
		return gateway.Group{}, wire.NoGroup()
	case err != nil:
		return gateway.Group{}, wire.Failure(err)
	}
	group := wire.NewGroup(info, g.line.Self())
	return group, g.cache.Put(group, since)
}

// mayPinWait bounds how long the platform is asked who may pin, while what came from it waits.
const mayPinWait = 10 * time.Second

// MayPin reports whether somebody may pin messages in a chat: the platform looks only if a stanza
// says that it carries a pin, which stands where only the chat's members can read it. Without an
// answer of the platform nobody may.
func (g *Groups) MayPin(ctx context.Context, chat gateway.JID, who gateway.Party) bool {
	if !chat.IsGroup() {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, mayPinWait)
	defer cancel()
	group, err := g.Group(ctx, chat)
	return err == nil && (!group.Rules.AdminsEdit || slices.ContainsFunc(group.Participants, func(p gateway.Participant) bool {
		return p.Role != "" && (p.Party.Is(who.JID) || p.Party.Is(who.LID))
	}))
}

// JoinedGroups returns all groups (gateway.OwnGroups). They are kept for when there is no
// connection.
func (g *Groups) JoinedGroups(ctx context.Context) ([]gateway.Group, error) {
	g.asking.Lock()
	defer g.asking.Unlock()
	edits := g.cache.Edits()
	groups, err := g.joined(ctx)
	if err != nil || g.cache.Edits() == g.kept.edits {
		return groups, err
	}
	return groups, g.keep(ctx, groups, edits)
}

// joined returns all groups, and asks for what has changed.
func (g *Groups) joined(ctx context.Context) ([]gateway.Group, error) {
	groups, stale, known := g.cache.List()
	switch {
	case known && len(stale) == 0:
		return groups, nil
	case !known || len(stale) > maxAskedAlone:
		return g.askForAll(ctx)
	}
	for _, id := range stale {
		if _, err := g.Group(ctx, id); err != nil && gateway.KindOf(err) != gateway.NotFound {
			return nil, err
		}
	}
	if groups, _, known = g.cache.List(); !known { // the connection was lost meanwhile
		return g.askForAll(ctx)
	}
	return groups, nil
}

// askForAll asks for all groups with one question.
func (g *Groups) askForAll(ctx context.Context) ([]gateway.Group, error) {
	ctx, cancel := context.WithTimeout(ctx, g.line.Wait)
	defer cancel()
	round := g.cache.Listing()
	infos, err := g.line.Client().GetJoinedGroups(ctx)
	if err != nil {
		return nil, wire.Failure(err)
	}
	self := g.line.Self()
	groups := make([]gateway.Group, 0, len(infos))
	for _, info := range infos[:min(len(infos), gateway.MaxGroups)] {
		group := wire.NewGroup(info, self)
		group.Participants = nil
		groups = append(groups, group)
	}
	g.cache.PutList(groups, round)
	return groups, nil
}

// do asks the platform something about a group of this account, or changes it.
func (g *Groups) do(ctx context.Context, id gateway.JID, request func(ctx context.Context, client *whatsmeow.Client, jid types.JID) error) error {
	jid, err := wire.ToJID(id)
	if err != nil {
		return err
	}
	asked, cancel := context.WithTimeout(ctx, g.line.Wait)
	defer cancel()
	err = wire.GroupFailure(request(asked, g.line.Client(), jid))
	if refusal, ok := gateway.AsError(err); !ok || refusal.Code != gateway.CodeGroupAdminRequired {
		return err
	}
	// The platform has the same answer for those who are not in the group at all.
	g.cache.Forget(id)
	if _, missing := g.Group(ctx, id); gateway.KindOf(missing) == gateway.NotFound {
		return missing
	}
	return err
}

// CreateGroup makes a group (gateway.OwnGroups).
func (g *Groups) CreateGroup(ctx context.Context, wanted gateway.NewGroup) (gateway.Group, []gateway.MemberResult, error) {
	request := whatsmeow.ReqCreateGroup{Name: wanted.Subject, GroupParent: types.GroupParent{IsParent: wanted.IsCommunity}}
	if wanted.Community != "" {
		community, err := wire.ToJID(wanted.Community)
		if err != nil {
			return gateway.Group{}, nil, err
		}
		request.LinkedParentJID = community
	}
	var err error
	if request.Participants, err = addressesOf(wanted.People); err != nil {
		return gateway.Group{}, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, g.line.Wait)
	defer cancel()
	info, err := g.line.Client().CreateGroup(ctx, request)
	if err != nil {
		return gateway.Group{}, nil, wire.GroupFailure(err)
	}
	group := wire.NewGroup(info, g.line.Self())
	g.cache.Forget(group.ID)
	return group, g.results(wanted.People, info.Participants, func(code int) *gateway.Error {
		return wire.MemberRefusal(gateway.MembersAdd, code)
	}), nil
}

// ChangeGroup makes one change (gateway.OwnGroups).
func (g *Groups) ChangeGroup(ctx context.Context, id gateway.JID, change gateway.GroupUpdate) error {
	defer g.cache.Forget(id)
	return g.do(ctx, id, func(ctx context.Context, client *whatsmeow.Client, jid types.JID) error {
		switch {
		case change.Subject != nil:
			return client.SetGroupName(ctx, jid, *change.Subject)
		case change.Description != nil:
			// The library would ask for the description before it too, and lose the reason
			// for which the platform refuses.
			before, err := client.GetGroupInfo(ctx, jid)
			if err != nil {
				return err
			}
			return client.SetGroupTopic(ctx, jid, before.TopicID, "", *change.Description)
		case change.Picture != nil:
			picture := *change.Picture
			if len(picture) == 0 {
				picture = nil // removes it
			}
			_, err := client.SetGroupPhoto(ctx, jid, picture)
			return err
		case change.AdminsWrite != nil:
			return client.SetGroupAnnounce(ctx, jid, *change.AdminsWrite)
		case change.AdminsEdit != nil:
			return client.SetGroupLocked(ctx, jid, *change.AdminsEdit)
		case change.AdminsAdd != nil:
			mode := types.GroupMemberAddModeAllMember
			if *change.AdminsAdd {
				mode = types.GroupMemberAddModeAdmin
			}
			return client.SetGroupMemberAddMode(ctx, jid, mode)
		case change.Approval != nil:
			return client.SetGroupJoinApprovalMode(ctx, jid, *change.Approval)
		case change.Disappearing != nil:
			return client.SetDisappearingTimer(ctx, jid, *change.Disappearing, time.Time{})
		default:
			return errors.New("groups: a change without anything to change")
		}
	})
}

// LeaveGroup leaves a group (gateway.OwnGroups).
func (g *Groups) LeaveGroup(ctx context.Context, id gateway.JID) error {
	err := g.do(ctx, id, func(ctx context.Context, client *whatsmeow.Client, jid types.JID) error {
		return client.LeaveGroup(ctx, jid)
	})
	if err == nil {
		g.cache.Forget(id)
		g.cache.Left(id)
	}
	return err
}
