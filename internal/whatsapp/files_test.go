package whatsapp_test

import (
	"bytes"
	"crypto/sha256"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/whatsapp"
)

// A file is uploaded once a day for all whom a session sends it to.
func TestFilesAreUploadedOnce(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64
	w := newWorld(t, whatsapp.Config{Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
	session, _, device := w.link(t)
	upload := func(kind gateway.MessageType, content string, shared bool) gateway.Upload {
		t.Helper()
		file := gateway.File{Content: bytes.NewReader([]byte(content))}
		if hash := sha256.Sum256([]byte(content)); shared {
			file.SHA256 = hash[:]
		}
		made, err := session.Files().Upload(t.Context(), peerNumber+"@"+gateway.PersonalSuffix, kind, file)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	first := upload(gateway.TypeImage, "a file", true)
	again := upload(gateway.TypeImage, "a file", true)
	if first.Reused || !again.Reused || again.DirectPath != first.DirectPath || again.URL != first.URL ||
		!bytes.Equal(again.Key, first.Key) || !bytes.Equal(again.EncryptedSHA256, first.EncryptedSHA256) {
		t.Errorf("at first %+v, then %+v", first, again)
	}
	for name, other := range cases.Sorted(map[string]gateway.Upload{
		"another file":          upload(gateway.TypeImage, "another file", true),
		"as another kind":       upload(gateway.TypeDocument, "a file", true),
		"for one message alone": upload(gateway.TypeImage, "a file", false),
	}) {
		if other.Reused || bytes.Equal(other.Key, first.Key) {
			t.Errorf("%s: %+v, where the first one was %+v", name, other, first)
		}
	}
	ahead.Store(int64(25 * time.Hour))
	if later := upload(gateway.TypeImage, "a file", true); later.Reused || bytes.Equal(later.Key, first.Key) {
		t.Errorf("after a day: %+v", later)
	}
	session.Close()
	session, e := w.open(t, device)
	e.await(t, "connected")
	if fresh := upload(gateway.TypeImage, "a file", true); fresh.Reused {
		t.Error("another session has its uploads")
	}
}
