package server_test

import (
	"net/http"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/testkit"
)

// A message that has been kept long enough goes with its file, and the links to it.
func TestOldMessagesGoWithTheirFiles(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	var ahead atomic.Int64
	g := testkit.Start(t, testkit.Options{
		DataDir: data, KeepMessages: 30 * time.Hour,
		Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) },
	})
	id := g.Link(t, shopNumber)
	message, _ := receivePicture(t, g, id, shopNumber)
	file := filepath.Join(data, "media", id, message.ID)
	expire := func() {
		t.Helper()
		if err := g.Server.Messages().Expire(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	expire()
	if !exists(t, file) {
		t.Fatal("a young message is gone")
	}
	ahead.Store(int64(31 * time.Hour))
	expire()
	if exists(t, file) {
		t.Error("the file is still there")
	}
	_, err := g.Client.GetMediaDownloadLink(t.Context(), id, message.ID)
	testkit.Refused(t, err, http.StatusNotFound, "MESSAGE_NOT_FOUND")
}
