// Package upload keeps the files that clients upload once and send many times. A file belongs to an
// account, and to no instance. Its description is in the database, and its content beside the files of
// messages that wait to be sent: like those it is nowhere else, so nothing makes room there. It is a
// room so that the rest of package media needs no database.
package upload

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/required"
)

const (
	// Lifetime is how long an upload is kept.
	Lifetime = 30 * 24 * time.Hour
	// Most is how many uploads an account may have at a time.
	Most = 10_000

	sweepEvery = time.Hour
	sliceRows  = 100
	idBytes    = 16
)

// Upload describes a file that was uploaded.
type Upload struct {
	// ID is 32 hexadecimal digits, chosen at random.
	ID, AccountID      string
	MimeType, FileName string
	Size               int64 // in bytes
	SHA256             []byte
	CreatedAt          time.Time
	ExpiresAt          time.Time
}

// key is where the content is.
func (u Upload) key() string { return media.UploadKey(u.AccountID, u.ID) }

// Room is what the uploads that an account has already may be, so that there is room for another one:
// fewer than Count, with Bytes at most.
type Room struct{ Count, Bytes int64 }

// Store keeps descriptions.
type Store interface {
	// AddUpload adds an upload if there is room for it. Requests of the same moment may find the same room.
	AddUpload(ctx context.Context, upload Upload, room Room) (added bool, err error)
	FindUpload(ctx context.Context, accountID, id string) (Upload, bool, error)
	// ListUploads returns a page of the account's uploads that end after a time, oldest first.
	ListUploads(ctx context.Context, accountID string, after time.Time, page gateway.PageRequest) (gateway.Page[Upload], error)
	DeleteUpload(ctx context.Context, accountID, id string) (deleted bool, err error)
	// EndedUploads returns uploads that ended by a time, limit at most.
	EndedUploads(ctx context.Context, by time.Time, limit int) ([]Upload, error)
}

// Media reads files that clients give (media.Service).
type Media interface {
	Open(ctx context.Context, kind gateway.MessageType, input string, hints media.Hints) (*media.File, error)
}

// Links signs links to files (media.Links).
type Links interface {
	URL(base, key, fileName string, lifetime time.Duration) string
}

// Config is what the service stands on. All of it is required, but for the limit.
type Config struct {
	Store Store
	// Media reads what is uploaded.
	Media Media
	// Files keeps the content.
	Files *media.Blobs
	// Links signs links to the content (media.Links), which work for as long as LinkLifetime says.
	Links        Links
	LinkLifetime func() time.Duration
	// MaxBytes bounds what the uploads of one account have together; 0 means no limit.
	MaxBytes int64

	Logger *slog.Logger
	Now    func() time.Time
	// RemovalTime says by which time uploads have ended, where they are removed.
	RemovalTime gateway.RemovalTime
}

// Service is the uploads of all accounts. It is safe for concurrent use.
type Service struct{ config Config }

// New makes the service.
func New(config Config) (*Service, error) {
	if err := required.Check("upload", config); err != nil {
		return nil, err
	}
	return &Service{config: config}, nil
}

// Create keeps a file: input is a base64 data URI or a URL, unless the hints have the file itself. Its
// errors are those of media.Service.Open for a document, and Conflict with CodeUploadLimit if the
// account has no room for it.
func (s *Service) Create(ctx context.Context, accountID, input string, hints media.Hints) (_ Upload, err error) {
	file, err := s.config.Media.Open(ctx, gateway.TypeDocument, input, hints)
	if err != nil {
		return Upload{}, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	content, err := file.Open()
	if err != nil {
		return Upload{}, err
	}
	defer func() { err = errors.Join(err, content.Close()) }()
	id := make([]byte, idBytes)
	if _, err := rand.Read(id); err != nil {
		return Upload{}, fmt.Errorf("upload: choose an ID: %w", err)
	}
	now := s.config.Now().UTC().Truncate(time.Millisecond)
	made := Upload{
		ID: hex.EncodeToString(id), AccountID: accountID, MimeType: file.MimeType, FileName: file.FileName,
		Size: file.Size, SHA256: file.SHA256, CreatedAt: now, ExpiresAt: now.Add(Lifetime),
	}
	// The row comes first: what a crash leaves is then found and removed when its time is over.
	added, err := s.config.Store.AddUpload(ctx, made, s.roomFor(made.Size))
	if err != nil {
		return Upload{}, err
	}
	if !added {
		return Upload{}, gateway.Errorf(gateway.Conflict, gateway.CodeUploadLimit, "the uploads of the account take as much space as they may: delete some")
	}
	about := media.BlobMeta{MimeType: made.MimeType, FileName: made.FileName, Size: made.Size}
	if err := s.config.Files.Put(ctx, made.key(), content, about); err != nil {
		_, undone := s.config.Store.DeleteUpload(context.WithoutCancel(ctx), accountID, made.ID)
		return Upload{}, errors.Join(err, undone)
	}
	return made, nil
}

// roomFor is the room that an upload of a size needs.
func (s *Service) roomFor(size int64) Room {
	room := Room{Count: Most, Bytes: math.MaxInt64}
	if limit := s.config.MaxBytes; limit > 0 {
		room.Bytes = limit - size
	}
	return room
}

// Get returns an upload of an account. Its error is NotFound if there is none, or not any more.
func (s *Service) Get(ctx context.Context, accountID, id string) (Upload, error) {
	found, known, err := s.config.Store.FindUpload(ctx, accountID, id)
	if err != nil {
		return Upload{}, err
	}
	if !known || !s.config.Now().Before(found.ExpiresAt) {
		return Upload{}, notFound()
	}
	return found, nil
}

// List returns a page of the uploads of an account, oldest first.
func (s *Service) List(ctx context.Context, accountID string, page gateway.PageRequest) (gateway.Page[Upload], error) {
	return s.config.Store.ListUploads(ctx, accountID, s.config.Now(), page)
}

// Delete removes an upload of an account. Messages that were made with it keep their file. Its error is
// that of Get.
func (s *Service) Delete(ctx context.Context, accountID, id string) error {
	if _, err := s.Get(ctx, accountID, id); err != nil {
		return err
	}
	return s.remove(ctx, accountID, id)
}

// Open opens the content of an upload of the account for which the context's work is done. Its error is
// that of Get.
func (s *Service) Open(ctx context.Context, id string) (*media.Blob, error) {
	found, err := s.Get(ctx, gateway.RequesterOf(ctx).AccountID, id)
	if err != nil {
		return nil, err
	}
	return s.config.Files.Get(ctx, found.key())
}

// Link returns a link to the content of an upload of an account, and for how long it works. It begins with
// base, and needs no API key. Its error is that of Get.
func (s *Service) Link(ctx context.Context, accountID, id, base string) (_ Upload, link string, lifetime time.Duration, err error) {
	found, err := s.Get(ctx, accountID, id)
	if err != nil {
		return Upload{}, "", 0, err
	}
	lifetime = s.config.LinkLifetime()
	return found, s.config.Links.URL(base, found.key(), found.FileName, lifetime), lifetime, nil
}

// remove removes an upload: the content first, so that none is left without a row.
func (s *Service) remove(ctx context.Context, accountID, id string) error {
	if err := s.config.Files.Delete(ctx, media.UploadKey(accountID, id)); err != nil {
		return err
	}
	_, err := s.config.Store.DeleteUpload(ctx, accountID, id)
	return err
}

// Run removes uploads whose time is over, until ctx ends. It returns nil.
func (s *Service) Run(ctx context.Context) error {
	again := time.NewTicker(sweepEvery)
	defer again.Stop()
	for {
		if err := s.Sweep(ctx); err != nil && ctx.Err() == nil {
			s.config.Logger.ErrorContext(ctx, "old uploads could not be deleted: will try again later", slog.Duration("in", sweepEvery), slog.Any("error", err))
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// Sweep removes uploads whose time is over.
func (s *Service) Sweep(ctx context.Context) error {
	now, ok := s.config.RemovalTime(ctx)
	if !ok {
		return nil
	}
	for {
		ended, err := s.config.Store.EndedUploads(ctx, now, sliceRows)
		if err != nil {
			return err
		}
		for _, one := range ended {
			if err := s.remove(ctx, one.AccountID, one.ID); err != nil {
				return err
			}
		}
		if len(ended) < sliceRows {
			return nil
		}
	}
}

func notFound() error {
	return gateway.Errorf(gateway.NotFound, gateway.CodeUploadNotFound, "there is no such upload, or its time is over")
}
