package media

import (
	"io"

	"github.com/recado-project/recado/internal/gateway"
)

// Decoded is the media of a data URI that was decoded while the request was read, so
// that it was never a string in memory.
type Decoded struct {
	Declared string // media type as given, with its parameters; it may be wrong
	Size     int64  // in bytes
	// Content is read from its start. Its owner closes it.
	Content io.ReaderAt
}

// checkDecoded is CheckInline for media that is decoded already.
func checkDecoded(kind gateway.MessageType, hints Hints) error {
	head, err := io.ReadAll(io.LimitReader(hints.Decoded.reader(), sniffLimit))
	if err != nil || len(head) == 0 {
		return nil //nolint:nilerr // Open refuses content that can't be read
	}
	if wrong := unfit(kind, detect(head), hints.Convert); wrong != "" {
		return refused(hints.Field, wrong)
	}
	return nil
}

func (d Decoded) reader() io.Reader { return io.NewSectionReader(d.Content, 0, d.Size) }

// source makes the decoded media the source of a file.
func (d Decoded) source(field string) *source {
	return &source{
		body: d.reader(), declared: d.Declared, field: field,
		explain: func(err error) error { return err }, close: func() {},
	}
}
