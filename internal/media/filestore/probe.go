// A place is tried out.

package filestore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/media/bucket"
	"github.com/recado-project/recado/internal/media/folder"
)

const (
	// probes is below which name files are tried; no gateway looks there.
	probes = "doctor-"
	// probePatience is how long a bucket may take for each request.
	probePatience = 3 * time.Second
)

// ErrPresigned is in the chain of an error that is one of presigned URLs alone: files are kept,
// but clients are sent to addresses that don't work from this machine.
var ErrPresigned = errors.New("the presigned URL does not lead to the file")

// Probe tries a place out while others may use it: it writes a small file that nobody knows,
// reads it, follows a presigned URL to it if the place makes such, and removes it. It reports
// whether the place makes presigned URLs. The Owner and Synced of config do not matter.
func (p Location) Probe(ctx context.Context, config Config) (presigned bool, err error) {
	store, remove, err := p.openProbe(ctx, config)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, store.Close(), remove()) }()
	const key = "file"
	if _, err := store.Stat(ctx, key); gateway.KindOf(err) != gateway.NotFound {
		return false, fmt.Errorf("look for a file: %w", err)
	}
	content := rand.Text()
	if _, err := store.Write(ctx, key, media.BlobMeta{MimeType: "text/plain"}, func(file *os.File) error {
		_, err := file.WriteString(content)
		return err
	}); err != nil {
		return false, fmt.Errorf("write a file: %w", err)
	}
	presigned, err = readProbe(ctx, store, key, content)
	if _, deleted := store.Delete(context.WithoutCancel(ctx), key); deleted != nil {
		err = errors.Join(err, fmt.Errorf("remove a file: %w", deleted))
	}
	return presigned, err
}

// openProbe opens a part of the place that is this call's own.
func (p Location) openProbe(ctx context.Context, config Config) (store media.Store, remove func() error, err error) {
	if p.bucket.Bucket != "" {
		settings := p.bucket
		settings.TempDir, settings.Patience = config.TempDir, probePatience
		connected, err := bucket.Connect(ctx, settings)
		if err != nil {
			return nil, nil, err
		}
		return connected.Store(p.prefix+probes+rand.Text()+"/", connected.Close), func() error { return nil }, nil
	}
	at := config.DataDir
	if p.folder != "" {
		at = p.folder
	}
	if _, err := os.Stat(at); err != nil {
		return nil, nil, fmt.Errorf("media: the folder of files can't be used (is it mounted?): %w", err)
	}
	own := filepath.Join(at, "."+probes+rand.Text())
	remove = func() error { return os.RemoveAll(own) }
	opened, err := folder.Open(folder.Config{Path: own, Shared: true, Now: config.Now})
	if err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	return opened, remove, nil
}

func readProbe(ctx context.Context, store media.Store, key, content string) (presigned bool, err error) {
	blob, err := store.Get(ctx, key)
	if err != nil {
		return false, fmt.Errorf("read a file: %w", err)
	}
	defer func() { err = errors.Join(err, blob.Close()) }()
	read, err := io.ReadAll(io.LimitReader(blob, int64(len(content))+1))
	if err != nil {
		return false, fmt.Errorf("read a file: %w", err)
	}
	if string(read) != content {
		return false, errors.New("read a file: it is not what was written")
	}
	if blob.Presign == nil {
		return false, nil
	}
	address, err := blob.Presign(ctx, media.Answer{ContentType: "text/plain", CacheControl: "no-store"})
	if err != nil {
		return true, fmt.Errorf("presign a URL: %w", err)
	}
	if err := follow(ctx, address, content); err != nil {
		return true, fmt.Errorf("%w: %w", ErrPresigned, err)
	}
	return true, nil
}

// follow fetches a presigned URL. Its error holds nothing of the URL, which is a secret for a
// while.
func follow(ctx context.Context, address, content string) error {
	ctx, cancel := context.WithTimeout(ctx, probePatience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return errors.New("it is no URL")
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return err // without the URL, unlike that of http.Client
	}
	defer func() { _ = response.Body.Close() }()
	read, err := io.ReadAll(io.LimitReader(response.Body, int64(len(content))+1))
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK || string(read) != content {
		return fmt.Errorf("it is answered %d", response.StatusCode)
	}
	return nil
}
