// The command that sends several pictures and videos together.

package cli

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/terminal"
)

type sendAlbumCommand struct {
	sendFlags
	quoteFlag
	captionFlag
	Files []string `arg:"" help:"2 to 30 pictures and videos: http(s) URLs that the gateway can reach, or files that have less than a megabyte together. Names that end with .mp4, .mov, .3gp or .webm are videos."`
}

// Run sends the album. The caption stands below the first file.
func (c sendAlbumCommand) Run(ctx context.Context, t terminal.Terminal) error {
	if err := c.needsRecipient(); err != nil {
		return err
	}
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
