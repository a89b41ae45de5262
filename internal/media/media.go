// Package media turns what a client gives as media, a data URI or a URL, into a
// file whose content is checked and measured; it keeps files that were fetched
// in a blob store and hands them out under signed links that expire. It knows
// neither the platform's wire nor the API's errors beyond gateway's. The use
// cases of a message call it, and the server mounts its link handler.
package media

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/outbound"
)

// The limits that hold where Config names none.
const (
	DefaultMaxBytes       = 64 << 20
	defaultConnectTimeout = 5 * time.Second
	defaultFetchTimeout   = time.Minute
	defaultToolTimeout    = time.Minute
)

// tempPrefix begins the names of our files in the folder for temporary ones,
// and staleAfter is the age at which such a file belongs to no living process.
const (
	tempPrefix = "recado-media-"
	staleAfter = 24 * time.Hour
)

// NoFFmpeg as Config.FFmpeg says that ffmpeg is not to be used.
const NoFFmpeg = "none"

// Config holds the settings. Its zero value works.
type Config struct {
	// MaxBytes bounds the decoded content of one file; 0 means 64 MiB.
	MaxBytes int64
	// AllowPrivate permits URLs of private, loopback and link-local addresses.
	AllowPrivate bool
	// DenyFetch are public prefixes that are not fetched from either, unless
	// AllowPrivate permits everything.
	DenyFetch []netip.Prefix
	// TempDir is the folder of files in work; empty means the machine's own.
	TempDir string
	// FFmpeg is the path of ffmpeg. Empty looks it up in PATH, where its absence
	// is no error; NoFFmpeg does without it.
	FFmpeg string
	// ConnectTimeout bounds the connection to a URL's host, 0 means 5 seconds;
	// FetchTimeout bounds the whole fetch, 0 means one minute.
	ConnectTimeout time.Duration
	FetchTimeout   time.Duration
	// ToolTimeout bounds one run of ffmpeg; 0 means one minute.
	ToolTimeout time.Duration
	// Resolver looks up the hosts of URLs; nil means the machine's own.
	Resolver *net.Resolver
	// Now is the clock; nil means the wall clock.
	Now func() time.Time
	// Logger takes the log; nil means none.
	Logger *slog.Logger
}

// Hints say what a request tells of its media besides the content.
type Hints struct {
	// Field is the name of the request's field, which a refusal names.
	Field string
	// FileName is the name to display; empty takes it from the URL.
	FileName string
	// Decoded is the media itself, where it was a data URI; nil reads the input.
	Decoded *Decoded
}

// Service opens media. It is safe for concurrent use, and it must outlive the
// files that it opened.
type Service struct {
	maxBytes int64
	temp     *os.Root
	fetcher  *fetcher
	tool     *tool
	decoders *decoders
}

// New makes the service. It fails where the folder for temporary files can't be
// used or the ffmpeg that Config names does not exist. Files that a process
// which was killed left in the folder more than a day ago are removed.
func New(config Config) (*Service, error) {
	config = withDefaults(config)
	temp, err := openTemp(config.TempDir, config.Now().Add(-staleAfter))
	if err != nil {
		return nil, err
	}
	tool, err := newTool(config)
	if err != nil {
		return nil, errors.Join(err, temp.Close())
	}
	return &Service{
		maxBytes: config.MaxBytes,
		temp:     temp,
		fetcher:  newFetcher(config, config.guard()),
		tool:     tool,
		decoders: newDecoders(),
	}, nil
}

// guard decides where files are fetched from.
func (c Config) guard() *outbound.Guard {
	if c.AllowPrivate {
		return nil
	}
	return outbound.NewGuard(c.DenyFetch)
}

func withDefaults(config Config) Config {
	if config.MaxBytes == 0 {
		config.MaxBytes = DefaultMaxBytes
	}
	if config.TempDir == "" {
		config.TempDir = os.TempDir()
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = defaultConnectTimeout
	}
	if config.FetchTimeout == 0 {
		config.FetchTimeout = defaultFetchTimeout
	}
	if config.ToolTimeout == 0 {
		config.ToolTimeout = defaultToolTimeout
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	return config
}

// openTemp opens the folder for temporary files and removes those of ours that
// are older than the time given.
func openTemp(folder string, before time.Time) (*os.Root, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("media: make folder for temporary files: %w", err)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fmt.Errorf("media: open folder for temporary files: %w", err)
	}
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, errors.Join(fmt.Errorf("media: list temporary files: %w", err), root.Close())
	}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), tempPrefix) {
			continue
		}
		// Another process may remove it at the same time, and one of another
		// user may not be ours to remove: neither keeps us from working.
		if info, err := entry.Info(); err == nil && info.ModTime().Before(before) {
			_ = root.Remove(entry.Name())
		}
	}
	return root, nil
}

// Close gives up idle connections and the folder. Files that are still open
// can't be read after it.
func (s *Service) Close() error {
	s.fetcher.client.CloseIdleConnections()
	if err := s.temp.Close(); err != nil {
		return fmt.Errorf("media: close folder for temporary files: %w", err)
	}
	return nil
}

// Open takes the media that input names, a base64 data URI or an http(s) URL,
// as content for a message of the kind: TypeImage, TypeVideo, TypeVoice,
// TypeAudio, TypeDocument or TypeSticker. Its errors for the client are the
// validation error of hints.Field (neither of the two, not decodable, not of
// the kind), Invalid with CodeMediaFetchFailed, and TooLarge. The caller closes
// the file, which removes it.
func (s *Service) Open(ctx context.Context, kind gateway.MessageType, input string, hints Hints) (*File, error) {
	inspect := inspectionOf(kind)
	if inspect == nil {
		return nil, fmt.Errorf("media: a message of type %q has no media", kind)
	}
	source, err := s.source(ctx, input, hints)
	if err != nil {
		return nil, err
	}
	defer source.close()
	content, err := s.spool(ctx, source)
	if err != nil {
		return nil, err
	}
	file := &File{FileName: firstName(hints.FileName, source.name)}
	file.take(content)
	if file.MimeType, err = sniff(&file.content); err == nil {
		if wrong := unfit(kind, file.MimeType); wrong != "" {
			err = refused(hints.Field, wrong)
		}
	}
	if err == nil {
		err = inspect(ctx, s, file, examined{field: hints.Field, declared: source.declared, sniffed: file.MimeType})
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if file.FileName == "" && kind == gateway.TypeDocument {
		file.FileName = "document" + extension(file.MimeType)
	}
	return file, nil
}
