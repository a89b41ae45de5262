// Package prekey keeps the keys that linked devices upload, and hands out the
// bundles that others need to start Signal sessions with devices and phones.
package prekey

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/database"
	"github.com/recado-project/recado/internal/sandbox/wire"
	"github.com/recado-project/recado/internal/sqlite"
)

// Service keeps and hands out keys. It is safe for concurrent use.
type Service struct {
	db       *sqlite.DB
	accounts *account.Directory
	load     bool // a server for load tests: nothing is ever decrypted
	now      func() time.Time
}

// New returns the service. load is true on a server for load tests.
func New(accounts *account.Directory, load bool) *Service {
	return &Service{db: accounts.DB, accounts: accounts, load: load, now: accounts.Now}
}

// Requests lists the requests about keys.
func (s *Service) Requests() map[string]account.Handler {
	return map[string]account.Handler{
		"get encrypt count":  s.iqPreKeyCount,
		"get encrypt key":    s.iqBundles,
		"get encrypt digest": s.iqDigest,
		"set encrypt rotate": s.iqRotate,
		"set encrypt *":      s.iqUploadPreKeys,
	}
}

// keyType is the type of Curve25519 keys.
const keyType = 5

// maxUpload bounds the one-time keys in one upload. whatsmeow sends 812.
const maxUpload = 2000

// iqPreKeyCount answers how many of a device's one-time keys are left.
func (s *Service) iqPreKeyCount(ctx context.Context, c account.Asker, _ waBinary.Node) ([]waBinary.Node, error) {
	count, err := countPreKeys(ctx, s.db.Reader(), c.Device)
	if err != nil {
		return nil, err
	}
	if count == 0 && s.load {
		count = 1 // then clients upload a small batch instead of the first large one
	}
	return []waBinary.Node{{Tag: "count", Attrs: waBinary.Attrs{"value": count}}}, nil
}

// countPreKeys returns how many one-time keys a device has left.
func countPreKeys(ctx context.Context, q database.RowQuerier, of *account.Device) (int, error) {
	var count int
	err := q.QueryRowContext(ctx, "SELECT COUNT(*) FROM prekeys WHERE number = $1 AND device = $2",
		of.Account.Number, of.ID).Scan(&count)
	if err != nil {
		return 0, fmt.Errorf("prekey: count prekeys: %w", err)
	}
	return count, nil
}

// iqUploadPreKeys keeps a device's new one-time keys, and its signed prekey.
func (s *Service) iqUploadPreKeys(ctx context.Context, c account.Asker, iq waBinary.Node) ([]waBinary.Node, error) {
	list, _ := wire.Child(iq, "list")
	keys := list.GetChildren()
	if len(keys) == 0 || len(keys) > maxUpload {
		return nil, wire.ErrBadRequest
	}
	u := s.accounts.NewUnit()
	for _, key := range keys {
		id, public := wire.ChildContent(key, "id"), wire.ChildContent(key, "value")
		if len(id) != 3 || len(public) != 32 {
			return nil, wire.ErrBadRequest
		}
		u.Exec(`INSERT INTO prekeys (number, device, id, public) VALUES ($1, $2, $3, $4)
			ON CONFLICT (number, device, id) DO UPDATE SET public = excluded.public`,
			c.Device.Account.Number, c.Device.ID, wire.Uint24(id), public)
	}
	if signed, ok := wire.Child(iq, "skey"); ok {
		if err := keepSignedPreKey(u, c.Device, signed); err != nil {
			return nil, err
		}
	}
	return nil, u.Commit(ctx)
}

// iqRotate replaces a device's signed prekey.
func (s *Service) iqRotate(ctx context.Context, c account.Asker, iq waBinary.Node) ([]waBinary.Node, error) {
	signed, ok := wire.Child(iq, "rotate", "skey")
	if !ok {
		return nil, wire.ErrBadRequest
	}
	u := s.accounts.NewUnit()
	if err := keepSignedPreKey(u, c.Device, signed); err != nil {
		return nil, err
	}
	return nil, u.Commit(ctx)
}

func keepSignedPreKey(u *account.Unit, of *account.Device, key waBinary.Node) error {
	id, public, signature := wire.ChildContent(key, "id"), wire.ChildContent(key, "value"), wire.ChildContent(key, "signature")
	if len(id) != 3 || len(public) != 32 || len(signature) != 64 {
		return wire.ErrBadRequest
	}
	u.Exec("UPDATE devices SET skey_id = $1, skey_public = $2, skey_sig = $3 WHERE number = $4 AND device = $5",
		wire.Uint24(id), public, signature, of.Account.Number, of.ID)
	return nil
}

// iqDigest answers which keys of a device the platform holds.
func (s *Service) iqDigest(ctx context.Context, c account.Asker, _ waBinary.Node) (_ []waBinary.Node, err error) {
	held, err := readBundle(ctx, s.db.Reader(), c.Device)
	if err != nil {
		return nil, err
	}
	rows, err := s.db.Reader().QueryContext(ctx,
		"SELECT id FROM prekeys WHERE number = $1 AND device = $2 ORDER BY id", c.Device.Account.Number, c.Device.ID)
	if err != nil {
		return nil, fmt.Errorf("prekey: list prekeys: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var ids []waBinary.Node
	hash := sha256.New()
	for rows.Next() {
		var id uint32
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, waBinary.Node{Tag: "id", Content: wire.Bytes24(id)})
		_, _ = hash.Write(wire.Bytes24(id)) // a hash never fails
	}
	content := append(BundleNodes(held),
		waBinary.Node{Tag: "list", Content: ids},
		waBinary.Node{Tag: "hash", Content: hash.Sum(nil)[:20]})
	return []waBinary.Node{{Tag: "digest", Content: content}}, rows.Err()
}

// iqBundles answers with the bundles of devices.
func (s *Service) iqBundles(ctx context.Context, _ account.Asker, iq waBinary.Node) ([]waBinary.Node, error) {
	request, _ := wire.Child(iq, "key")
	var users []waBinary.Node
	for _, user := range request.GetChildren() {
		jid := wire.AttrJID(user, "jid")
		content, err := s.bundleFor(ctx, jid)
		if refusal, ok := errors.AsType[*wire.Error](err); ok {
			content = []waBinary.Node{{Tag: "error", Attrs: waBinary.Attrs{"code": refusal.Code, "text": refusal.Text}}}
		} else if err != nil {
			return nil, err
		}
		users = append(users, waBinary.Node{Tag: "user", Attrs: waBinary.Attrs{"jid": jid}, Content: content})
	}
	return []waBinary.Node{{Tag: "list", Content: users}}, nil
}
