// Channels.

package remote

import (
	"context"
	"strconv"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/target"
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
	target.InstanceFlag
	Name string `help:"Only channels with this in their name." env:"-"`
}

// Run lists channels.
func (c listChannelsCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	channels := []client.ChannelDetails{} // never null
	var rows [][]string
	for channel, err := range gateway.Channels(ctx, id, client.ListChannelsParams{Name: c.Name}) {
		if err != nil {
			return err
		}
		channels = append(channels, channel)
		rows = append(rows, []string{channel.ID, channel.Name, strconv.FormatInt(channel.Followers, 10), channel.Role})
	}
	return t.Table(channels, []string{"ID", "NAME", "FOLLOWERS", "ROLE"}, rows)
}

// channelFlags name the channel.
type channelFlags struct {
	target.InstanceFlag
	Channel string `arg:"" help:"The channel's ID, or its invite link."`
}

type showChannelCommand struct{ channelFlags }

// Run shows a channel.
func (c showChannelCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	channel, err := gateway.GetChannel(ctx, id, c.Channel)
	if err != nil {
		return err
	}
	return showChannel(t, channel)
}

func showChannel(t terminal.Terminal, channel client.ChannelDetails) error {
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
	target.InstanceFlag
	Name        string `arg:"" help:"Name of the channel."`
	Description string `help:"Description of the channel." env:"-"`
	Picture     string `help:"URL of its picture." env:"-"`
}

// Run creates a channel.
func (c createChannelCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	channel, err := gateway.CreateChannel(ctx, id, client.NewChannel{Name: c.Name, Description: c.Description, Picture: c.Picture})
	if err != nil {
		return err
	}
	return showChannel(t, channel)
}

// do does something with the channel, and says that it is done.
func (c channelFlags) do(ctx context.Context, t terminal.Terminal, done string, call func(*client.Client, context.Context, string, string) error) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	if err := call(gateway, ctx, id, c.Channel); err != nil {
		return err
	}
	return t.Print(struct{}{}, done)
}

type followCommand struct{ channelFlags }

// Run follows a channel.
func (c followCommand) Run(ctx context.Context, t terminal.Terminal) error {
	return c.do(ctx, t, "followed", (*client.Client).FollowChannel)
}

type unfollowCommand struct{ channelFlags }

// Run unfollows a channel.
func (c unfollowCommand) Run(ctx context.Context, t terminal.Terminal) error {
	return c.do(ctx, t, "unfollowed", (*client.Client).UnfollowChannel)
}

type muteCommand struct{ channelFlags }

// Run mutes a channel.
func (c muteCommand) Run(ctx context.Context, t terminal.Terminal) error {
	return c.do(ctx, t, "muted", (*client.Client).MuteChannel)
}

type unmuteCommand struct{ channelFlags }

// Run ends the mute of a channel.
func (c unmuteCommand) Run(ctx context.Context, t terminal.Terminal) error {
	return c.do(ctx, t, "unmuted", (*client.Client).UnmuteChannel)
}

type readCommand struct {
	channelFlags
	Before int64 `help:"Only posts before the one with this number." env:"-"`
	After  int64 `help:"Only posts after the one with this number." env:"-"`
	Limit  int64 `help:"How many posts at most; 50 unless told." env:"-"`
}

// Run prints posts of a channel.
func (c readCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	posts, err := gateway.ListChannelPosts(ctx, id, c.Channel, client.ListChannelPostsParams{Before: c.Before, After: c.After, Limit: c.Limit})
	if err != nil {
		return err
	}
	rows := make([][]string, len(posts.Data))
	for n, post := range posts.Data {
		rows[n] = []string{
			strconv.FormatInt(post.ServerID, 10), terminal.Moment(post.Timestamp), post.Type, terminal.OrNone(post.Text) + terminal.OrNone(post.Caption),
		}
	}
	return t.Table(posts.Data, []string{"NUMBER", "TIME", "TYPE", "TEXT"}, rows)
}

type reactCommand struct {
	channelFlags
	Post     string `arg:"" help:"The post: its number in the channel, or its platform identifier."`
	Reaction string `arg:"" help:"An emoji; empty removes the reaction."`
}

// Run reacts to a post.
func (c reactCommand) Run(ctx context.Context, t terminal.Terminal) error {
	return c.do(ctx, t, "reacted", func(gateway *client.Client, ctx context.Context, id, channel string) error {
		return gateway.ReactToPost(ctx, id, channel, c.Post, client.ChannelReaction{Reaction: c.Reaction})
	})
}
