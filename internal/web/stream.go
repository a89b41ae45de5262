// A live stream of a page: server-sent events whose data is HTML.

package web

import (
	"bytes"
	"fmt"
	"net/http"
	"time"
)

const (
	// StreamPause is how often a stream without news gives a sign of life.
	StreamPause = 15 * time.Second
	// streamPatience bounds how long one write may wait for a slow browser.
	streamPatience = 20 * time.Second
	// streamRetry is when browsers come back after the stream was cut.
	streamRetry = time.Second
)

// Stream sends parts of a page to one browser. Only one goroutine may use it.
type Stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	buffer  bytes.Buffer
}

// NewStream begins a stream as the answer to a request. Its error says that the browser
// has gone.
func NewStream(w http.ResponseWriter) (*Stream, error) {
	s := &Stream{w: w, control: http.NewResponseController(w)}
	if err := s.control.SetReadDeadline(time.Time{}); err != nil {
		return nil, fmt.Errorf("web: begin stream: %w", err)
	}
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // otherwise nginx holds events back
	w.WriteHeader(http.StatusOK)
	fmt.Fprintf(&s.buffer, "retry: %d\n\n", streamRetry.Milliseconds())
	if err := s.flush(); err != nil {
		return nil, err
	}
	return s, nil
}

// Send sends a part of the page under the event's name. Its error says that the browser
// has gone.
func (s *Stream) Send(event string, html []byte) error {
	fmt.Fprintf(&s.buffer, "event: %s\n", event)
	for line := range bytes.Lines(html) {
		s.buffer.WriteString("data: ")
		// A carriage return would end the line for the browser.
		s.buffer.Write(bytes.ReplaceAll(bytes.TrimRight(line, "\r\n"), []byte("\r"), []byte(" ")))
		s.buffer.WriteByte('\n')
	}
	s.buffer.WriteByte('\n')
	return s.flush()
}

// SignOfLife keeps proxies from cutting a stream without news.
func (s *Stream) SignOfLife() error {
	s.buffer.WriteString(":\n\n")
	return s.flush()
}

func (s *Stream) flush() error {
	defer s.buffer.Reset()
	//nolint:forbidigo // a deadline of the network is on the wall clock
	if err := s.control.SetWriteDeadline(time.Now().Add(streamPatience)); err != nil {
		return fmt.Errorf("web: limit stream: %w", err)
	}
	if _, err := s.w.Write(s.buffer.Bytes()); err != nil {
		return fmt.Errorf("web: write stream: %w", err)
	}
	if err := s.control.Flush(); err != nil {
		return fmt.Errorf("web: write stream: %w", err)
	}
	return nil
}
