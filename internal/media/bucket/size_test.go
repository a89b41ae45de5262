package bucket_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/media/folder"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/s3"
)

// Large files are not held in memory, several at once neither.
//
//nolint:paralleltest // it measures the whole process
func TestLargeFilesStream(t *testing.T) {
	const size, files, most = 64 << 20, 3, 32 << 20
	blobs := opened(t, s3.Start(t), "")
	part := bytes.Repeat([]byte("0123456789abcdef"), 4096)
	transfer := func(key string) error {
		err := blobs.Receive(t.Context(), key, media.BlobMeta{Size: size}, func(file *os.File) error {
			for range size / len(part) {
				if _, err := file.Write(part); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		file, err := blobs.Get(t.Context(), key)
		if err != nil {
			return err
		}
		got, err := io.Copy(io.Discard, file)
		if got != size {
			err = errors.Join(err, fmt.Errorf("%d bytes came", got))
		}
		return errors.Join(err, file.Close())
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	ended := make(chan error)
	for n := range files {
		go func() { ended <- transfer(fmt.Sprintf("one/%d", n)) }()
	}
	for range files {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	runtime.ReadMemStats(&after)
	// All that was ever allocated, so it is more than was held at any moment.
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > most {
		t.Errorf("%d MB were allocated for %d files of %d MB", allocated>>20, files, size>>20)
	}
}

// BenchmarkFile stores a file of 5 MB, and reads it, in a folder and in a bucket on the same
// machine.
func BenchmarkFile(b *testing.B) {
	content := bytes.Repeat([]byte("0123456789abcdef"), 5<<20/16)
	for name, open := range cases.Sorted(map[string]func() (media.Store, error){
		"folder": func() (media.Store, error) { return folder.Open(folder.Config{Path: b.TempDir()}) },
		"bucket": func() (media.Store, error) {
			connected, _, err := connectTo(b, s3.Start(b).Address(), s3.Bucket)
			if err != nil {
				return nil, err
			}
			return connected.Store("", connected.Close), nil
		},
	}) {
		b.Run(name, func(b *testing.B) {
			store, err := open()
			if err != nil {
				b.Fatal(err)
			}
			blobs, err := media.OpenBlobs(b.Context(), media.BlobsConfig{Store: store})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = blobs.Close() })
			var storing, reading time.Duration
			for n := 0; b.Loop(); n++ {
				began := time.Now()
				key := fmt.Sprintf("one/%d", n)
				if err := blobs.Put(b.Context(), key, bytes.NewReader(content), media.BlobMeta{Size: int64(len(content))}); err != nil {
					b.Fatal(err)
				}
				stored := time.Now()
				file, err := blobs.Get(b.Context(), key)
				if err != nil {
					b.Fatal(err)
				}
				if got, err := io.Copy(io.Discard, file); err != nil || got != int64(len(content)) {
					b.Fatal(got, err)
				}
				_ = file.Close()
				storing += stored.Sub(began)
				reading += time.Since(stored)
				if err := blobs.Delete(b.Context(), key); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(storing.Microseconds())/float64(b.N)/1000, "ms/store")
			b.ReportMetric(float64(reading.Microseconds())/float64(b.N)/1000, "ms/read")
		})
	}
}
