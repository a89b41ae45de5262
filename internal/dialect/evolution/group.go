// Groups. Which one is in the query: groupJid, or inviteCode.

package evolution

import (
	"net/http"
	"strconv"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
)

// group is the group that a request is about.
func (c *call) group() (string, error) {
	named := c.query("groupJid")
	if named == "" {
		named = c.fields.text("groupJid")
	}
	if named == "" {
		return "", refuse(http.StatusBadRequest, "The group id needs to be informed in the query", "ex: \"groupJid=120362@g.us\"")
	}
	return chatOf(named), nil
}

// invite is the code of the invitation that a request is about.
func (c *call) invite() (string, error) {
	if code := c.query("inviteCode"); code != "" {
		return code, nil
	}
	return "", refuse(http.StatusBadRequest, "The group invite code id needs to be informed in the query", "ex: \"inviteCode=F1EX5QZxO181L3TMVP31gY\" (Obtained from group join link)")
}

// participantsOf are the members of a group.
func participantsOf(members []client.Participant) []object {
	shown := make([]object, 0, len(members))
	for _, member := range members {
		shown = append(shown, object{"id": member.ID, "admin": orNil(textIn(member.Admin))})
	}
	return shown
}

// metadataOf is a group as lists have it.
func metadataOf(g client.GroupDetails) object {
	return object{
		"id": g.ID, "subject": g.Subject, "subjectOwner": nil, "subjectTime": nil, "pictureUrl": nil, "size": g.Size, "creation": g.Creation,
		"owner": orNil(textIn(g.Owner)), "desc": orNil(textIn(g.Description)), "descId": nil, "restrict": g.Info == client.InfoAdmins,
		"announce": g.Messages == client.MessagesAdmins, "isCommunity": g.IsCommunity, "isCommunityAnnounce": g.Announcement,
		"linkedParent": orNil(textIn(g.CommunityID)), "ephemeralDuration": g.Disappearing,
	}
}

// metadata is a group with its members.
func (c *call) metadata(groupID string) (object, error) {
	settings, err := c.client.GetGroupSettings(c.ctx(), c.id(), groupID)
	if err != nil {
		return nil, err
	}
	members, err := c.client.GetGroup(c.ctx(), c.id(), groupID)
	if err != nil {
		return nil, err
	}
	shown := metadataOf(settings)
	shown["participants"], shown["size"] = participantsOf(members.Participants), len(members.Participants)
	return shown, nil
}

func (c *call) createGroup() (any, error) {
	subject, err := c.fields.need("subject")
	if err != nil {
		return nil, err
	}
	people := chatsOf(c.fields.texts("participants"))
	if len(people) == 0 {
		return nil, missing("participants")
	}
	made, err := c.client.CreateGroup(c.ctx(), c.id(), client.NewGroup{Subject: subject, Description: c.fields.text("description"), Participants: people})
	if err != nil {
		return nil, err
	}
	if c.fields.yes("promoteParticipants") {
		var members []string
		for _, result := range made.Results {
			if result.Error == nil && result.ID != nil {
				members = append(members, *result.ID)
			}
		}
		if len(members) > 0 {
			// The group is there in any case: an error would have the flow make it again.
			_, _ = c.client.ChangeGroupParticipants(c.ctx(), c.id(), made.ID, client.ParticipantChange{Action: client.ActionPromote, Participants: members})
		}
	}
	shown, err := c.metadata(made.ID)
	if err != nil {
		return object{"id": made.ID, "subject": made.Subject, "creation": made.Creation, "size": made.Size, "participants": []object{}}, nil //nolint:nilerr // it was made
	}
	return shown, nil
}

// changeGroup changes a group, and answers with something.
func (c *call) changeGroup(change client.GroupChange, answer object) (any, error) {
	named, err := c.group()
	if err != nil {
		return nil, err
	}
	_, err = c.client.ChangeGroup(c.ctx(), c.id(), named, change)
	return answer, err
}

func (c *call) setSubject() (any, error) {
	subject, err := c.fields.need("subject")
	if err != nil {
		return nil, err
	}
	return c.changeGroup(client.GroupChange{Subject: &subject}, object{"update": "success"})
}

func (c *call) setDescription() (any, error) {
	return c.changeGroup(client.GroupChange{Description: client.Set(c.fields.text("description"))}, object{"update": "success"})
}

func (c *call) setGroupPicture() (any, error) {
	content, file, err := c.media("image")
	if err != nil {
		return nil, err
	}
	change := client.GroupChange{File: file}
	if file == nil {
		change.Picture = client.Set(content)
	}
	return c.changeGroup(change, object{"update": "success"})
}

func (c *call) setGroupSetting() (any, error) {
	all, admins := client.MessagesAll, client.MessagesAdmins
	change, err := oneOf(c.fields, "action", map[string]client.GroupChange{
		"announcement": {Messages: &admins}, "not_announcement": {Messages: &all}, "locked": {Info: &admins}, "unlocked": {Info: &all},
	})
	if err != nil {
		return nil, err
	}
	return c.changeGroup(change, object{})
}

func (c *call) setDisappearing() (any, error) {
	text, err := c.fields.need("expiration")
	if err != nil {
		return nil, err
	}
	span, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "expiration is not one of enum values: 0,86400,604800,7776000")
	}
	return c.changeGroup(client.GroupChange{Disappearing: &span}, object{"success": true})
}

func (c *call) participants() (any, error) {
	named, err := c.group()
	if err != nil {
		return nil, err
	}
	found, err := c.client.GetGroup(c.ctx(), c.id(), named)
	return object{"participants": participantsOf(found.Participants)}, err
}

// participantStatus is what became of a change of a member, by the number that the platform has for it.
func participantStatus(code *string) string {
	switch textIn(code) {
	case "":
		return strconv.Itoa(http.StatusOK)
	case client.CodeParticipantPrivacy:
		return strconv.Itoa(http.StatusForbidden)
	case client.CodeParticipantLeft:
		return strconv.Itoa(http.StatusRequestTimeout)
	case client.CodeAlreadyParticipant:
		return strconv.Itoa(http.StatusConflict)
	case client.CodeNotParticipant, client.CodeRecipientNotRegistered:
		return strconv.Itoa(http.StatusNotFound)
	default:
		return strconv.Itoa(http.StatusBadRequest)
	}
}

func (c *call) changeParticipants() (any, error) {
	named, err := c.group()
	if err != nil {
		return nil, err
	}
	action, err := oneOf(c.fields, "action", map[string]string{
		"add": client.ActionAdd, "remove": client.ActionRemove, "promote": client.ActionPromote, "demote": client.ActionDemote,
	})
	if err != nil {
		return nil, err
	}
	changed, err := c.client.ChangeGroupParticipants(c.ctx(), c.id(), named, client.ParticipantChange{Action: action, Participants: chatsOf(c.fields.texts("participants"))})
	if err != nil {
		return nil, err
	}
	results := make([]object, 0, len(changed.Results))
	for _, result := range changed.Results {
		jid := jidOf(result.Participant)
		if result.ID != nil {
			jid = *result.ID
		}
		results = append(results, object{"status": participantStatus(result.Error), "jid": jid, "content": object{}})
	}
	return object{"updateParticipants": results}, nil
}

func (c *call) inviteInfo() (any, error) {
	code, err := c.invite()
	if err != nil {
		return nil, err
	}
	g, err := c.client.GetInvitedGroup(c.ctx(), c.id(), code)
	return object{
		"id": g.ID, "subject": g.Subject, "owner": orNil(textIn(g.Owner)), "desc": orNil(textIn(g.Description)), "creation": g.Creation, "size": g.Size,
		"joinApprovalMode": g.Approval,
	}, err
}

func (c *call) groupInfo() (any, error) {
	named, err := c.group()
	if err != nil {
		return nil, err
	}
	return c.metadata(named)
}

func (c *call) allGroups() (any, error) {
	with := c.query("getParticipants")
	if with == "" {
		return nil, refuse(http.StatusBadRequest, "The getParticipants needs to be informed in the query", "ex: \"getParticipants=true\"")
	}
	groups, err := listed(c.client.Groups(c.ctx(), c.id(), client.ListGroupsParams{}), 0, maxListed, metadataOf)
	if err != nil || with != "true" {
		return groups, err
	}
	for _, g := range groups {
		id, _ := g["id"].(string)
		members, err := c.client.GetGroup(c.ctx(), c.id(), id)
		if err != nil {
			return nil, err
		}
		g["participants"] = participantsOf(members.Participants)
	}
	return groups, nil
}

// inviteOf is the invite link of a group.
func (c *call) inviteOf() (client.GroupInvite, error) {
	named, err := c.group()
	if err != nil {
		return client.GroupInvite{}, err
	}
	return c.client.GetGroupInvite(c.ctx(), c.id(), named)
}

func (c *call) inviteCode() (any, error) {
	invite, err := c.inviteOf()
	return object{"inviteUrl": invite.Link, "inviteCode": invite.Code}, err
}

func (c *call) revokeInvite() (any, error) {
	named, err := c.group()
	if err != nil {
		return nil, err
	}
	invite, err := c.client.ResetGroupInvite(c.ctx(), c.id(), named)
	return object{"revoked": true, "inviteCode": invite.Code}, err
}

func (c *call) sendInvite() (any, error) {
	given := c.fields.texts("numbers")
	numbers := chatsOf(given)
	switch {
	case len(numbers) == 0:
		return nil, missing("numbers")
	case len(numbers) > maxNamed:
		return nil, refuse(http.StatusBadRequest, "numbers must have "+strconv.Itoa(maxNamed)+" numbers or less")
	}
	invite, err := c.inviteOf()
	if err != nil {
		return nil, err
	}
	// Nobody gets it before it is known that all of them can.
	var asked []string
	for n, number := range numbers {
		to, err := gateway.ParseRecipient(number)
		if err != nil {
			return nil, refuse(http.StatusBadRequest, "numbers["+strconv.Itoa(n)+"] "+err.Error())
		}
		if !to.Chat.IsChannel() {
			asked = append(asked, given[n])
		}
	}
	known, err := c.checked(asked)
	if err != nil {
		return nil, err
	}
	for n, chat := range known {
		if chat["exists"] != true {
			return nil, noAccount(asked[n])
		}
	}
	text := invite.Link
	if description := c.fields.text("description"); description != "" {
		text = description + "\n\n" + text
	}
	for _, number := range numbers {
		if _, err := c.client.SendText(c.ctx(), c.id(), client.Text{To: number, Message: text, LinkPreview: true}); err != nil {
			return nil, err
		}
	}
	return object{"send": true, "inviteUrl": invite.Link}, nil
}

func (c *call) acceptInvite() (any, error) {
	code, err := c.invite()
	if err != nil {
		return nil, err
	}
	joined, err := c.client.JoinGroup(c.ctx(), c.id(), code)
	return object{"accepted": joined.Status == client.StatusJoined, "groupJid": joined.ID}, err
}

func (c *call) leaveGroup() (any, error) {
	named, err := c.group()
	if err != nil {
		return nil, err
	}
	return object{"groupJid": named, "leave": true}, c.client.LeaveGroup(c.ctx(), c.id(), named)
}
