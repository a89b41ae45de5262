package group

import (
	"context"
	"strings"

	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/refusal"
)

// Participant is a member of a group as the control API shows it.
type Participant struct {
	ID    string  `json:"id"`    // a chat ID by number
	Admin *string `json:"admin"` // superadmin, admin or null
}

// Info is a group as the control API shows it.
type Info struct {
	ID           string        `json:"id"`
	Subject      string        `json:"subject"`
	Description  *string       `json:"description"`
	Owner        *string       `json:"owner"` // a chat ID by number
	Creation     int64         `json:"creation"`
	Participants []Participant `json:"participants"`
}

func (g *Group) show() Info {
	shown := Info{
		ID: g.JID().String(), Subject: g.Subject.Text, Description: optionalText(g.Description.Text),
		Owner: new(chatID(g.Owner)), Creation: g.CreatedAt, Participants: make([]Participant, 0, len(g.Members)),
	}
	for _, m := range g.Members {
		shown.Participants = append(shown.Participants, Participant{ID: chatID(m.Number), Admin: optionalText(m.Role.String())})
	}
	return shown
}

// Settings is what the control API shows of a group beside its metadata.
type Settings struct {
	Announce     bool   `json:"announce"`
	Locked       bool   `json:"locked"`
	AdminsAdd    bool   `json:"adminsAdd"`
	Approval     bool   `json:"approval"`
	Disappearing int    `json:"disappearing"` // seconds; 0: never
	Limit        int    `json:"limit"`        // how many members it may have
	Picture      bool   `json:"picture"`
	Invite       string `json:"invite"` // the code of its link

	JoinRequests []string     `json:"joinRequests"` // chat IDs by number of those who wait to be approved
	Invitations  []Invitation `json:"invitations"`
	Community    *string      `json:"community"` // the community that it belongs to
	IsCommunity  bool         `json:"isCommunity"`
}

// Invitation is for one person, whom a member could not add.
type Invitation struct {
	ID   string `json:"id"` // a chat ID by number
	Code string `json:"code"`
}

// Settings returns what is set in a group.
func (s *Book) Settings(ctx context.Context, id string) (Settings, error) {
	g, err := s.groupNamed(ctx, id)
	if err != nil {
		return Settings{}, err
	}
	shown := Settings{
		Announce: g.Announcement, Locked: g.Locked, AdminsAdd: g.AdminsAdd, Approval: g.Approval, Disappearing: g.Ephemeral,
		Limit: g.limit(), Picture: g.Picture != "", Invite: g.Invite, JoinRequests: []string{}, Invitations: []Invitation{}, IsCommunity: g.Community,
	}
	if g.Parent != "" {
		shown.Community = new(types.NewJID(g.Parent, types.GroupServer).String())
	}
	for _, request := range g.Requests {
		shown.JoinRequests = append(shown.JoinRequests, chatID(request.Number))
	}
	for _, i := range g.Invitations {
		shown.Invitations = append(shown.Invitations, Invitation{ID: chatID(i.Number), Code: i.Code})
	}
	return shown, nil
}

// List returns all groups, oldest first.
func (s *Book) List(ctx context.Context) ([]Info, error) {
	all, err := s.all(ctx, "")
	if err != nil {
		return nil, err
	}
	list := make([]Info, 0, len(all))
	for _, g := range all {
		list = append(list, g.show())
	}
	return list, nil
}

// Get returns a group by its chat ID.
func (s *Book) Get(ctx context.Context, id string) (Info, error) {
	found, err := s.groupNamed(ctx, id)
	if err != nil {
		return Info{}, err
	}
	return found.show(), nil
}

func (s *Book) groupNamed(ctx context.Context, id string) (*Group, error) {
	digits, _ := strings.CutSuffix(id, "@"+types.GroupServer)
	found, err := s.Find(ctx, digits)
	if err == nil && found == nil {
		err = refusal.NotFoundf("there is no group with this id")
	}
	return found, err
}

func chatID(number string) string { return types.NewJID(number, types.DefaultUserServer).String() }

func optionalText(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
