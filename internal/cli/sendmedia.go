package cli

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"os"
	"path/filepath"
	"strings"

	"github.com/recado-project/recado/client"
)

// fileArgument is the media of a message.
type fileArgument struct {
	File string `arg:"" help:"File, or http(s) URL that the gateway can reach."`
}

// isURL reports whether the gateway is to fetch the media.
func (f fileArgument) isURL() bool {
	scheme, _, found := strings.Cut(f.File, "://")
	return found && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

// media makes a media input: a URL as it is, a file as a data URI.
func (f fileArgument) media() (_ string, err error) {
	if f.isURL() {
		return f.File, nil
	}
	file, err := os.Open(f.File)
	if err != nil {
		return "", fmt.Errorf("read the file to send: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	mimeType, _, err := mime.ParseMediaType(mime.TypeByExtension(filepath.Ext(f.File)))
	if err != nil {
		mimeType = "application/octet-stream" // the gateway finds it out
	}
	return client.ReadDataURI(mimeType, file)
}

type sendImageCommand struct {
	sendFlags
	quoteFlag
	captionFlag
	viewOnceFlag
	fileArgument
}

// Run sends the image.
func (c sendImageCommand) Run(ctx context.Context, t terminal) error {
	media, err := c.media()
	if err != nil {
		return err
	}
	sent, err := c.client().SendImage(ctx, c.Instance, client.Image{
		To: c.To, Image: media, Caption: c.Caption, QuoteMessageID: c.Quote, ViewOnce: c.ViewOnce, IdempotencyKey: c.IdempotencyKey,
	})
	return printSent(t, sent, err)
}

type sendVideoCommand struct {
	sendFlags
	quoteFlag
	captionFlag
	viewOnceFlag
	fileArgument
}

// Run sends the video.
func (c sendVideoCommand) Run(ctx context.Context, t terminal) error {
	media, err := c.media()
	if err != nil {
		return err
	}
	sent, err := c.client().SendVideo(ctx, c.Instance, client.Video{
		To: c.To, Video: media, Caption: c.Caption, QuoteMessageID: c.Quote, ViewOnce: c.ViewOnce, IdempotencyKey: c.IdempotencyKey,
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
func (c sendVoiceCommand) Run(ctx context.Context, t terminal) error {
	media, err := c.media()
	if err != nil {
		return err
	}
	sent, err := c.client().SendVoiceNote(ctx, c.Instance, client.VoiceNote{
		To: c.To, Audio: media, QuoteMessageID: c.Quote, ViewOnce: c.ViewOnce, IdempotencyKey: c.IdempotencyKey,
	})
	return printSent(t, sent, err)
}

type sendAudioCommand struct {
	sendFlags
	quoteFlag
	fileArgument
}

// Run sends the audio file.
func (c sendAudioCommand) Run(ctx context.Context, t terminal) error {
	media, err := c.media()
	if err != nil {
		return err
	}
	sent, err := c.client().SendAudioFile(ctx, c.Instance, client.AudioFile{
		To: c.To, Audio: media, QuoteMessageID: c.Quote, IdempotencyKey: c.IdempotencyKey,
	})
	return printSent(t, sent, err)
}

type sendDocumentCommand struct {
	sendFlags
	quoteFlag
	captionFlag
	FileName string `help:"Name to display; without it, the file's own." env:"-"`
	fileArgument
}

// Run sends the document.
func (c sendDocumentCommand) Run(ctx context.Context, t terminal) error {
	media, err := c.media()
	if err != nil {
		return err
	}
	name := c.FileName
	if name == "" && !c.isURL() { // of a URL the gateway knows better
		name = filepath.Base(c.File)
	}
	sent, err := c.client().SendDocument(ctx, c.Instance, client.Document{
		To: c.To, Document: media, Caption: c.Caption, FileName: name, QuoteMessageID: c.Quote, IdempotencyKey: c.IdempotencyKey,
	})
	return printSent(t, sent, err)
}

type sendStickerCommand struct {
	sendFlags
	fileArgument
}

// Run sends the sticker.
func (c sendStickerCommand) Run(ctx context.Context, t terminal) error {
	media, err := c.media()
	if err != nil {
		return err
	}
	sent, err := c.client().SendSticker(ctx, c.Instance, client.Sticker{
		To: c.To, Sticker: media, IdempotencyKey: c.IdempotencyKey,
	})
	return printSent(t, sent, err)
}
