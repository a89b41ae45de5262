package media

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media/probe"
	"github.com/recado-project/recado/internal/share"
)

// File is media whose content was checked and measured. The content is in a temporary
// file until it is closed. A field that could not be measured is zero.
type File struct {
	// Kind is what the file is sent as. It is what was asked for, but for an animated GIF, which is
	// sent as a video.
	Kind gateway.MessageType
	// Size is in bytes; SHA256 is the hash of the content.
	Size   int64
	SHA256 []byte
	// MimeType is the type of the content itself, whatever was declared, with the
	// codecs of audio if they are known.
	MimeType string
	// FileName is the name to display; only a document always has one.
	FileName string
	// Width and Height are in pixels, as a viewer shows the picture.
	Width, Height int
	// Seconds is the length of audio and video, at least 1 if it is known.
	Seconds int
	// Waveform draws a voice note: 64 values from 0 to 100.
	Waveform []byte
	// Thumbnail is a small JPEG of an image or video.
	Thumbnail []byte
	// Animated says that a sticker moves, or that a video plays without end, as a GIF does.
	Animated bool

	content content
}

// Open opens the content for reading. Every call opens it anew, from its start.
func (f *File) Open() (io.ReadSeekCloser, error) { return f.content.open() }

// Close removes the content. Closing twice is no error.
func (f *File) Close() error { return f.content.remove() }

// take makes content the content of the file.
func (f *File) take(content content) {
	f.content = content
	f.Size, f.SHA256 = content.size, content.hash
}

// content is a temporary file that is complete: one of the service, or that of the request.
type content struct {
	root  *os.Root
	name  string
	given io.ReaderAt // the request's, which removes it; nil: it is the service's
	size  int64
	hash  []byte
}

func (c *content) remove() error {
	if c.given != nil {
		return nil
	}
	if err := c.root.Remove(c.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("media: remove temporary file: %w", err)
	}
	return nil
}

func (c *content) open() (io.ReadSeekCloser, error) {
	if c.given != nil {
		return givenContent{io.NewSectionReader(c.given, 0, c.size)}, nil
	}
	file, err := c.root.Open(c.name)
	if err != nil {
		return nil, fmt.Errorf("media: open temporary file: %w", err)
	}
	return file, nil
}

// givenContent reads the file of a request, which closes it.
type givenContent struct{ *io.SectionReader }

// Close does nothing.
func (givenContent) Close() error { return nil }

// isAnimatedGIF reports whether the content, which is a GIF, holds more than one picture.
func (f *File) isAnimatedGIF() (moves bool, err error) {
	err = f.content.read(func(content io.ReadSeeker) (err error) {
		moves, err = probe.IsAnimatedGIF(content)
		return err
	})
	return moves, err
}

// read opens the content for a function that reads it.
func (c *content) read(use func(file io.ReadSeeker) error) error {
	file, err := c.open()
	if err != nil {
		return err
	}
	return errors.Join(use(file), file.Close())
}

// path is where another program, such as ffmpeg, finds the content, unless that is the request's.
func (c *content) path() string {
	return filepath.Join(c.root.Name(), c.name)
}

// createTemp makes an empty temporary file that only this user can read.
func (s *Service) createTemp() (*os.File, string, error) {
	name := tempPrefix + rand.Text()
	file, err := s.temp.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, "", fmt.Errorf("media: make temporary file: %w", err)
	}
	return file, name, nil
}

// contentOf returns the content of a source: what is in a file already, as the media of a data URI, if no other program will
// have to find it; otherwise a copy.
func (s *Service) contentOf(ctx context.Context, kind gateway.MessageType, source *source) (content, error) {
	if d := source.decoded; d != nil && len(d.SHA256) == sha256.Size && 0 < d.Size && d.Size <= s.maxBytes {
		var head [len("GIF")]byte
		_, _ = d.Content.ReadAt(head[:], 0) // there may be less
		if kind == gateway.TypeDocument || kind == gateway.TypeImage && string(head[:]) != "GIF" {
			return content{given: d.Content, size: d.Size, hash: d.SHA256}, nil
		}
	}
	return s.spool(ctx, source)
}

// spool copies a source into a temporary file, piece by piece.
func (s *Service) spool(ctx context.Context, source *source) (content, error) {
	file, name, err := s.createTemp()
	if err != nil {
		return content{}, err
	}
	written := content{root: s.temp, name: name}
	err = s.fill(file, &written, source)
	if closeErr := file.Close(); err == nil && closeErr != nil {
		err = fmt.Errorf("media: close temporary file: %w", closeErr)
	}
	if err != nil {
		if ctx.Err() != nil && gateway.KindOf(err) == gateway.Internal {
			err = fmt.Errorf("media: read media: %w", ctx.Err())
		}
		return content{}, errors.Join(err, written.remove())
	}
	return written, nil
}

// fill copies a source into file and notes its size and hash.
func (s *Service) fill(file io.Writer, written *content, source *source) error {
	hash := sha256.New()
	into := io.MultiWriter(file, hash)
	// One byte more than is allowed shows that there is too much.
	from := &failureRecorder{reader: share.Yield(io.LimitReader(source.body, s.maxBytes+1))}
	size, err := io.Copy(into, from)
	switch {
	case from.failure != nil:
		return source.explain(from.failure)
	case err != nil:
		return fmt.Errorf("media: write temporary file: %w", err)
	case size > s.maxBytes:
		return s.tooLarge()
	case size == 0:
		return source.refuse("is empty")
	}
	written.size, written.hash = size, hash.Sum(nil)
	return nil
}

// digest returns the size and the hash of what it reads.
func digest(from io.Reader) (int64, []byte, error) {
	hash := sha256.New()
	size, err := io.Copy(hash, share.Yield(from))
	if err != nil {
		return 0, nil, fmt.Errorf("media: read temporary file: %w", err)
	}
	return size, hash.Sum(nil), nil
}

func (s *Service) tooLarge() error {
	return gateway.Errorf(gateway.TooLarge, gateway.CodePayloadTooLarge, "the media has more than %d bytes", s.maxBytes)
}

// failureRecorder remembers a failure to read, which io.Copy does not distinguish from a
// failure to write.
type failureRecorder struct {
	reader  io.Reader
	failure error
}

// Read implements io.Reader.
func (k *failureRecorder) Read(p []byte) (int, error) {
	n, err := k.reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		k.failure = err
	}
	return n, err
}
