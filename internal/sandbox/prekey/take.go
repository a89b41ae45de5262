package prekey

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/database"
	"github.com/recado-project/recado/internal/sandbox/signal"
	"github.com/recado-project/recado/internal/sandbox/wire"
	"github.com/recado-project/recado/internal/sqlite"
)

// bundleFor returns the bundle of one device. Its one-time key, if there is one, is
// given to nobody else.
func (s *Service) bundleFor(ctx context.Context, jid types.JID) ([]waBinary.Node, error) {
	owner, err := s.accounts.ByJID(ctx, jid)
	if err != nil {
		return nil, err
	}
	if owner == nil || !owner.IsRegistered() {
		return nil, wire.ErrItemNotFound
	}
	if jid.Device == 0 {
		bundle, err := s.phoneBundle(ctx, owner)
		if err != nil {
			return nil, err
		}
		return BundleNodes(bundle), nil
	}
	linked := owner.Companion(jid.Device)
	if linked == nil {
		return nil, wire.ErrItemNotFound
	}
	bundle, err := s.Take(ctx, linked)
	if err != nil {
		return nil, err
	}
	return BundleNodes(bundle), nil
}

// lowPreKeys is the number of one-time keys below which a device is asked to upload
// more.
const lowPreKeys = 5

// Take returns the bundle of a linked device, with one of its one-time keys, which
// it deletes. A device that was removed is a wire.ErrItemNotFound.
func (s *Service) Take(ctx context.Context, of *account.Device) (bundle signal.Bundle, err error) {
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
			of.Account.Number, of.ID).Scan(&id, &public)
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
		return bundle, fmt.Errorf("prekey: take prekey bundle: %w", err)
	}
	if c := of.Conn.Load(); c != nil && left < lowPreKeys {
		// The notification may be lost, because a device asks for the count
		// whenever it logs in.
		c.Offer(waBinary.Node{
			Tag: "notification",
			Attrs: waBinary.Attrs{
				"from": types.ServerJID, "type": "encrypt", "id": wire.NewID(), "t": s.now().Unix(),
			},
			Content: []waBinary.Node{{Tag: "count", Attrs: waBinary.Attrs{"value": left}}},
		})
	}
	return bundle, nil
}

// readBundle returns a linked device's bundle without a one-time key.
func readBundle(ctx context.Context, q database.RowQuerier, of *account.Device) (signal.Bundle, error) {
	bundle := signal.Bundle{Identity: of.Identity}
	var public, signature []byte
	err := q.QueryRowContext(ctx,
		"SELECT registration, skey_id, skey_public, skey_sig FROM devices WHERE number = $1 AND device = $2",
		of.Account.Number, of.ID).Scan(&bundle.RegistrationID, &bundle.SignedPreKeyID, &public, &signature)
	if errors.Is(err, sql.ErrNoRows) {
		return bundle, wire.ErrItemNotFound // it was removed a moment ago
	}
	if err != nil {
		return bundle, fmt.Errorf("prekey: read bundle: %w", err)
	}
	copy(bundle.SignedPreKey[:], public)
	copy(bundle.Signature[:], signature)
	return bundle, nil
}
