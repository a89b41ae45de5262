package cli

import (
	"context"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/terminal"
)

// sendFile is send with the media of the file.
func (f fileArgument) sendFile(
	ctx context.Context, t terminal.Terminal, flags sendFlags, send func(c *client.Client, id, media string) (client.Sent, error),
) error {
	if err := flags.needsRecipient(); err != nil {
		return err
	}
	media, err := f.media(t)
	if err != nil {
		return err
	}
	return flags.send(ctx, t, func(c *client.Client, id string) (client.Sent, error) { return send(c, id, media) })
}

type sendImageCommand struct {
	sendFlags
	quoteFlag
	captionFlag
	mentionFlags
	viewOnceFlag
	fileArgument
}

// Run sends the image.
func (c sendImageCommand) Run(ctx context.Context, t terminal.Terminal) error {
	return c.sendFile(ctx, t, c.sendFlags, func(gateway *client.Client, id, media string) (client.Sent, error) {
		return gateway.SendImage(ctx, id, client.Image{
			To: c.To, Image: media, Caption: c.Caption, QuoteMessageID: c.Quote, Mentions: c.Mention, MentionEveryone: c.MentionEveryone, ViewOnce: c.ViewOnce, Prefer: prefer(c.Later), SendAt: c.At, IdempotencyKey: c.IdempotencyKey,
		})
	})
}

type sendVideoCommand struct {
	sendFlags
	quoteFlag
	captionFlag
	mentionFlags
	viewOnceFlag
	fileArgument
}

// Run sends the video.
func (c sendVideoCommand) Run(ctx context.Context, t terminal.Terminal) error {
	return c.sendFile(ctx, t, c.sendFlags, func(gateway *client.Client, id, media string) (client.Sent, error) {
		return gateway.SendVideo(ctx, id, client.Video{
			To: c.To, Video: media, Caption: c.Caption, QuoteMessageID: c.Quote, Mentions: c.Mention, MentionEveryone: c.MentionEveryone, ViewOnce: c.ViewOnce, Prefer: prefer(c.Later), SendAt: c.At, IdempotencyKey: c.IdempotencyKey,
		})
	})
}

type sendVideoNoteCommand struct {
	sendFlags
	quoteFlag
	fileArgument
}

// Run sends the video note.
func (c sendVideoNoteCommand) Run(ctx context.Context, t terminal.Terminal) error {
	return c.sendFile(ctx, t, c.sendFlags, func(gateway *client.Client, id, media string) (client.Sent, error) {
		return gateway.SendVideoNote(ctx, id, client.VideoNote{
			To: c.To, Video: media, QuoteMessageID: c.Quote, Prefer: prefer(c.Later), SendAt: c.At, IdempotencyKey: c.IdempotencyKey,
		})
	})
}

type sendVoiceCommand struct {
	sendFlags
	quoteFlag
	viewOnceFlag
	fileArgument
}

// Run sends the voice note.
func (c sendVoiceCommand) Run(ctx context.Context, t terminal.Terminal) error {
	return c.sendFile(ctx, t, c.sendFlags, func(gateway *client.Client, id, media string) (client.Sent, error) {
		return gateway.SendVoiceNote(ctx, id, client.VoiceNote{
			To: c.To, Audio: media, QuoteMessageID: c.Quote, ViewOnce: c.ViewOnce, Prefer: prefer(c.Later), SendAt: c.At, IdempotencyKey: c.IdempotencyKey,
		})
	})
}

type sendAudioCommand struct {
	sendFlags
	quoteFlag
	fileArgument
}

// Run sends the audio file.
func (c sendAudioCommand) Run(ctx context.Context, t terminal.Terminal) error {
	return c.sendFile(ctx, t, c.sendFlags, func(gateway *client.Client, id, media string) (client.Sent, error) {
		return gateway.SendAudioFile(ctx, id, client.AudioFile{
			To: c.To, Audio: media, QuoteMessageID: c.Quote, Prefer: prefer(c.Later), SendAt: c.At, IdempotencyKey: c.IdempotencyKey,
		})
	})
}

type sendDocumentCommand struct {
	sendFlags
	quoteFlag
	captionFlag
	mentionFlags
	FileName string `help:"Name to display. Without it: the file's own." env:"-"`
	fileArgument
}

// Run sends the document.
func (c sendDocumentCommand) Run(ctx context.Context, t terminal.Terminal) error {
	name := c.FileName
	if name == "" {
		name = c.name()
	}
	return c.sendFile(ctx, t, c.sendFlags, func(gateway *client.Client, id, media string) (client.Sent, error) {
		return gateway.SendDocument(ctx, id, client.Document{
			To: c.To, Document: media, Caption: c.Caption, FileName: name, QuoteMessageID: c.Quote, Mentions: c.Mention, MentionEveryone: c.MentionEveryone, Prefer: prefer(c.Later), SendAt: c.At, IdempotencyKey: c.IdempotencyKey,
		})
	})
}

type sendStickerCommand struct {
	sendFlags
	Convert bool `help:"Make a sticker of a PNG, JPEG, GIF, MP4 or WebM." env:"-"`
	fileArgument
}

// Run sends the sticker.
func (c sendStickerCommand) Run(ctx context.Context, t terminal.Terminal) error {
	return c.sendFile(ctx, t, c.sendFlags, func(gateway *client.Client, id, media string) (client.Sent, error) {
		return gateway.SendSticker(ctx, id, client.Sticker{
			To: c.To, Sticker: media, Convert: c.Convert, Prefer: prefer(c.Later), SendAt: c.At, IdempotencyKey: c.IdempotencyKey,
		})
	})
}
