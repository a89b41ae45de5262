// The commands about status posts.

package cli

import (
	"context"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/target"
	"github.com/recado-project/recado/internal/cli/terminal"
)

// statusCommand shows something for a day to those who see the account's status posts.
type statusCommand struct {
	Text     statusTextCommand     `cmd:"" help:"Post a text."`
	Image    statusImageCommand    `cmd:"" help:"Post an image."`
	Video    statusVideoCommand    `cmd:"" help:"Post a video."`
	Voice    statusVoiceCommand    `cmd:"" help:"Post audio as a voice message."`
	List     listStatusCommand     `cmd:"" help:"List the posts of the account and of its contacts."`
	Audience statusAudienceCommand `cmd:"" help:"List who sees the posts of the account."`
}

// postFlags are the flags of every post.
type postFlags struct {
	target.InstanceFlag
	Audience       []string  `help:"Person who is shown the post, one of those who see the posts of the account; nobody else is shown it. May be repeated." env:"-" sep:"none"`
	Later          bool      `help:"Leave the post in the instance's queue, and don't wait until it is sent." env:"-"`
	At             time.Time `help:"Leave the post in the queue until this time: 2026-12-24T09:00:00-03:00." env:"-"`
	IdempotencyKey string    `help:"Key of your choice that makes it safe to repeat the command: a repeat posts nothing." name:"idempotency-key" env:"-"`
}

// send is where a post goes.
func (f postFlags) send() sendFlags {
	return sendFlags{InstanceFlag: f.InstanceFlag, To: client.StatusChat}
}

type statusTextCommand struct {
	postFlags
	Background string   `help:"The colour behind the text, as #RRGGBB." env:"-"`
	Font       string   `help:"The font: system, script, bold, breeze, calistoga, exo or typewriter." env:"-"`
	Message    []string `arg:"" optional:"" help:"The text, in quotes; - reads it from standard input."`
}

// Run posts the text.
func (c statusTextCommand) Run(ctx context.Context, t terminal.Terminal) error {
	message, err := oneText(t, c.Message)
	if err != nil {
		return err
	}
	return c.send().send(ctx, t, func(gateway *client.Client, id string) (client.Sent, error) {
		return gateway.PostStatusText(ctx, id, client.StatusText{
			Message: message, Background: c.Background, Font: c.Font, Audience: c.Audience, Prefer: prefer(c.Later), SendAt: c.At, IdempotencyKey: c.IdempotencyKey,
		})
	})
}

type statusImageCommand struct {
	postFlags
	captionFlag
	fileArgument
}

// Run posts the image.
func (c statusImageCommand) Run(ctx context.Context, t terminal.Terminal) error {
	return c.sendFile(ctx, t, c.send(), func(gateway *client.Client, id, media string) (client.Sent, error) {
		return gateway.PostStatusImage(ctx, id, client.StatusImage{
			Image: media, Caption: c.Caption, Audience: c.Audience, Prefer: prefer(c.Later), SendAt: c.At, IdempotencyKey: c.IdempotencyKey,
		})
	})
}

type statusVideoCommand struct {
	postFlags
	captionFlag
	fileArgument
}

// Run posts the video.
func (c statusVideoCommand) Run(ctx context.Context, t terminal.Terminal) error {
	return c.sendFile(ctx, t, c.send(), func(gateway *client.Client, id, media string) (client.Sent, error) {
		return gateway.PostStatusVideo(ctx, id, client.StatusVideo{
			Video: media, Caption: c.Caption, Audience: c.Audience, Prefer: prefer(c.Later), SendAt: c.At, IdempotencyKey: c.IdempotencyKey,
		})
	})
}

type statusVoiceCommand struct {
	postFlags
	fileArgument
}

// Run posts the audio.
func (c statusVoiceCommand) Run(ctx context.Context, t terminal.Terminal) error {
	return c.sendFile(ctx, t, c.send(), func(gateway *client.Client, id, media string) (client.Sent, error) {
		return gateway.PostStatusVoice(ctx, id, client.StatusVoice{Audio: media, Audience: c.Audience, Prefer: prefer(c.Later), SendAt: c.At, IdempotencyKey: c.IdempotencyKey})
	})
}

type listStatusCommand struct {
	target.InstanceFlag
	Limit int `help:"Show this many at most." default:"100" env:"-"`
}

// Run lists the posts.
func (c listStatusCommand) Run(ctx context.Context, t terminal.Terminal) error {
	if c.Limit < 1 {
		return terminal.WrongUsage("--limit must be 1 or more")
	}
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	listed := []client.StoredMessage{} // never null
	var rows [][]string
	for post, err := range gateway.StatusPosts(ctx, id) {
		if err != nil {
			return err
		}
		listed = append(listed, post)
		rows = append(rows, messageRow(post))
		if len(listed) == c.Limit {
			break
		}
	}
	return t.Table(listed, messageHead(), rows)
}

type statusAudienceCommand struct {
	target.InstanceFlag
	Page  int `help:"Which page, from 1." default:"1" env:"-"`
	Limit int `help:"How many people a page has, 1 to 100." default:"100" env:"-"`
}

// Run lists the people.
func (c statusAudienceCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	audience, err := gateway.ListStatusAudience(ctx, id, c.Page, c.Limit)
	if err != nil {
		return err
	}
	rows := make([][]string, 0, len(audience.Data))
	for _, who := range audience.Data {
		rows = append(rows, []string{who.ID, terminal.OrNone(who.LID), terminal.OrNone(who.Name)})
	}
	return t.Table(audience, []string{"ID", "LID", "NAME"}, rows)
}
