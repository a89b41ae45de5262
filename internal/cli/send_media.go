// The commands that send files.

package cli

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/terminal"
)

// sendFile is sendMessage for the message that is made of the media of a file.
func sendFile[M any](
	ctx context.Context, t terminal.Terminal, f sendFlags, file fileArgument, operation sendOperation[M], message func(media string) M,
) error {
	media, err := file.media(t)
	if err != nil {
		return err
	}
	return sendMessage(ctx, t, f, operation, message(media))
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
	return sendFile(ctx, t, c.sendFlags, c.fileArgument, (*client.Client).SendImage, func(media string) client.Image {
		return client.Image{
			To: c.To, Image: media, Caption: c.Caption, QuoteMessageID: c.Quote,
			Mentions: c.Mention, MentionEveryone: c.MentionEveryone, ViewOnce: c.ViewOnce,
			SendAt: c.At, IdempotencyKey: c.IdempotencyKey, Prefer: prefer(c.Later),
		}
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
	return sendFile(ctx, t, c.sendFlags, c.fileArgument, (*client.Client).SendVideo, func(media string) client.Video {
		return client.Video{
			To: c.To, Video: media, Caption: c.Caption, QuoteMessageID: c.Quote,
			Mentions: c.Mention, MentionEveryone: c.MentionEveryone, ViewOnce: c.ViewOnce,
			SendAt: c.At, IdempotencyKey: c.IdempotencyKey, Prefer: prefer(c.Later),
		}
	})
}

type sendVideoNoteCommand struct {
	sendFlags
	quoteFlag
	fileArgument
}

// Run sends the video note.
func (c sendVideoNoteCommand) Run(ctx context.Context, t terminal.Terminal) error {
	return sendFile(ctx, t, c.sendFlags, c.fileArgument, (*client.Client).SendVideoNote, func(media string) client.VideoNote {
		return client.VideoNote{
			To: c.To, Video: media, QuoteMessageID: c.Quote,
			SendAt: c.At, IdempotencyKey: c.IdempotencyKey, Prefer: prefer(c.Later),
		}
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
	return sendFile(ctx, t, c.sendFlags, c.fileArgument, (*client.Client).SendVoiceNote, func(media string) client.VoiceNote {
		return client.VoiceNote{
			To: c.To, Audio: media, QuoteMessageID: c.Quote, ViewOnce: c.ViewOnce,
			SendAt: c.At, IdempotencyKey: c.IdempotencyKey, Prefer: prefer(c.Later),
		}
	})
}

type sendAudioCommand struct {
	sendFlags
	quoteFlag
	fileArgument
}

// Run sends the audio file.
func (c sendAudioCommand) Run(ctx context.Context, t terminal.Terminal) error {
	return sendFile(ctx, t, c.sendFlags, c.fileArgument, (*client.Client).SendAudioFile, func(media string) client.AudioFile {
		return client.AudioFile{
			To: c.To, Audio: media, QuoteMessageID: c.Quote,
			SendAt: c.At, IdempotencyKey: c.IdempotencyKey, Prefer: prefer(c.Later),
		}
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
	return sendFile(ctx, t, c.sendFlags, c.fileArgument, (*client.Client).SendDocument, func(media string) client.Document {
		return client.Document{
			To: c.To, Document: media, Caption: c.Caption, FileName: name, QuoteMessageID: c.Quote,
			Mentions: c.Mention, MentionEveryone: c.MentionEveryone,
			SendAt: c.At, IdempotencyKey: c.IdempotencyKey, Prefer: prefer(c.Later),
		}
	})
}

type sendStickerCommand struct {
	sendFlags
	Convert bool `help:"Make a sticker of a PNG, JPEG, GIF, MP4 or WebM." env:"-"`
	fileArgument
}

// Run sends the sticker.
func (c sendStickerCommand) Run(ctx context.Context, t terminal.Terminal) error {
	return sendFile(ctx, t, c.sendFlags, c.fileArgument, (*client.Client).SendSticker, func(media string) client.Sticker {
		return client.Sticker{
			To: c.To, Sticker: media, Convert: c.Convert,
			SendAt: c.At, IdempotencyKey: c.IdempotencyKey, Prefer: prefer(c.Later),
		}
	})
}

type sendAlbumCommand struct {
	sendFlags
	quoteFlag
	captionFlag
	Files []string `arg:"" help:"2 to 30 pictures and videos: http(s) URLs that the gateway can reach, or files that have less than a megabyte together. Names that end with .mp4, .mov, .3gp or .webm are videos."`
}

// Run sends the album. The caption stands below the first file.
func (c sendAlbumCommand) Run(ctx context.Context, t terminal.Terminal) error {
	album := client.Album{To: c.To, QuoteMessageID: c.Quote, Prefer: prefer(c.Later), SendAt: c.At, IdempotencyKey: c.IdempotencyKey}
	for n, name := range c.Files {
		media, err := fileArgument{File: name, MaxMedia: maxInAlbum}.media(t)
		if err != nil {
			return err
		}
		item := client.AlbumItem{Image: media}
		if slices.Contains([]string{".mp4", ".mov", ".3gp", ".webm"}, strings.ToLower(path.Ext(name))) {
			item = client.AlbumItem{Video: media}
		}
		if n == 0 {
			item.Caption = c.Caption
		}
		album.Items = append(album.Items, item)
	}
	return c.send(ctx, t, func(gateway *client.Client, id string) (client.Sent, error) {
		sent, err := gateway.SendAlbum(ctx, id, album)
		for n, item := range sent.Items {
			if item.Error != nil {
				t.Notef("%s was not sent: %s (%s)", c.Files[n], terminal.OrNone(item.Message), *item.Error)
			}
		}
		return client.Sent{
			ID: sent.ID, MessageID: sent.MessageID, IdempotencyReplayed: sent.IdempotencyReplayed, Accepted: sent.Accepted,
		}, err
	})
}

// maxInAlbum is how large a file of an album is at most.
const maxInAlbum = 1 << 20
