// Package body reads the JSON body of a request, or a form with a file: within bounds of size and time,
// with media decoded into a temporary file on the way, and into a checked value of
// Go. Reader does the first part, Rules the second.
//
// It does not use huma's own reading, which parses a body twice, takes field names
// in any case and reads before the contract's checks allow it. It uses huma's
// schemas and its validation. The package contract is its caller.
package body

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/share"
)

const (
	// block is how much of a body is read at a time.
	block = 64 << 10
	// smallBody is how much of a body is worked on without waiting for a turn.
	smallBody = 2 * block

	// defaultMaxJSON is enough for the longest text with every character escaped
	// twice.
	defaultMaxJSON  = 1 << 20
	defaultMaxMedia = 64 << 20
	defaultMaxBytes = 256 << 20
	// defaultPatience bounds a pause. The HTTP server bounds the time for a whole body.
	defaultPatience = 15 * time.Second
)

// Config holds the bounds of a Reader. Its zero value means the defaults.
type Config struct {
	MaxJSON  int64 // bytes of a body without media; 0 means 1 MiB
	MaxMedia int64 // bytes of the media in a body, decoded; 0 means 64 MiB
	// MaxBytes bounds the bytes of all bodies that are held at a time, in memory and in
	// temporary files; 0 means 256 MiB, and it is never less than two of the largest bodies.
	MaxBytes int64
	Patience time.Duration // how long a body may bring no byte; 0 means 15 seconds
	TempDir  string        // folder of temporary files; empty means the machine's own
	// Stopping ends when the program begins to stop: bodies that are still being sent are given up.
	// nil: it never does.
	Stopping context.Context //nolint:containedctx // a signal
}

// Reader reads the bodies of requests. It is safe for concurrent use.
type Reader struct {
	config Config
	pool   *share.Pool // of the bytes that are held
	work   *share.Pool // of places to take bodies apart
}

// NewReader makes a reader.
func NewReader(config Config) *Reader {
	if config.MaxJSON == 0 {
		config.MaxJSON = defaultMaxJSON
	}
	if config.MaxMedia == 0 {
		config.MaxMedia = defaultMaxMedia
	}
	if config.MaxBytes == 0 {
		config.MaxBytes = defaultMaxBytes
	}
	if config.Patience == 0 {
		config.Patience = defaultPatience
	}
	if config.Stopping == nil {
		config.Stopping = context.Background()
	}
	config.MaxBytes = max(config.MaxBytes, 2*withMedia(config.MaxMedia))
	return &Reader{config: config, pool: share.New(share.Config{
		Name: "bodies", Total: config.MaxBytes,
		What: "bytes of requests in progress", Advice: "send fewer large requests at a time",
	}), work: share.New(share.Config{
		// One account leaves a processor to the requests of the others.
		Name: "bodies_at_work", Total: int64(max(2, runtime.GOMAXPROCS(0))), Whole: true,
		What: "large requests being read", Advice: "send fewer large requests at a time",
	})}
}

// Pools have the bytes of the bodies that are held, and the places in which large ones are worked on.
func (r *Reader) Pools() []*share.Pool { return []*share.Pool{r.pool, r.work} }

// withMedia is how large a body may be whose media has at most max bytes: base64
// makes these a third more.
func withMedia(maxMedia int64) int64 { return maxMedia/3*4 + 4 + besideMedia }

// Body is the body of a request: its JSON or its form, and its media in a file. It belongs to
// one goroutine. A nil Body is an empty one.
type Body struct {
	json  bytes.Buffer
	sieve *sieve // nil where the operation takes no media
	form  *form  // nil where the body is JSON
	hold  *share.Taken
}

// Media returns the media that the body held as a data URI, or as a file; nil where it held none.
// It can be read until the body is closed.
func (b *Body) Media() *media.Decoded {
	if b == nil || b.sieve == nil || b.sieve.media == nil {
		return nil
	}
	return b.sieve.media.content()
}

// JSON returns a body that is no form, as it was sent, but for a data URI in its media field. It is empty
// after Rules.Decode, and can be read until the body is closed: Close lets it go, and does not change it.
func (b *Body) JSON() []byte {
	if b == nil || b.form != nil {
		return nil
	}
	return b.json.Bytes()
}

// Close releases what the body holds. It may be called twice, and on nil.
func (b *Body) Close() error {
	if b == nil {
		return nil
	}
	b.hold.Release()
	b.json, b.form = bytes.Buffer{}, nil
	if b.sieve == nil {
		return nil
	}
	return b.sieve.drop()
}

// held is how many bytes the body takes up.
func (b *Body) held() int64 {
	size := int64(b.json.Len())
	if b.sieve != nil && b.sieve.media != nil {
		size += b.sieve.media.size
	}
	if b.form != nil {
		size += b.form.size
	}
	return size
}

// take adds the next piece of the body.
func (b *Body) take(piece []byte) error {
	if b.sieve == nil {
		b.json.Write(piece)
	} else if err := b.sieve.write(piece); err != nil {
		return err
	}
	return b.hold.Grow(b.held())
}

// Read reads the body of a request, up to its limit, on behalf of the requester in its context.
// mediaField names the field that may hold media, empty
// for none. The caller closes the body, also after an error, which is TooLarge,
// Unavailable where too much is held at the moment, or Invalid where the client does
// not send the body to its end.
func (r *Reader) Read(w http.ResponseWriter, request *http.Request, mediaField string) (*Body, error) {
	return r.read(w, request, mediaField, false)
}

// ReadBare is Read for clients that write media as base64 alone, without the head of a data URI; with it does too.
// Body.Object has the fields.
func (r *Reader) ReadBare(w http.ResponseWriter, request *http.Request, mediaField string) (*Body, error) {
	return r.read(w, request, mediaField, true)
}

func (r *Reader) read(w http.ResponseWriter, request *http.Request, mediaField string, bare bool) (*Body, error) {
	b := &Body{hold: r.pool.Begin(request.Context())}
	limit, expected := r.config.MaxJSON, request.ContentLength
	if mediaField != "" {
		limit = withMedia(r.config.MaxMedia)
		if boundaryOf(request) == "" {
			expected = expected / 4 * 3
		}
		b.sieve = newSieve(mediaField, &b.json, r.config.TempDir)
		b.sieve.bare = bare
	}
	tooLarge := gateway.Errorf(gateway.TooLarge, gateway.CodePayloadTooLarge, "the body has more than %d bytes", limit)
	if request.ContentLength > limit {
		return b, tooLarge
	}
	// The announced size is reserved at once, so that a body that was let in is read to
	// its end however many come at the same time.
	if err := b.hold.Grow(expected); err != nil {
		return b, err
	}
	from := &patientReader{
		from: share.Yield(http.MaxBytesReader(w, request.Body, limit)), control: http.NewResponseController(w), patience: r.config.Patience,
		ctx: request.Context(), work: r.work,
	}
	defer from.stop()
	unwatch := context.AfterFunc(r.config.Stopping, from.giveUp) //nolint:contextcheck // it is the stop of the program
	defer unwatch()
	err := r.copyInto(b, from, request)
	if _, over := errors.AsType[*http.MaxBytesError](from.failure); over {
		return b, tooLarge
	}
	if from.failure != nil && r.config.Stopping.Err() != nil {
		return b, gateway.ErrStopping
	}
	if gateway.KindOf(from.failure) == gateway.Unavailable {
		return b, from.failure
	}
	if from.failure != nil {
		// The client went away, was too slow, or sent malformed chunks.
		return b, gateway.InvalidField("body", "could not be read to its end")
	}
	return b, err
}

// byteOrderMark is U+FEFF in UTF-8.
const byteOrderMark = "\xef\xbb\xbf"

// copyInto reads to the end of a body.
func (r *Reader) copyInto(b *Body, from io.Reader, request *http.Request) error {
	head := bufio.NewReaderSize(from, bufferFor(request.ContentLength))
	if boundary := boundaryOf(request); boundary != "" && b.sieve != nil && beginsForm(head) {
		return r.readForm(b, head, boundary)
	}
	// Programs on Windows mark UTF-8 like this, which says nothing.
	if first, _ := head.Peek(len(byteOrderMark)); string(first) == byteOrderMark { // an error comes again with the read
		_, _ = head.Discard(len(byteOrderMark))
	}
	from = head
	piece := make([]byte, bufferFor(request.ContentLength))
	for {
		n, err := from.Read(piece)
		if n > 0 {
			if err := b.take(piece[:n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// bufferFor is how much of a body of a length is read at a time; less than 0: of an unknown one.
func bufferFor(length int64) int {
	if length < 0 {
		return block
	}
	return int(min(block, length+1)) // one more, to see the end
}

// patientReader gives up a client that stalls, and remembers why it could not read on. What it has read
// of a large body is worked on, until the next read, in a place that its account shares.
type patientReader struct {
	from     io.Reader
	control  *http.ResponseController
	patience time.Duration
	timer    *time.Timer
	failure  error

	ctx  context.Context //nolint:containedctx // of the request
	work *share.Pool
	read int64
	turn *share.Taken
}

// Read implements io.Reader.
func (p *patientReader) Read(into []byte) (int, error) {
	p.turn.Release()
	if p.timer == nil {
		p.timer = time.AfterFunc(p.patience, p.giveUp)
	} else {
		p.timer.Reset(p.patience)
	}
	n, err := p.from.Read(into)
	p.timer.Stop() // the client is not to blame for what comes now
	if err != nil && !errors.Is(err, io.EOF) {
		p.failure = err
		return n, err
	}
	if p.read += int64(n); p.read > smallBody && err == nil {
		if p.turn, err = p.work.Wait(p.ctx, 1); err != nil {
			p.failure = err
		}
	}
	return n, err
}

// giveUp ends the read that is under way, and every later one.
func (p *patientReader) giveUp() {
	_ = p.control.SetReadDeadline(time.Unix(1, 0)) // long ago
}

// stop ends the waiting, and the work.
func (p *patientReader) stop() {
	p.turn.Release()
	if p.timer != nil {
		p.timer.Stop()
	}
}
