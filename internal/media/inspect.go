package media

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"strings"
	"time"

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

// What is remembered of files that were inspected, in all: so many, each of which has so many bytes at most.
const (
	maxFindings     = 500
	maxFindingBytes = 10 << 10 // of a thumbnail
	maxDeclared     = 200      // of a declared type
)

// findingKey is for what, and for whose, file something was found: no account can notice what another one has sent.
type findingKey struct {
	account  string
	kind     gateway.MessageType
	declared string
	hash     [sha256.Size]byte
}

// inspect checks and measures a file. What it finds out about a file that it leaves as it is is remembered, for
// the next recipient of the file.
func (s *Service) inspect(ctx context.Context, file *File, about examined) error {
	given := file.content.name
	key := findingKey{gateway.RequesterOf(ctx).AccountID, file.Kind, about.declared, [sha256.Size]byte(file.SHA256)}
	found, known, err := s.findings.Find(key, func() (File, bool, error) {
		err := inspectionOf(file.Kind)(ctx, s, file, about)
		return *file, file.content.name == given && file.isWorthRemembering() && len(about.declared) <= maxDeclared, err
	})
	if err == nil && known {
		found.content, found.FileName = file.content, file.FileName
		*file = found
	}
	return err
}

// isWorthRemembering reports whether it took work to find out what is known of the file, and that is all there
// is to know: while others have all the room, there is less.
func (f *File) isWorthRemembering() bool {
	switch f.Kind {
	case gateway.TypeImage, gateway.TypeVideo:
		return f.Thumbnail != nil && len(f.Thumbnail) <= maxFindingBytes
	case gateway.TypeVoice:
		return !bytes.Equal(f.Waveform, flatWaveform())
	case gateway.TypeAudio:
		return f.Seconds > 0
	default: // the others are looked at in no time
		return false
	}
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
	if wrong := unfit(kind, detect(head), hints.Convert); wrong != "" {
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
			return "must hold a WebP picture; with convert it may be a PNG, JPEG, GIF, MP4 or WebM"
		}
	case gateway.TypeVideo:
		if family != "video" && mimeType != gifImage {
			return "must hold a video or an animated GIF"
		}
	case gateway.TypeVoice, gateway.TypeAudio:
		if family != "audio" && !mayBeEither(mimeType) {
			return notAudio
		}
	default: // a document takes anything
	}
	return ""
}

// notAudio refuses what is no sound.
const notAudio = "must hold audio, such as MP3, M4A, OGG, WAV, FLAC or WebM"

// mayBeEither reports whether a container may hold a video or sound alone.
func mayBeEither(mimeType string) bool {
	return strings.HasPrefix(mimeType, "video/") || mimeType == "application/ogg"
}

// sniff recognises the media type of content by its first bytes.
func sniff(content *content) (mimeType string, err error) {
	err = content.read(func(file io.ReadSeeker) error {
		head, err := io.ReadAll(io.LimitReader(file, sniffLimit))
		mimeType = detect(head)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("media: sniff type: %w", err)
	}
	return mimeType, nil
}

// detect returns the media type of content that begins so, without parameters.
func detect(head []byte) string {
	const packet = 188 // of a transport stream, in bytes
	found := known(mimetype.Detect(head))
	switch {
	case found != "application/octet-stream":
	case bytes.HasPrefix(head, []byte("caff")):
		return "audio/x-caf"
	case bytes.HasPrefix(head, []byte("\x0b\x77")):
		return "audio/ac3"
	case len(head) > 2*packet && head[0] == 'G' && head[packet] == 'G' && head[2*packet] == 'G':
		return "video/mp2t"
	}
	return found
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

// inspectImage makes a still picture of what phones do not show as an image. An animated GIF becomes
// the video that they play like one.
func inspectImage(ctx context.Context, s *Service, file *File, about examined) error {
	if about.sniffed == gifImage && s.tool.found(ctx) {
		moves, err := file.isAnimatedGIF()
		if err != nil {
			return err
		}
		if moves {
			return inspectVideo(ctx, s, file, about)
		}
	}
	if about.sniffed == gifImage || about.sniffed == webP {
		if err := s.makeStill(ctx, file, about); err != nil {
			return err
		}
	}
	return file.content.read(func(content io.ReadSeeker) error {
		picture, err := probe.ReadPicture(content)
		if err != nil {
			return about.refuse("must hold an image that can be read")
		}
		file.Width, file.Height = picture.Shown()
		file.Thumbnail, err = s.decoders.decode(ctx, content, picture, asThumbnail)
		return err
	})
}

// Phones show an animated sticker that is larger, or takes longer, as a picture that stands still.
const (
	maxMovingBytes = 500 << 10
	maxMovingTime  = 10 * time.Second
)

func inspectSticker(_ context.Context, _ *Service, file *File, about examined) error {
	return file.content.read(func(content io.ReadSeeker) error {
		sticker, err := probe.ReadWebP(content)
		switch {
		case err != nil:
			return about.refuse("must hold a WebP picture that can be read")
		case sticker.Animated && file.Size > maxMovingBytes:
			return about.refuse(fmt.Sprintf("is an animated sticker of %d bytes, and phones play at most %d: make it shorter or simpler", file.Size, maxMovingBytes))
		case sticker.Animated && sticker.Duration > maxMovingTime:
			return about.refuse(fmt.Sprintf("is an animated sticker of %s, and phones play at most %s: make it shorter", sticker.Duration, maxMovingTime))
		}
		file.Width, file.Height, file.Animated = sticker.Width, sticker.Height, sticker.Animated
		return nil
	})
}

func inspectVideo(ctx context.Context, s *Service, file *File, about examined) error {
	found, err := s.measureTracks(ctx, file, about)
	switch {
	case err != nil:
		return err
	case found.Audio && !found.Video:
		return about.refuse("must hold a video, not only sound")
	case about.sniffed == gifImage:
		found, err = s.playGIF(ctx, file, about, found)
	case !plays(gateway.TypeVideo, about.sniffed, found):
		found, err = s.convert(ctx, file, about, found, videoRecipe(about.sniffed, found))
	}
	if err != nil {
		return err
	}
	file.Width, file.Height, file.Seconds = found.Width, found.Height, found.Seconds()
	file.Thumbnail, err = s.tool.frame(ctx, file.content.path(), found)
	return err
}

// playGIF makes the video of a GIF that phones play without end.
func (s *Service) playGIF(ctx context.Context, file *File, about examined, found probe.Tracks) (probe.Tracks, error) {
	var picture probe.Picture
	err := file.content.read(func(content io.ReadSeeker) (err error) {
		picture, err = probe.ReadPicture(content)
		return err
	})
	if err != nil || picture.Width == 0 || picture.Height == 0 {
		return probe.Tracks{}, about.refuse("must hold a GIF that can be read")
	}
	file.Kind, file.Animated = gateway.TypeVideo, true
	return s.convert(ctx, file, about, found, gifRecipe(picture.Width, picture.Height))
}

func inspectAudio(ctx context.Context, s *Service, file *File, about examined) error {
	_, err := s.audio(ctx, file, about, audioRecipe())
	return err
}

// audio checks that a file holds sound and no video, makes what phones play of it, and measures that.
// The tracks decide about containers that can hold both.
func (s *Service) audio(ctx context.Context, file *File, about examined, to recipe) (probe.Tracks, error) {
	refusal := about.refuse(notAudio)
	declared, params := declaredType(about.declared)
	_, subtype, _ := strings.Cut(about.sniffed, "/")
	found, err := s.measureTracks(ctx, file, about)
	if err != nil {
		return probe.Tracks{}, err
	}
	if mayBeEither(about.sniffed) {
		switch {
		case found.Video:
			return probe.Tracks{}, refusal
		// Its tracks are unknown. Only in this case the declared type is believed. Where it says nothing,
		// the conversion finds out, if one is needed.
		case !found.Audio && strings.HasPrefix(declared, "video/"):
			return probe.Tracks{}, refusal
		case !found.Audio && !strings.HasPrefix(declared, "audio/") && plays(to.kind, "audio/"+subtype, found):
			return probe.Tracks{}, refusal
		}
		file.MimeType = "audio/" + subtype
	}
	about.sniffed = file.MimeType
	switch {
	case !plays(to.kind, file.MimeType, found):
		if found, err = s.convert(ctx, file, about, found, to); err != nil {
			return probe.Tracks{}, err
		}
	case file.MimeType == oggAudio:
		file.MimeType = oggOpus
	case declared == file.MimeType && params["codecs"] != "":
		file.MimeType = mime.FormatMediaType(declared, map[string]string{"codecs": params["codecs"]})
	}
	file.Seconds = found.Seconds()
	return found, nil
}

func inspectVoice(ctx context.Context, s *Service, file *File, about examined) error {
	found, err := s.audio(ctx, file, about, voiceRecipe())
	if err != nil {
		return err
	}
	file.Waveform, err = s.tool.waveform(ctx, file.content.path(), found.Duration)
	return err
}
