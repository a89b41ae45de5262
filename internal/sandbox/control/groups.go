package control

import (
	"net/http"

	"github.com/recado-project/recado/internal/sandbox/group"
)

// listGroups answers with all groups, as the other operations of this file answer
// with one.
func (a *api) listGroups(r *http.Request) (any, error) {
	groups, err := a.config.Groups.List(r.Context())
	return list[group.Info]{groups}, err
}

func (a *api) getGroup(r *http.Request) (any, error) {
	return a.config.Groups.Get(r.Context(), r.PathValue("group"))
}

func (a *api) createGroup(r *http.Request) (any, error) {
	var body struct {
		Subject     string `json:"subject"`
		Description string `json:"description"`

		SubjectBase64     []byte `json:"subjectBase64"`
		DescriptionBase64 []byte `json:"descriptionBase64"`

		Owner        string `json:"owner"`
		Participants []struct {
			Number string `json:"number"`
			Admin  bool   `json:"admin"`
		} `json:"participants"`
	}
	if err := decode(r, &body, false); err != nil {
		return nil, err
	}
	body.Subject = *either(&body.Subject, body.SubjectBase64)
	body.Description = *either(&body.Description, body.DescriptionBase64)
	var wrong []detail
	if body.Subject == "" {
		wrong = append(wrong, detail{"subject", "is required"})
	}
	if body.Owner == "" {
		wrong = append(wrong, detail{"owner", "is required"})
	}
	if len(wrong) > 0 {
		return nil, validation(wrong...)
	}
	wanted := group.Draft{Subject: body.Subject, Description: body.Description, Owner: body.Owner}
	for _, person := range body.Participants {
		wanted.Members = append(wanted.Members, group.NewMember{Number: person.Number, Admin: person.Admin})
	}
	return a.config.Groups.Create(r.Context(), wanted)
}

func (a *api) updateGroup(r *http.Request) (any, error) {
	var body struct {
		By          string  `json:"by"`
		Subject     *string `json:"subject"`
		Description *string `json:"description"`

		SubjectBase64     []byte `json:"subjectBase64"`
		DescriptionBase64 []byte `json:"descriptionBase64"`

		Add      []string `json:"add"`
		Remove   []string `json:"remove"`
		Promote  []string `json:"promote"`
		Demote   []string `json:"demote"`
		Announce *bool    `json:"announce"`

		Locked       *bool    `json:"locked"`
		AdminsAdd    *bool    `json:"adminsAdd"`
		Approval     *bool    `json:"approval"`
		Disappearing *int     `json:"disappearing"`
		Limit        *int     `json:"limit"`
		ResetInvite  bool     `json:"resetInvite"`
		Approve      []string `json:"approve"`
		Reject       []string `json:"reject"`

		Picture removable `json:"picture"`
	}
	if err := decode(r, &body, true); err != nil {
		return nil, err
	}
	change := group.Update{
		By: body.By, Subject: either(body.Subject, body.SubjectBase64),
		Description: either(body.Description, body.DescriptionBase64),
		Add:         body.Add, Remove: body.Remove, Promote: body.Promote, Demote: body.Demote,
		Announce: body.Announce, Locked: body.Locked, AdminsAdd: body.AdminsAdd, Approval: body.Approval, Disappearing: body.Disappearing,
		Limit: body.Limit, ResetInvite: body.ResetInvite, Approve: body.Approve, Reject: body.Reject, SetPicture: body.Picture.present,
	}
	if input := body.Picture.value; input != nil {
		file, err := a.readMedia(r, "picture", *input)
		if err != nil {
			return nil, err
		}
		change.Picture = file.content
	}
	return a.config.Groups.Update(r.Context(), r.PathValue("group"), change)
}

// groupSettings answers with what is set in a group.
func (a *api) groupSettings(r *http.Request) (any, error) {
	return a.config.Groups.Settings(r.Context(), r.PathValue("group"))
}

// createCommunity creates a community with the group in which it announces.
func (a *api) createCommunity(r *http.Request) (any, error) {
	var body struct {
		Subject string `json:"subject"`
		Owner   string `json:"owner"`
	}
	if err := decode(r, &body, false); err != nil {
		return nil, err
	}
	return a.config.Groups.CreateCommunity(r.Context(), body.Subject, body.Owner)
}

// moveGroup puts a group into a community, or takes it out of the one it is in.
func (a *api) moveGroup(r *http.Request) (any, error) {
	var body struct {
		Community string `json:"community"`
	}
	if err := decode(r, &body, true); err != nil {
		return nil, err
	}
	return nil, a.config.Groups.Move(r.Context(), r.PathValue("group"), body.Community)
}

// joinGroup lets a phone follow an invitation.
func (a *api) joinGroup(r *http.Request) (any, error) {
	var body struct {
		Invite string `json:"invite"`
	}
	if err := decode(r, &body, false); err != nil {
		return nil, err
	}
	joined, err := a.config.Groups.Join(r.Context(), r.PathValue("number"), body.Invite)
	return struct {
		Joined bool `json:"joined"`
	}{joined}, err
}
