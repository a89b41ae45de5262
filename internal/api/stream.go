// The operation that streams an instance's events.

package api

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/recado-project/recado/internal/api/body"
	"github.com/recado-project/recado/internal/api/contract"
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

// KeyWatch reports the end of an API key: it was revoked or has expired. The caller
// calls stop once.
type KeyWatch interface {
	Watch(key gateway.Key) (ended <-chan struct{}, stop func())
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
			errs = append(errs, body.Wrong("types", "has a type that does not exist: "+strconv.Quote(string(kind))))
		}
		if in.kinds == nil {
			in.kinds = map[eventlog.Kind]bool{}
		}
		in.kinds[kind] = true
	}
	return errs
}

// streamAnswer is an answer that writes itself.
type streamAnswer struct {
	Body func(huma.Context)
}

// streams is the resource of the events of an instance.
type streams struct {
	events   Events
	keys     KeyWatch
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
	return contract.Handle(contract.Operation{
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
		return gateway.InvalidFields(gateway.FieldError{
			Field: "Last-Event-ID", Message: fmt.Sprintf("is beyond the newest event, which is %d", newest),
		})
	case after+1 < oldest:
		return gateway.Errorf(gateway.Gone, gateway.CodeEventsExpired,
			"the events after %d are no longer kept; the oldest that is kept is %d", after, oldest)
	}
	return nil
}
