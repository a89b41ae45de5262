// What people do with channels on their phones, and what a test makes of them.

package channel

import (
	"context"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/content"
	sandboxrefusal "github.com/recado-project/recado/internal/sandbox/refusal"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// Draft is a channel that is to be made on a phone.
type Draft struct {
	Owner       string
	Name        []byte
	Description []byte
	Private     bool     // nobody may follow it who does not already
	Posts       []string // its first texts
}

// Info is a channel as people see it.
type Info struct {
	ID          string     `json:"id"`
	Name        string     `json:"name"`
	Description string     `json:"description"`
	Invite      string     `json:"invite"`
	Owner       string     `json:"owner"`
	Picture     bool       `json:"picture"`
	Followers   []Follower `json:"followers"`
	Posts       []Post     `json:"posts"`
}

// Follower is somebody who follows a channel.
type Follower struct {
	Number string `json:"number"`
	Muted  bool   `json:"muted"`
}

// Post is a post as people see it.
type Post struct {
	ServerID    int            `json:"serverId"`
	MessageID   string         `json:"messageId"`
	Type        string         `json:"type"` // as in content.Shown
	Text        string         `json:"text"`
	Caption     string         `json:"caption,omitempty"`
	MimeType    string         `json:"mimeType,omitempty"`
	FileName    string         `json:"fileName,omitempty"`
	Picture     bool           `json:"picture,omitempty"`     // there is a small one of the file
	MediaSHA256 string         `json:"mediaSha256,omitempty"` // of the file, as followers fetch it; "" if they can't
	MediaSize   *int64         `json:"mediaSize,omitempty"`
	Deleted     bool           `json:"deleted"`
	Reactions   map[string]int `json:"reactions"`
}

// Create makes a channel with posts.
func (s *Service) Create(ctx context.Context, wanted Draft) (Info, error) {
	owner, err := s.accounts.NamedIn(ctx, "owner", wanted.Owner)
	if err != nil {
		return Info{}, err
	}
	created, err := s.create(ctx, owner, nil, draft{name: wanted.Name, description: wanted.Description, private: wanted.Private})
	if err != nil {
		return Info{}, err
	}
	for _, words := range wanted.Posts {
		if _, err := s.Write(ctx, created.ID, content.Outgoing{Type: "text", Text: words}, nil); err != nil {
			return Info{}, err
		}
	}
	return s.Get(ctx, created.ID)
}

// List returns all channels, oldest first.
func (s *Service) List(ctx context.Context) ([]Info, error) {
	all, err := s.all(ctx, "")
	if err != nil {
		return nil, err
	}
	list := make([]Info, len(all))
	for n, one := range all {
		if list[n], err = s.show(ctx, one); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Get returns a channel by its ID.
func (s *Service) Get(ctx context.Context, id string) (Info, error) {
	found, err := s.find(ctx, keyOf(id))
	if err != nil {
		return Info{}, err
	}
	if found == nil {
		return Info{}, sandboxrefusal.NotFoundf("there is no channel %s", id)
	}
	return s.show(ctx, found)
}

func (s *Service) show(ctx context.Context, c *Channel) (Info, error) {
	list, err := s.posts(ctx, c.ID, 0, c.Posts+1, c.Posts+1, false)
	if err != nil {
		return Info{}, err
	}
	info := Info{
		ID: c.JID().String(), Name: string(c.Name), Description: string(c.Description), Invite: c.Invite, Owner: c.Owner, Picture: c.Picture != "",
		Followers: make([]Follower, len(c.Followers)), Posts: make([]Post, len(list)),
	}
	for n, one := range c.Followers {
		info.Followers[n] = Follower(one)
	}
	for n, one := range list {
		info.Posts[n] = s.shown(one)
	}
	return info, nil
}

// Write writes a post on the phone of the owner: a text, a file, or the payload of any message.
func (s *Service) Write(ctx context.Context, id string, wanted content.Outgoing, payload []byte) (Post, error) {
	owner, err := s.owner(ctx, id)
	if err != nil {
		return Post{}, err
	}
	written := post{id: wire.NewMessageID(), kind: "text", payload: payload}
	if len(wanted.Media) > 0 {
		written.kind = kindMedia
	}
	switch {
	case payload != nil:
	case wanted.Type == "text":
		written.payload, err = text(wanted.Text)
	default:
		written.payload, err = s.compose(wanted)
	}
	if err != nil {
		return Post{}, err
	}
	written.number, err = s.write(ctx, owner, nil, keyOf(id), written)
	return s.shown(written), forPeople(err)
}

// Rewrite changes a post in the owner's name; "" deletes it.
func (s *Service) Rewrite(ctx context.Context, id string, serverID int, words string) error {
	owner, err := s.owner(ctx, id)
	if err != nil {
		return err
	}
	found, err := s.postWith(ctx, keyOf(id), "number = $2", serverID)
	if err != nil {
		return err
	}
	if found == nil {
		return forPeople(refused(codeNotFound))
	}
	payload, err := text(words)
	if err != nil {
		return err
	}
	edit := editAdmin
	if words == "" {
		edit = editRevoke
	}
	_, err = s.rewrite(ctx, owner, nil, keyOf(id), found.id, edit, payload)
	return forPeople(err)
}

// Set changes what the platform refuses of a channel. What is nil stays.
func (s *Service) Set(ctx context.Context, id string, private, blocked, gone *bool) (Info, error) {
	changed, err := s.change(ctx, keyOf(id), func(_ *account.Unit, c *Channel) error {
		for _, one := range []struct{ into, value *bool }{{&c.Private, private}, {&c.Blocked, blocked}, {&c.Gone, gone}} {
			if one.value != nil {
				*one.into = *one.value
			}
		}
		return nil
	})
	if err != nil {
		return Info{}, forPeople(err)
	}
	return s.show(ctx, changed)
}

// Follow lets a phone follow a channel.
func (s *Service) Follow(ctx context.Context, number, id string, muted *bool) error {
	who, err := s.accounts.Named(ctx, number)
	if err != nil {
		return err
	}
	if _, err = s.follow(ctx, who, nil, keyOf(id), true); err == nil && muted != nil {
		_, err = s.mute(ctx, who, nil, keyOf(id), *muted)
	}
	return forPeople(err)
}

// Unfollow makes a phone unfollow a channel.
func (s *Service) Unfollow(ctx context.Context, number, id string) error {
	who, err := s.accounts.Named(ctx, number)
	if err != nil {
		return err
	}
	_, err = s.follow(ctx, who, nil, keyOf(id), false)
	return forPeople(err)
}

// React lets a phone react to a post; "" takes the reaction away.
func (s *Service) React(ctx context.Context, number, id string, serverID int, reaction string) error {
	who, err := s.accounts.Named(ctx, number)
	if err != nil {
		return err
	}
	_, err = s.react(ctx, who, keyOf(id), serverID, reaction)
	return forPeople(err)
}

func (s *Service) owner(ctx context.Context, id string) (*account.Account, error) {
	found, err := s.present(ctx, keyOf(id))
	if err != nil {
		return nil, forPeople(err)
	}
	return s.accounts.Find(ctx, found.Owner)
}

// forPeople says in words why the platform refuses.
func forPeople(err error) error {
	switch code := codeOf(err); code {
	case 0:
		return err
	case codeNotFound:
		return sandboxrefusal.NotFoundf("there is no such channel, or no such post in it")
	default:
		return sandboxrefusal.Conflictf("the platform refuses this (code %d)", code)
	}
}
