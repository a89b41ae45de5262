// Package channels is the part of a session that is about channels (gateway.Channels): it asks
// the platform, translates its answers, and remembers which channels the account has.
package channels

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/line"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// Channels asks for channels and changes them. It is safe for concurrent use.
type Channels struct {
	line   *line.Line
	asking sync.Mutex // held while the list is asked for, which Line.Wait bounds

	mu      sync.Mutex // guards the fields below
	joined  []gateway.Channel
	known   bool
	changes int // how often the list has changed, so that an answer from before is not kept
}

var _ gateway.Channels = (*Channels)(nil)

// New returns the channels of a session.
func New(of *line.Line) *Channels { return &Channels{line: of} }

// Forget drops the list: what changes while the connection is down is not always told.
func (c *Channels) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.joined, c.known = nil, false
	c.changes++
}

// JoinedChannels returns all channels of the account (gateway.OwnChannels).
func (c *Channels) JoinedChannels(ctx context.Context) ([]gateway.Channel, error) {
	c.asking.Lock()
	defer c.asking.Unlock()
	c.mu.Lock()
	joined, known, before := slices.Clone(c.joined), c.known, c.changes
	c.mu.Unlock()
	if known {
		return joined, nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.line.Wait)
	defer cancel()
	list, err := c.line.Client().GetSubscribedNewsletters(ctx)
	if err != nil {
		return nil, Failure(err)
	}
	joined = []gateway.Channel{}
	for _, one := range list {
		if len(joined) == gateway.MaxChannels {
			break
		}
		if channel, ok := c.channelOf(one); ok {
			joined = append(joined, channel)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changes == before {
		c.joined, c.known = slices.Clone(joined), true
	}
	return joined, nil
}

// channelOf translates what the platform says of a channel; false if it says nothing usable.
func (c *Channels) channelOf(said *types.NewsletterMetadata) (gateway.Channel, bool) {
	if said == nil || said.ID.Server != types.NewsletterServer {
		return gateway.Channel{}, false
	}
	thread := said.ThreadMeta
	channel := gateway.Channel{
		ID: wire.JIDOf(said.ID), Name: thread.Name.Text, Description: thread.Description.Text, Invite: thread.InviteCode,
		Verified: thread.VerificationState == types.NewsletterVerificationStateVerified, Followers: thread.SubscriberCount,
		Blocked: said.State.Type == types.NewsletterStateGeoSuspended || said.State.Type == types.NewsletterStateSuspended,
	}
	if !thread.CreationTime.IsZero() {
		channel.CreatedAt = thread.CreationTime.UTC()
	}
	if channel.PictureURL = pictureOf(&thread.Preview); thread.Picture != nil && pictureOf(thread.Picture) != "" {
		channel.PictureURL = pictureOf(thread.Picture)
	}
	if viewer := said.ViewerMeta; viewer != nil {
		channel.Role, channel.Muted = roleOf(viewer.Role), viewer.Mute == types.NewsletterMuteOn
	}
	return gateway.CleanChannel(channel, c.line.Now().UTC())
}

// pictureHost has the pictures of which the platform names only the path.
const pictureHost = "https://pps.whatsapp.net"

func pictureOf(said *types.ProfilePictureInfo) string {
	switch {
	case strings.HasPrefix(said.URL, "https://"), strings.HasPrefix(said.URL, "http://"):
		return said.URL
	case strings.HasPrefix(said.DirectPath, "/"):
		return pictureHost + said.DirectPath
	default:
		return ""
	}
}

func roleOf(role types.NewsletterRole) gateway.ChannelRole {
	switch role {
	case types.NewsletterRoleOwner:
		return gateway.ChannelOwner
	case types.NewsletterRoleAdmin:
		return gateway.ChannelAdmin
	case types.NewsletterRoleSubscriber:
		return gateway.ChannelFollower
	default:
		return gateway.ChannelGuest
	}
}

// Channel asks for a channel (gateway.OwnChannels).
func (c *Channels) Channel(ctx context.Context, ref gateway.ChannelRef) (gateway.Channel, error) {
	asked, cancel := context.WithTimeout(ctx, c.line.Wait)
	defer cancel()
	var said *types.NewsletterMetadata
	var err error
	if ref.ID == "" {
		said, err = c.line.Client().GetNewsletterInfoWithInvite(asked, ref.Invite)
	} else {
		var jid types.JID
		if jid, err = wire.ToJID(ref.ID); err == nil {
			said, err = c.line.Client().GetNewsletterInfo(asked, jid)
		}
	}
	if err != nil {
		return gateway.Channel{}, Failure(err)
	}
	channel, ok := c.channelOf(said)
	if !ok {
		return gateway.Channel{}, noChannel()
	}
	if channel.Role != "" {
		return channel, nil
	}
	// Who follows an invitation is not told what the account is in the channel.
	joined, err := c.JoinedChannels(ctx)
	if err != nil {
		return gateway.Channel{}, err
	}
	channel.Role = gateway.ChannelGuest
	if n := slices.IndexFunc(joined, func(one gateway.Channel) bool { return one.ID == channel.ID }); n >= 0 {
		channel.Role, channel.Muted = joined[n].Role, joined[n].Muted
	}
	return channel, nil
}

// The platform's terms for channels, and the stage of having accepted them.
const (
	termsNotice = "20601218"
	termsStage  = "5"
)

// CreateChannel makes a channel (gateway.OwnChannels).
func (c *Channels) CreateChannel(ctx context.Context, wanted gateway.NewChannel) (gateway.Channel, error) {
	defer c.Forget()
	ctx, cancel := context.WithTimeout(ctx, c.line.Wait)
	defer cancel()
	client := c.line.Client()
	if err := client.AcceptTOSNotice(ctx, termsNotice, termsStage); err != nil {
		return gateway.Channel{}, Failure(err)
	}
	said, err := client.CreateNewsletter(ctx, whatsmeow.CreateNewsletterParams{
		Name: wanted.Name, Description: wanted.Description, Picture: wanted.Picture,
	})
	if err != nil {
		return gateway.Channel{}, Failure(err)
	}
	channel, ok := c.channelOf(said)
	if !ok {
		return gateway.Channel{}, gateway.Errorf(gateway.PlatformFailed, gateway.CodePlatformError, "the platform did not say which channel it has made")
	}
	return channel, nil
}

// FollowChannel follows a channel, or not (gateway.OwnChannels).
func (c *Channels) FollowChannel(ctx context.Context, id gateway.JID, follow bool) error {
	return c.change(ctx, id, func(ctx context.Context, client *whatsmeow.Client, jid types.JID) error {
		if follow {
			return mayFollow(client.FollowNewsletter(ctx, jid))
		}
		return client.UnfollowNewsletter(ctx, jid)
	})
}

// MuteChannel mutes a channel, or ends that (gateway.OwnChannels).
func (c *Channels) MuteChannel(ctx context.Context, id gateway.JID, muted bool) error {
	return c.change(ctx, id, func(ctx context.Context, client *whatsmeow.Client, jid types.JID) error {
		return client.NewsletterToggleMute(ctx, jid, muted)
	})
}

// change asks the platform for a change of which the list may be different.
func (c *Channels) change(ctx context.Context, id gateway.JID, request func(context.Context, *whatsmeow.Client, types.JID) error) error {
	jid, err := wire.ToJID(id)
	if err != nil {
		return err
	}
	defer c.Forget()
	ctx, cancel := context.WithTimeout(ctx, c.line.Wait)
	defer cancel()
	return Failure(request(ctx, c.line.Client(), jid))
}

// Changed translates what the owner of the account has done with a channel on another device,
// and drops the list. It is false for an event that is none.
func (c *Channels) Changed(event any) (change gateway.ChannelChange, ok bool) {
	var mex events.MexNotificationData
	switch event := event.(type) {
	case *events.NewsletterJoin:
		mex, change.ID, change.Name, change.Kind = event.Mex, wire.JIDOf(event.ID), event.ThreadMeta.Name.Text, gateway.ChannelFollowed
	case *events.NewsletterLeave:
		mex, change.ID, change.Kind = event.Mex, wire.JIDOf(event.ID), gateway.ChannelUnfollowed
	case *events.NewsletterMuteChange:
		mex, change.ID, change.Kind = event.Mex, wire.JIDOf(event.ID), gateway.ChannelUnmuted
		if event.Mute == types.NewsletterMuteOn {
			change.Kind = gateway.ChannelMuted
		}
	default:
		return change, false
	}
	if change.Name == "" {
		change.Name = c.nameOf(change.ID)
	}
	c.Forget()
	change.At = mex.Timestamp.UTC()
	change.SourceKey = strings.Join([]string{"channel", string(change.ID), string(change.Kind), mex.Timestamp.UTC().Format(time.RFC3339)}, "/")
	return change, true
}

// nameOf returns the name of a channel that the list has; empty if it has not.
func (c *Channels) nameOf(id gateway.JID) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := slices.IndexFunc(c.joined, func(one gateway.Channel) bool { return one.ID == id }); n >= 0 {
		return c.joined[n].Name
	}
	return ""
}
