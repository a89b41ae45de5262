// The operation that streams an instance's events.

package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/body"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/share"
)

// Events is the event log.
type Events interface {
	ReadFollowed(ctx context.Context, by *eventlog.Follower, after int64, maxEvents, maxBytes int) ([]eventlog.Event, error)
	Bounds(ctx context.Context, instanceID string) (oldest, newest int64, err error)
	Follow(instanceID string) *eventlog.Follower
}

type streamInput struct {
	contract.InstancePath

	LastEventID string   `header:"Last-Event-ID" doc:"The sequence of the last event that the reader has; the stream continues after it. Without this header, the stream begins with the next event." example:"41"` //nolint:tagliatelle // the header is spelled so where it was specified
	Types       []string `query:"types" nullable:"false" doc:"Only events of these types, separated by commas."`

	after int64 // the sequence of the last event that the reader has; -1: begin with the next one
	kinds map[eventlog.Kind]bool
}

// Resolve reads where the stream begins and which types are wanted.
func (in *streamInput) Resolve(huma.Context) []error {
	var errs []error
	in.after = -1
	if in.LastEventID != "" {
		after, err := strconv.ParseInt(in.LastEventID, 10, 64)
		if err != nil || after < 0 {
			errs = append(errs, body.Wrong("Last-Event-ID", "must be the sequence of an event, or 0 to begin with the first one"))
		}
		in.after = after
	}
	for _, name := range in.Types {
		kind := eventlog.Kind(strings.TrimSpace(name))
		if !kind.Known() {
			errs = append(errs, body.Wrong("types", "has a type that does not exist: "+strconv.Quote(string(kind))+"; there are "+knownTypes()))
		}
		if in.kinds == nil {
			in.kinds = map[eventlog.Kind]bool{}
		}
		in.kinds[kind] = true
	}
	return errs
}

// knownTypes lists the types of events.
func knownTypes() string {
	var names []string
	for _, kind := range eventlog.Kinds() {
		names = append(names, string(kind))
	}
	return strings.Join(names, ", ")
}

// streamAnswer is an answer that writes itself.
type streamAnswer struct {
	Body func(huma.Context)
}

// streams is the resource of the events of an instance.
type streams struct {
	events   Events
	keys     *access.Service
	stopping <-chan struct{} // closed when the streams are to end
	pause    time.Duration   // how long a stream may be silent
	now      func() time.Time
	open     *share.Pool
}

func newStreams(c Config) *streams {
	return &streams{
		events: c.Events, keys: c.Access, stopping: c.Stopping.Done(), pause: c.StreamPause, now: c.Now, open: c.streams,
	}
}

func (s *streams) stream() contract.Endpoint {
	return contract.HandleWhole(contract.Operation{
		ID: "streamEvents", Tag: tagEvents,
		Summary: "Stream events",
		Description: "Server-sent events: `id` is the sequence, `event` the type, and `data` the same envelope that webhooks get. " +
			"A reader that comes back with `Last-Event-ID` misses nothing, as long as the events are kept.",
		Status: http.StatusOK,
		Codes:  []string{gateway.CodeValidation, gateway.CodeEventsExpired},
		Stream: true,
	}, func(ctx context.Context, in *streamInput) (*streamAnswer, error) {
		if err := contract.HoldToEnd(ctx, s.open); err != nil {
			return nil, err
		}
		stream, err := s.begin(ctx, in)
		if err != nil {
			return nil, err
		}
		return &streamAnswer{func(hctx huma.Context) {
			defer stream.follower.Close()
			r, w := humago.Unwrap(hctx)
			stream.w, stream.control = w, http.NewResponseController(w)
			if err := stream.begin(r.Method == http.MethodHead); err != nil || r.Method == http.MethodHead {
				return
			}
			if err := stream.run(ctx); err != nil {
				contract.LogFailure(ctx, err)
			}
		}}, nil
	})
}

// begin makes the stream that a reader asks for. The caller closes its follower.
func (s *streams) begin(ctx context.Context, in *streamInput) (*eventStream, error) {
	id := contract.Instance(ctx).ID
	// Before the bounds are read, so that events appended meanwhile are delivered.
	follower := s.events.Follow(id)
	oldest, newest, err := s.events.Bounds(ctx, id)
	if err == nil {
		err = checkResume(in.after, oldest, newest)
	}
	if err != nil {
		follower.Close()
		return nil, err
	}
	if in.after < 0 {
		in.after = newest
	}
	return &eventStream{
		streams: s, follower: follower, cursor: in.after, sent: in.after, kinds: in.kinds,
	}, nil
}

// checkResume refuses a reader whose next event is no longer kept, or whose last event
// does not exist yet.
func checkResume(after, oldest, newest int64) error {
	switch {
	case after < 0:
		return nil
	case after > newest:
		return gateway.InvalidField("Last-Event-ID", fmt.Sprintf("is beyond the newest event, which is %d", newest))
	case after+1 < oldest:
		return gateway.Errorf(gateway.Gone, gateway.CodeEventsExpired,
			"the events after %d are no longer kept; the oldest that is kept is %d", after, oldest)
	}
	return nil
}

const (
	// streamSlice is how many events are read from the log at a time, at most, and
	// streamBytes how many bytes of them: a slow reader takes up no more memory.
	streamSlice = 256
	streamBytes = 256 << 10
	// streamBuffer is how many bytes are collected before they are written.
	streamBuffer = 32 << 10
	// defaultStreamPause is the usual Config.StreamPause.
	defaultStreamPause = 15 * time.Second
	// streamPatience bounds how long one write may wait for a slow reader.
	streamPatience = 30 * time.Second
	// streamRetry is when readers come back after the stream was cut.
	streamRetry = time.Second
)

// eventStream is one reader's stream.
type eventStream struct {
	streams  *streams
	follower *eventlog.Follower
	w        http.ResponseWriter
	control  *http.ResponseController
	cursor   int64 // of the last event that was read from the log
	sent     int64 // the last id that the reader got
	kinds    map[eventlog.Kind]bool
	buffer   []byte
}

// begin writes the header of the answer and the beginning of the stream.
func (e *eventStream) begin(headOnly bool) error {
	// A stream lasts as long as its reader likes; each write has a limit of its own.
	if err := e.control.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	header := e.w.Header()
	header.Set("Content-Type", contract.EventStreamType)
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // otherwise nginx holds events back
	e.w.WriteHeader(http.StatusOK)
	if headOnly {
		return nil
	}
	// The reader gets the place where the stream begins at once: if it is cut off before
	// its first event and comes back, it misses nothing.
	e.buffer = fmt.Appendf(nil, "retry: %d\nid: %d\n\n", streamRetry.Milliseconds(), e.cursor)
	return e.flush()
}

// errStreamOver ends a stream that did not fail: its reader has gone, or is to come
// back.
var errStreamOver = errors.New("api: the stream is over")

// run writes events until the reader leaves or the server stops. Its error is
// internal.
func (e *eventStream) run(ctx context.Context) error {
	tick := time.NewTicker(e.streams.pause)
	defer tick.Stop()
	keyEnded, stop := e.streams.keys.Watch(contract.Key(ctx))
	defer stop()
	for {
		err := e.forward(ctx, keyEnded)
		if err == nil {
			select {
			case <-keyEnded:
				err = errStreamOver
			case <-e.follower.Appended():
			case <-tick.C:
				if err = e.mayGoOn(ctx); err == nil {
					err = e.sendSignOfLife()
				}
			case <-ctx.Done():
				err = errStreamOver
			case <-e.streams.stopping:
				err = errStreamOver
			}
		}
		switch {
		case errors.Is(err, errStreamOver):
			return nil
		case err != nil:
			return err
		}
	}
}

// mayGoOn ends a stream whose reader would not be admitted any more: a stream may
// outlive its key and its instance. Where that can't be found out, the stream goes on.
func (e *eventStream) mayGoOn(ctx context.Context) error {
	switch gateway.KindOf(contract.Readmit(ctx)) {
	case gateway.Unauthorized, gateway.Forbidden, gateway.NotFound:
		return errStreamOver
	default:
		return nil
	}
}

// forward writes all events after the cursor.
func (e *eventStream) forward(ctx context.Context, keyEnded <-chan struct{}) error {
	for {
		select {
		case <-keyEnded:
			return errStreamOver
		default:
		}
		events, err := e.streams.events.ReadFollowed(ctx, e.follower, e.cursor, streamSlice, streamBytes)
		if err != nil {
			if ctx.Err() != nil {
				return errStreamOver
			}
			return err
		}
		size, err := e.send(events)
		if err != nil {
			return err
		}
		if len(events) < streamSlice && size < streamBytes {
			return nil
		}
	}
}

// send writes the events of a slice that the reader wants, and returns how many
// bytes the slice has.
func (e *eventStream) send(events []eventlog.Event) (size int, err error) {
	for _, event := range events {
		size += len(event.Data)
		if event.Sequence != e.cursor+1 {
			// Retention was faster than the reader, who is refused when it comes back.
			return size, errStreamOver
		}
		e.cursor = event.Sequence
		if e.kinds == nil || e.kinds[event.Kind] {
			e.write(event)
		}
		if len(e.buffer) >= streamBuffer {
			if err := e.flush(); err != nil {
				return size, err
			}
		}
	}
	if len(e.buffer) == 0 {
		return size, nil
	}
	return size, e.flush()
}

// sendSignOfLife keeps a silent stream alive. It sends the cursor, so that a reader
// that comes back does not begin before events that were filtered out.
func (e *eventStream) sendSignOfLife() error {
	e.buffer = append(e.buffer, ": still here\n"...)
	if e.sent != e.cursor {
		e.sent = e.cursor
		e.buffer = strconv.AppendInt(append(e.buffer, "id: "...), e.cursor, 10)
		e.buffer = append(e.buffer, '\n')
	}
	e.buffer = append(e.buffer, '\n')
	return e.flush()
}

func (e *eventStream) write(event eventlog.Event) {
	e.sent = event.Sequence
	e.buffer = strconv.AppendInt(append(e.buffer, "id: "...), event.Sequence, 10)
	e.buffer = append(append(e.buffer, "\nevent: "...), event.Kind...)
	e.buffer = append(append(e.buffer, "\ndata: "...), event.Envelope()...)
	e.buffer = append(e.buffer, "\n\n"...)
}

// flush writes the buffer. Its only error is errStreamOver.
func (e *eventStream) flush() error {
	buffer := e.buffer
	if e.buffer = e.buffer[:0]; cap(e.buffer) > 2*streamBuffer {
		e.buffer = nil // one large event must not take up memory until the end
	}
	if e.control.SetWriteDeadline(e.streams.now().Add(streamPatience)) != nil {
		return errStreamOver
	}
	if _, err := e.w.Write(buffer); err != nil || e.control.Flush() != nil {
		return errStreamOver
	}
	return nil
}
