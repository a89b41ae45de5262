package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"os"
	"path/filepath"
	"strings"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/terminal"
)

// fileArgument is the media of a message.
type fileArgument struct {
	File     string `arg:"" help:"File, or http(s) URL that the gateway can reach; - reads standard input."`
	MaxMedia int64  `help:"Largest file that the gateway accepts, in bytes: the --max-media it was started with." default:"67108864" name:"max-media"`
}

// isURL reports whether the gateway fetches the media.
func (f fileArgument) isURL() bool {
	scheme, _, found := strings.Cut(f.File, "://")
	return found && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

// name is the name of the file; empty if the gateway chooses it.
func (f fileArgument) name() string {
	if f.isURL() || f.File == "-" {
		return ""
	}
	return filepath.Base(f.File)
}

// mediaInput is what a request has for a file: its URL, or the whole of it as a data URI.
type mediaInput string

// ProvideMedia makes a media input of the file: a URL unchanged, any other as a data URI. A file
// that is too large for the gateway is refused before it is read. Kong calls it for a Run method
// that takes a media input.
func (f fileArgument) ProvideMedia(t terminal.Terminal) (_ mediaInput, err error) {
	switch {
	case f.isURL():
		return mediaInput(f.File), nil
	case f.File == "-":
		return f.read("standard input", "application/octet-stream", t.In)
	}
	file, err := os.Open(f.File)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("there is no file %s", f.File)
	}
	if err != nil {
		return "", fmt.Errorf("read the file to send: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	switch {
	case err != nil:
		return "", fmt.Errorf("read the file to send: %w", err)
	case info.IsDir():
		return "", fmt.Errorf("%s is a folder, not a file", f.File)
	case info.Size() > f.MaxMedia:
		return "", f.tooLarge(f.File, terminal.Bytes(info.Size()))
	}
	mimeType, _, err := mime.ParseMediaType(mime.TypeByExtension(filepath.Ext(f.File)))
	if err != nil {
		mimeType = "application/octet-stream" // the gateway detects it
	}
	return f.read(f.File, mimeType, file)
}

// read reads the content, whose size may be unknown.
func (f fileArgument) read(name, mimeType string, content io.Reader) (mediaInput, error) {
	all, err := io.ReadAll(io.LimitReader(content, f.MaxMedia+1))
	if err != nil {
		return "", fmt.Errorf("read the file to send: %w", err)
	}
	if int64(len(all)) > f.MaxMedia {
		return "", f.tooLarge(name, "more")
	}
	return mediaInput(client.DataURI(mimeType, all)), nil
}

func (f fileArgument) tooLarge(name, size string) error {
	return fmt.Errorf("%s is too large: it has %s, and the gateway accepts %s (its --max-media; set the same here if it accepts more)",
		name, size, terminal.Bytes(f.MaxMedia))
}
