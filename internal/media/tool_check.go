// What the programs that measure and convert media are able to do on this machine.

package media

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
)

// checkTimeout is how long a program may take to say what it is.
const checkTimeout = 4 * time.Second

// Tools are the programs on this machine that measure and convert media.
type Tools struct {
	FFmpeg  string // its path; empty if there is none
	Version string
	FFprobe string // its path; empty if there is none
	// Missing are the encoders that ffmpeg was built without.
	Missing []string
}

// CheckTools looks for the programs that a gateway on this machine finds, and runs them. Its
// error is that of a program that does not run.
func CheckTools(ctx context.Context) (Tools, error) { return checkTools(ctx, checkTimeout) }

func checkTools(ctx context.Context, timeout time.Duration) (Tools, error) {
	t, err := newTool(Config{ToolTimeout: timeout, Logger: slog.New(slog.DiscardHandler)}, newPools(0))
	if err != nil || t.ffmpeg == "" {
		return Tools{}, err
	}
	found := Tools{FFmpeg: t.ffmpeg, FFprobe: t.ffprobe}
	version, err := t.says(ctx, t.ffmpeg, "-version")
	if err != nil {
		return found, err
	}
	if words := strings.Fields(version); len(words) > 2 { // ffmpeg version 7.1.2 Copyright …
		found.Version = words[2]
	}
	encoders, err := t.says(ctx, t.ffmpeg, "-encoders")
	if err != nil {
		return found, err
	}
	words := strings.Fields(encoders)
	for _, one := range []string{"libopus", "aac", "libx264", "mjpeg", "pcm_s16le", "libwebp_anim"} {
		if !slices.Contains(words, one) {
			found.Missing = append(found.Missing, one)
		}
	}
	if t.ffprobe == "" {
		return found, nil
	}
	_, err = t.says(ctx, t.ffprobe, "-version")
	return found, err
}

// says runs a program with one argument, and returns what it prints.
func (t *tool) says(ctx context.Context, program, question string) (string, error) {
	out := &boundedBuffer{limit: maxToolOutput}
	if err := t.run(ctx, out, program, []string{question}, t.probing()); err != nil {
		return "", fmt.Errorf("%s does not run: %w", program, err)
	}
	return out.taken.String(), nil
}
