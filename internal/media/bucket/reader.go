// The content of files, read from any place in it.

package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/recado-project/recado/internal/media"
)

// reader reads a file from the bucket. A connection that breaks or stands still is opened
// anew where the reader was.
type reader struct {
	ctx    context.Context //nolint:containedctx // it lives as long as the file is read (media.Store)
	bucket *Bucket
	name   string
	size   int64

	at   int64
	body io.ReadCloser // nil: not open
	stop context.CancelFunc
}

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	if r.at >= r.size {
		return 0, io.EOF
	}
	if len(p) == 0 {
		return 0, nil
	}
	for try := 1; ; try++ {
		n, err := r.readOnce(p)
		if n > 0 {
			r.at += int64(n)
			return n, nil // an error shows again with the next read
		}
		r.drop()
		switch {
		case isGone(err):
			return 0, media.NoBlob()
		case try == tries || r.ctx.Err() != nil:
			return 0, failed(r.ctx, "read a file", err)
		}
	}
}

func (r *reader) readOnce(p []byte) (int, error) {
	if r.body == nil {
		if err := r.open(); err != nil {
			return 0, err
		}
	}
	stalled := time.AfterFunc(r.bucket.config.Patience, r.stop)
	defer stalled.Stop()
	n, err := r.body.Read(p)
	if n == 0 && (err == nil || errors.Is(err, io.EOF)) {
		err = io.ErrUnexpectedEOF // there is more
	}
	return n, err
}

func (r *reader) open() error {
	var from minio.GetObjectOptions
	if r.at > 0 {
		if err := from.SetRange(r.at, 0); err != nil {
			return fmt.Errorf("media: ask for a part of a file: %w", err)
		}
	}
	ctx, stop := context.WithCancel(r.ctx)
	waiting := time.AfterFunc(r.bucket.config.Patience, stop)
	defer waiting.Stop()
	body, _, _, err := r.bucket.core.GetObject(ctx, r.bucket.config.Bucket, r.name, from)
	if err != nil {
		stop()
		return err
	}
	r.body, r.stop = body, stop
	return nil
}

// drop ends the connection, if there is one.
func (r *reader) drop() {
	if r.body == nil {
		return
	}
	_ = r.body.Close() // it was only read
	r.stop()
	r.body = nil
}

// Seek implements io.Seeker. Nothing is fetched before the next read.
func (r *reader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		offset += r.size
	}
	if offset < 0 {
		return 0, errors.New("media: seek before the start of a file")
	}
	if offset != r.at {
		r.drop()
		r.at = offset
	}
	return offset, nil
}

// Close ends the connection.
func (r *reader) Close() error {
	r.drop()
	return nil
}
