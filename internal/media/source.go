package media

import (
	"context"
	"encoding/base64"
	"io"
	"mime"
	"net/url"
	"strings"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/share"
)

// source is where the content of a file comes from.
type source struct {
	body     io.Reader
	declared string   // media type as given, with its parameters; it may be wrong
	name     string   // file name, if the source has one
	from     *url.URL // where a URL has led; nil for others
	field    string
	// explain says what a failure to read the body means to the client.
	explain func(err error) error
	close   func()
	place   *share.Taken // among the files that are fetched; nil for others
	decoded *Decoded     // what is in a file already; nil for others
}

// end closes the source and gives its place back.
func (s *source) end() {
	s.close()
	s.place.Release()
}

func (s *source) refuse(message string) error { return refused(s.field, message) }

// refused makes the validation error of a field.
func refused(field, message string) error {
	return gateway.InvalidField(field, message)
}

const dataScheme = "data:"

// isInline reports whether input is a data URI, which contains the media itself.
func isInline(input string) bool {
	return len(input) >= len(dataScheme) && strings.EqualFold(input[:len(dataScheme)], dataScheme)
}

// source makes a source from input. It requests a URL, and reads the headers of the
// response.
func (s *Service) source(ctx context.Context, input string, hints Hints) (*source, error) {
	field := hints.Field
	if hints.Decoded != nil {
		return hints.Decoded.source(field), nil
	}
	if isInline(input) {
		return dataSource(input[len(dataScheme):], field)
	}
	if id, is := gateway.UploadID(input); is {
		return s.uploadSource(ctx, id, field)
	}
	address, ok := gateway.ParseURL(input)
	if !ok {
		return nil, refused(field, "must be a data URI (data:<type>;base64,<data>), an http(s) URL or an upload (upload:<id>)")
	}
	if address.User != nil {
		return nil, refused(field, "must be a URL without user and password")
	}
	place, err := s.pools.Fetches.Wait(ctx, 1)
	if err != nil {
		return nil, err
	}
	found, err := s.urlSource(ctx, address, field)
	if err != nil {
		place.Release()
		return nil, err
	}
	found.place = place
	return found, nil
}

// uploadSource opens an upload of the account for which the context's work is done.
func (s *Service) uploadSource(ctx context.Context, id, field string) (*source, error) {
	blob, err := (*Blob)(nil), NoBlob()
	if s.uploads != nil {
		blob, err = s.uploads(ctx, id)
	}
	if gateway.KindOf(err) == gateway.NotFound {
		return nil, refused(field, "must name an upload that there is: this one does not exist, or its time is over")
	}
	if err != nil {
		return nil, err
	}
	return &source{
		body: blob, declared: blob.MimeType, name: blob.FileName, field: field,
		explain: func(err error) error { return err },
		close:   func() { _ = blob.Close() }, // it was only read
	}, nil
}

// dataSource reads what follows "data:".
func dataSource(rest, field string) (*source, error) {
	declared, data, wrong := parseData(rest)
	if wrong != "" {
		return nil, refused(field, wrong)
	}
	return &source{
		body:     base64.NewDecoder(base64.RawStdEncoding, strings.NewReader(data)),
		declared: declared,
		field:    field,
		explain:  func(error) error { return refused(field, "must be a data URI whose data is valid base64") },
		close:    func() {},
	}, nil
}

// parseData splits what follows "data:" into the declared type and the base64
// text without its padding. wrong says what is wrong; it is empty if nothing is.
func parseData(rest string) (declared, data, wrong string) {
	head, data, found := strings.Cut(rest, ",")
	if !found {
		return "", "", "must be a data URI with a comma before its data"
	}
	const marker = ";base64"
	cut := len(head) - len(marker)
	if cut < 0 || !strings.EqualFold(head[cut:], marker) {
		return "", "", "must be a data URI in base64 (data:<type>;base64,<data>)"
	}
	if data == "" {
		return "", "", "is empty"
	}
	// Padding and line breaks may be there or not. Decoding finds all other errors.
	for range 2 {
		data = strings.TrimSuffix(strings.TrimRight(data, "\r\n"), "=")
	}
	return head[:cut], data, ""
}

// declaredType splits a declared media type into its base, in lower case, and
// its parameters. Both are empty if it is malformed.
func declaredType(declared string) (string, map[string]string) {
	base, params, err := mime.ParseMediaType(declared)
	if err != nil {
		return "", nil
	}
	return base, params
}

// Decoded is the media of a data URI that was decoded while the request was read, so
// that it was never a string in memory.
type Decoded struct {
	Declared string // media type as given, with its parameters; it may be wrong
	Size     int64  // in bytes
	SHA256   []byte // the hash of the content; nil if it is not known
	// Content is read from its start. Its owner closes it, after the file that is opened of it.
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
		body: d.reader(), declared: d.Declared, field: field, decoded: &d,
		explain: func(err error) error { return err }, close: func() {},
	}
}
