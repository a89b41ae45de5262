// Package channel has the channels of the platform: an owner writes posts, and whoever follows
// reads them. It answers clients' requests about them, takes their posts and reactions, and
// tells the devices of those who follow.
package channel

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"sync"
	"time"

	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/database"
	"github.com/recado-project/recado/internal/sandbox/mediahost"
	"github.com/recado-project/recado/internal/sandbox/wire"
	"github.com/recado-project/recado/internal/sqlite"
)

// Service has all channels. It is safe for concurrent use.
type Service struct {
	accounts *account.Directory
	files    *account.Files
	media    *mediahost.Host
	db       *sqlite.DB
	now      func() time.Time
	pictures string // the path below which pictures are served

	changing sync.Mutex // held during a change, so that only one is made at a time
}

// New returns the service. The pictures of channels are kept in files, and served below the
// path pictures; media has the files of posts.
func New(accounts *account.Directory, files *account.Files, media *mediahost.Host, pictures string) *Service {
	return &Service{accounts: accounts, files: files, media: media, db: accounts.DB, now: accounts.Now, pictures: pictures}
}

// Channel is a channel at one moment.
type Channel struct {
	ID          string     `json:"id"` // the user part of the JID
	Name        []byte     `json:"name"`
	Description []byte     `json:"description"`
	Invite      string     `json:"invite"`
	Owner       string     `json:"owner"` // a number
	CreatedAt   int64      `json:"createdAt"`
	Picture     string     `json:"picture,omitempty"` // the hash of its file
	Private     bool       `json:"private,omitempty"` // nobody new may follow it
	Blocked     bool       `json:"blocked,omitempty"` // not to be had where the clients are
	Gone        bool       `json:"gone,omitempty"`    // it was deleted
	Followers   []follower `json:"followers"`
	Posts       int        `json:"posts"` // how many there were, the number of the last one
}

// follower is somebody who follows a channel.
type follower struct {
	Number string `json:"number"`
	Muted  bool   `json:"muted,omitempty"`
}

// JID is the channel's address.
func (c *Channel) JID() types.JID { return types.NewJID(c.ID, types.NewsletterServer) }

// of returns the entry of somebody who follows; nil for others.
func (c *Channel) of(number string) *follower {
	n := slices.IndexFunc(c.Followers, func(f follower) bool { return f.Number == number })
	if n < 0 {
		return nil
	}
	return &c.Followers[n]
}

// role says what an account is in the channel, as clients read it.
func (c *Channel) role(number string) string {
	switch {
	case c.Owner == number:
		return "OWNER"
	case c.of(number) != nil:
		return "SUBSCRIBER"
	default:
		return "GUEST"
	}
}

// find returns the channel with an ID or an invitation code; nil if there is none.
func (s *Service) find(ctx context.Context, key string) (*Channel, error) {
	found, err := s.read(ctx, "SELECT state FROM channels WHERE id = $1 OR invite = $1", key)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

// all returns the channels that an account follows or owns, oldest first; every one if number
// is "".
func (s *Service) all(ctx context.Context, number string) ([]*Channel, error) {
	all, err := s.read(ctx, "SELECT state FROM channels ORDER BY created_at, id")
	return slices.DeleteFunc(all, func(c *Channel) bool {
		return number != "" && (c.Gone || c.role(number) == "GUEST")
	}), err
}

func (s *Service) read(ctx context.Context, query string, args ...any) ([]*Channel, error) {
	states, err := database.Strings(ctx, s.db.Reader(), query, args...)
	if err != nil {
		return nil, fmt.Errorf("channel: read: %w", err)
	}
	channels := make([]*Channel, len(states))
	for n, state := range states {
		channels[n] = new(Channel)
		if err := json.Unmarshal([]byte(state), channels[n]); err != nil {
			return nil, fmt.Errorf("channel: read: %w", err)
		}
	}
	return channels, nil
}

// keep adds to the unit that a channel is kept.
func keep(u *account.Unit, c *Channel) error {
	state, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("channel: keep: %w", err)
	}
	u.Exec(`INSERT INTO channels (id, invite, created_at, state) VALUES ($1, $2, $3, $4)
		ON CONFLICT (id) DO UPDATE SET state = excluded.state`, c.ID, c.Invite, c.CreatedAt, string(state))
	return nil
}

// draft is a channel that is to be made.
type draft struct {
	name, description []byte
	picture           []byte
	private           bool
}

// create makes a channel. by is the client that asked for it; nil for the phone.
func (s *Service) create(ctx context.Context, owner *account.Account, by *account.Device, wanted draft) (*Channel, error) {
	id, err := newID()
	if err != nil {
		return nil, err
	}
	created := &Channel{
		ID: id, Name: wanted.name, Description: wanted.description, Invite: "0029" + wire.RandomHex(9),
		Owner: owner.Number, CreatedAt: s.now().Unix(), Private: wanted.private,
	}
	if len(wanted.picture) > 0 {
		if created.Picture, err = s.files.KeepPicture(wanted.picture); err != nil {
			return nil, fmt.Errorf("channel: keep a picture: %w", err)
		}
	}
	u := s.accounts.NewUnit()
	if err := keep(u, created); err != nil {
		return nil, err
	}
	if err := s.tell(u, owner, by, "NotificationNewsletterJoin", "xwa2_notify_newsletter_on_join", s.metadata(created, owner.Number, "")); err != nil {
		return nil, err
	}
	return created, u.Commit(ctx)
}

// newID draws the ID of a channel.
func newID() (string, error) {
	const span = 1_000_000_000_000
	n, err := rand.Int(rand.Reader, big.NewInt(span))
	if err != nil {
		return "", fmt.Errorf("channel: draw id: %w", err)
	}
	return fmt.Sprintf("120364%012d", n), nil
}

// follow lets an account follow a channel, or not, and tells its devices but the one that has
// asked.
func (s *Service) follow(ctx context.Context, who *account.Account, by *account.Device, key string, wanted bool) (*Channel, error) {
	return s.change(ctx, key, func(u *account.Unit, c *Channel) error {
		follows := c.of(who.Number) != nil
		switch {
		case wanted && c.Blocked:
			return refused(codeBlocked)
		case wanted && c.Private && !follows && c.Owner != who.Number:
			return refused(codeForbidden)
		case !wanted && c.Owner == who.Number:
			return refused(codeForbidden)
		case wanted == follows, wanted && c.Owner == who.Number:
			return nil
		case wanted:
			c.Followers = append(c.Followers, follower{Number: who.Number})
			return s.tell(u, who, by, "NotificationNewsletterJoin", "xwa2_notify_newsletter_on_join", s.metadata(c, who.Number, ""))
		}
		c.Followers = slices.DeleteFunc(c.Followers, func(f follower) bool { return f.Number == who.Number })
		return s.tell(u, who, by, "NotificationNewsletterLeave", "xwa2_notify_newsletter_on_leave",
			map[string]any{"id": c.JID().String(), "role": "GUEST"})
	})
}

// mute mutes a channel for somebody who follows it.
func (s *Service) mute(ctx context.Context, who *account.Account, by *account.Device, key string, muted bool) (*Channel, error) {
	return s.change(ctx, key, func(u *account.Unit, c *Channel) error {
		follows := c.of(who.Number)
		switch {
		case follows == nil:
			return refused(codeForbidden)
		case follows.Muted == muted:
			return nil
		}
		follows.Muted = muted
		return s.tell(u, who, by, "NotificationNewsletterMuteChange", "xwa2_notify_newsletter_on_mute_change",
			map[string]any{"id": c.JID().String(), "mute": onOff(muted)})
	})
}

// change changes a channel, one at a time.
func (s *Service) change(ctx context.Context, key string, step func(u *account.Unit, c *Channel) error) (*Channel, error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	found, err := s.present(ctx, key)
	if err != nil {
		return nil, err
	}
	u := s.accounts.NewUnit()
	if err := step(u, found); err != nil {
		return nil, err
	}
	if err := keep(u, found); err != nil {
		return nil, err
	}
	return found, u.Commit(ctx)
}

// present finds a channel. It refuses one that does not exist or was deleted.
func (s *Service) present(ctx context.Context, key string) (*Channel, error) {
	found, err := s.find(ctx, key)
	switch {
	case err != nil:
		return nil, err
	case found == nil:
		return nil, refused(codeNotFound)
	case found.Gone:
		return nil, refused(codeGone)
	}
	return found, nil
}

// onOff is how clients read a switch.
func onOff(on bool) string {
	if on {
		return "ON"
	}
	return "OFF"
}
