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
	"strings"
	"time"
)

// maxEvent bounds one event of a stream; a text has 64 KiB at most, and its JSON
// may escape every character of it.
const maxEvent = 1 << 20

// Event is what webhooks and streams carry.
type Event struct {
	ID         string          `json:"id"` // the same on every delivery
	Type       string          `json:"type"`
	Timestamp  time.Time       `json:"timestamp"`
	InstanceID string          `json:"instanceId"`
	Sequence   int64           `json:"sequence"` // without a gap in an instance
	Data       json.RawMessage `json:"data"`     // its shape is the type's
}

// EventsParams says which events a stream carries.
type EventsParams struct {
	// After is the sequence of the last event that was read: the stream goes on
	// after it. nil begins with what happens next.
	After *int64
	Types []string // none means all
}

// EventStream is an open stream of events. It is for one goroutine; the caller
// closes it.
type EventStream struct {
	body  io.ReadCloser
	lines *bufio.Scanner
}

// Events opens a stream of what happens in an instance. It returns when the
// gateway has accepted it: an event that happens from then on is in it. Ending
// ctx ends the stream.
func (c *Client) Events(ctx context.Context, instanceID string, params EventsParams) (*EventStream, error) {
	address := c.baseURL + instancePath(instanceID, "/events")
	if len(params.Types) > 0 {
		address += "?" + url.Values{"types": {strings.Join(params.Types, ",")}}.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("recado: make request: %w", err)
	}
	request.Header.Set("X-Api-Key", c.key)
	if params.After != nil {
		request.Header.Set("Last-Event-ID", strconv.FormatInt(*params.After, 10))
	}
	patient := *c.http
	patient.Timeout = 0 // a stream is as long as its reader likes
	response, err := patient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("recado: open stream: %w", err)
	}
	if response.StatusCode >= http.StatusBadRequest {
		answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
		if err = errors.Join(err, response.Body.Close()); err != nil {
			return nil, fmt.Errorf("recado: read answer: %w", err)
		}
		return nil, refusal(response, answer)
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, maxEvent)
	return &EventStream{body: response.Body, lines: lines}, nil
}

// Next waits for the next event. Its error is io.EOF where the gateway has ended
// the stream; to go on without a hole, open a new one after the last sequence.
func (s *EventStream) Next() (Event, error) {
	for s.lines.Scan() {
		data, ok := bytes.CutPrefix(s.lines.Bytes(), []byte("data: "))
		if !ok {
			continue // the data holds the id and the type as well
		}
		var event Event
		if err := json.Unmarshal(data, &event); err != nil {
			return Event{}, fmt.Errorf("recado: decode event: %w", err)
		}
		return event, nil
	}
	if err := s.lines.Err(); err != nil {
		return Event{}, fmt.Errorf("recado: read stream: %w", err)
	}
	return Event{}, io.EOF
}

// Close ends the stream.
func (s *EventStream) Close() error { return s.body.Close() }
