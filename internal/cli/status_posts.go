// The commands about status posts.

package cli

import (
	"context"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/remote"
	"github.com/recado-project/recado/internal/cli/terminal"
)

// statusPostsCommand shows something for a day to those who see the account's status posts.
type statusPostsCommand struct {
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

type statusTextCommand struct {
	postFlags
	Background string `help:"The colour behind the text, as #RRGGBB." env:"-"`
	Font       string `help:"The font: system, script, bold, breeze, calistoga, exo or typewriter." env:"-"`
	textArgument
}

// Run posts the text.
func (c statusTextCommand) Run(ctx context.Context, t terminal.Terminal, message messageText, on remote.Instance) error {
	sent, err := on.Gateway.PostStatusText(ctx, on.ID, client.StatusText{
		Message: string(message), Background: c.Background, Font: c.Font, Audience: c.Audience,
		SendAt: c.At, IdempotencyKey: c.IdempotencyKey, Prefer: prefer(c.Later),
	})
	return printSent(t, sent, err)
}

type statusImageCommand struct {
	postFlags
	captionFlag
	fileArgument
}

// Run posts the image.
func (c statusImageCommand) Run(ctx context.Context, t terminal.Terminal, file mediaInput, on remote.Instance) error {
	sent, err := on.Gateway.PostStatusImage(ctx, on.ID, client.StatusImage{
		Image: string(file), Caption: c.Caption, Audience: c.Audience,
		SendAt: c.At, IdempotencyKey: c.IdempotencyKey, Prefer: prefer(c.Later),
	})
	return printSent(t, sent, err)
}

type statusVideoCommand struct {
	postFlags
	captionFlag
	fileArgument
}

// Run posts the video.
func (c statusVideoCommand) Run(ctx context.Context, t terminal.Terminal, file mediaInput, on remote.Instance) error {
	sent, err := on.Gateway.PostStatusVideo(ctx, on.ID, client.StatusVideo{
		Video: string(file), Caption: c.Caption, Audience: c.Audience,
		SendAt: c.At, IdempotencyKey: c.IdempotencyKey, Prefer: prefer(c.Later),
	})
	return printSent(t, sent, err)
}

type statusVoiceCommand struct {
	postFlags
	fileArgument
}

// Run posts the audio.
func (c statusVoiceCommand) Run(ctx context.Context, t terminal.Terminal, file mediaInput, on remote.Instance) error {
	sent, err := on.Gateway.PostStatusVoice(ctx, on.ID, client.StatusVoice{
		Audio: string(file), Audience: c.Audience,
		SendAt: c.At, IdempotencyKey: c.IdempotencyKey, Prefer: prefer(c.Later),
	})
	return printSent(t, sent, err)
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
	if err != nil || t.JSON {
		return t.Unless(err).Print(audience, "")
	}
	return terminal.Rows(t, audience.Data, []string{"ID", "LID", "NAME"}, func(who client.ListedPerson) []string {
		return []string{who.ID, terminal.OrNone(who.LID), terminal.OrNone(who.Name)}
	})
}
