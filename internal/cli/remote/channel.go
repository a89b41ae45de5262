// Channels.

package remote

import (
	"context"
	"strconv"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/terminal"
)

// Channels are the commands about channels.
type Channels struct {
	List     listChannelsCommand  `cmd:"" help:"List the channels that the account follows or owns."`
	Show     showChannelCommand   `cmd:"" help:"Show a channel."`
	Create   createChannelCommand `cmd:"" help:"Create a channel. To write into it, send a text to its ID."`
	Follow   followCommand        `cmd:"" help:"Follow a channel."`
	Unfollow unfollowCommand      `cmd:"" help:"Unfollow a channel."`
	Mute     muteCommand          `cmd:"" help:"Mute a channel."`
	Unmute   unmuteCommand        `cmd:"" help:"End the mute of a channel."`
	Read     readCommand          `cmd:"" help:"Read the posts of a channel."`
	React    reactCommand         `cmd:"" help:"React to a post of a channel."`
}

type listChannelsCommand struct {
	InstanceFlag
	Name string `help:"Only channels with this in their name." env:"-"`
}

// Run lists channels.
func (c listChannelsCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	channels := on.Gateway.Channels(ctx, on.ID, client.ListChannelsParams{Name: c.Name})
	head := []string{"ID", "NAME", "FOLLOWERS", "ROLE"}
	return terminal.List(t, channels, head, func(one client.ChannelDetails) []string {
		return []string{one.ID, one.Name, strconv.FormatInt(one.Followers, 10), one.Role}
	})
}

// channelFlags name the channel.
type channelFlags struct {
	InstanceFlag
	Channel string `arg:"" help:"The channel's ID, or its invite link."`
}

type showChannelCommand struct{ channelFlags }

// Run shows a channel.
func (c showChannelCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	channel, err := on.Gateway.GetChannel(ctx, on.ID, c.Channel)
	return printChannel(t.Unless(err), channel)
}

// printChannel prints a channel.
func printChannel(t terminal.Terminal, channel client.ChannelDetails) error {
	return t.Fields(channel,
		terminal.Pair{"id", channel.ID},
		terminal.Pair{"name", channel.Name},
		terminal.Pair{"description", terminal.OrNone(channel.Description)},
		terminal.Pair{"link", terminal.OrNone(channel.Link)},
		terminal.Pair{"role", channel.Role},
		terminal.Pair{"muted", strconv.FormatBool(channel.Muted)},
		terminal.Pair{"followers", strconv.FormatInt(channel.Followers, 10)},
		terminal.Pair{"created", terminal.Moment(time.Unix(channel.Creation, 0))},
	)
}

type createChannelCommand struct {
	InstanceFlag
	Name        string `arg:"" help:"Name of the channel."`
	Description string `help:"Description of the channel." env:"-"`
	Picture     string `help:"URL of its picture." env:"-"`
}

// Run creates a channel.
func (c createChannelCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	channel, err := on.Gateway.CreateChannel(ctx, on.ID, client.NewChannel{
		Name: c.Name, Description: c.Description, Picture: c.Picture,
	})
	return printChannel(t.Unless(err), channel)
}

type followCommand struct{ channelFlags }

// Run follows a channel.
func (c followCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	return t.Unless(on.Gateway.FollowChannel(ctx, on.ID, c.Channel)).Print(struct{}{}, "followed")
}

type unfollowCommand struct{ channelFlags }

// Run unfollows a channel.
func (c unfollowCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	return t.Unless(on.Gateway.UnfollowChannel(ctx, on.ID, c.Channel)).Print(struct{}{}, "unfollowed")
}

type muteCommand struct{ channelFlags }

// Run mutes a channel.
func (c muteCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	return t.Unless(on.Gateway.MuteChannel(ctx, on.ID, c.Channel)).Print(struct{}{}, "muted")
}

type unmuteCommand struct{ channelFlags }

// Run ends the mute of a channel.
func (c unmuteCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	return t.Unless(on.Gateway.UnmuteChannel(ctx, on.ID, c.Channel)).Print(struct{}{}, "unmuted")
}

type readCommand struct {
	channelFlags
	Before int64 `help:"Only posts before the one with this number." env:"-"`
	After  int64 `help:"Only posts after the one with this number." env:"-"`
	Limit  int64 `help:"How many posts at most; 50 unless told." env:"-"`
}

// Run prints posts of a channel.
func (c readCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	posts, err := on.Gateway.ListChannelPosts(ctx, on.ID, c.Channel, client.ListChannelPostsParams{
		Before: c.Before, After: c.After, Limit: c.Limit,
	})
	head := []string{"NUMBER", "TIME", "TYPE", "TEXT"}
	return terminal.Rows(t.Unless(err), posts.Data, head, func(post client.ChannelPost) []string {
		text := terminal.OrNone(post.Text) + terminal.OrNone(post.Caption)
		return []string{strconv.FormatInt(post.ServerID, 10), terminal.Moment(post.Timestamp), post.Type, text}
	})
}

type reactCommand struct {
	channelFlags
	Post     string `arg:"" help:"The post: its number in the channel, or its platform identifier."`
	Reaction string `arg:"" help:"An emoji; empty removes the reaction."`
}

// Run reacts to a post.
func (c reactCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	err := on.Gateway.ReactToPost(ctx, on.ID, c.Channel, c.Post, client.ChannelReaction{Reaction: c.Reaction})
	return t.Unless(err).Print(struct{}{}, "reacted")
}
