package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Group is a group that the account is a member of.
type Group struct {
	ID           string        `json:"id"`
	Subject      string        `json:"subject"`
	Description  *string       `json:"description"` // nil if there is none
	Owner        *string       `json:"owner"`       // nil if unknown
	Creation     int64         `json:"creation"`    // Unix time in seconds
	Participants []Participant `json:"participants"`
}

// Participant is a member of a group.
type Participant struct {
	ID    string  `json:"id"`
	Admin *string `json:"admin"` // "superadmin", "admin", or nil
}

// GroupDetails are what is known about a group without its members.
type GroupDetails struct {
	ID          string  `json:"id"`
	Subject     string  `json:"subject"`
	Description *string `json:"description"` // nil if there is none
	Owner       *string `json:"owner"`       // nil if unknown
	Creation    int64   `json:"creation"`    // Unix time in seconds
	Size        int     `json:"size"`
	Admin       *string `json:"admin"` // the role of this account: "superadmin", "admin", or nil

	Messages     string `json:"messages"`     // who writes: "all" or "admins"
	Info         string `json:"info"`         // who changes subject, description and picture
	Adding       string `json:"adding"`       // who adds people
	Approval     bool   `json:"approval"`     // whether those who follow the link wait
	Disappearing int    `json:"disappearing"` // seconds; 0: never

	CommunityID  *string `json:"communityId"` // nil if it belongs to none
	IsCommunity  bool    `json:"isCommunity"`
	Announcement bool    `json:"announcement"` // whether its community announces here
}

// NewGroup is a group to be made.
type NewGroup struct {
	Subject      string   `json:"subject"`
	Participants []string `json:"participants,omitempty"` // phone numbers or chat IDs
	Description  string   `json:"description,omitempty"`
	Picture      string   `json:"picture,omitempty"`     // a data URI or an http(s) URL
	CommunityID  string   `json:"communityId,omitempty"` // in which it is made
	Invite       bool     `json:"invite,omitempty"`      // sends invitations to who can't be added
}

// CreatedGroup is a group that was made.
type CreatedGroup struct {
	GroupDetails

	Results []ParticipantResult `json:"results"`
	Failed  []struct {
		Field   string `json:"field"`
		Error   string `json:"error"`
		Message string `json:"message"`
	} `json:"failed"` // what could not be set afterwards
}

// ParticipantResult is what became of an action on one person.
type ParticipantResult struct {
	Participant string  `json:"participant"` // as the request names him
	ID          *string `json:"id"`          // nil if there is no such account
	Error       *string `json:"error"`       // nil if it is done
	Message     *string `json:"message"`
	Invitation  *struct {
		Code      string     `json:"code"`
		ExpiresAt *time.Time `json:"expiresAt"`
		MessageID *string    `json:"messageId"` // with which it was sent; nil if it was not
		Error     *string    `json:"error"`     // why it was not sent, though it was wanted
	} `json:"invitation"` // nil if there is none
}

// GroupChange is what is to change in a group. What is nil stays.
type GroupChange struct {
	Subject      *string `json:"subject,omitempty"`
	Description  *string `json:"description,omitempty"` // empty removes it
	Picture      *string `json:"picture,omitempty"`     // a data URI or an http(s) URL
	Messages     *string `json:"messages,omitempty"`    // "all" or "admins"
	Info         *string `json:"info,omitempty"`        // "all" or "admins"
	Adding       *string `json:"adding,omitempty"`      // "all" or "admins"
	Approval     *bool   `json:"approval,omitempty"`
	Disappearing *int    `json:"disappearing,omitempty"` // seconds: 0, 86400, 604800 or 7776000
}

// The actions on participants of a group.
const (
	AddParticipants     = "add"
	RemoveParticipants  = "remove"
	PromoteParticipants = "promote"
	DemoteParticipants  = "demote"
)

// GroupInvite is the way into a group.
type GroupInvite struct {
	Code string `json:"code"`
	Link string `json:"link"`
}

// InvitedGroup is the group that an invite link leads to.
type InvitedGroup struct {
	ID          string  `json:"id"`
	Subject     string  `json:"subject"`
	Description *string `json:"description"`
	Owner       *string `json:"owner"`
	Creation    int64   `json:"creation"` // Unix time in seconds
	Size        int     `json:"size"`
	Approval    bool    `json:"approval"`
}

// JoinRequest is somebody who waits to be approved.
type JoinRequest struct {
	ID          string     `json:"id"`
	LID         *string    `json:"lid"`
	Name        *string    `json:"name"`
	RequestedAt *time.Time `json:"requestedAt"`
}

// Group returns a group that the account is a member of.
func (c *Client) Group(ctx context.Context, instanceID, groupID string) (Group, error) {
	var out Group
	err := c.call(ctx, http.MethodGet, groupPath(instanceID, groupID, ""), nil, &out)
	return out, err
}

// ListGroups returns a page of the account's groups, oldest first, without their members.
// subject chooses those whose subject has this text; empty: all. Pages count from 1; a
// limit of 0 means the gateway's. While the instance is not connected they are those that were
// listed last.
func (c *Client) ListGroups(ctx context.Context, instanceID, subject string, page, limit int) (Page[GroupDetails], error) {
	query := url.Values{}
	for name, value := range map[string]int{"page": page, "limit": limit} {
		if value > 0 {
			query.Set(name, strconv.Itoa(value))
		}
	}
	if subject != "" {
		query.Set("subject", subject)
	}
	var out Page[GroupDetails]
	err := c.call(ctx, http.MethodGet, instancePath(instanceID, "/groups")+"?"+query.Encode(), nil, &out)
	return out, err
}

// Groups yields all groups of the account whose subject has the text, fetched page by page.
// An error ends the sequence.
func (c *Client) Groups(ctx context.Context, instanceID, subject string) iter.Seq2[GroupDetails, error] {
	return items(func(page int) (Page[GroupDetails], error) { return c.ListGroups(ctx, instanceID, subject, page, 0) })
}

// GroupSettings returns what the list has of a group.
func (c *Client) GroupSettings(ctx context.Context, instanceID, groupID string) (GroupDetails, error) {
	var out GroupDetails
	err := c.call(ctx, http.MethodGet, groupPath(instanceID, groupID, "/settings"), nil, &out)
	return out, err
}

// CreateGroup makes a group.
func (c *Client) CreateGroup(ctx context.Context, instanceID string, group NewGroup) (CreatedGroup, error) {
	var out CreatedGroup
	err := c.call(ctx, http.MethodPost, instancePath(instanceID, "/groups"), group, &out)
	return out, err
}

// ChangeGroup changes a group. If the platform refuses a part, the error says which parts
// were changed before.
func (c *Client) ChangeGroup(ctx context.Context, instanceID, groupID string, change GroupChange) (GroupDetails, error) {
	var out GroupDetails
	err := c.call(ctx, http.MethodPatch, groupPath(instanceID, groupID, ""), change, &out)
	return out, err
}

// RemoveGroupPicture removes the picture of a group.
func (c *Client) RemoveGroupPicture(ctx context.Context, instanceID, groupID string) error {
	return c.call(ctx, http.MethodPatch, groupPath(instanceID, groupID, ""), map[string]any{"picture": nil}, nil)
}

// ChangeParticipants adds, removes, promotes or demotes people, and returns what became of
// each of them, in their order.
func (c *Client) ChangeParticipants(ctx context.Context, instanceID, groupID, action string, people ...string) ([]ParticipantResult, error) {
	return c.changePeople(ctx, groupPath(instanceID, groupID, "/participants"), action, people)
}

// AddOrInvite adds people to a group, and sends the platform's invitation to those who can't be
// added because of their privacy settings.
func (c *Client) AddOrInvite(ctx context.Context, instanceID, groupID string, people ...string) ([]ParticipantResult, error) {
	in := map[string]any{"action": AddParticipants, "participants": append([]string{}, people...), "invite": true}
	var out struct {
		Results []ParticipantResult `json:"results"`
	}
	err := c.call(ctx, http.MethodPost, groupPath(instanceID, groupID, "/participants"), in, &out)
	return out.Results, err
}

func (c *Client) changePeople(ctx context.Context, path, action string, people []string) ([]ParticipantResult, error) {
	in := map[string]any{"action": action, "participants": append([]string{}, people...)} // never null
	var out struct {
		Results []ParticipantResult `json:"results"`
	}
	err := c.call(ctx, http.MethodPost, path, in, &out)
	return out.Results, err
}

// LeaveGroup leaves a group.
func (c *Client) LeaveGroup(ctx context.Context, instanceID, groupID string) error {
	return c.call(ctx, http.MethodPost, groupPath(instanceID, groupID, "/leave"), nil, nil)
}

// GroupInvite returns the invite link of a group.
func (c *Client) GroupInvite(ctx context.Context, instanceID, groupID string) (GroupInvite, error) {
	var out GroupInvite
	err := c.call(ctx, http.MethodGet, groupPath(instanceID, groupID, "/invite"), nil, &out)
	return out, err
}

// ResetGroupInvite makes a new invite link. The old one leads nowhere any more.
func (c *Client) ResetGroupInvite(ctx context.Context, instanceID, groupID string) (GroupInvite, error) {
	var out GroupInvite
	err := c.call(ctx, http.MethodPost, groupPath(instanceID, groupID, "/invite/reset"), nil, &out)
	return out, err
}

// LookAtInvite returns the group that an invite link, or its code, leads to.
func (c *Client) LookAtInvite(ctx context.Context, instanceID, invite string) (InvitedGroup, error) {
	var out InvitedGroup
	err := c.call(ctx, http.MethodGet, invitePath(instanceID, invite), nil, &out)
	return out, err
}

// JoinGroup follows an invite link, or its code. joined is false if an administrator has to
// approve first.
func (c *Client) JoinGroup(ctx context.Context, instanceID, invite string) (groupID string, joined bool, err error) {
	var out struct {
		ID     string `json:"id"`
		Status string `json:"status"`
	}
	err = c.call(ctx, http.MethodPost, invitePath(instanceID, invite)+"/join", nil, &out)
	return out.ID, out.Status == "joined", err
}

// JoinRequests returns who waits to be approved.
func (c *Client) JoinRequests(ctx context.Context, instanceID, groupID string) ([]JoinRequest, error) {
	var out struct {
		Requests []JoinRequest `json:"requests"`
	}
	err := c.call(ctx, http.MethodGet, groupPath(instanceID, groupID, "/join-requests"), nil, &out)
	return out.Requests, err
}

// AnswerJoinRequests approves or rejects people who wait, and returns what became of each
// of them.
func (c *Client) AnswerJoinRequests(ctx context.Context, instanceID, groupID string, approve bool, people ...string) ([]ParticipantResult, error) {
	action := "reject"
	if approve {
		action = "approve"
	}
	return c.changePeople(ctx, groupPath(instanceID, groupID, "/join-requests"), action, people)
}

// ListCommunities returns a page of the account's communities.
func (c *Client) ListCommunities(ctx context.Context, instanceID string, page, limit int) (Page[GroupDetails], error) {
	var out Page[GroupDetails]
	err := c.call(ctx, http.MethodGet, instancePath(instanceID, "/communities")+pageQuery(page, limit), nil, &out)
	return out, err
}

// Communities yields all communities of the account. An error ends the sequence.
func (c *Client) Communities(ctx context.Context, instanceID string) iter.Seq2[GroupDetails, error] {
	return items(func(page int) (Page[GroupDetails], error) { return c.ListCommunities(ctx, instanceID, page, 0) })
}

// CreateCommunity makes a community. description may be empty.
func (c *Client) CreateCommunity(ctx context.Context, instanceID, subject, description string) (CreatedGroup, error) {
	var out CreatedGroup
	err := c.call(ctx, http.MethodPost, instancePath(instanceID, "/communities"), map[string]string{"subject": subject, "description": description}, &out)
	return out, err
}

// ListCommunityGroups returns a page of the groups of a community.
func (c *Client) ListCommunityGroups(ctx context.Context, instanceID, communityID string, page, limit int) (Page[GroupDetails], error) {
	var out Page[GroupDetails]
	err := c.call(ctx, http.MethodGet, communityPath(instanceID, communityID, "")+pageQuery(page, limit), nil, &out)
	return out, err
}

// CommunityGroups yields all groups of a community. An error ends the sequence.
func (c *Client) CommunityGroups(ctx context.Context, instanceID, communityID string) iter.Seq2[GroupDetails, error] {
	return items(func(page int) (Page[GroupDetails], error) {
		return c.ListCommunityGroups(ctx, instanceID, communityID, page, 0)
	})
}

// LinkGroup puts a group into a community.
func (c *Client) LinkGroup(ctx context.Context, instanceID, communityID, groupID string) error {
	return c.call(ctx, http.MethodPut, communityPath(instanceID, communityID, "/"+url.PathEscape(groupID)), nil, nil)
}

// UnlinkGroup takes a group out of a community.
func (c *Client) UnlinkGroup(ctx context.Context, instanceID, communityID, groupID string) error {
	return c.call(ctx, http.MethodDelete, communityPath(instanceID, communityID, "/"+url.PathEscape(groupID)), nil, nil)
}

func groupPath(instanceID, groupID, rest string) string {
	return instancePath(instanceID, "/groups/"+url.PathEscape(groupID)+rest)
}

func invitePath(instanceID, invite string) string {
	return instancePath(instanceID, "/group-invites/"+url.PathEscape(invite))
}

func communityPath(instanceID, communityID, rest string) string {
	return instancePath(instanceID, "/communities/"+url.PathEscape(communityID)+"/groups"+rest)
}
