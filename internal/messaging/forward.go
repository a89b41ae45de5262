// Messages that are forwarded, and what channels take.

package messaging

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/recado-project/recado/internal/gateway"
)

// Forward sends the content of a message to another chat, with the platform's mark and
// without its quote. Its error is NotFound if there is no such message, or it was deleted.
func (s *Service) Forward(ctx context.Context, request Request, ref gateway.MessageRef) (Result, error) {
	return s.send(ctx, request, func(ctx context.Context) (draft, error) {
		original, err := s.Find(ctx, request.InstanceID, ref)
		if err != nil {
			return draft{}, err
		}
		if !original.DeletedAt.IsZero() {
			return draft{}, gateway.Errorf(gateway.NotFound, gateway.CodeMessageNotFound,
				"the message was deleted; there is nothing to forward")
		}
		return s.forwarded(ctx, original, request.To)
	})
}

// forwarded is the draft of a message that forwards another one. Where a channel is on one of
// the two sides, its file has to be left with the platform again, in the way of the other side.
func (s *Service) forwarded(ctx context.Context, original gateway.Message, to gateway.Recipient) (draft, error) {
	payload, err := s.config.Encoder.EncodeForwarded(original.Payload)
	if err != nil {
		return draft{}, fmt.Errorf("messaging: forward message: %w", err)
	}
	made := draft{content: gateway.Content{Type: original.Type, Text: original.Text}, payload: payload}
	if !to.Chat.IsChannel() && !original.Chat.JID.IsChannel() {
		return made, nil
	}
	about, err := s.config.Encoder.Describe(ctx, payload)
	if err != nil {
		return draft{}, fmt.Errorf("messaging: forward message: %w", err)
	}
	made.content.ViewOnce, made.content.Note = about.ViewOnce, about.VideoNote
	if err := made.fits(to); err != nil || about.Media == nil {
		return made, err
	}
	key, _, err := s.fetched(ctx, original)
	if err != nil {
		return draft{}, err
	}
	kept, err := s.config.Blobs.Stat(ctx, key)
	if err != nil {
		return draft{}, err
	}
	made.file = &attachment{
		size: kept.Size, mimeType: kept.MimeType, close: func() error { return nil },
		open: func() (io.ReadSeekCloser, error) { return s.config.Blobs.Get(ctx, key) },
	}
	return made, nil
}

// attachment is the file of a draft.
type attachment struct {
	size     int64 // bytes
	mimeType string
	hash     []byte // of the content (gateway.File); nil if it was not computed here
	open     func() (io.ReadSeekCloser, error)
	close    func() error
}

// fits refuses for channels what they do not take.
func (d draft) fits(to gateway.Recipient) error {
	taken := []gateway.MessageType{
		gateway.TypeText, gateway.TypeImage, gateway.TypeVideo, gateway.TypeVoice, gateway.TypeAudio, gateway.TypeDocument, gateway.TypeSticker,
	}
	what := ""
	switch {
	case !to.Chat.IsChannel():
	case !slices.Contains(taken, d.content.Type):
		what = "messages of type " + string(d.content.Type)
	case d.content.ViewOnce:
		what = "messages to be looked at once"
	case d.content.Note:
		what = "video notes"
	}
	if what == "" {
		return nil
	}
	return gateway.Errorf(gateway.Invalid, gateway.CodeChannelContent, "channels take texts and files, but no %s", what)
}
