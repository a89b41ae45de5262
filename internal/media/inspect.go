package media

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"os"
	"strings"

	"github.com/gabriel-vasile/mimetype"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media/probe"
)

// examined is what an inspection knows about its file besides the content.
type examined struct {
	field    string
	declared string // media type as given
	sniffed  string // media type of the content's first bytes, without parameters
}

func (e examined) refuse(message string) error { return refused(e.field, message) }

// inspection checks that a file is of its kind, and measures it.
type inspection func(ctx context.Context, s *Service, file *File, about examined) error

// inspectionOf returns the inspection of a kind; nil if such messages have no media.
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

// CheckInline refuses a data URI whose first bytes show that it is not of the kind. It
// is cheap, and needs no session. Its error is the validation error of hints.Field. It
// accepts everything that is not a data URI; Open checks the rest.
func CheckInline(kind gateway.MessageType, input string, hints Hints) error {
	if hints.Decoded != nil {
		return checkDecoded(kind, hints)
	}
	field := hints.Field
	if !isInline(input) {
		return nil
	}
	_, data, wrong := parseData(input[len(dataScheme):])
	if wrong != "" {
		return refused(field, wrong)
	}
	// As many bytes as mimetype looks at. Open refuses what can't be decoded.
	head, _ := io.ReadAll(io.LimitReader(base64.NewDecoder(base64.RawStdEncoding, strings.NewReader(data)), sniffLimit))
	if len(head) == 0 {
		return nil
	}
	if wrong := unfit(kind, known(mimetype.Detect(head)), hints.Convert); wrong != "" {
		return refused(field, wrong)
	}
	return nil
}

// sniffLimit is how many bytes mimetype needs to recognise a type.
const sniffLimit = 3072

// unfit returns why content of a media type can't be of a kind; empty if it can. converts
// says that a sticker may be made of it.
func unfit(kind gateway.MessageType, mimeType string, converts bool) string {
	family, _, _ := strings.Cut(mimeType, "/")
	switch kind {
	case gateway.TypeImage:
		switch mimeType {
		case "image/jpeg", "image/png", "image/webp", "image/gif":
		default:
			return "must hold an image (JPEG, PNG, WebP or GIF)"
		}
	case gateway.TypeSticker:
		switch {
		case mimeType == webP, converts && becomesSticker(mimeType):
		case converts:
			return "must hold a picture or a video (WebP, PNG, JPEG, GIF, MP4 or WebM)"
		default:
			return "must hold a WebP picture"
		}
	case gateway.TypeVideo:
		if family != "video" {
			return "must hold a video"
		}
	case gateway.TypeVoice, gateway.TypeAudio:
		if family != "audio" && !holdsEither(mimeType) {
			return "must hold audio"
		}
	default: // a document takes anything
	}
	return ""
}

// holdsEither reports whether a container may hold a video or sound alone.
func holdsEither(mimeType string) bool {
	return strings.HasPrefix(mimeType, "video/") || mimeType == "application/ogg"
}

// sniff recognises the media type of content by its first bytes.
func sniff(content *content) (string, error) {
	var found *mimetype.MIME
	err := content.read(func(file *os.File) (err error) {
		found, err = mimetype.DetectReader(file)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("media: sniff type: %w", err)
	}
	return known(found), nil
}

// known returns a media type without parameters, by the name that other programs use.
func known(found *mimetype.MIME) string {
	base, _, _ := strings.Cut(found.String(), ";")
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
	return base
}

func inspectDocument(context.Context, *Service, *File, examined) error { return nil }

func inspectImage(ctx context.Context, s *Service, file *File, about examined) error {
	return file.content.read(func(content *os.File) error {
		picture, err := probe.ReadPicture(content)
		if err != nil {
			return about.refuse("must hold an image that can be read")
		}
		file.Width, file.Height = picture.Shown()
		file.Thumbnail, err = s.thumbnail(ctx, content, picture)
		return err
	})
}

func inspectSticker(_ context.Context, _ *Service, file *File, about examined) error {
	return file.content.read(func(content *os.File) error {
		sticker, err := probe.ReadWebP(content)
		if err != nil {
			return about.refuse("must hold a WebP picture that can be read")
		}
		file.Width, file.Height, file.Animated = sticker.Width, sticker.Height, sticker.Animated
		return nil
	})
}

func inspectVideo(ctx context.Context, s *Service, file *File, about examined) error {
	found, err := s.measureTracks(ctx, file, about)
	if err != nil {
		return err
	}
	if found.Audio && !found.Video {
		return about.refuse("must hold a video, not only sound")
	}
	file.Width, file.Height, file.Seconds = found.Width, found.Height, found.Seconds()
	file.Thumbnail, err = s.tool.frame(ctx, file.content.path(), found.Duration)
	return err
}

func inspectAudio(ctx context.Context, s *Service, file *File, about examined) error {
	_, err := s.measureAudio(ctx, file, about)
	return err
}

// measureAudio checks that a file holds audio and no video, and measures it. The tracks
// decide about containers that can hold both.
func (s *Service) measureAudio(ctx context.Context, file *File, about examined) (probe.Tracks, error) {
	refusal := about.refuse("must hold audio")
	declared, params := declaredType(about.declared)
	_, subtype, _ := strings.Cut(about.sniffed, "/")
	found, err := s.measureTracks(ctx, file, about)
	if err != nil {
		return probe.Tracks{}, err
	}
	if holdsEither(about.sniffed) {
		switch {
		case found.Video:
			return probe.Tracks{}, refusal
		// Its tracks are unknown. Only in this case the declared type is believed.
		case !found.Audio && !strings.HasPrefix(declared, "audio/"):
			return probe.Tracks{}, refusal
		}
		file.MimeType = "audio/" + subtype
	}
	file.Seconds = found.Seconds()
	switch {
	case found.Opus && file.MimeType == "audio/ogg":
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
		if found, err = file.tracks("audio/ogg"); err != nil {
			return fmt.Errorf("media: measure converted voice note: %w", err)
		}
		file.Seconds = found.Seconds()
	}
	file.Waveform, err = s.tool.waveform(ctx, file.content.path(), found.Duration)
	return err
}
