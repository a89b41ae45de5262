// Package media turns the media that a client sends, a data URI, a URL or an upload, into a file
// whose content is checked and measured. It also keeps the files that were fetched from
// the platform, and signs download links to them, which expire. It does not know how
// the platform encodes media. The use cases of a message and the API call it.
package media

import (
	"cmp"
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

	"github.com/recado-project/recado/internal/cache"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/outbound"
)

// The limits that apply if Config sets none.
const (
	DefaultMaxBytes       = 64 << 20
	defaultConnectTimeout = 5 * time.Second
	defaultFetchTimeout   = time.Minute
	defaultToolTimeout    = time.Minute
)

// tempPrefix begins the names of our temporary files, and staleAfter is the age at which
// such a file belongs to no running process any more.
const (
	tempPrefix = "recado-media-"
	staleAfter = 24 * time.Hour
)

// NoFFmpeg is the value of Config.FFmpeg that turns ffmpeg off.
const NoFFmpeg = "none"

// Config holds the settings. Its zero value works.
type Config struct {
	// MaxBytes bounds the decoded content of one file; 0 means 64 MiB.
	MaxBytes int64
	// AllowPrivate permits URLs of private, loopback and link-local addresses.
	AllowPrivate bool
	// DenyFetch are public prefixes from which nothing is fetched either, unless
	// AllowPrivate is set.
	DenyFetch []netip.Prefix
	// TempDir is the folder for temporary files; empty means the system's.
	TempDir string
	// FFmpeg is the path of ffmpeg. If it is empty, ffmpeg is looked up in PATH, and
	// may be missing. NoFFmpeg turns it off.
	FFmpeg string
	// ConnectTimeout bounds the connection to a URL's host, 0 means 5 seconds;
	// FetchTimeout bounds the whole fetch, 0 means one minute.
	ConnectTimeout time.Duration
	FetchTimeout   time.Duration
	// ToolTimeout bounds one run of ffmpeg; 0 means one minute.
	ToolTimeout time.Duration
	// MaxMemory bounds the bytes that conversions and large pictures take together; 0 means
	// DefaultMaxMemory.
	MaxMemory int64
	// Uploads opens an upload of the account for which the context's work is done (package upload). Its error is
	// NotFound if there is none. nil: there are no uploads.
	Uploads func(ctx context.Context, id string) (*Blob, error)
	// Resolver looks up the hosts of URLs; nil means the system's.
	Resolver *net.Resolver
	// Now is the clock; nil means the wall clock.
	Now func() time.Time
	// Logger takes the log; nil means none.
	Logger *slog.Logger
}

// Hints are what a request says about its media besides the content.
type Hints struct {
	// Field is the name of the request's field, for validation errors.
	Field string
	// FileName is the name to display; if it is empty, it is taken from the URL.
	FileName string
	// Convert makes a sticker of a PNG, JPEG, GIF, MP4 or WebM, which are refused without it.
	Convert bool
	// Decoded is the media itself, if it was a data URI; if it is nil, the input is read.
	Decoded *Decoded
}

// Service opens media. It is safe for concurrent use. It must not be closed before the
// files that it opened.
type Service struct {
	maxBytes int64
	temp     *os.Root
	fetcher  *fetcher
	tool     *tool
	decoders *decoders
	pools    Pools
	uploads  func(ctx context.Context, id string) (*Blob, error)
	findings *cache.Cache[findingKey, File]
}

// New makes the service. It fails if the folder for temporary files can't be used, or if
// the ffmpeg in config does not exist. It removes temporary files that a process left
// behind more than a day ago.
func New(config Config) (*Service, error) {
	config = withDefaults(config)
	temp, err := openTemp(config.TempDir, config.Now().Add(-staleAfter))
	if err != nil {
		return nil, err
	}
	pools := newPools(config.MaxMemory)
	tool, err := newTool(config, pools)
	if err != nil {
		return nil, errors.Join(err, temp.Close())
	}
	return &Service{
		maxBytes: config.MaxBytes,
		temp:     temp,
		fetcher:  newFetcher(config, config.guard()),
		tool:     tool,
		decoders: newDecoders(pools, tool.restrain),
		pools:    pools,
		uploads:  config.Uploads,
		findings: cache.New[findingKey, File](cache.Config{Most: maxFindings}),
	}, nil
}

// guard decides from which addresses files are fetched; nil allows all.
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

// openTemp opens the folder for temporary files and removes ours that are from before a
// time.
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
		// Removing fails if another process does it at the same time, or if the file
		// is another user's. Neither matters.
		if info, err := entry.Info(); err == nil && info.ModTime().Before(before) {
			_ = root.Remove(entry.Name())
		}
	}
	return root, nil
}

// Close closes idle connections and the folder. Files that are still open can't be read
// afterwards.
func (s *Service) Close() error {
	s.fetcher.client.CloseIdleConnections()
	if err := s.temp.Close(); err != nil {
		return fmt.Errorf("media: close folder for temporary files: %w", err)
	}
	return nil
}

// Open reads the media of a message of a kind (TypeImage, TypeVideo, TypeVoice,
// TypeAudio, TypeDocument or TypeSticker), and makes of it what phones can open, if they can't
// open it as it is. input is a base64 data URI, an http(s) URL or an upload (upload:<id>). Its errors for the client are the validation error of hints.Field (input is
// neither, can't be decoded, or is not of the kind), Invalid with
// CodeMediaFetchFailed, and TooLarge. The caller closes the file, which removes it.
func (s *Service) Open(ctx context.Context, kind gateway.MessageType, input string, hints Hints) (*File, error) {
	if inspectionOf(kind) == nil {
		return nil, fmt.Errorf("media: a message of type %q has no media", kind)
	}
	source, err := s.source(ctx, input, hints)
	if err != nil {
		return nil, err
	}
	content, err := s.contentOf(ctx, kind, source)
	source.end()
	if err != nil {
		return nil, err
	}
	file := &File{Kind: kind, FileName: firstName(hints.FileName, source.name)}
	file.take(content)
	about := examined{field: hints.Field, declared: source.declared}
	if file.MimeType, err = sniff(&file.content); err == nil && kind == gateway.TypeSticker && hints.Convert {
		err = s.makeSticker(ctx, file, about)
	}
	if about.sniffed = file.MimeType; err == nil {
		if wrong := unfit(kind, file.MimeType, hints.Convert); wrong != "" {
			err = refused(hints.Field, wrong)
		}
	}
	if err == nil {
		err = s.inspect(ctx, file, about)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if kind == gateway.TypeDocument {
		file.MimeType = documentType(file.MimeType, about.declared, file.FileName)
		file.FileName = withExtension(cmp.Or(file.FileName, "document"), file.MimeType)
	}
	return file, nil
}
