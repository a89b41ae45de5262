package platform

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sqlite"
)

// keyType marks Curve25519 keys.
const keyType = 5

// maxUpload bounds the one-time keys in one upload; whatsmeow sends 812.
const maxUpload = 2000

// iqPreKeyCount tells a device how many of its one-time keys are left.
func iqPreKeyCount(ctx context.Context, c *connection, _ waBinary.Node) ([]waBinary.Node, error) {
	count, err := countPreKeys(ctx, c.s.db.Reader(), c.device)
	if err != nil {
		return nil, err
	}
	if count == 0 && c.s.load != nil {
		count = 1 // then clients upload a small batch instead of the first large one
	}
	return []waBinary.Node{{Tag: "count", Attrs: waBinary.Attrs{"value": count}}}, nil
}

// rowQuerier reads one row: the readers' pool or a transaction.
type rowQuerier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func countPreKeys(ctx context.Context, q rowQuerier, of *device) (int, error) {
	var count int
	err := q.QueryRowContext(ctx, "SELECT COUNT(*) FROM prekeys WHERE number = $1 AND device = $2",
		of.account.number, of.id).Scan(&count)
	if err != nil {
		return 0, fmt.Errorf("platform: count prekeys: %w", err)
	}
	return count, nil
}

// iqUploadPreKeys keeps a device's new one-time keys, and its signed prekey.
func iqUploadPreKeys(ctx context.Context, c *connection, iq waBinary.Node) ([]waBinary.Node, error) {
	list, _ := child(iq, "list")
	keys := list.GetChildren()
	if len(keys) == 0 || len(keys) > maxUpload {
		return nil, errBadRequest
	}
	u := c.s.newUnit()
	for _, key := range keys {
		id, public := childContent(key, "id"), childContent(key, "value")
		if len(id) != 3 || len(public) != 32 {
			return nil, errBadRequest
		}
		u.exec(`INSERT INTO prekeys (number, device, id, public) VALUES ($1, $2, $3, $4)
			ON CONFLICT (number, device, id) DO UPDATE SET public = excluded.public`,
			c.device.account.number, c.device.id, uint24(id), public)
	}
	if signed, ok := child(iq, "skey"); ok {
		if err := u.keepSignedPreKey(c.device, signed); err != nil {
			return nil, err
		}
	}
	return nil, u.commit(ctx)
}

// iqRotate replaces a device's signed prekey.
func iqRotate(ctx context.Context, c *connection, iq waBinary.Node) ([]waBinary.Node, error) {
	signed, ok := child(iq, "rotate", "skey")
	if !ok {
		return nil, errBadRequest
	}
	u := c.s.newUnit()
	if err := u.keepSignedPreKey(c.device, signed); err != nil {
		return nil, err
	}
	return nil, u.commit(ctx)
}

func (u *unit) keepSignedPreKey(of *device, key waBinary.Node) error {
	id, public, signature := childContent(key, "id"), childContent(key, "value"), childContent(key, "signature")
	if len(id) != 3 || len(public) != 32 || len(signature) != 64 {
		return errBadRequest
	}
	u.exec("UPDATE devices SET skey_id = $1, skey_public = $2, skey_sig = $3 WHERE number = $4 AND device = $5",
		uint24(id), public, signature, of.account.number, of.id)
	return nil
}

// iqDigest tells a device which of its keys the platform holds.
func iqDigest(ctx context.Context, c *connection, _ waBinary.Node) (_ []waBinary.Node, err error) {
	held, err := readBundle(ctx, c.s.db.Reader(), c.device)
	if err != nil {
		return nil, err
	}
	rows, err := c.s.db.Reader().QueryContext(ctx,
		"SELECT id FROM prekeys WHERE number = $1 AND device = $2 ORDER BY id", c.device.account.number, c.device.id)
	if err != nil {
		return nil, fmt.Errorf("platform: list prekeys: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var ids []waBinary.Node
	hash := sha256.New()
	for rows.Next() {
		var id uint32
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, waBinary.Node{Tag: "id", Content: bytes24(id)})
		_, _ = hash.Write(bytes24(id)) // a hash never fails
	}
	content := append(bundleNodes(held),
		waBinary.Node{Tag: "list", Content: ids},
		waBinary.Node{Tag: "hash", Content: hash.Sum(nil)[:20]})
	return []waBinary.Node{{Tag: "digest", Content: content}}, rows.Err()
}

// iqBundles hands out what is needed to start sessions with devices.
func iqBundles(ctx context.Context, c *connection, iq waBinary.Node) ([]waBinary.Node, error) {
	request, _ := child(iq, "key")
	var users []waBinary.Node
	for _, user := range request.GetChildren() {
		jid := attrJID(user, "jid")
		content, err := c.s.bundleFor(ctx, jid)
		if refusal, ok := errors.AsType[*iqError](err); ok {
			content = []waBinary.Node{{Tag: "error", Attrs: waBinary.Attrs{"code": refusal.code, "text": refusal.text}}}
		} else if err != nil {
			return nil, err
		}
		users = append(users, waBinary.Node{Tag: "user", Attrs: waBinary.Attrs{"jid": jid}, Content: content})
	}
	return []waBinary.Node{{Tag: "list", Content: users}}, nil
}

// bundleFor returns the keys of one device, a one-time key among them where
// there is one: nobody else gets that one.
func (s *Server) bundleFor(ctx context.Context, jid types.JID) ([]waBinary.Node, error) {
	owner, err := s.directory.byJID(ctx, jid)
	if err != nil {
		return nil, err
	}
	if owner == nil || !owner.isRegistered() {
		return nil, errItemNotFound
	}
	if jid.Device == 0 {
		bundle, err := s.phoneBundle(ctx, owner)
		if err != nil {
			return nil, err
		}
		return bundleNodes(bundle), nil
	}
	linked := owner.companion(jid.Device)
	if linked == nil {
		return nil, errItemNotFound
	}
	bundle, err := s.takeBundle(ctx, linked)
	if err != nil {
		return nil, err
	}
	return bundleNodes(bundle), nil
}

// lowPreKeys is the number of one-time keys below which a device is asked for
// more.
const lowPreKeys = 5

// takeBundle consumes a one-time key of a linked device and returns its bundle.
func (s *Server) takeBundle(ctx context.Context, of *device) (bundle signalBundle, err error) {
	left := 0
	err = s.db.Write(ctx, func(ctx context.Context, tx *sqlite.Tx) error {
		var err error
		if bundle, err = readBundle(ctx, tx, of); err != nil {
			return err
		}
		var id uint32
		var public []byte
		err = tx.QueryRowContext(ctx, `DELETE FROM prekeys WHERE number = $1 AND device = $2 AND id = (
			SELECT MIN(id) FROM prekeys WHERE number = $1 AND device = $2) RETURNING id, public`,
			of.account.number, of.id).Scan(&id, &public)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			bundle.PreKey = nil
		case err != nil:
			return err
		default:
			bundle.PreKey = newPreKey(id, public)
		}
		left, err = countPreKeys(ctx, tx, of)
		return err
	})
	if err != nil {
		return bundle, fmt.Errorf("platform: take prekey bundle: %w", err)
	}
	if c := of.conn.Load(); c != nil && left < lowPreKeys {
		// It may be lost: a device counts its keys whenever it logs in.
		c.offer(waBinary.Node{
			Tag: "notification",
			Attrs: waBinary.Attrs{
				"from": types.ServerJID, "type": "encrypt", "id": newID(), "t": s.now().Unix(),
			},
			Content: []waBinary.Node{{Tag: "count", Attrs: waBinary.Attrs{"value": left}}},
		})
	}
	return bundle, nil
}

// readBundle reads a linked device's keys without a one-time key.
func readBundle(ctx context.Context, q rowQuerier, of *device) (signalBundle, error) {
	bundle := signalBundle{Identity: of.identity}
	var public, signature []byte
	err := q.QueryRowContext(ctx,
		"SELECT registration, skey_id, skey_public, skey_sig FROM devices WHERE number = $1 AND device = $2",
		of.account.number, of.id).Scan(&bundle.RegistrationID, &bundle.SignedPreKeyID, &public, &signature)
	if errors.Is(err, sql.ErrNoRows) {
		return bundle, errItemNotFound // it was removed a moment ago
	}
	if err != nil {
		return bundle, fmt.Errorf("platform: read bundle: %w", err)
	}
	copy(bundle.SignedPreKey[:], public)
	copy(bundle.Signature[:], signature)
	return bundle, nil
}
