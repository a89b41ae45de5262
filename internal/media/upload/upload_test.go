package upload_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/media/folder"
	"github.com/recado-project/recado/internal/media/upload"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/database"
)

// rig is the uploads of an account that may have 20 bytes of them.
type rig struct {
	*upload.Service

	files   *media.Blobs
	account string
	now     time.Time
}

func start(t *testing.T) *rig {
	t.Helper()
	r := &rig{account: uuid.NewString(), now: time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC)}
	now := func() time.Time { return r.now }
	data, err := store.Open(t.Context(), store.Config{Path: database.File(t), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = data.Close() })
	kept, err := folder.Open(folder.Config{Path: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if r.files, err = media.OpenBlobs(t.Context(), media.BlobsConfig{Store: kept}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.files.Close() })
	reading, err := media.New(media.Config{TempDir: t.TempDir(), FFmpeg: media.NoFFmpeg})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reading.Close() })
	links, err := media.NewLinks(media.LinksConfig{Blobs: r.files, Secret: make([]byte, media.MinLinkSecret)})
	if err != nil {
		t.Fatal(err)
	}
	r.Service, err = upload.New(upload.Config{
		Store: data, Media: reading, Files: r.files, Links: links, LinkLifetime: func() time.Duration { return time.Hour }, MaxBytes: 20,
		Logger: slog.New(slog.DiscardHandler), Now: now, RemovalTime: gateway.Trusting(now),
	})
	if err == nil {
		err = data.CreateAccount(t.Context(), gateway.Account{ID: r.account, Name: "shop", CreatedAt: r.now})
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) create(t *testing.T, content string) (upload.Upload, error) {
	t.Helper()
	decoded := &media.Decoded{Size: int64(len(content)), Content: strings.NewReader(content)}
	return r.Create(t.Context(), r.account, "", media.Hints{Field: "media", FileName: "a.txt", Decoded: decoded})
}

// requester is the context of work for an account.
func requester(t *testing.T, accountID string) context.Context {
	t.Helper()
	return gateway.WithRequester(t.Context(), gateway.Requester{AccountID: accountID})
}

// An account that has no room gets some by deleting, and the content goes with its row, also when its time is over.
func TestRoomAndEnd(t *testing.T) {
	t.Parallel()
	r := start(t)
	first, err := r.create(t, "twelve bytes")
	if err != nil {
		t.Fatal(err)
	}
	var refused *gateway.Error
	if _, err := r.create(t, "nine more"); !errors.As(err, &refused) || refused.Code != gateway.CodeUploadLimit {
		t.Errorf("without room: %v", err)
	}
	key := media.UploadKey(r.account, first.ID)
	if err := r.Delete(t.Context(), r.account, first.ID); err != nil {
		t.Error(err)
	}
	if _, err := r.files.Stat(t.Context(), key); gateway.KindOf(err) != gateway.NotFound {
		t.Errorf("the file of a deleted one: %v", err)
	}
	second, err := r.create(t, "nine more")
	if err != nil {
		t.Fatal(err)
	}
	key = media.UploadKey(r.account, second.ID)
	r.now = second.ExpiresAt.Add(-time.Millisecond)
	if err := r.Sweep(t.Context()); err != nil {
		t.Error(err)
	}
	blob, err := r.Open(requester(t, r.account), second.ID)
	if err != nil {
		t.Fatal(err)
	}
	if content, err := io.ReadAll(blob); err != nil || string(content) != "nine more" || blob.FileName != "a.txt" {
		t.Errorf("it is %q, called %q (%v)", content, blob.FileName, err)
	}
	_ = blob.Close()
	if _, err := r.Open(requester(t, uuid.NewString()), second.ID); gateway.KindOf(err) != gateway.NotFound {
		t.Errorf("another account opens it: %v", err)
	}
	r.now = second.ExpiresAt
	if err := r.Sweep(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := r.files.Stat(t.Context(), key); gateway.KindOf(err) != gateway.NotFound {
		t.Errorf("the file of one whose time is over: %v", err)
	}
	if page, err := r.List(t.Context(), r.account, gateway.PageRequest{Page: 1, Limit: 10}); err != nil || page.Total != 0 {
		t.Errorf("there are %d, %v", page.Total, err)
	}
}
