// The commands about status posts.

package cli

import (
	"context"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/remote"
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
	remote.InstanceFlag
	Audience       []string  `help:"Person who is shown the post, one of those who see the posts of the account; nobody else is shown it. May be repeated." env:"-" sep:"none"`
	Later          bool      `help:"Leave the post in the instance's queue, and don't wait until it is sent." env:"-"`
	At             time.Time `help:"Leave the post in the queue until this time: 2026-12-24T09:00:00-03:00." env:"-"`
	IdempotencyKey string    `help:"Key of your choice that makes it safe to repeat the command: a repeat posts nothing." name:"idempotency-key" env:"-"`
}

// flags are those of the message that a post is.
func (f postFlags) flags() sendFlags { return sendFlags{InstanceFlag: f.InstanceFlag} }

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
	return sendMessage(ctx, t, c.flags(), (*client.Client).PostStatusText, client.StatusText{
		Message: message, Background: c.Background, Font: c.Font, Audience: c.Audience,
		SendAt: c.At, IdempotencyKey: c.IdempotencyKey, Prefer: prefer(c.Later),
	})
}

type statusImageCommand struct {
	postFlags
	captionFlag
	fileArgument
}

// Run posts the image.
func (c statusImageCommand) Run(ctx context.Context, t terminal.Terminal) error {
	return sendFile(ctx, t, c.flags(), c.fileArgument, (*client.Client).PostStatusImage, func(media string) client.StatusImage {
		return client.StatusImage{
			Image: media, Caption: c.Caption, Audience: c.Audience,
			SendAt: c.At, IdempotencyKey: c.IdempotencyKey, Prefer: prefer(c.Later),
		}
	})
}

type statusVideoCommand struct {
	postFlags
	captionFlag
	fileArgument
}

// Run posts the video.
func (c statusVideoCommand) Run(ctx context.Context, t terminal.Terminal) error {
	return sendFile(ctx, t, c.flags(), c.fileArgument, (*client.Client).PostStatusVideo, func(media string) client.StatusVideo {
		return client.StatusVideo{
			Video: media, Caption: c.Caption, Audience: c.Audience,
			SendAt: c.At, IdempotencyKey: c.IdempotencyKey, Prefer: prefer(c.Later),
		}
	})
}

type statusVoiceCommand struct {
	postFlags
	fileArgument
}

// Run posts the audio.
func (c statusVoiceCommand) Run(ctx context.Context, t terminal.Terminal) error {
	return sendFile(ctx, t, c.flags(), c.fileArgument, (*client.Client).PostStatusVoice, func(media string) client.StatusVoice {
		return client.StatusVoice{
			Audio: media, Audience: c.Audience,
			SendAt: c.At, IdempotencyKey: c.IdempotencyKey, Prefer: prefer(c.Later),
		}
	})
}

type listStatusCommand struct {
	remote.InstanceFlag
	limitFlag
}

// Run lists the posts.
func (c listStatusCommand) Run(ctx context.Context, t terminal.Terminal, on remote.Instance) error {
	return terminal.List(t, first(c.Limit, on.Gateway.StatusPosts(ctx, on.ID)), messageHead(), messageRow)
}

type statusAudienceCommand struct {
	remote.InstanceFlag
	Page  int `help:"Which page, from 1." default:"1" env:"-"`
	Limit int `help:"How many people a page has, 1 to 100." default:"100" env:"-"`
}

// Run lists the people.
func (c statusAudienceCommand) Run(ctx context.Context, t terminal.Terminal, on remote.Instance) error {
	audience, err := on.Gateway.ListStatusAudience(ctx, on.ID, c.Page, c.Limit)
	if err != nil {
		return err
	}
	return terminal.Rows(t, audience, audience.Data, []string{"ID", "LID", "NAME"}, func(who client.ListedPerson) []string {
		return []string{who.ID, terminal.OrNone(who.LID), terminal.OrNone(who.Name)}
	})
}
