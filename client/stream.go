// The stream of an instance's events, as one connection gives it. Follow is what most
// programs want.

package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// DefaultMaxEvent is how large one event of a stream may be by default, in bytes.
const DefaultMaxEvent = 64 << 20

// ErrEventTooLarge ends a stream that has an event larger than MaxEvent.
var ErrEventTooLarge = errors.New("the event is larger than the reader accepts")

// errNoEvent ends a stream that is not a gateway's.
var errNoEvent = errors.New("the gateway sent something that is not an event")

// EventsParams selects the events of a stream.
type EventsParams struct {
	// After is the sequence of the last event that was read: the stream continues
	// after it. nil begins with the next event.
	After *int64
	Types []string // none means all
	// MaxEvent bounds one event, in bytes; 0 means DefaultMaxEvent.
	MaxEvent int
}

// EventStream is one open stream of events. It is for one goroutine; the caller
// closes it. Client.Follow reconnects by itself when a stream is cut.
type EventStream struct {
	body     io.ReadCloser
	lines    *bufio.Scanner
	position *int64        // nil before the first id
	retry    time.Duration // 0 if the gateway did not say
	messages int           // how many have arrived, including those without an event
}

// Events opens a stream of the events of an instance. It returns when the gateway
// has accepted it: the stream has every event from then on. Ending ctx ends the
// stream.
func (c *Client) Events(ctx context.Context, instanceID string, params EventsParams) (*EventStream, error) {
	return c.openStream(ctx, instanceID, params, func() {})
}

// openStream opens a stream that calls alive whenever something arrives.
func (c *Client) openStream(ctx context.Context, instanceID string, params EventsParams, alive func()) (*EventStream, error) {
	q := query{}
	q.setList("types", params.Types)
	header := http.Header{"Accept": {"text/event-stream"}}
	if params.After != nil {
		header.Set("Last-Event-ID", strconv.FormatInt(*params.After, 10))
	}
	request, err := c.newRequest(ctx, request{
		method: http.MethodGet, path: "/api/instances/" + url.PathEscape(instanceID) + "/events", query: q, header: header,
	})
	if err != nil {
		return nil, err
	}
	patient := c.staying()
	patient.Timeout = 0 // a stream lasts as long as its reader likes
	response, err := patient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("open the stream: %w", err)
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		answer, err := readAnswer(response.Body)
		if err := errors.Join(err, response.Body.Close()); err != nil {
			return nil, err
		}
		return nil, refusal(response, answer)
	}
	return newEventStream(response.Body, params, alive), nil
}

func newEventStream(body io.ReadCloser, params EventsParams, alive func()) *EventStream {
	if params.MaxEvent == 0 {
		params.MaxEvent = DefaultMaxEvent
	}
	const room = len("data: \r\n")
	lines := bufio.NewScanner(noting{body, alive})
	lines.Buffer(nil, params.MaxEvent+room)
	return &EventStream{body: body, lines: lines, position: params.After}
}

// Next waits for the next event. Its error is io.EOF if the gateway has ended the
// stream; to continue without missing an event, open a new one after Position.
func (s *EventStream) Next() (Event, error) {
	for {
		data, id, err := s.message()
		if err != nil {
			return Event{}, err
		}
		if data == nil {
			s.advance(id) // there are only events of other types up to here
			continue
		}
		var event Event
		if err := json.Unmarshal(data, &event); err != nil {
			return Event{}, fmt.Errorf("%w: %w", errNoEvent, err)
		}
		s.advance(id)
		return event, nil
	}
}

// Position is the sequence after which to continue: that of the last event of any
// type that the gateway has considered for this stream. It is nil until the gateway
// has sent one.
func (s *EventStream) Position() *int64 { return s.position }

// Close ends the stream.
func (s *EventStream) Close() error { return s.body.Close() }

func (s *EventStream) advance(id *int64) {
	if id != nil {
		s.position = id
	}
}

// message reads up to the blank line that ends a message of the stream. A message
// that is cut off before it does not count.
func (s *EventStream) message() (data []byte, id *int64, err error) {
	for s.lines.Scan() {
		line := s.lines.Bytes()
		if len(line) == 0 {
			s.messages++
			return data, id, nil
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "data":
			data = append(data, value...) // the data holds the type as well
		case "id":
			if sequence, err := strconv.ParseInt(string(value), 10, 64); err == nil {
				id = &sequence
			}
		case "retry":
			if wait, err := strconv.Atoi(string(value)); err == nil && wait >= 0 {
				s.retry = time.Duration(wait) * time.Millisecond
			}
		}
	}
	switch err := s.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, nil, ErrEventTooLarge
	case err != nil:
		return nil, nil, fmt.Errorf("read the stream: %w", err)
	}
	return nil, nil, io.EOF
}

// noting is a reader that calls a function whenever something arrives.
type noting struct {
	io.Reader

	arrived func()
}

// Read reads.
func (n noting) Read(buffer []byte) (int, error) {
	count, err := n.Reader.Read(buffer)
	if count > 0 {
		n.arrived()
	}
	return count, err
}
