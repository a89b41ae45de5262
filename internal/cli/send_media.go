// The commands that send files.

package cli

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/remote"
	"github.com/recado-project/recado/internal/cli/terminal"
)

type sendImageCommand struct {
	sendFlags
	quoteFlag
	captionFlag
	mentionFlags
	viewOnceFlag
	fileArgument
}

// Run sends the image.
func (c sendImageCommand) Run(ctx context.Context, t terminal.Terminal, file mediaInput, on remote.Instance) error {
	sent, err := on.Gateway.SendImage(ctx, on.ID, client.Image{
		To: c.To, Image: string(file), Caption: c.Caption, QuoteMessageID: c.Quote,
		Mentions: c.Mention, MentionEveryone: c.MentionEveryone, ViewOnce: c.ViewOnce,
		SendAt: c.At, IdempotencyKey: c.IdempotencyKey, Prefer: prefer(c.Later),
	})
	return printSent(t, sent, err)
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
func (c sendVideoCommand) Run(ctx context.Context, t terminal.Terminal, file mediaInput, on remote.Instance) error {
	sent, err := on.Gateway.SendVideo(ctx, on.ID, client.Video{
		To: c.To, Video: string(file), Caption: c.Caption, QuoteMessageID: c.Quote,
		Mentions: c.Mention, MentionEveryone: c.MentionEveryone, ViewOnce: c.ViewOnce,
		SendAt: c.At, IdempotencyKey: c.IdempotencyKey, Prefer: prefer(c.Later),
	})
	return printSent(t, sent, err)
}

type sendVideoNoteCommand struct {
	sendFlags
	quoteFlag
	fileArgument
}

// Run sends the video note.
func (c sendVideoNoteCommand) Run(ctx context.Context, t terminal.Terminal, file mediaInput, on remote.Instance) error {
	sent, err := on.Gateway.SendVideoNote(ctx, on.ID, client.VideoNote{
		To: c.To, Video: string(file), QuoteMessageID: c.Quote,
		SendAt: c.At, IdempotencyKey: c.IdempotencyKey, Prefer: prefer(c.Later),
	})
	return printSent(t, sent, err)
}

type sendVoiceCommand struct {
	sendFlags
	quoteFlag
	viewOnceFlag
	fileArgument
}

// Run sends the voice note.
func (c sendVoiceCommand) Run(ctx context.Context, t terminal.Terminal, file mediaInput, on remote.Instance) error {
	sent, err := on.Gateway.SendVoiceNote(ctx, on.ID, client.VoiceNote{
		To: c.To, Audio: string(file), QuoteMessageID: c.Quote, ViewOnce: c.ViewOnce,
		SendAt: c.At, IdempotencyKey: c.IdempotencyKey, Prefer: prefer(c.Later),
	})
	return printSent(t, sent, err)
}

type sendAudioCommand struct {
	sendFlags
	quoteFlag
	fileArgument
}

// Run sends the audio file.
func (c sendAudioCommand) Run(ctx context.Context, t terminal.Terminal, file mediaInput, on remote.Instance) error {
	sent, err := on.Gateway.SendAudioFile(ctx, on.ID, client.AudioFile{
		To: c.To, Audio: string(file), QuoteMessageID: c.Quote,
		SendAt: c.At, IdempotencyKey: c.IdempotencyKey, Prefer: prefer(c.Later),
	})
	return printSent(t, sent, err)
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
func (c sendDocumentCommand) Run(ctx context.Context, t terminal.Terminal, file mediaInput, on remote.Instance) error {
	name := c.FileName
	if name == "" {
		name = c.name()
	}
	sent, err := on.Gateway.SendDocument(ctx, on.ID, client.Document{
		To: c.To, Document: string(file), Caption: c.Caption, FileName: name, QuoteMessageID: c.Quote,
		Mentions: c.Mention, MentionEveryone: c.MentionEveryone,
		SendAt: c.At, IdempotencyKey: c.IdempotencyKey, Prefer: prefer(c.Later),
	})
	return printSent(t, sent, err)
}

type sendStickerCommand struct {
	sendFlags
	Convert bool `help:"Make a sticker of a PNG, JPEG, GIF, MP4 or WebM." env:"-"`
	fileArgument
}

// Run sends the sticker.
func (c sendStickerCommand) Run(ctx context.Context, t terminal.Terminal, file mediaInput, on remote.Instance) error {
	sent, err := on.Gateway.SendSticker(ctx, on.ID, client.Sticker{
		To: c.To, Sticker: string(file), Convert: c.Convert,
		SendAt: c.At, IdempotencyKey: c.IdempotencyKey, Prefer: prefer(c.Later),
	})
	return printSent(t, sent, err)
}

type sendAlbumCommand struct {
	sendFlags
	quoteFlag
	captionFlag
	Files []string `arg:"" help:"2 to 30 pictures and videos: http(s) URLs that the gateway can reach, or files that have less than a megabyte together. Names that end with .mp4, .mov, .3gp or .webm are videos."`
}

// Run sends the album. The caption stands below the first file.
func (c sendAlbumCommand) Run(ctx context.Context, t terminal.Terminal, items albumItems, on remote.Instance) error {
	sent, err := on.Gateway.SendAlbum(ctx, on.ID, client.Album{
		To: c.To, Items: items, QuoteMessageID: c.Quote,
		SendAt: c.At, IdempotencyKey: c.IdempotencyKey, Prefer: prefer(c.Later),
	})
	for n, item := range sent.Items {
		if item.Error != nil {
			t.Notef("%s was not sent: %s (%s)", c.Files[n], terminal.OrNone(item.Message), *item.Error)
		}
	}
	return printSent(t, client.Sent{
		ID: sent.ID, MessageID: sent.MessageID, IdempotencyReplayed: sent.IdempotencyReplayed, Accepted: sent.Accepted,
	}, err)
}

// albumItems are the files of an album.
type albumItems []client.AlbumItem

// ProvideItems reads the files. Kong calls it for the Run method.
func (c sendAlbumCommand) ProvideItems(t terminal.Terminal) (albumItems, error) {
	items := make(albumItems, len(c.Files))
	for n, name := range c.Files {
		file, err := fileArgument{File: name, MaxMedia: maxInAlbum}.ProvideMedia(t)
		if err != nil {
			return nil, err
		}
		if slices.Contains([]string{".mp4", ".mov", ".3gp", ".webm"}, strings.ToLower(path.Ext(name))) {
			items[n].Video = string(file)
		} else {
			items[n].Image = string(file)
		}
	}
	items[0].Caption = c.Caption
	return items, nil
}

// maxInAlbum is how large a file of an album is at most.
const maxInAlbum = 1 << 20
