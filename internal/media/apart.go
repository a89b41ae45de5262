// Large pictures are decoded in a process of their own: they take memory and a processor for a while,
// which the requests of others shall not notice, and the memory is given back at once.

package media

import (
	"bufio"
	"context"
	"image"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"

	"github.com/recado-project/recado/internal/media/probe"
)

const (
	// apartName is the name under which the program starts itself to decode a picture.
	apartName = "recado-decode"
	// apartMemory is what that process may reserve beside the memory of the picture, most of which it
	// never touches: what Go takes in advance, and the stacks of its threads.
	apartMemory = 256 << 20
	// apartHeap is what it may have on its heap beside the picture, before it looks for garbage.
	apartHeap = 32 << 20
	// maxRendition bounds what a process returns.
	maxRendition = maxPicture
)

// init turns a process that was started by decodeApart into a decoder, before anything else of the
// program begins: in every program that decodes pictures, also in one of tests.
func init() { //nolint:gochecknoinits // see above
	if len(os.Args) == 4 && os.Args[0] == apartName {
		os.Exit(runDecoder(os.Args[1], os.Args[2], os.Args[3]))
	}
}

// runDecoder is all that such a process does: it reads a picture from the standard input, and writes what is made of
// it.
func runDecoder(made, turned, memory string) int {
	limit, err := strconv.ParseInt(memory, 10, 64)
	if err != nil {
		return 2
	}
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(limit)
	orientation, err := strconv.ParseUint(turned, 10, 16)
	if err != nil {
		return 2
	}
	decoded, _, err := image.Decode(bufio.NewReaderSize(os.Stdin, 64<<10))
	if err != nil {
		return 1
	}
	out, err := rendition(made).of(decoded, probe.Orientation(orientation))
	if err != nil {
		return 1
	}
	if _, err := os.Stdout.Write(out); err != nil {
		return 1
	}
	return 0
}

// decodeApart makes something of a picture of a weight in a process of its own, which has little more
// memory, no environment, and the priority of a long conversion. It
// returns nothing for a picture that can't be decoded, or takes too long, and whether there was such a
// process.
func (d *decoders) decodeApart(ctx context.Context, file io.Reader, about probe.Picture, made rendition, weight int64) (out []byte, started bool) {
	deadline, stop := context.WithTimeout(ctx, d.apart)
	defer stop()
	//nolint:gosec // it is this program
	command := exec.CommandContext(deadline, d.program)
	command.Args = []string{apartName, string(made), strconv.Itoa(int(about.Orientation)), strconv.FormatInt(weight+apartHeap, 10)}
	command.Env = append(environment(), "GOMAXPROCS=1")
	command.WaitDelay = killWait
	command.Stdin = file
	written := &boundedBuffer{limit: maxRendition}
	command.Stdout = written
	if err := command.Start(); err != nil {
		return nil, false
	}
	d.bind(ctx, command.Process.Pid, bounds{memory: (weight + apartMemory) * apartFactor, later: true})
	if err := command.Wait(); err != nil {
		return nil, true
	}
	return written.taken.Bytes(), true
}

// ownProgram is the path of the program that runs, also after another version of it took its place.
func ownProgram() string {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe"
	}
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}
