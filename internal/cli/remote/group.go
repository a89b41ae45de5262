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
	InstanceFlag
	Subject string `help:"Only groups whose subject has this text." env:"-"`
}

// Run lists the groups.
func (c listGroupsCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	return listGroups(t, on.Gateway.Groups(ctx, on.ID, client.ListGroupsParams{Subject: c.Subject}))
}

// listGroups prints groups or communities.
func listGroups(t terminal.Terminal, all iter.Seq2[client.GroupDetails, error]) error {
	head := []string{"ID", "SUBJECT", "MEMBERS", "ROLE"}
	return terminal.List(t, all, head, func(group client.GroupDetails) []string {
		return []string{group.ID, group.Subject, strconv.FormatInt(group.Size, 10), terminal.OrNone(group.Admin)}
	})
}

// groupFlags name the group.
type groupFlags struct {
	InstanceFlag
	GroupID string `arg:"" name:"group-id" help:"The group's chat ID."`
}

type showGroupCommand struct{ groupFlags }

// Run shows the group and its members.
func (c showGroupCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	group, err := on.Gateway.GetGroup(ctx, on.ID, c.GroupID)
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
	InstanceFlag
	Subject      string   `arg:"" help:"Name of the group."`
	Participants []string `arg:"" optional:"" help:"Phone numbers with country code, or chat IDs."`
	Description  string   `help:"Description of the group." env:"-"`
	Picture      string   `help:"URL of its picture." env:"-"`
	Community    string   `help:"Chat ID of the community in which it is made." env:"-"`
}

// Run creates the group.
func (c createGroupCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	made, err := on.Gateway.CreateGroup(ctx, on.ID, client.NewGroup{
		Subject: c.Subject, Participants: c.Participants, Description: c.Description, Picture: c.Picture, CommunityID: c.Community,
	})
	return printCreated(t.Unless(err), made)
}

// printCreated prints a new group and what was refused of it.
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
func (c setGroupCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	change := client.GroupChange{
		Subject: c.Subject, Description: OrNull(c.Description), Picture: OrNull(c.Picture),
		Messages: Given(c.Messages), Info: Given(c.Info), Adding: Given(c.Adding), Disappearing: c.Disappearing,
	}
	if c.Approval != "" {
		change.Approval = new(c.Approval == "on")
	}
	if change == (client.GroupChange{}) {
		return terminal.WrongUsage("say what to change: --subject, --description, --picture, --messages, --info, --adding, --approval or --disappearing")
	}
	_, err := on.Gateway.ChangeGroup(ctx, on.ID, c.GroupID, change)
	return t.Did("changed", "group", c.GroupID, err)
}

// membersFlags name people and their group.
type membersFlags struct {
	groupFlags
	Participants []string `arg:"" help:"Phone numbers with country code, or chat IDs."`
}

// change does something to the people and prints what became of each.
func (f membersFlags) change(ctx context.Context, t terminal.Terminal, on Instance, action string, invite bool) error {
	results, err := on.Gateway.ChangeGroupParticipants(ctx, on.ID, f.GroupID, client.ParticipantChange{
		Action: action, Participants: f.Participants, Invite: invite,
	})
	return printResults(t.Unless(err), results.Results)
}

func printResults(t terminal.Terminal, results []client.ParticipantResult) error {
	head := []string{"PARTICIPANT", "ID", "RESULT"}
	return terminal.Rows(t, results, head, func(result client.ParticipantResult) []string {
		state := "done"
		if result.Error != nil {
			state = *result.Error
		}
		if result.Invitation != nil && result.Invitation.MessageID != nil {
			state += ", invited"
		}
		return []string{result.Participant, terminal.OrNone(result.ID), state}
	})
}

type addMembersCommand struct {
	membersFlags
	Invite bool `help:"Send an invitation to whoever can't be added." env:"-"`
}

// Run adds the people.
func (c addMembersCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	return c.change(ctx, t, on, client.ActionAdd, c.Invite)
}

type removeMembersCommand struct{ membersFlags }

// Run removes the people.
func (c removeMembersCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	return c.change(ctx, t, on, client.ActionRemove, false)
}

type promoteCommand struct{ membersFlags }

// Run makes the people administrators.
func (c promoteCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	return c.change(ctx, t, on, client.ActionPromote, false)
}

type demoteCommand struct{ membersFlags }

// Run makes the people ordinary members.
func (c demoteCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	return c.change(ctx, t, on, client.ActionDemote, false)
}

type inviteCommand struct {
	groupFlags
	Reset bool `help:"Make a new link first; the old one leads nowhere any more." env:"-"`
}

// Run prints the link.
func (c inviteCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	get := on.Gateway.GetGroupInvite
	if c.Reset {
		get = on.Gateway.ResetGroupInvite
	}
	invite, err := get(ctx, on.ID, c.GroupID)
	return t.Unless(err).Print(invite, invite.Link)
}

// inviteFlags name an invite link.
type inviteFlags struct {
	InstanceFlag
	Invite string `arg:"" help:"The invite link, or its code."`
}

type lookCommand struct{ inviteFlags }

// Run shows the group.
func (c lookCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	group, err := on.Gateway.GetInvitedGroup(ctx, on.ID, c.Invite)
	return t.Unless(err).Fields(group,
		terminal.Pair{"id", group.ID},
		terminal.Pair{"subject", group.Subject},
		terminal.Pair{"description", terminal.OrNone(group.Description)},
		terminal.Pair{"owner", terminal.OrNone(group.Owner)},
		terminal.Pair{"members", strconv.FormatInt(group.Size, 10)},
		terminal.Pair{"approval", terminal.YesNo(group.Approval)},
	)
}

type joinCommand struct{ inviteFlags }

// Run follows the link.
func (c joinCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	group, err := on.Gateway.JoinGroup(ctx, on.ID, c.Invite)
	done := "asked to join"
	if group.Status == client.StatusJoined {
		done = "joined"
	}
	return t.Did(done, "group", group.ID, err)
}

type requestsCommand struct {
	groupFlags
	Approve []string `help:"Let these people in." env:"-"`
	Reject  []string `help:"Don't let these people in." env:"-"`
}

// Run lists who waits, or answers.
func (c requestsCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	if len(c.Approve)+len(c.Reject) > 0 {
		return c.answer(ctx, t, on)
	}
	waiting, err := on.Gateway.ListJoinRequests(ctx, on.ID, c.GroupID)
	head := []string{"ID", "NAME", "SINCE"}
	return terminal.Rows(t.Unless(err), waiting.Requests, head, func(request client.JoinRequest) []string {
		since := ""
		if request.RequestedAt != nil {
			since = terminal.Moment(*request.RequestedAt)
		}
		return []string{request.ID, terminal.OrNone(request.Name), since}
	})
}

// answer lets people in or not, and prints what became of each.
func (c requestsCommand) answer(ctx context.Context, t terminal.Terminal, on Instance) error {
	var all []client.ParticipantResult
	for _, answer := range []client.AnswerJoinRequests{
		{Action: client.ActionApprove, Participants: c.Approve}, {Action: client.ActionReject, Participants: c.Reject},
	} {
		if len(answer.Participants) == 0 {
			continue
		}
		results, err := on.Gateway.AnswerJoinRequests(ctx, on.ID, c.GroupID, answer)
		if err != nil {
			return err
		}
		all = append(all, results.Results...)
	}
	return printResults(t, all)
}

type leaveCommand struct{ groupFlags }

// Run leaves the group.
func (c leaveCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	return t.Did("left", "group", c.GroupID, on.Gateway.LeaveGroup(ctx, on.ID, c.GroupID))
}

// Communities are the commands about communities.
type Communities struct {
	List   listCommunitiesCommand `cmd:"" help:"List the communities of the account."`
	Create createCommunityCommand `cmd:"" help:"Create a community."`
	Groups communityGroupsCommand `cmd:"" help:"List the groups of a community."`
	Link   linkCommunityCommand   `cmd:"" help:"Put a group into a community."`
	Unlink unlinkCommunityCommand `cmd:"" help:"Take a group out of a community."`
}

type listCommunitiesCommand struct{ InstanceFlag }

// Run lists the communities.
func (c listCommunitiesCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	return listGroups(t, on.Gateway.Communities(ctx, on.ID))
}

type createCommunityCommand struct {
	InstanceFlag
	Subject     string `arg:"" help:"Name of the community."`
	Description string `help:"Description of the community." env:"-"`
}

// Run creates the community.
func (c createCommunityCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	made, err := on.Gateway.CreateCommunity(ctx, on.ID, client.NewCommunity{
		Subject: c.Subject, Description: c.Description,
	})
	return printCreated(t.Unless(err), made)
}

// communityFlags name the community.
type communityFlags struct {
	InstanceFlag
	CommunityID string `arg:"" name:"community-id" help:"The community's chat ID."`
}

type communityGroupsCommand struct{ communityFlags }

// Run lists the groups of the community.
func (c communityGroupsCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	return listGroups(t, on.Gateway.CommunityGroups(ctx, on.ID, c.CommunityID))
}

// linkFlags name a community and a group.
type linkFlags struct {
	communityFlags
	GroupID string `arg:"" name:"group-id" help:"The group's chat ID."`
}

// did prints what was done to the group, unless err says that it failed.
func (f linkFlags) did(t terminal.Terminal, what string, err error) error {
	value := map[string]any{"community": f.CommunityID, "group": f.GroupID, "done": what}
	return t.Unless(err).Done(value, "%s %s", what, f.GroupID)
}

type linkCommunityCommand struct{ linkFlags }

// Run links the group.
func (c linkCommunityCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	return c.did(t, "linked", on.Gateway.LinkGroup(ctx, on.ID, c.CommunityID, c.GroupID))
}

type unlinkCommunityCommand struct{ linkFlags }

// Run unlinks the group.
func (c unlinkCommunityCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	return c.did(t, "unlinked", on.Gateway.UnlinkGroup(ctx, on.ID, c.CommunityID, c.GroupID))
}
