// The table of uploads.

package store

import (
	"context"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media/upload"
	"github.com/recado-project/recado/internal/store/table"
)

//nolint:gochecknoglobals // a table, and statements that are made of it
var (
	uploadColumns = table.Of(
		table.Text("id", func(u *upload.Upload) *string { return &u.ID }),
		table.Text("account_id", func(u *upload.Upload) *string { return &u.AccountID }),
		table.Text("mime_type", func(u *upload.Upload) *string { return &u.MimeType }),
		table.Text("file_name", func(u *upload.Upload) *string { return &u.FileName }),
		table.Number("size", func(u *upload.Upload) *int64 { return &u.Size }),
		table.Bytes("sha256", func(u *upload.Upload) *[]byte { return &u.SHA256 }),
		table.Moment("created_at", func(u *upload.Upload) *time.Time { return &u.CreatedAt }),
		table.Moment("expires_at", func(u *upload.Upload) *time.Time { return &u.ExpiresAt }),
	)

	addUpload = uploadColumns.InsertIf("uploads", "(SELECT COUNT(*) FROM uploads WHERE account_id = "+uploadColumns.Parameter("account_id")+")"+
		" < CAST("+uploadColumns.Next(1)+" AS BIGINT) AND (SELECT COALESCE(SUM(size), 0) FROM uploads WHERE account_id = "+
		uploadColumns.Parameter("account_id")+") <= CAST("+uploadColumns.Next(2)+" AS BIGINT)")
)

// AddUpload adds an upload if the others of its account leave room for it. Uploads that are added at the same
// time may find the same room.
func (s *Store) AddUpload(ctx context.Context, added upload.Upload, room upload.Room) (_ bool, err error) {
	defer table.Wrap(&err, "add upload")
	changed, err := s.db.Exec(ctx, addUpload, uploadColumns.Values(&added, room.Count, room.Bytes)...)
	return changed > 0, err
}

// FindUpload returns an upload of the account and whether there is one. Its time may be over.
func (s *Store) FindUpload(ctx context.Context, accountID, id string) (_ upload.Upload, found bool, err error) {
	defer table.Wrap(&err, "find upload")
	return uploadColumns.Find(ctx, s.db.Reader(), "FROM uploads WHERE account_id = $1 AND id = $2", accountID, id)
}

// ListUploads returns a page of the account's uploads that end after a time, oldest first.
func (s *Store) ListUploads(ctx context.Context, accountID string, after time.Time, request gateway.PageRequest) (_ gateway.Page[upload.Upload], err error) {
	defer table.Wrap(&err, "list uploads")
	return uploadColumns.List(ctx, s.db.Scanner(), request, "FROM uploads WHERE account_id = $1 AND expires_at > $2", accountID, table.Millis(after))
}

// DeleteUpload removes an upload of the account, and reports whether there was one.
func (s *Store) DeleteUpload(ctx context.Context, accountID, id string) (_ bool, err error) {
	defer table.Wrap(&err, "delete upload")
	changed, err := s.db.Exec(ctx, "DELETE FROM uploads WHERE account_id = $1 AND id = $2", accountID, id)
	return changed > 0, err
}

// EndedUploads returns uploads whose time was over by a time, limit at most.
func (s *Store) EndedUploads(ctx context.Context, by time.Time, limit int) (_ []upload.Upload, err error) {
	defer table.Wrap(&err, "uploads that have ended")
	return uploadColumns.Collect(ctx, s.db.Scanner(), "FROM uploads WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 + 0", table.Millis(by), limit)
}
