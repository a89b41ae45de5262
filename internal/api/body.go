package api

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

const (
	// bodyBlock is how much of a body is read at a time.
	bodyBlock = 32 << 10
	// defaultBodyPatience is the usual Config.BodyPatience. All of a body has to come
	// within the server's own time for reading.
	defaultBodyPatience = 15 * time.Second
)

// body is the body of a request: its JSON, without media, which lie in a file.
type body struct {
	json  bytes.Buffer
	sieve *sieve // nil where the operation takes no media
	lease *lease
}

// close gives back what the body holds. It may be called twice, and on nil.
func (b *body) close() error {
	if b == nil {
		return nil
	}
	b.lease.release()
	b.json = bytes.Buffer{}
	if b.sieve == nil {
		return nil
	}
	return b.sieve.drop()
}

// held is how many bytes the body takes up.
func (b *body) held() int64 {
	size := int64(b.json.Len())
	if b.sieve != nil && b.sieve.media != nil {
		size += b.sieve.media.size
	}
	return size
}

// take adds a piece of the body as it came in.
func (b *body) take(piece []byte) error {
	if b.sieve == nil {
		b.json.Write(piece)
	} else if err := b.sieve.write(piece); err != nil {
		return err
	}
	return b.lease.growTo(b.held())
}

// readBody reads the body of an operation, up to its limit.
func (s *service) readBody(x *exchange, op operation) error {
	x.body = &body{lease: s.bodies.lease(x.key.ID)}
	limit, expected := s.MaxBody, x.request.ContentLength
	if op.mediaField != "" {
		limit = mediaBody(s.MaxMedia)
		expected = expected / 4 * 3
		x.body.sieve = newSieve(op.mediaField, &x.body.json, s.TempDir)
	}
	tooLarge := gateway.Errorf(gateway.TooLarge, gateway.CodePayloadTooLarge, "the body has more than %d bytes", limit)
	if x.request.ContentLength > limit {
		return tooLarge
	}
	// What is announced is taken at once: of many that come together, those that
	// were let in are read to their end.
	if err := x.body.lease.growTo(expected); err != nil {
		return err
	}
	err := copyBody(x, http.MaxBytesReader(x.ResponseWriter, x.request.Body, limit))
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return tooLarge
	}
	return err
}

// copyBody reads until the body's end. A client that stalls is given up.
func copyBody(x *exchange, from io.Reader) error {
	control := http.NewResponseController(x.ResponseWriter)
	patience := time.AfterFunc(x.service.BodyPatience, func() {
		_ = control.SetReadDeadline(time.Unix(1, 0)) // long ago: the read ends now
	})
	defer patience.Stop()
	size := int64(bodyBlock)
	if length := x.request.ContentLength; length >= 0 {
		size = min(size, length+1) // one more, to see the end
	}
	block := make([]byte, size)
	for {
		n, err := from.Read(block)
		patience.Reset(x.service.BodyPatience)
		if n > 0 {
			if err := x.body.take(block[:n]); err != nil {
				return err
			}
		}
		switch _, over := errors.AsType[*http.MaxBytesError](err); {
		case errors.Is(err, io.EOF):
			return nil
		case over:
			return err
		case err != nil:
			// The client's doing: it went away, was too slow, or sent no proper chunks.
			return gateway.InvalidFields(gateway.FieldError{Field: "body", Message: "could not be read to its end"})
		}
	}
}
