// Channels: one side writes posts, and its followers read them.

package gateway

import (
	"context"
	"strings"
	"time"
)

// Channels is the part of a session about channels.
type Channels interface {
	OwnChannels
	ChannelPosts
}

// OwnChannels is the part of a session about the channels that the account follows or owns. Its
// errors are NotFound (there is no such channel), Gone (it was deleted), Forbidden (private, not
// to be had in this country, or only the owner may) besides those of every request.
type OwnChannels interface {
	// JoinedChannels returns all channels that the account follows or owns, in no order. They are
	// asked for once, with one question, and held until something changes.
	JoinedChannels(ctx context.Context) ([]Channel, error)
	// Channel asks for a channel.
	Channel(ctx context.Context, ref ChannelRef) (Channel, error)
	// CreateChannel makes a channel. It accepts the platform's terms for channels in the name
	// of the account.
	CreateChannel(ctx context.Context, wanted NewChannel) (Channel, error)
	// FollowChannel follows or unfollows a channel.
	FollowChannel(ctx context.Context, id JID, follow bool) error
	// MuteChannel mutes a channel that the account follows, or ends that.
	MuteChannel(ctx context.Context, id JID, muted bool) error
}

// ChannelPosts is the part of a session about what is written into channels. The errors are
// those of OwnChannels.
type ChannelPosts interface {
	// Posts asks for posts of a channel, oldest first.
	Posts(ctx context.Context, id JID, query PostQuery) ([]Post, error)
	// ReactToPost sets the reaction of the account to a post; an empty one takes it away.
	ReactToPost(ctx context.Context, id JID, serverID int, reaction string) error
}

// MaxChannels bounds how many channels of an account are listed.
const MaxChannels = 2000

// Channel is a channel as the account sees it.
type Channel struct {
	ID          JID
	Name        string
	Description string
	Invite      string // the last part of its link
	PictureURL  string // empty if it has none
	Role        ChannelRole
	Muted       bool
	Verified    bool
	Followers   int
	Blocked     bool // it is not to be had where the account is, or was suspended
	CreatedAt   time.Time
}

// cleaned cleans the texts, and bounds the time.
func (c Channel) cleaned(now time.Time) Channel {
	c.Name, c.Description = CleanName(c.Name), CleanText(c.Description, MaxChannelDescription)
	c.PictureURL = CleanURL(c.PictureURL)
	if invite, ok := ParseChannel(c.Invite); !ok || invite.Invite == "" {
		c.Invite = ""
	}
	c.Followers = max(c.Followers, 0)
	if !c.CreatedAt.IsZero() {
		c.CreatedAt = CleanTime(c.CreatedAt, now)
	}
	return c
}

// CleanChannel makes what the platform says of a channel safe to keep and to show; false if it
// is none.
func CleanChannel(channel Channel, now time.Time) (Channel, bool) {
	id, ok := ParseJID(string(channel.ID))
	channel.ID = id
	return channel.cleaned(now), ok && id.IsChannel()
}

// MaxChannelName and MaxChannelDescription are the bounds of a channel's texts, in characters.
const (
	MaxChannelName        = 100
	MaxChannelDescription = 2048
)

// ChannelRole says what the account is in a channel.
type ChannelRole string

// The roles.
const (
	ChannelOwner    ChannelRole = "owner"
	ChannelAdmin    ChannelRole = "admin"
	ChannelFollower ChannelRole = "follower"
	ChannelGuest    ChannelRole = "guest" // it does not follow it
)

// NewChannel is a channel that is to be made.
type NewChannel struct {
	Name        string
	Description string
	Picture     []byte // a JPEG; empty: none
}

// ChannelRef names a channel: by its ID or by the last part of its invite link.
type ChannelRef struct {
	ID     JID
	Invite string
}

// channelHost is where the invite links of channels lead.
const channelHost = "whatsapp.com/channel/"

// ChannelLink is the link of a channel with an invitation code.
func ChannelLink(code string) string { return "https://" + channelHost + code }

// ParseChannel reads the ID of a channel, its invite link or the last part of that, and reports
// whether text is one of them.
func ParseChannel(text string) (ref ChannelRef, ok bool) {
	text = strings.TrimSpace(text)
	if strings.Contains(text, "@") {
		id, ok := ParseJID(text)
		return ChannelRef{ID: id}, ok && id.IsChannel()
	}
	for _, scheme := range []string{"https://", "http://"} {
		text = strings.TrimPrefix(text, scheme)
	}
	code, isLink := strings.CutPrefix(strings.TrimPrefix(text, "www."), channelHost)
	if isLink {
		if end := strings.IndexAny(code, "?#/"); end >= 0 {
			code = code[:end]
		}
	}
	for _, c := range []byte(code) {
		switch {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '-', c == '_':
		default:
			return ChannelRef{}, false
		}
	}
	return ChannelRef{Invite: code}, code != "" && len(code) <= maxInvite
}

// PostQuery chooses among the posts of a channel.
type PostQuery struct {
	Before int // only posts with a smaller number; 0: any
	After  int // only posts with a larger number, the oldest of them; 0: the newest
	Limit  int
}

// Post is a post of a channel.
type Post struct {
	Message   Message // with its details
	ServerID  int     // its number in the channel
	Views     int
	Reactions []PostReaction // the most frequent first
	Deleted   bool           // it has no content any more
}

// PostReaction is how many have reacted with an emoji.
type PostReaction struct {
	Reaction string
	Count    int
}

// ChannelChange is what the owner of the account has done with a channel on another device.
type ChannelChange struct {
	ID   JID
	Name string // empty where it is not known
	Kind ChannelChangeKind
	At   time.Time
	// SourceKey is the same for every delivery of the change.
	SourceKey string
}

// ChannelChangeKind says what was done with a channel.
type ChannelChangeKind string

// What is done with channels.
const (
	ChannelFollowed   ChannelChangeKind = "followed" // or made
	ChannelUnfollowed ChannelChangeKind = "unfollowed"
	ChannelMuted      ChannelChangeKind = "muted"
	ChannelUnmuted    ChannelChangeKind = "unmuted"
)

func (ChannelChange) incoming() {}

// Cleaned cleans the name and the key, and bounds the time. It is nil if it names no channel.
func (c ChannelChange) Cleaned(now time.Time) Incoming {
	id, ok := ParseJID(string(c.ID))
	if !ok || !id.IsChannel() {
		return nil
	}
	c.ID, c.Name, c.SourceKey = id, CleanName(c.Name), CleanID(c.SourceKey)
	c.At = CleanTime(c.At, now)
	return c
}
