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

	"github.com/recado-project/recado/internal/api/body"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

const (
	tagEvents = "Events"

	eventStreamType = "text/event-stream"
	// streamSlice is how many events are read from the log at a time, at most, and
	// streamBytes how many bytes of them: a reader that is slow holds no more.
	streamSlice = 256
	streamBytes = 256 << 10
	// streamBuffer is how much is gathered before it is written.
	streamBuffer = 32 << 10
	// defaultStreamPause is the usual Config.StreamPause.
	defaultStreamPause = 15 * time.Second
	// streamPatience bounds how long one write may wait for a reader that is slow.
	streamPatience = 30 * time.Second
	// streamRetry tells readers when to come back after the stream was cut.
	streamRetry = time.Second
)

// Events is the log of what happened.
type Events interface {
	ReadSlice(ctx context.Context, instanceID string, after int64, maxEvents, maxBytes int) ([]eventlog.Event, error)
	Bounds(ctx context.Context, instanceID string) (oldest, newest int64, err error)
	Follow(instanceID string) *eventlog.Follower
}

// Event is the envelope that streams and webhooks carry, for the document.
type Event struct {
	ID         string         `json:"id" format:"uuid" doc:"The same on every delivery." example:"019aa1f4-5b0c-7e43-9d1f-6a1f2f6f3b11"`
	Type       string         `json:"type" doc:"What kind of event it is." example:"message.received"`
	Timestamp  Timestamp      `json:"timestamp" doc:"When it happened."`
	InstanceID string         `json:"instanceId" format:"uuid" doc:"Where it happened."`
	Sequence   int64          `json:"sequence" doc:"Numbers the events of an instance without a gap." example:"42"`
	Data       map[string]any `json:"data" doc:"What happened; the fields are those of its type."`
}

type streamInput struct {
	InstancePath

	LastEventID string   `header:"Last-Event-ID" doc:"The sequence of the last event that was read; the stream goes on after it. Without it the stream begins with what happens next." example:"41"` //nolint:tagliatelle // the header is spelled so where it was specified
	Types       []string `query:"types" nullable:"false" doc:"Only events of these types, separated by commas."`

	after int64 // -1: what happens next
	kinds map[eventlog.Kind]bool
}

// Resolve reads where the stream begins and what is wanted.
func (in *streamInput) Resolve(huma.Context) []error {
	var errs []error
	in.after = -1
	if in.LastEventID != "" {
		after, err := strconv.ParseInt(in.LastEventID, 10, 64)
		if err != nil || after < 0 {
			errs = append(errs, body.Wrong("Last-Event-ID", "must be the sequence of an event, or 0 for the first one"))
		}
		in.after = after
	}
	for _, name := range in.Types {
		kind := eventlog.Kind(strings.TrimSpace(name))
		if !kind.Known() {
			errs = append(errs, body.Wrong("types", "names a type that does not exist: "+strconv.Quote(string(kind))))
		}
		if in.kinds == nil {
			in.kinds = map[eventlog.Kind]bool{}
		}
		in.kinds[kind] = true
	}
	return errs
}

// streamAnswer writes itself.
type streamAnswer struct {
	Body func(huma.Context)
}

func (s *service) registerEvents() {
	op := operation{
		id: "streamEvents", method: http.MethodGet, path: "/api/instances/{instanceId}/events", tag: tagEvents,
		summary: "Stream events",
		description: "Server-sent events: `id` is the sequence, `event` the type, and `data` the envelope that webhooks get. " +
			"A reader that comes back with `Last-Event-ID` goes on without a hole, as far as events are kept.",
		status: http.StatusOK,
		codes:  []string{gateway.CodeValidation, gateway.CodeEventsExpired},
		stream: "id: 42\nevent: message.received\ndata: {…}\n\n",
	}
	register(s, op, s.streamEvents)
	op.documented(s.huma.OpenAPI()).Responses["200"].Content = map[string]*huma.MediaType{
		eventStreamType: {
			Schema:  &huma.Schema{Ref: componentsPrefix + "Event"}, // what readers of such streams are made for: the data of each
			Example: sampleEvent(),
		},
	}
}

// sampleEvent is an event for the document.
func sampleEvent() any {
	jid, lid, name := "5511988887766@s.whatsapp.net", "123456789012345@lid", "Ana"
	return Event{
		ID: "019aa1f4-5b0c-7e43-9d1f-6a1f2f6f3b11", Type: string(eventlog.KindCallReceived), Timestamp: Timestamp(sampleTime()),
		InstanceID: "019aa1f4-1c7f-7a20-8a5e-4be2f7b0a911", Sequence: 42,
		Data: map[string]any{
			"chat": jid, "chatLid": lid, "from": map[string]any{"jid": jid, "lid": lid, "name": name},
			"callId": "A1B2C3D4E5F6", "video": false,
		},
	}
}

func (s *service) streamEvents(ctx context.Context, in *streamInput) (*streamAnswer, error) {
	id := exchangeOf(ctx).instance.ID
	if err := s.admitStream(exchangeOf(ctx)); err != nil {
		return nil, err
	}
	// Before the bounds are read: what is appended meanwhile is told.
	follower := s.Events.Follow(id)
	oldest, newest, err := s.Events.Bounds(ctx, id)
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
	return &streamAnswer{func(hctx huma.Context) {
		defer follower.Close()
		r, w := humago.Unwrap(hctx)
		stream := &eventStream{
			service: s, w: w, control: http.NewResponseController(w),
			instanceID: id, cursor: in.after, said: in.after, kinds: in.kinds,
		}
		if err := stream.begin(r.Method == http.MethodHead); err != nil || r.Method == http.MethodHead {
			return
		}
		if err := stream.run(ctx, follower); err != nil {
			exchangeOf(ctx).failure = err
		}
	}}, nil
}

// checkResume refuses a reader whose next event is gone, or that has read what
// never was.
func checkResume(after, oldest, newest int64) error {
	switch {
	case after < 0:
		return nil
	case after > newest:
		return gateway.InvalidFields(gateway.FieldError{
			Field: "Last-Event-ID", Message: fmt.Sprintf("is beyond the newest event, which is %d", newest),
		})
	case after+1 < oldest:
		return gateway.Errorf(gateway.Gone, gateway.CodeEventsExpired,
			"the events after %d are no longer kept; the oldest that is kept is %d", after, oldest)
	}
	return nil
}

// eventStream is one reader's stream.
type eventStream struct {
	service    *service
	w          http.ResponseWriter
	control    *http.ResponseController
	instanceID string
	cursor     int64 // of the last event that was looked at
	said       int64 // the last id that the reader was told
	kinds      map[eventlog.Kind]bool
	buffer     []byte
}

func (e *eventStream) begin(headOnly bool) error {
	// A stream is as long as its reader likes; each write has a limit of its own.
	if err := e.control.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	header := e.w.Header()
	header.Set("Content-Type", eventStreamType)
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // nginx would hold events back
	e.w.WriteHeader(http.StatusOK)
	if headOnly {
		return nil
	}
	// Where it begins is said at once: a reader that is cut off before its first event
	// misses nothing by coming back.
	e.buffer = fmt.Appendf(nil, "retry: %d\nid: %d\n\n", streamRetry.Milliseconds(), e.cursor)
	return e.flush()
}

// errStreamOver ends a stream for a reason that is not ours: its reader has
// gone, or is to come back.
var errStreamOver = errors.New("api: the stream is over")

// run writes events until the reader leaves, or the server stops. Its error is
// one of ours.
func (e *eventStream) run(ctx context.Context, follower *eventlog.Follower) error {
	tick := time.NewTicker(e.service.StreamPause)
	defer tick.Stop()
	keyEnded, stop := e.service.Access.Watch(exchangeOf(ctx).key)
	defer stop()
	for {
		err := e.forward(ctx, keyEnded)
		if err == nil {
			select {
			case <-keyEnded:
				err = errStreamOver
			case <-follower.Appended():
			case <-tick.C:
				if err = e.mayGoOn(ctx); err == nil {
					err = e.sayStillHere()
				}
			case <-ctx.Done():
				err = errStreamOver
			case <-e.service.Stopping:
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

// mayGoOn looks whether the reader would be let in again: a stream outlives keys
// and instances. Where that can't be found out just now, it goes on.
func (e *eventStream) mayGoOn(ctx context.Context) error {
	x := exchangeOf(ctx)
	again := exchange{request: x.request}
	err := e.service.admitKey(ctx, &again)
	if err == nil {
		err = e.service.findInstance(ctx, &again)
	}
	switch gateway.KindOf(err) {
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
		events, err := e.service.Events.ReadSlice(ctx, e.instanceID, e.cursor, streamSlice, streamBytes)
		if err != nil {
			if ctx.Err() != nil {
				return errStreamOver
			}
			return err
		}
		size, err := e.tell(events)
		if err != nil {
			return err
		}
		if len(events) < streamSlice && size < streamBytes {
			return nil
		}
	}
}

// tell writes the events of a slice that the reader wants, and returns how many
// bytes the slice has.
func (e *eventStream) tell(events []eventlog.Event) (size int, err error) {
	for _, event := range events {
		size += len(event.Data)
		if event.Sequence != e.cursor+1 {
			// Retention was faster than the reader, who learns it by coming back.
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

// sayStillHere keeps a silent stream alive. What was filtered out need not be
// looked at again by a reader that comes back.
func (e *eventStream) sayStillHere() error {
	e.buffer = append(e.buffer, ": still here\n"...)
	if e.said != e.cursor {
		e.said = e.cursor
		e.buffer = strconv.AppendInt(append(e.buffer, "id: "...), e.cursor, 10)
		e.buffer = append(e.buffer, '\n')
	}
	e.buffer = append(e.buffer, '\n')
	return e.flush()
}

func (e *eventStream) write(event eventlog.Event) {
	e.said = event.Sequence
	e.buffer = strconv.AppendInt(append(e.buffer, "id: "...), event.Sequence, 10)
	e.buffer = append(append(e.buffer, "\nevent: "...), event.Kind...)
	e.buffer = append(append(e.buffer, "\ndata: "...), event.Envelope()...)
	e.buffer = append(e.buffer, "\n\n"...)
}

// flush writes what has been gathered. Its only error is errStreamOver.
func (e *eventStream) flush() error {
	buffer := e.buffer
	if e.buffer = e.buffer[:0]; cap(e.buffer) > 2*streamBuffer {
		e.buffer = nil // one large event must not be paid for until the end
	}
	if e.control.SetWriteDeadline(e.service.Now().Add(streamPatience)) != nil {
		return errStreamOver
	}
	if _, err := e.w.Write(buffer); err != nil || e.control.Flush() != nil {
		return errStreamOver
	}
	return nil
}
