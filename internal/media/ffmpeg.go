// What ffmpeg does for us: measures, makes thumbnails, converts voice notes.

package media

import (
	"context"
	"encoding/json"
	"fmt"
	"image"
	"io"
	"log/slog"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/media/probe"
)

// maxFramePixels bounds the size of a video whose thumbnail is made.
const maxFramePixels = 30_000_000

// unmeasured logs why a tool could not read a file.
func (t *tool) unmeasured(ctx context.Context, err error) {
	t.logger.DebugContext(ctx, "media not measured", slog.Any("error", err))
}

// probeAnswer is the output of ffprobe.
type probeAnswer struct {
	Format struct {
		Duration string `json:"duration"`
	} `json:"format"`
	Streams []struct {
		Type        string `json:"codec_type"` //nolint:tagliatelle // ffprobe's name
		Codec       string `json:"codec_name"` //nolint:tagliatelle // ffprobe's name
		Pixels      string `json:"pix_fmt"`    //nolint:tagliatelle // ffprobe's name
		Width       int    `json:"width"`
		Height      int    `json:"height"`
		Disposition struct {
			Cover int `json:"attached_pic"` //nolint:tagliatelle // ffprobe's name
		} `json:"disposition"`
		SideData []struct {
			Rotation float64 `json:"rotation"`
		} `json:"side_data_list"` //nolint:tagliatelle // ffprobe's name
	} `json:"streams"`
}

// probe asks ffprobe what a file holds. It returns no tracks without ffprobe, and for a
// file that ffprobe can't read.
func (t *tool) probe(ctx context.Context, path string) (probe.Tracks, error) {
	if t.ffprobe == "" {
		return probe.Tracks{}, nil
	}
	args := append([]string{
		"-v", "error", "-of", "json", "-show_entries",
		"format=duration:stream=codec_type,codec_name,pix_fmt,width,height:stream_disposition=attached_pic:stream_side_data=rotation",
	}, input(path)...)
	out := &boundedBuffer{limit: maxToolOutput}
	if err := t.run(ctx, out, t.ffprobe, args, t.probing()); isUnmeasured(err) {
		t.unmeasured(ctx, err)
		return probe.Tracks{}, nil
	} else if err != nil {
		return probe.Tracks{}, err
	}
	var answer probeAnswer
	if err := json.Unmarshal(out.taken.Bytes(), &answer); err != nil {
		return probe.Tracks{}, fmt.Errorf("media: read answer of ffprobe: %w", err)
	}
	return answer.tracks(), nil
}

func (a probeAnswer) tracks() probe.Tracks {
	var found probe.Tracks
	if length, err := strconv.ParseFloat(a.Format.Duration, 64); err == nil {
		found.Duration = probe.Duration(length, 1)
	}
	for _, stream := range a.Streams {
		switch {
		case stream.Type == "audio":
			if !found.Audio {
				found.AudioCodec = stream.Codec
			}
			found.Audio = true
		case stream.Type == "video" && stream.Disposition.Cover == 0 && !found.Video:
			found.Video, found.VideoCodec = true, stream.Codec
			if found.VideoCodec == codecH264 && stream.Pixels != "yuv420p" && stream.Pixels != "yuvj420p" {
				found.VideoCodec += " in " + stream.Pixels
			}
			found.Width, found.Height = stream.Width, stream.Height
			found.BytesPerPixel = bytesOf(stream.Pixels)
			for _, data := range stream.SideData {
				if math.Abs(math.Mod(data.Rotation, 180)) == 90 {
					found.Width, found.Height = stream.Height, stream.Width
				}
			}
		}
	}
	return found
}

// bytesOf is what a pixel takes in one of ffmpeg's formats; 0 for an unknown one.
func bytesOf(pixels string) float64 {
	perSample := 1.0
	plain := strings.TrimSuffix(strings.TrimSuffix(pixels, "le"), "be")
	for _, depth := range []string{"9", "10", "12", "14", "16"} {
		if strings.HasSuffix(plain, depth) && !strings.HasPrefix(plain, "nv") {
			perSample = 2
		}
	}
	switch {
	case pixels == "":
		return 0
	case strings.HasPrefix(pixels, "yuva"):
		return 4 * perSample
	case strings.Contains(pixels, "420"), strings.HasPrefix(pixels, "nv12"), strings.Contains(pixels, "411"), strings.Contains(pixels, "410"):
		return 1.5 * perSample
	case strings.Contains(pixels, "422"), strings.Contains(pixels, "440"):
		return 2 * perSample
	case strings.HasPrefix(pixels, "gray"), strings.HasPrefix(pixels, "pal8"):
		return perSample
	case strings.HasPrefix(pixels, "yuv444"), strings.HasPrefix(pixels, "yuvj444"), strings.HasPrefix(pixels, "gbrp"):
		return 3 * perSample
	case strings.Contains(pixels, "64"):
		return 8
	default:
		return 4 * perSample
	}
}

// frame makes a small JPEG of a picture near the beginning of a video. It returns nil
// without ffmpeg, for a video that ffmpeg can't read or that takes too much memory, and while others have all the room.
func (t *tool) frame(ctx context.Context, path string, found probe.Tracks) ([]byte, error) {
	if !t.found(ctx) {
		return nil, nil
	}
	// The very first picture is often black.
	at := min(time.Second, found.Duration/3)
	run := t.videoOf(found, image.Pt(thumbnailSide, thumbnailSide))
	run.time, run.wait = t.within(t.start), thumbnailWait
	scale := fmt.Sprintf("scale=w='min(%d,iw)':h='min(%d,ih)':force_original_aspect_ratio=decrease", thumbnailSide, thumbnailSide)
	out := &boundedBuffer{limit: maxToolOutput}
	err := t.runFFmpeg(ctx, out, path,
		[]string{"-max_pixels", strconv.Itoa(maxFramePixels), "-ss", strconv.FormatFloat(at.Seconds(), 'f', 3, 64)},
		[]string{"-an", "-sn", "-dn", "-frames:v", "1", "-vf", scale, "-pix_fmt", "yuvj420p", "-q:v", "6", "-c:v", "mjpeg", "-f", "image2pipe", "pipe:1"}, run)
	if isUnmeasured(err) || isBusy(err) {
		t.unmeasured(ctx, err)
		return nil, nil
	}
	if err != nil || out.taken.Len() == 0 {
		return nil, err
	}
	return out.taken.Bytes(), nil
}

// pcmRate is the rate at which a voice note is decoded to draw its waveform.
const pcmRate = 8000

// waveform draws a voice note of this duration. It returns a flat line without ffmpeg,
// for audio that ffmpeg can't read or that is very long, and while others have all the room.
func (t *tool) waveform(ctx context.Context, path string, duration time.Duration) ([]byte, error) {
	if !t.found(ctx) || duration <= 0 || duration > t.longestSound() {
		return flatWaveform(), nil
	}
	drawn := newWaveformWriter(int64(duration.Seconds() * pcmRate))
	err := t.runFFmpeg(ctx, drawn, path, nil, []string{
		"-vn", "-sn", "-dn", "-ac", "1", "-ar", strconv.Itoa(pcmRate), "-c:a", "pcm_s16le", "-f", "s16le", "pipe:1",
	}, need{memory: soundMemory, time: t.within(t.start + duration/drawSpeed), wait: thumbnailWait})
	if isUnmeasured(err) || isBusy(err) {
		t.unmeasured(ctx, err)
		return flatWaveform(), nil
	}
	if err != nil {
		return nil, err
	}
	return drawn.values(), nil
}

// measure notes the size and hash of a file that another program wrote.
func (c *content) measure() error {
	return c.read(func(file io.ReadSeeker) (err error) {
		c.size, c.hash, err = digest(file)
		return err
	})
}
