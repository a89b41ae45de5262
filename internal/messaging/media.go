package messaging

import (
	"context"
	"errors"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/trace"
)

// MediaParams describe media to be sent.
type MediaParams struct {
	Input    string         // base64 data URI or http(s) URL
	Decoded  *media.Decoded // the media itself, if Input was a data URI; nil: read Input
	Field    string         // the request's name for Input, for errors
	Caption  string
	FileName string // of documents; empty: taken from the URL, else made up
	ViewOnce bool
	Note     bool // of a video: phones show it round
	Convert  bool // make a sticker of a picture or video that is none
}

// SendMedia sends an image, a video, a voice note, an audio file, a document or
// a sticker. Besides the errors of SendText it is Invalid if the input is not of that kind
// or can't be fetched, and TooLarge beyond the limit.
func (s *Service) SendMedia(ctx context.Context, request Request, kind gateway.MessageType, params MediaParams) (Result, error) {
	hints := media.Hints{Field: params.Field, FileName: params.FileName, Convert: params.Convert, Decoded: params.Decoded}
	if err := media.CheckInline(kind, params.Input, hints); err != nil {
		return Result{}, err // obviously not of the kind
	}
	return s.send(ctx, request, func(ctx context.Context) (draft, error) {
		file, err := s.config.Media.Open(ctx, kind, params.Input, hints)
		if err != nil {
			return draft{}, err
		}
		content := gateway.Content{
			Type:     kind,
			Text:     params.Caption,
			ViewOnce: params.ViewOnce,
			Note:     params.Note,
			Media: &gateway.Media{
				MimeType: file.MimeType, FileName: file.FileName, Size: file.Size, SHA256: file.SHA256,
				Width: file.Width, Height: file.Height, Length: time.Duration(file.Seconds) * time.Second,
				Waveform: file.Waveform, Thumbnail: file.Thumbnail, Animated: file.Animated,
			},
		}
		return draft{content: content, file: file}, nil
	})
}

func (s *Service) upload(ctx context.Context, session gateway.Session, kind gateway.MessageType, file *media.File) (_ gateway.Upload, err error) {
	content, err := file.Open()
	if err != nil {
		return gateway.Upload{}, err
	}
	defer func() { err = errors.Join(err, content.Close()) }()
	ctx, step := trace.Step(ctx, "upload")
	upload, err := session.Upload(ctx, kind, content)
	step.End(err)
	if err == nil {
		s.config.Watcher.Uploaded(file.Size)
	}
	return upload, err
}
