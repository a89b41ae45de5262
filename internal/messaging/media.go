package messaging

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
// a sticker. Besides the errors of Send it is Invalid if the input is not of that kind
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
		return mediaDraft(params, file), nil
	})
}

// mediaDraft is the draft of a message with a file.
func mediaDraft(params MediaParams, file *media.File) draft {
	return draft{file: attached(file), content: gateway.Content{
		Type:     file.Kind,
		Text:     params.Caption,
		ViewOnce: params.ViewOnce,
		Note:     params.Note,
		Media: &gateway.Media{
			MimeType: file.MimeType, FileName: file.FileName, Size: file.Size, SHA256: file.SHA256,
			Width: file.Width, Height: file.Height, Length: time.Duration(file.Seconds) * time.Second,
			Waveform: file.Waveform, Thumbnail: file.Thumbnail, Animated: file.Animated,
		},
	}}
}

// AlbumItem is a picture or a video of an album.
type AlbumItem struct {
	Kind     gateway.MessageType
	Params   MediaParams
	Mentions Mentions // in its caption
}

// AlbumPart is what became of an item.
type AlbumPart struct {
	Result
	Failure *gateway.Error // nil: it was sent, or left in the queue
}

// SendAlbum sends pictures and videos as one album: first its frame, then each of them, in their
// order, as messages of their own. Its errors are those of SendMedia: then nothing was sent. An
// item that fails later does not keep the others back. Under the same Idempotency-Key, a repeat
// sends what is still to be sent.
func (s *Service) SendAlbum(ctx context.Context, request Request, items []AlbumItem) (Result, []AlbumPart, error) {
	files := make([]*media.File, len(items)) // that are open, until their message is made
	defer func() {
		for _, file := range files {
			if file != nil {
				_ = file.Close() // it is a temporary one, which is not needed
			}
		}
	}()
	frame, err := s.send(ctx, request, func(ctx context.Context) (draft, error) {
		for n, item := range items {
			var err error
			if files[n], err = s.openItem(ctx, item); err != nil {
				return draft{}, err
			}
		}
		return draft{content: gateway.Content{Type: gateway.TypeAlbum, Album: counted(files)}}, nil
	})
	if err != nil {
		return Result{}, nil, err
	}
	candidates, err := s.config.Directory.Candidates(ctx, request.To)
	if err != nil {
		return Result{}, nil, err
	}
	// The album has begun: it is finished whether or not the client still waits.
	ctx = context.WithoutCancel(ctx)
	album := &gateway.AlbumRef{PlatformID: frame.MessageID, Chat: candidates[0].Address()}
	parts := make([]AlbumPart, len(items))
	for n, item := range items {
		one := request
		one.Quote, one.Repeat, one.Mentions = gateway.MessageRef{}, request.Repeat.part(n), item.Mentions
		result, err := s.send(ctx, one, func(ctx context.Context) (draft, error) {
			file := files[n]
			if files[n] = nil; file == nil { // the frame was sent by an earlier request
				var err error
				if file, err = s.openItem(ctx, item); err != nil {
					return draft{}, err
				}
			}
			made := mediaDraft(item.Params, file)
			made.content.AlbumOf = album
			return made, nil
		})
		if parts[n].Result = result; err != nil {
			parts[n].Failure = s.partFailure(ctx, request.InstanceID, frame, err)
		}
	}
	return frame, parts, nil
}

// counted is the frame of an album.
func counted(files []*media.File) *gateway.Album {
	album := &gateway.Album{}
	for _, file := range files {
		if file.Kind == gateway.TypeVideo {
			album.Videos++
		} else {
			album.Images++
		}
	}
	return album
}

// openItem opens the file of an item.
func (s *Service) openItem(ctx context.Context, item AlbumItem) (*media.File, error) {
	return s.config.Media.Open(ctx, item.Kind, item.Params.Input, media.Hints{Field: item.Params.Field, Decoded: item.Params.Decoded})
}

// partFailure is what a client reads of a failure that the answer itself does not have.
func (s *Service) partFailure(ctx context.Context, instanceID string, album Result, err error) *gateway.Error {
	failure := asGateway(err)
	if failure.Kind == gateway.Internal {
		s.config.Logger.ErrorContext(ctx, "a part of an album was not sent",
			slog.String("instance_id", instanceID), slog.String("message_id", album.ID), slog.Any("error", err))
	}
	return failure
}

// attached is the file of a draft that is decoded or fetched already.
func attached(file *media.File) *attachment {
	return &attachment{size: file.Size, mimeType: file.MimeType, hash: file.SHA256, open: file.Open, close: file.Close}
}

// upload leaves the file of a draft with the platform, and writes where it lies.
func (s *Service) upload(ctx context.Context, session gateway.Session, chat gateway.JID, draft *draft) (err error) {
	if draft.file == nil {
		return nil
	}
	content, err := draft.file.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, content.Close()) }()
	ctx, step := trace.Step(ctx, "upload")
	file := gateway.File{Content: content, SHA256: draft.file.hash}
	if draft.content.ViewOnce {
		file.SHA256 = nil
	}
	upload, err := s.leave(ctx, session, chat, draft.content.Type, file, draft.file.size)
	step.End(err)
	if err != nil {
		return err
	}
	if draft.payload == nil {
		draft.content.Media.Upload = upload
		return nil
	}
	if draft.payload, err = s.config.Encoder.EncodeUploaded(draft.payload, upload); err != nil {
		return fmt.Errorf("messaging: encode message with its file: %w", err)
	}
	return nil
}

// leave leaves a file of a size with the platform.
func (s *Service) leave(
	ctx context.Context, session gateway.Session, chat gateway.JID, kind gateway.MessageType, file gateway.File, size int64,
) (gateway.Upload, error) {
	upload, err := session.Files().Upload(ctx, chat, kind, file)
	if err == nil && !upload.Reused {
		s.config.Watcher.Uploaded(size)
	}
	return upload, err
}

// SendTemplate sends what a template says: a text, or a file with the text below it. render is asked once the message can
// be sent, and not for a repeat, and returns which of them; its errors are returned as they are. file is needed for a file alone. The other errors are
// those of Send and SendMedia.
func (s *Service) SendTemplate(
	ctx context.Context, request Request, render func(ctx context.Context) (gateway.Content, error), file MediaParams,
) (Result, error) {
	return s.send(ctx, request, func(ctx context.Context) (draft, error) {
		said, err := render(ctx)
		if err != nil {
			return draft{}, err
		}
		if said.Type == gateway.TypeText || said.Type == gateway.TypePoll {
			return draft{content: said}, nil
		}
		file.Caption = said.Text
		opened, err := s.config.Media.Open(ctx, said.Type, file.Input, media.Hints{Field: file.Field, FileName: file.FileName, Decoded: file.Decoded})
		if err != nil {
			return draft{}, err
		}
		made := mediaDraft(file, opened)
		made.content.Menu = said.Menu
		return made, nil
	})
}
