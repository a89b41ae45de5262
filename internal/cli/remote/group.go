// Groups and communities.

package remote

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/target"
	"github.com/recado-project/recado/internal/cli/terminal"
)

// Groups are the commands about groups.
type Groups struct {
	List     listGroupsCommand    `cmd:"" help:"List the groups of the account; while it is not connected, those that were listed last."`
	Show     showGroupCommand     `cmd:"" help:"Show a group that the account is a member of."`
	Create   createGroupCommand   `cmd:"" help:"Create a group."`
	Set      setGroupCommand      `cmd:"" help:"Change the subject, description, picture and settings of a group."`
	Add      addMembersCommand    `cmd:"" help:"Add people to a group."`
	Remove   removeMembersCommand `cmd:"" help:"Remove people from a group."`
	Promote  promoteCommand       `cmd:"" help:"Make members of a group administrators."`
	Demote   demoteCommand        `cmd:"" help:"Make administrators of a group ordinary members."`
	Invite   inviteCommand        `cmd:"" help:"Print the invite link of a group."`
	Look     lookCommand          `cmd:"" help:"Show the group that an invite link leads to."`
	Join     joinCommand          `cmd:"" help:"Follow an invite link."`
	Requests requestsCommand      `cmd:"" help:"List the people who wait to join a group, or let them in."`
	Leave    leaveCommand         `cmd:"" help:"Leave a group."`
}

type listGroupsCommand struct {
	target.InstanceFlag
	Subject string `help:"Only groups whose subject has this text." env:"-"`
}

// Run lists the groups.
func (c listGroupsCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	return listGroups(t, gateway.Groups(ctx, id, client.ListGroupsParams{Subject: c.Subject}))
}

func listGroups(t terminal.Terminal, all iter.Seq2[client.GroupDetails, error]) error {
	groups := []client.GroupDetails{} // never null
	var rows [][]string
	for group, err := range all {
		if err != nil {
			return err
		}
		groups = append(groups, group)
		role := ""
		if group.Admin != nil {
			role = *group.Admin
		}
		rows = append(rows, []string{group.ID, group.Subject, strconv.FormatInt(group.Size, 10), role})
	}
	return t.Table(groups, []string{"ID", "SUBJECT", "MEMBERS", "ROLE"}, rows)
}

// groupFlags name the group.
type groupFlags struct {
	target.InstanceFlag
	GroupID string `arg:"" name:"group-id" help:"The group's chat ID."`
}

type showGroupCommand struct{ groupFlags }

// Run shows the group and its members.
func (c showGroupCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	group, err := gateway.GetGroup(ctx, id, c.GroupID)
	if err != nil {
		return err
	}
	pairs := []terminal.Pair{
		{"id", group.ID},
		{"subject", group.Subject},
		{"description", terminal.OrNone(group.Description)},
		{"owner", terminal.OrNone(group.Owner)},
		{"created", terminal.Moment(time.Unix(group.Creation, 0))},
	}
	for _, participant := range group.Participants {
		name := "member"
		if participant.Admin != nil {
			name = *participant.Admin
		}
		pairs = append(pairs, terminal.Pair{name, participant.ID})
	}
	return t.Fields(group, pairs...)
}

type createGroupCommand struct {
	target.InstanceFlag
	Subject      string   `arg:"" help:"Name of the group."`
	Participants []string `arg:"" optional:"" help:"Phone numbers with country code, or chat IDs."`
	Description  string   `help:"Description of the group." env:"-"`
	Picture      string   `help:"URL of its picture." env:"-"`
	Community    string   `help:"Chat ID of the community in which it is made." env:"-"`
}

// Run creates the group.
func (c createGroupCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	made, err := gateway.CreateGroup(ctx, id, client.NewGroup{
		Subject: c.Subject, Participants: c.Participants, Description: c.Description, Picture: c.Picture, CommunityID: c.Community,
	})
	if err != nil {
		return err
	}
	return printCreated(t, made)
}

func printCreated(t terminal.Terminal, made client.CreatedGroup) error {
	lines := []string{"created " + made.ID}
	for _, result := range made.Results {
		if result.Error != nil {
			lines = append(lines, fmt.Sprintf("%s is not in it: %s", result.Participant, *result.Message))
		}
	}
	for _, failed := range made.Failed {
		lines = append(lines, fmt.Sprintf("%s is not set: %s", failed.Field, failed.Message))
	}
	return t.Print(made, strings.Join(lines, "\n"))
}

type setGroupCommand struct {
	groupFlags
	Subject      *string `help:"Name of the group." env:"-"`
	Description  *string `help:"Description of the group; empty removes it." env:"-"`
	Picture      *string `help:"URL of its picture; empty removes it." env:"-"`
	Messages     string  `help:"Who writes: all or admins." enum:",all,admins" default:"" env:"-"`
	Info         string  `help:"Who changes subject, description and picture: all or admins." enum:",all,admins" default:"" env:"-"`
	Adding       string  `help:"Who adds people: all or admins." enum:",all,admins" default:"" env:"-"`
	Approval     string  `help:"Whether those who follow the link wait for an administrator: on or off." enum:",on,off" default:"" env:"-"`
	Disappearing *int64  `help:"Seconds after which messages disappear: 0 (never), 86400, 604800 or 7776000." env:"-"`
}

// Run changes the group.
func (c setGroupCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	change := client.GroupChange{
		Subject: c.Subject, Description: target.OrNull(c.Description), Picture: target.OrNull(c.Picture),
		Messages: target.Given(c.Messages), Info: target.Given(c.Info), Adding: target.Given(c.Adding), Disappearing: c.Disappearing,
	}
	if c.Approval != "" {
		change.Approval = new(c.Approval == "on")
	}
	if change == (client.GroupChange{}) {
		return terminal.WrongUsage("say what to change: --subject, --description, --picture, --messages, --info, --adding, --approval or --disappearing")
	}
	if _, err := gateway.ChangeGroup(ctx, id, c.GroupID, change); err != nil {
		return err
	}
	return t.Done(map[string]any{"group": c.GroupID, "done": "changed"}, "changed %s", c.GroupID)
}

// membersFlags name people and their group.
type membersFlags struct {
	groupFlags
	Participants []string `arg:"" help:"Phone numbers with country code, or chat IDs."`
}

// change does something to the people and prints what became of each.
func (f membersFlags) change(ctx context.Context, t terminal.Terminal, action string) error {
	gateway, id, err := f.Open(ctx, t)
	if err != nil {
		return err
	}
	results, err := gateway.ChangeGroupParticipants(ctx, id, f.GroupID, client.ParticipantChange{Action: action, Participants: f.Participants})
	if err != nil {
		return err
	}
	return printResults(t, results.Results)
}

func printResults(t terminal.Terminal, results []client.ParticipantResult) error {
	rows := make([][]string, len(results))
	for i, result := range results {
		state := "done"
		if result.Error != nil {
			state = *result.Error
		}
		if result.Invitation != nil && result.Invitation.MessageID != nil {
			state += ", invited"
		}
		rows[i] = []string{result.Participant, terminal.OrNone(result.ID), state}
	}
	return t.Table(results, []string{"PARTICIPANT", "ID", "RESULT"}, rows)
}

type addMembersCommand struct {
	membersFlags
	Invite bool `help:"Send an invitation to whoever can't be added." env:"-"`
}

// Run adds the people.
func (c addMembersCommand) Run(ctx context.Context, t terminal.Terminal) error {
	if !c.Invite {
		return c.change(ctx, t, client.ActionAdd)
	}
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	results, err := gateway.ChangeGroupParticipants(ctx, id, c.GroupID, client.ParticipantChange{Action: client.ActionAdd, Participants: c.Participants, Invite: true})
	if err != nil {
		return err
	}
	return printResults(t, results.Results)
}

type removeMembersCommand struct{ membersFlags }

// Run removes the people.
func (c removeMembersCommand) Run(ctx context.Context, t terminal.Terminal) error {
	return c.change(ctx, t, client.ActionRemove)
}

type promoteCommand struct{ membersFlags }

// Run makes the people administrators.
func (c promoteCommand) Run(ctx context.Context, t terminal.Terminal) error {
	return c.change(ctx, t, client.ActionPromote)
}

type demoteCommand struct{ membersFlags }

// Run makes the people ordinary members.
func (c demoteCommand) Run(ctx context.Context, t terminal.Terminal) error {
	return c.change(ctx, t, client.ActionDemote)
}

type inviteCommand struct {
	groupFlags
	Reset bool `help:"Make a new link first; the old one leads nowhere any more." env:"-"`
}

// Run prints the link.
func (c inviteCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	get := gateway.GetGroupInvite
	if c.Reset {
		get = gateway.ResetGroupInvite
	}
	invite, err := get(ctx, id, c.GroupID)
	if err != nil {
		return err
	}
	return t.Print(invite, invite.Link)
}

type lookCommand struct {
	target.InstanceFlag
	Invite string `arg:"" help:"The invite link, or its code."`
}

// Run shows the group.
func (c lookCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	group, err := gateway.GetInvitedGroup(ctx, id, c.Invite)
	if err != nil {
		return err
	}
	return t.Fields(group, []terminal.Pair{
		{"id", group.ID},
		{"subject", group.Subject},
		{"description", terminal.OrNone(group.Description)},
		{"owner", terminal.OrNone(group.Owner)},
		{"members", strconv.FormatInt(group.Size, 10)},
		{"approval", terminal.YesNo(group.Approval)},
	}...)
}

type joinCommand struct {
	target.InstanceFlag
	Invite string `arg:"" help:"The invite link, or its code."`
}

// Run follows the link.
func (c joinCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	group, err := gateway.JoinGroup(ctx, id, c.Invite)
	if err != nil {
		return err
	}
	done := "asked to join"
	if group.Status == client.StatusJoined {
		done = "joined"
	}
	return t.Done(map[string]any{"group": group.ID, "done": done}, "%s %s", done, group.ID)
}

type requestsCommand struct {
	groupFlags
	Approve []string `help:"Let these people in." env:"-"`
	Reject  []string `help:"Don't let these people in." env:"-"`
}

// Run lists who waits, or answers.
func (c requestsCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	if len(c.Approve)+len(c.Reject) > 0 {
		return c.answer(ctx, t, gateway, id)
	}
	requests, err := gateway.ListJoinRequests(ctx, id, c.GroupID)
	if err != nil {
		return err
	}
	rows := make([][]string, len(requests.Requests))
	for i, request := range requests.Requests {
		since := ""
		if request.RequestedAt != nil {
			since = request.RequestedAt.Local().Format(time.DateTime)
		}
		rows[i] = []string{request.ID, terminal.OrNone(request.Name), since}
	}
	return t.Table(requests.Requests, []string{"ID", "NAME", "SINCE"}, rows)
}

func (c requestsCommand) answer(ctx context.Context, t terminal.Terminal, gateway *client.Client, id string) error {
	var all []client.ParticipantResult
	for _, answer := range []struct {
		action string
		people []string
	}{{client.ActionApprove, c.Approve}, {client.ActionReject, c.Reject}} {
		if len(answer.people) == 0 {
			continue
		}
		results, err := gateway.AnswerJoinRequests(ctx, id, c.GroupID, client.AnswerJoinRequests{Action: answer.action, Participants: answer.people})
		if err != nil {
			return err
		}
		all = append(all, results.Results...)
	}
	return printResults(t, all)
}

type leaveCommand struct{ groupFlags }

// Run leaves the group.
func (c leaveCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err == nil {
		err = gateway.LeaveGroup(ctx, id, c.GroupID)
	}
	if err != nil {
		return err
	}
	return t.Done(map[string]any{"group": c.GroupID, "done": "left"}, "left %s", c.GroupID)
}

// Communities are the commands about communities.
type Communities struct {
	List   listCommunitiesCommand `cmd:"" help:"List the communities of the account."`
	Create createCommunityCommand `cmd:"" help:"Create a community."`
	Groups communityGroupsCommand `cmd:"" help:"List the groups of a community."`
	Link   linkCommunityCommand   `cmd:"" help:"Put a group into a community."`
	Unlink unlinkCommunityCommand `cmd:"" help:"Take a group out of a community."`
}

type listCommunitiesCommand struct{ target.InstanceFlag }

// Run lists the communities.
func (c listCommunitiesCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	return listGroups(t, gateway.Communities(ctx, id))
}

type createCommunityCommand struct {
	target.InstanceFlag
	Subject     string `arg:"" help:"Name of the community."`
	Description string `help:"Description of the community." env:"-"`
}

// Run creates the community.
func (c createCommunityCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	made, err := gateway.CreateCommunity(ctx, id, client.NewCommunity{Subject: c.Subject, Description: c.Description})
	if err != nil {
		return err
	}
	return printCreated(t, made)
}

// communityFlags name the community.
type communityFlags struct {
	target.InstanceFlag
	CommunityID string `arg:"" name:"community-id" help:"The community's chat ID."`
}

type communityGroupsCommand struct{ communityFlags }

// Run lists the groups of the community.
func (c communityGroupsCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	return listGroups(t, gateway.CommunityGroups(ctx, id, c.CommunityID))
}

// linkFlags name a community and a group.
type linkFlags struct {
	communityFlags
	GroupID string `arg:"" name:"group-id" help:"The group's chat ID."`
}

type linkCommunityCommand struct{ linkFlags }

// Run links the group.
func (c linkCommunityCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err == nil {
		err = gateway.LinkGroup(ctx, id, c.CommunityID, c.GroupID)
	}
	if err != nil {
		return err
	}
	return t.Done(map[string]any{"community": c.CommunityID, "group": c.GroupID, "done": "linked"}, "linked %s", c.GroupID)
}

type unlinkCommunityCommand struct{ linkFlags }

// Run unlinks the group.
func (c unlinkCommunityCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err == nil {
		err = gateway.UnlinkGroup(ctx, id, c.CommunityID, c.GroupID)
	}
	if err != nil {
		return err
	}
	return t.Done(map[string]any{"community": c.CommunityID, "group": c.GroupID, "done": "unlinked"}, "unlinked %s", c.GroupID)
}
