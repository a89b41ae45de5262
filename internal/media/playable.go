// What phones can open, and how other files become that.

package media

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"mime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media/probe"
)

const (
	gifImage  = "image/gif"
	mp4Video  = "video/mp4"
	mp4Audio  = "audio/mp4"
	oggAudio  = "audio/ogg"
	codecH264 = "h264"
	codecAAC  = "aac"
	codecOpus = "opus"

	// oggOpus is the type of voice notes, as the platform's clients write it.
	oggOpus = "audio/ogg; codecs=opus"

	// videoSide is the longest side of a video that is converted, in pixels.
	videoSide      = 1280
	pictureQuality = 90
)

// plays reports whether all phones play a file of a kind, whose media type is that of its content.
// They are the types that the platform has for the programs of businesses. A codec that could not be
// read is believed to be the usual one of its container.
func plays(kind gateway.MessageType, mimeType string, found probe.Tracks) bool {
	usual := func(codec string, usual ...string) bool { return codec == "" || slices.Contains(usual, codec) }
	switch kind {
	case gateway.TypeVideo:
		return (mimeType == mp4Video || mimeType == "video/3gpp") &&
			usual(found.VideoCodec, codecH264) && usual(found.AudioCodec, codecAAC, "mp3", "amr_nb")
	case gateway.TypeVoice:
		return mimeType == oggAudio && found.AudioCodec == codecOpus && !found.Video
	case gateway.TypeAudio:
		switch mimeType {
		case "audio/mpeg":
			return usual(found.AudioCodec, "mp3")
		case "audio/aac", "audio/amr":
			return true
		case mp4Audio:
			return usual(found.AudioCodec, codecAAC, "mp3", "amr_nb")
		default:
			return mimeType == oggAudio && found.AudioCodec == codecOpus
		}
	default:
		return true
	}
}

// recipe says what becomes of a file that phones do not play.
type recipe struct {
	kind     gateway.MessageType
	mimeType string // of what it makes
	wanted   string // what phones play, for the client who has to convert it
	instead  string // how else the file can be sent
	as       string // what phones would play it as; empty if they play it as nothing
	options  []string
}

func voiceRecipe() recipe {
	return recipe{gateway.TypeVoice, oggOpus, "an OGG with Opus", "as an audio file", " as a voice note", []string{
		"-vn", "-sn", "-dn", "-map_metadata", "-1", "-ac", "1", "-ar", "48000",
		"-c:a", "libopus", "-b:a", "32k", "-application", "voip", "-f", "ogg",
	}}
}

func audioRecipe() recipe {
	return recipe{gateway.TypeAudio, mp4Audio, "an MP3, M4A or AAC, or an OGG with Opus", "as a document", "", []string{
		"-map", "0:a:0", "-vn", "-sn", "-dn", "-map_metadata", "-1", "-c:a", "aac", "-b:a", "128k", "-ac", "2", "-movflags", "+faststart", "-f", "mp4",
	}}
}

// videoRecipe leaves a track as it is where phones play it, and only the container is the wrong one.
func videoRecipe(mimeType string, found probe.Tracks) recipe {
	made := recipe{gateway.TypeVideo, mp4Video, "an MP4 with H.264 and AAC", "as a document", "", []string{
		"-map", "0:V:0", "-map", "0:a:0?", "-sn", "-dn", "-map_metadata", "-1", "-movflags", "+faststart", "-f", "mp4",
	}}
	timed := mimeType == "video/x-matroska" || mimeType == "video/quicktime" || mimeType == mp4Video // others have no times that can be kept
	if timed && found.VideoCodec == codecH264 {
		made.options = append(made.options, "-c:v", "copy")
	} else {
		made.options = append(made.options, pictures(smaller())...)
	}
	if timed && found.AudioCodec == codecAAC {
		made.options = append(made.options, "-c:a", "copy")
	} else {
		made.options = append(made.options, "-c:a", "aac", "-b:a", "128k", "-ac", "2")
	}
	return made
}

// gifRecipe makes the video that phones play without end, as they do with a GIF. What is transparent
// in it becomes white.
func gifRecipe(width, height int) recipe {
	const rate = 25 // pictures a second
	return recipe{gateway.TypeVideo, mp4Video, "an MP4 with H.264", "as a document", "", append([]string{
		"-an", "-sn", "-dn", "-map_metadata", "-1", "-movflags", "+faststart", "-f", "mp4",
	}, pictures(fmt.Sprintf("color=white:size=%dx%d:rate=%d[white];[white][in]overlay=shortest=1:format=rgb,%s", width, height, rate, smaller()))...)}
}

// smaller is the filter that shrinks a video which is larger than phones show it.
func smaller() string {
	return fmt.Sprintf("scale=w='min(%d,iw)':h='min(%d,ih)':force_original_aspect_ratio=decrease:force_divisible_by=2", videoSide, videoSide)
}

// pictures are the options for the pictures of a video, which every phone decodes.
func pictures(filter string) []string {
	return []string{
		"-vf", filter + ",format=yuv420p", "-c:v", "libx264", "-preset", "veryfast", "-crf", "25", "-profile:v", "main",
	}
}

// convert replaces the content of a file by what a recipe makes of it, and measures that. found is
// what the file holds, as far as that is known. Without ffmpeg the file is refused.
func (s *Service) convert(ctx context.Context, file *File, about examined, found probe.Tracks, to recipe) (probe.Tracks, error) {
	if !s.tool.found(ctx) {
		return probe.Tracks{}, about.refuse(fmt.Sprintf(
			"is %s, which not all phones play%s: send %s, or send it %s, or install ffmpeg on the gateway's machine, which converts it",
			described(about.sniffed, found), to.as, to.wanted, to.instead))
	}
	run := s.tool.soundOf(found.Duration)
	switch longest := s.tool.longestSound(); {
	case to.kind == gateway.TypeVideo:
		run = s.tool.videoOf(found, fit(image.Pt(found.Width, found.Height), videoSide))
		if !s.pools.fits(run) {
			return probe.Tracks{}, about.refuse(tooLargeToConvert(found))
		}
	case found.Duration > longest:
		return probe.Tracks{}, about.refuse(fmt.Sprintf("is %s long, and sound is converted up to %s: make it shorter, send %s, or send it %s",
			found.Duration.Round(time.Second), longest, to.wanted, to.instead))
	}
	target, name, err := s.createTemp()
	if err != nil {
		return probe.Tracks{}, err
	}
	converted := content{root: s.temp, name: name}
	if err = target.Close(); err == nil {
		// One byte more than is allowed shows that there is too much.
		err = s.tool.runFFmpeg(ctx, nil, file.content.path(), []string{"-max_pixels", strconv.Itoa(maxFramePixels)},
			slices.Concat(to.options, []string{"-fs", strconv.FormatInt(s.maxBytes+1, 10), "file:" + converted.path()}), run)
	}
	switch {
	case errors.Is(err, errUnreadable):
		s.tool.unmeasured(ctx, err)
		err = about.refuse("must hold " + nounOf(to.kind) + " that can be read")
	case errors.Is(err, errToolTimeout):
		s.tool.unmeasured(ctx, err)
		err = about.refuse(fmt.Sprintf("takes too long to convert: make it shorter, send %s, or send it %s", to.wanted, to.instead))
	case errors.Is(err, errTooHeavy):
		s.tool.unmeasured(ctx, err)
		err = about.refuse(fmt.Sprintf("takes too much memory to convert: make it smaller, send %s, or send it %s", to.wanted, to.instead))
	}
	if err == nil {
		err = converted.measure()
	}
	switch {
	case err != nil:
	case converted.size == 0:
		err = about.refuse("must hold " + nounOf(to.kind) + " that can be read")
	case converted.size > s.maxBytes:
		err = s.tooLarge()
	}
	if err != nil {
		return probe.Tracks{}, errors.Join(err, converted.remove())
	}
	original := file.content
	file.take(converted)
	file.MimeType = to.mimeType
	if err := original.remove(); err != nil {
		return probe.Tracks{}, err
	}
	base, _, err := mime.ParseMediaType(to.mimeType)
	if err == nil {
		found, err = file.tracks(base)
	}
	if err != nil {
		return probe.Tracks{}, fmt.Errorf("media: measure what was converted: %w", err)
	}
	return found, nil
}

// described names a file by its container and its codecs, for a client.
func described(mimeType string, found probe.Tracks) string {
	codecs := slices.DeleteFunc([]string{found.VideoCodec, found.AudioCodec}, func(codec string) bool { return codec == "" })
	if len(codecs) == 0 {
		return mimeType
	}
	return mimeType + " with " + strings.Join(codecs, " and ")
}

func nounOf(kind gateway.MessageType) string {
	if kind == gateway.TypeVideo {
		return "a video"
	}
	return "audio"
}

// makeStill replaces a picture by a JPEG of it, or a PNG if something in it is transparent: other
// formats are not shown by all phones. Of a GIF it takes the first picture.
func (s *Service) makeStill(ctx context.Context, file *File, about examined) error {
	var still []byte
	err := file.content.read(func(content io.ReadSeeker) error {
		picture, err := probe.ReadPicture(content)
		if err != nil {
			return about.refuse("must hold an image that can be read")
		}
		still, err = s.decoders.patient().decode(ctx, content, picture, asStill)
		return err
	})
	if err != nil {
		return err
	}
	if len(still) == 0 {
		return about.refuse(fmt.Sprintf("is %s, which not all phones show, and can't be converted because it is animated or too large: send a JPEG, a PNG, or a video", about.sniffed))
	}
	made, err := s.spool(ctx, &source{body: bytes.NewReader(still), field: about.field, explain: func(err error) error { return err }, close: func() {}})
	if err != nil {
		return err
	}
	original := file.content
	file.take(made)
	file.MimeType = detect(still)
	return original.remove()
}
