package bucket_test

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/media/bucket"
	"github.com/recado-project/recado/internal/testkit/blobtest"
	"github.com/recado-project/recado/internal/testkit/s3"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// connect connects as a process does.
func connect(t *testing.T, server *s3.Server) *bucket.Bucket {
	t.Helper()
	pathStyle := true
	connected, err := bucket.Connect(t.Context(), bucket.Config{
		Endpoint: server.Address(), Plain: true, Region: "us-east-1", Bucket: s3.Bucket, PathStyle: &pathStyle, TempDir: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(connected.Close)
	return connected
}

func TestBucket(t *testing.T) {
	t.Parallel()
	server := s3.Start(t)
	t.Run("store", func(t *testing.T) { // ends before the server does
		t.Parallel()
		blobtest.Run(t, blobtest.Harness{Open: func(t *testing.T, _ func() time.Time) (store, second media.Store) {
			t.Helper()
			prefix := "of/" + t.Name() + "/" + time.Now().Format("150405.000000000") + "/"
			return connect(t, server).Store(prefix, nil), connect(t, server).Store(prefix, nil)
		}})
	})
}
