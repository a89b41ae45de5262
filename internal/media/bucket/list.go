// The files of a bucket: listed, and deleted.

package bucket

import (
	"context"
	"errors"
	"iter"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/recado-project/recado/internal/media"
)

// errStalled ends a request that makes no progress.
var errStalled = errors.New("media: the store of files has stopped answering")

// progress ends ctx when alive was not called for three times the patience: the page of a
// list takes its time.
func (b *Bucket) progress(ctx context.Context) (bounded context.Context, alive, stop func()) {
	limit := 3 * b.config.Patience
	bounded, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(limit, func() { cancel(errStalled) })
	return bounded, func() { timer.Reset(limit) }, func() {
		timer.Stop()
		cancel(nil)
	}
}

// objects goes through what is below a prefix, with the names of folders if it does not go
// into them.
func (s *Store) objects(ctx context.Context, below string, into bool) iter.Seq2[minio.ObjectInfo, error] {
	return func(yield func(minio.ObjectInfo, error) bool) {
		bounded, alive, stop := s.bucket.progress(ctx)
		defer stop()
		options := minio.ListObjectsOptions{Prefix: s.prefix + below, Recursive: into}
		for object := range s.bucket.core.ListObjectsIter(bounded, s.bucket.config.Bucket, options) {
			alive()
			if object.Err != nil {
				yield(object, failed(ctx, "list files", errors.Join(object.Err, context.Cause(bounded))))
				return
			}
			if !yield(object, nil) {
				return
			}
		}
		if bounded.Err() != nil {
			yield(minio.ObjectInfo{}, failed(ctx, "list files", context.Cause(bounded)))
		}
	}
}

// List goes through the files (media.Store).
func (s *Store) List(ctx context.Context, folder string) iter.Seq2[media.Stored, error] {
	if folder != "" {
		folder += "/"
	}
	return func(yield func(media.Stored, error) bool) {
		for object, err := range s.objects(ctx, folder, true) {
			if err == nil && strings.HasSuffix(object.Key, "/") {
				continue // some tools make such an object for a folder
			}
			file := media.Stored{Key: strings.TrimPrefix(object.Key, s.prefix), Size: object.Size, Created: object.LastModified}
			if !yield(file, err) {
				return
			}
		}
	}
}

// Folders returns the folders that keys begin with (media.Store).
func (s *Store) Folders(ctx context.Context) ([]string, error) {
	var folders []string
	for object, err := range s.objects(ctx, "", false) {
		if err != nil {
			return nil, err
		}
		if name, is := strings.CutSuffix(strings.TrimPrefix(object.Key, s.prefix), "/"); is && name != "" {
			folders = append(folders, name)
		}
	}
	return folders, nil
}

// Delete removes a file (media.Store).
func (s *Store) Delete(ctx context.Context, key string) (freed int64, err error) {
	bounded, cancel := context.WithTimeout(ctx, s.bucket.config.Patience)
	defer cancel()
	about, err := s.bucket.core.StatObject(bounded, s.bucket.config.Bucket, s.prefix+key, minio.StatObjectOptions{})
	if isGone(err) {
		return 0, nil
	}
	if err == nil {
		err = s.bucket.core.RemoveObject(bounded, s.bucket.config.Bucket, s.prefix+key, minio.RemoveObjectOptions{})
	}
	if err != nil {
		return 0, failed(ctx, "delete a file", err)
	}
	return about.Size, nil
}

// DeleteFolder removes a folder (media.Store), a thousand files with each request.
func (s *Store) DeleteFolder(ctx context.Context, name string) error {
	bounded, alive, stop := s.bucket.progress(ctx)
	defer stop()
	var listed error
	files := func(yield func(minio.ObjectInfo) bool) {
		for object, err := range s.objects(bounded, name+"/", true) {
			if listed = err; err != nil || !yield(object) {
				return
			}
		}
	}
	results, err := s.bucket.core.RemoveObjectsWithIter(bounded, s.bucket.config.Bucket, files, minio.RemoveObjectsOptions{})
	if err != nil {
		return failed(ctx, "delete a folder", err)
	}
	var first error
	for result := range results {
		alive()
		if first == nil && result.Err != nil {
			first = result.Err
		}
	}
	if err := errors.Join(listed, first, context.Cause(bounded)); err != nil {
		return failed(ctx, "delete a folder", err)
	}
	return nil
}
