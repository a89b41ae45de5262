package media

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// tool runs ffmpeg and ffprobe, if the machine has them. They read files that strangers
// wrote. Therefore they get no network, no other file and none of our environment
// variables, and read only formats that don't refer to other files. How long they run,
// how much memory they take, how many run at once, and how much they print is limited.
type tool struct {
	ffmpeg, ffprobe string // paths; empty if there is none
	pools           Pools
	timeout         time.Duration // of the longest run
	start           time.Duration // what every run may take, besides what its length asks for
	logger          *slog.Logger
	warned          sync.Once // of a missing ffmpeg
	unbounded       sync.Once // warned that this machine does not bound programs
}

// formats are the containers that may be read. None of them can refer to other files.
const formats = "3gp,aac,ac3,aiff,amr,amrnb,amrwb,ape,asf,au,avi,caf,flac,flv,gif,m4v,matroska,mov,mp3,mp4,mpc,mpc8,mpeg,mpegts,mpegvideo,ogg,png_pipe,tta,voc,wav,webm,wv"

const (
	maxToolOutput = 1 << 20
	maxToolErrors = 4 << 10
	// killWait is how long a program that was killed may keep its pipes open.
	killWait = 5 * time.Second
)

func newTool(config Config, pools Pools) (*tool, error) {
	t := &tool{pools: pools, timeout: config.ToolTimeout, start: startTime, logger: config.Logger}
	path, err := findFFmpeg(config.FFmpeg)
	if err != nil || path == "" {
		return t, err
	}
	t.ffmpeg = path
	beside := filepath.Join(filepath.Dir(path), strings.Replace(filepath.Base(path), "ffmpeg", "ffprobe", 1))
	if beside == path {
		return t, nil
	}
	if path, err := exec.LookPath(beside); err == nil {
		t.ffprobe = path
	}
	return t, nil
}

// findFFmpeg returns the path of ffmpeg. It is empty if the setting turns ffmpeg off, or
// names none and there is none.
func findFFmpeg(setting string) (string, error) {
	switch setting {
	case NoFFmpeg:
		return "", nil
	case "":
		path, err := exec.LookPath("ffmpeg")
		if err != nil {
			return "", nil //nolint:nilerr // recado works without it, and logs a warning when it is needed
		}
		return path, nil
	default:
		path, err := exec.LookPath(setting)
		if err != nil {
			return "", fmt.Errorf("media: find ffmpeg: %w", err)
		}
		return path, nil
	}
}

// HasFFmpeg reports whether media are measured and converted with ffmpeg.
func (s *Service) HasFFmpeg() bool { return s.tool.ffmpeg != "" }

// found reports whether there is an ffmpeg. If there is none, it logs that once.
func (t *tool) found(ctx context.Context) bool {
	if t.ffmpeg != "" {
		return true
	}
	t.warned.Do(func() {
		t.logger.WarnContext(ctx, "ffmpeg not found: what phones do not play is refused, and videos have no thumbnail")
	})
	return false
}

// input returns the arguments that make either program read the file at path.
func input(path string) []string {
	return []string{
		"-protocol_whitelist", "file,pipe", "-format_whitelist", formats,
		"-i", "file:" + path,
	}
}

// runFFmpeg runs ffmpeg on the file at path. before holds the options of the input, after
// those of the output.
func (t *tool) runFFmpeg(ctx context.Context, stdout io.Writer, path string, before, after []string, run need) error {
	threads := strconv.Itoa(toolThreads())
	args := []string{"-nostdin", "-hide_banner", "-v", "error", "-y", "-max_alloc", "536870912", "-filter_threads", threads, "-threads", threads}
	args = append(args, before...)
	args = append(args, input(path)...)
	args = append(args, "-threads", threads)
	args = append(args, after...)
	return t.run(ctx, stdout, t.ffmpeg, args, run)
}

// The ways in which a run fails because of the file, beside errTooHeavy.
var (
	// errUnreadable is the error for a file that the program can't read.
	errUnreadable = errors.New("media: ffmpeg can't read the file")
	// errToolTimeout is the error for a file that takes the program too long.
	errToolTimeout = errors.New("media: ffmpeg took too long")
)

// isUnmeasured reports whether a file is sent as it is in spite of an error.
func isUnmeasured(err error) bool {
	return errors.Is(err, errUnreadable) || errors.Is(err, errToolTimeout) || errors.Is(err, errTooHeavy)
}

// noMemory reports whether a program has said that it got no more memory: itself, for its pictures, or
// by its encoder.
func noMemory(said string) bool {
	return strings.Contains(said, "Cannot allocate memory") || strings.Contains(said, "get_buffer() failed") || strings.Contains(said, "malloc of size")
}

// run runs a program when it is its turn, and waits for its end.
func (t *tool) run(ctx context.Context, stdout io.Writer, program string, args []string, run need) error {
	if !t.pools.fits(run) {
		return fmt.Errorf("%w: %d bytes", errTooHeavy, run.memory)
	}
	place, err := t.pools.Work.WaitAtMost(ctx, 1, run.wait)
	if err != nil {
		return err
	}
	defer place.Release()
	memory, err := t.pools.Memory.WaitAtMost(ctx, run.memory, run.wait)
	if err != nil {
		return err
	}
	defer memory.Release()
	limited, cancel := context.WithTimeout(ctx, run.time)
	defer cancel()
	//nolint:gosec // the program is the operator's, and the arguments are ours but for the path of our own file
	command := exec.CommandContext(limited, program, args...)
	command.Env = environment()
	command.WaitDelay = killWait
	command.Stdout = stdout
	complaint := &boundedBuffer{limit: maxToolErrors, drop: true}
	command.Stderr = complaint
	if err = command.Start(); err == nil {
		t.restrain(ctx, command.Process.Pid, bounds{memory: run.memory, later: place.OfAccount() > 1 || run.time > t.start+longRun})
		err = command.Wait()
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("media: run ffmpeg: %w", ctx.Err())
	case limited.Err() != nil:
		return fmt.Errorf("%w: more than %s", errToolTimeout, run.time)
	}
	if _, exited := errors.AsType[*exec.ExitError](err); exited {
		said, failure := complaint.taken.String(), errUnreadable
		if noMemory(said) {
			failure = errTooHeavy
		}
		return fmt.Errorf("%w: %w: %s", failure, err, strings.TrimSpace(said))
	}
	return fmt.Errorf("media: run ffmpeg: %w", err)
}

// bounds are what the system holds a program to.
type bounds struct {
	memory int64 // in bytes
	later  bool  // it takes long, or its account has another one that runs: those of others go first
}

// restrain bounds a program that runs, where the system lets us.
func (t *tool) restrain(ctx context.Context, pid int, by bounds) {
	if err := restrain(pid, by); err != nil {
		t.unbounded.Do(func() {
			t.logger.WarnContext(ctx, "the system does not bound the memory of ffmpeg, so a hostile video may take much: allow the system call prlimit64", slog.Any("error", err))
		})
	}
}

// environment returns the variables that a program needs to start, and none of our
// settings.
func environment() []string {
	var kept []string
	for _, name := range []string{"PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT"} {
		if value, ok := os.LookupEnv(name); ok {
			kept = append(kept, name+"="+value)
		}
	}
	return kept
}

// boundedBuffer takes up to limit bytes. Further bytes are dropped, or are an error that
// ends the program which writes them.
type boundedBuffer struct {
	// It is not embedded, because its other methods would write without a limit.
	taken bytes.Buffer
	limit int
	drop  bool
}

var errTooMuchOutput = errors.New("media: too much output")

// Write implements io.Writer.
func (b *boundedBuffer) Write(p []byte) (int, error) {
	room := b.limit - b.taken.Len()
	if len(p) <= room {
		return b.taken.Write(p)
	}
	b.taken.Write(p[:room])
	if b.drop {
		return len(p), nil
	}
	return room, errTooMuchOutput
}
