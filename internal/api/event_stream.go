// The connection of one reader of events: it writes what the log has, and keeps the
// connection alive.

package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

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
