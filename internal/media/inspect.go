package media

import (
	"context"
	"fmt"
	"mime"
	"os"
	"strings"

	"github.com/gabriel-vasile/mimetype"

	"github.com/recado-project/recado/internal/gateway"
)

// examined is what an inspection knows of its file besides the content.
type examined struct {
	field    string
	declared string // media type as given
	sniffed  string // media type of the content's first bytes, without parameters
}

func (e examined) refuse(message string) error { return refused(e.field, message) }

// inspection checks that a file is of its kind, and measures it.
type inspection func(ctx context.Context, s *Service, file *File, about examined) error

// inspectionOf returns the inspection of a kind; nil where messages of the type
// have no media.
func inspectionOf(kind gateway.MessageType) inspection {
	switch kind {
	case gateway.TypeImage:
		return inspectImage
	case gateway.TypeVideo:
		return inspectVideo
	case gateway.TypeVoice:
		return inspectVoice
	case gateway.TypeAudio:
		return inspectAudio
	case gateway.TypeDocument:
		return inspectDocument
	case gateway.TypeSticker:
		return inspectSticker
	default:
		return nil
	}
}

// sniff tells the media type of content by its first bytes, without parameters
// and under the name that other programs know.
func sniff(content *content) (string, error) {
	var full string
	err := content.read(func(file *os.File) error {
		found, err := mimetype.DetectReader(file)
		if err != nil {
			return fmt.Errorf("media: sniff type: %w", err)
		}
		full = found.String()
		return nil
	})
	base, _, _ := strings.Cut(full, ";")
	switch base {
	case "audio/x-m4a":
		base = "audio/mp4"
	case "image/apng":
		base = "image/png"
	case "video/matroska":
		base = "video/x-matroska"
	case "video/x-m4v":
		base = "video/mp4"
	}
	return base, err
}

func inspectDocument(context.Context, *Service, *File, examined) error { return nil }

func inspectImage(ctx context.Context, s *Service, file *File, about examined) error {
	switch about.sniffed {
	case "image/jpeg", "image/png", "image/webp", "image/gif":
	default:
		return about.refuse("must hold an image (JPEG, PNG, WebP or GIF)")
	}
	return file.content.read(func(content *os.File) error {
		picture, err := measurePicture(content)
		if err != nil {
			return about.refuse("must hold an image that can be read")
		}
		file.Width, file.Height = picture.shown()
		file.Thumbnail, err = s.thumbnail(ctx, content, picture)
		return err
	})
}

func inspectSticker(_ context.Context, _ *Service, file *File, about examined) error {
	if about.sniffed != "image/webp" {
		return about.refuse("must hold a WebP picture")
	}
	return file.content.read(func(content *os.File) error {
		sticker, err := parseWebP(content)
		if err != nil {
			return about.refuse("must hold a WebP picture that can be read")
		}
		file.Width, file.Height, file.Animated = sticker.width, sticker.height, sticker.animated
		return nil
	})
}

func inspectVideo(ctx context.Context, s *Service, file *File, about examined) error {
	if !strings.HasPrefix(about.sniffed, "video/") {
		return about.refuse("must hold a video")
	}
	found, err := s.measureTracks(ctx, file, about)
	if err != nil {
		return err
	}
	if found.audio && !found.video {
		return about.refuse("must hold a video, not only sound")
	}
	file.Width, file.Height, file.Seconds = found.width, found.height, found.seconds()
	file.Thumbnail, err = s.tool.frame(ctx, file.content.path(), found.duration)
	return err
}

func inspectAudio(ctx context.Context, s *Service, file *File, about examined) error {
	_, err := s.measureAudio(ctx, file, about)
	return err
}

// measureAudio checks that a file holds audio and nothing to look at, and
// measures it. Containers that hold either are decided by their tracks.
func (s *Service) measureAudio(ctx context.Context, file *File, about examined) (tracks, error) {
	refusal := about.refuse("must hold audio")
	declared, params := declaredType(about.declared)
	family, subtype, _ := strings.Cut(about.sniffed, "/")
	either := family == "video" || about.sniffed == "application/ogg"
	if family != "audio" && !either {
		return tracks{}, refusal
	}
	found, err := s.measureTracks(ctx, file, about)
	if err != nil {
		return tracks{}, err
	}
	if either {
		switch {
		case found.video:
			return tracks{}, refusal
		// Nobody can say what it holds: the one case where its sender is believed.
		case !found.audio && !strings.HasPrefix(declared, "audio/"):
			return tracks{}, refusal
		}
		file.MimeType = "audio/" + subtype
	}
	file.Seconds = found.seconds()
	switch {
	case found.opus && file.MimeType == "audio/ogg":
		file.MimeType = oggOpus
	case declared == file.MimeType && params["codecs"] != "":
		file.MimeType = mime.FormatMediaType(declared, map[string]string{"codecs": params["codecs"]})
	}
	return found, nil
}

// oggOpus is the type of voice notes, as the platform's clients write it.
const oggOpus = "audio/ogg; codecs=opus"

func inspectVoice(ctx context.Context, s *Service, file *File, about examined) error {
	found, err := s.measureAudio(ctx, file, about)
	if err != nil {
		return err
	}
	if file.MimeType != oggOpus && s.tool.found(ctx) {
		converted, err := s.convertVoice(ctx, file, about)
		if err != nil {
			return err
		}
		original := file.content
		file.take(converted)
		file.MimeType = oggOpus
		if err := original.remove(); err != nil {
			return err
		}
		if err := file.content.read(func(content *os.File) (err error) {
			found, err = parseOgg(content)
			return err
		}); err != nil {
			return fmt.Errorf("media: measure converted voice note: %w", err)
		}
		file.Seconds = found.seconds()
	}
	file.Waveform, err = s.tool.waveform(ctx, file.content.path(), found.duration)
	return err
}
