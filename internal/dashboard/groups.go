// The groups of an instance, and one of them. They are read when the page is opened, and do not
// change by themselves: the platform would be asked at each event.

package dashboard

import (
	"cmp"
	"math"
	"net/url"
	"slices"

	"github.com/recado-project/recado/internal/dashboard/conversation"
	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/group"
	"github.com/recado-project/recado/internal/web"
)

const (
	// groupsAtOnce is how many groups a page of the list has, membersAtOnce how many members
	// of one.
	groupsAtOnce  = 25
	membersAtOnce = 50
)

// groupsView is the list.
type groupsView struct {
	instanceHead

	Groups        []groupLine
	Total         int
	Kept          bool   // they are those that were listed last: the instance is not connected
	Search        string // in the subjects; empty for all
	Before, After string // the first page and the next one; empty for none
}

// groupLine is one line of the list.
type groupLine struct{ gateway.Group }

// Mine is the role of the account in the group.
func (g groupLine) Mine() web.Word { return roleWord(g.Role) }

// groupView is the page of one group.
type groupView struct {
	instanceHead
	groupLine

	Members       []memberLine
	Before, After string // as in the list
	Link          string // with which people join; empty if it is not for the visitor or the account
	NoLink        string // why the platform did not give it
}

// memberLine is one member of a group.
type memberLine struct {
	gateway.Participant

	Self bool // it is the account itself
}

// Name is what people call the member.
func (m memberLine) Name() string { return conversation.Name(m.Party) }

// Chat is what the chat with the member is named by.
func (m memberLine) Chat() string { return addressOf(m.Party) }

// RoleWord is the member's role.
func (m memberLine) RoleWord() web.Word { return roleWord(m.Role) }

// roleWord is what people call a role in a group.
func roleWord(role gateway.GroupRole) web.Word {
	switch role {
	case gateway.RoleSuperAdmin:
		return web.Word("Owner")
	case gateway.RoleAdmin:
		return web.Word("Administrator")
	default:
		return web.Word("Member")
	}
}

// showGroups shows the list.
func (p *pages) showGroups(r *frame.Request, found gateway.Instance) error {
	page, query := frame.PageOf(r.URL.Query()), url.Values{}
	view := groupsView{instanceHead: headOf(found, "groups", r.Visitor.Actor.Role)}
	if view.Search = r.Search(); view.Search != "" {
		query.Set("search", view.Search)
	}
	listed, err := p.Groups.List(r.Context(), found.ID, group.Filter{Subject: view.Search}, gateway.PageRequest{Page: page, Limit: groupsAtOnce})
	if view.Refused, err = frame.ForNow(err); err != nil {
		return err
	}
	for _, one := range listed.Items {
		view.Groups = append(view.Groups, groupLine{one})
	}
	view.Total, view.Kept = listed.Total, found.Status != gateway.StatusConnected
	view.Before, view.After = frame.Around("/instances/"+found.ID+"/groups", query, page, groupsAtOnce, listed.Total)
	return r.Page("groups", frame.View{Title: found.Name, Section: "instances", Body: view})
}

// showGroup shows one group.
func (p *pages) showGroup(r *frame.Request, found gateway.Instance) error {
	id, ok := gateway.ParseJID(r.PathValue("groupId"))
	if !ok || !id.IsGroup() {
		return gateway.Errorf(gateway.NotFound, gateway.CodeGroupNotFound, "there is no such group")
	}
	view := groupView{instanceHead: headOf(found, "groups", r.Visitor.Actor.Role)}
	var err error
	view.Group, err = p.Groups.Get(r.Context(), found.ID, id)
	if view.Refused, err = frame.ForNow(err); err != nil {
		return err
	}
	if view.Refused == "" {
		page := frame.PageOf(r.URL.Query())
		view.Members = membersOf(view.Group, found.Profile, page)
		view.Before, view.After = frame.Around("/instances/"+found.ID+"/groups/"+string(id), nil, page, membersAtOnce, len(view.Participants))
		if view.May && view.Role != "" {
			if err := p.linkOf(r, &view); err != nil {
				return err
			}
		}
	}
	return r.Page("group", frame.View{Title: cmp.Or(view.Subject, found.Name), Section: "instances", Body: view})
}

// linkOf asks for the link of a group.
func (p *pages) linkOf(r *frame.Request, view *groupView) error {
	code, err := p.Groups.Invite(r.Context(), view.Instance.ID, view.ID, false)
	refusal, ok := gateway.AsError(err)
	switch {
	case ok: // the rest of the page is there all the same
		view.NoLink = web.Sentence(refusal.Message)
	case err != nil:
		return err
	default:
		view.Link = gateway.InviteLink(code)
	}
	return nil
}

// membersOf returns a page of the members of a group, administrators first.
func membersOf(of gateway.Group, own gateway.Profile, page int) []memberLine {
	rank := map[gateway.GroupRole]int{gateway.RoleSuperAdmin: -2, gateway.RoleAdmin: -1}
	all := slices.Clone(of.Participants)
	slices.SortStableFunc(all, func(a, b gateway.Participant) int { return cmp.Compare(rank[a.Role], rank[b.Role]) })
	var lines []memberLine
	for _, member := range gateway.PageOf(all, gateway.PageRequest{Page: page, Limit: membersAtOnce}).Items {
		lines = append(lines, memberLine{member, member.Party.Is(own.JID) || member.Party.Is(own.LID)})
	}
	return lines
}

// Writes, Edits and Adds say who may.
func (g groupView) Writes() web.Word { return whoMay(g.Rules.AdminsWrite) }

// Edits says who may change the subject, the description and the picture.
func (g groupView) Edits() web.Word { return whoMay(g.Rules.AdminsEdit) }

// Adds says who may add people.
func (g groupView) Adds() web.Word { return whoMay(g.Rules.AdminsAdd) }

func whoMay(adminsOnly bool) web.Word {
	if adminsOnly {
		return web.Word("administrators")
	}
	return web.Word("all members")
}

// Days is after how many days messages disappear, rounded up; 0: never.
func (g groupView) Days() int { return int(math.Ceil(g.Rules.Disappearing.Hours() / 24)) }
