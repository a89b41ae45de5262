// Linking by QR code.

package link

import (
	"context"
	"errors"
	"fmt"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/pairing"
	"github.com/recado-project/recado/internal/sandbox/refusal"
	"github.com/recado-project/recado/internal/sandbox/wire"
	"github.com/recado-project/recado/internal/sqlite"
)

const (
	linkTimeout = 15 * time.Second

	// streamRestart ends the connection of a client that was linked, so that it
	// connects again and logs in.
	streamRestart = "515"
)

// Scan links the client that shows a QR code to the phone of a number. code is the
// text of the QR code. It returns when the client has accepted and the device is
// recorded.
func (s *Service) Scan(ctx context.Context, number, code string) error {
	qr, err := pairing.ParseQR(code)
	if err != nil {
		return refusal.Invalidf("qrCode", "this is not a linking code: %v", err)
	}
	c := s.find(qr.Ref, s.now())
	if c == nil {
		return refusal.Invalidf("qrCode", "no client shows this code, or it has expired")
	}
	if qr.NoiseKey != c.Connection.Noise.ClientKey() || qr.IdentityKey != c.keys.identity {
		return refusal.Invalidf("qrCode", "the code's keys are not those of the client that asked for it")
	}
	owner, err := s.phoneThatLinks(ctx, number)
	if err != nil {
		return err
	}
	return s.linkOrAsk(ctx, owner, c, qr.AdvSecret)
}

// phoneThatLinks returns the account of a phone that can link devices: it is
// registered and not banned.
func (s *Service) phoneThatLinks(ctx context.Context, number string) (*account.Account, error) {
	owner, err := s.config.Accounts.Named(ctx, number)
	if err != nil {
		return nil, err
	}
	if !owner.IsRegistered() {
		return nil, refusal.Conflictf("the number is not registered")
	}
	if _, banned := owner.Ban(s.now()); banned {
		return nil, refusal.Conflictf("the account is banned")
	}
	return owner, nil
}

// link makes a waiting client a device of the account.
func (s *Service) link(ctx context.Context, owner *account.Account, c *Candidate, advSecret []byte) error {
	ctx, cancel := context.WithTimeout(ctx, linkTimeout)
	defer cancel()
	c.busy.Lock()
	defer c.busy.Unlock()
	if c.linked {
		return refusal.Conflictf("the client that shows this code has been linked already")
	}
	id, err := s.reserveDevice(ctx, owner)
	if err != nil {
		return err
	}
	linked := &account.Device{Account: owner, ID: id, Noise: c.Connection.Noise.ClientKey(), Identity: c.keys.identity, KeyIndex: int(id), Name: c.keys.name, Kind: c.keys.kind}
	signed, details, err := pairing.Identity(
		owner.Keys.Identity, linked.Identity, advSecret, owner.Keys.RegistrationID, uint32(id), s.now())
	if err != nil {
		return fmt.Errorf("link: link: %w", err)
	}
	answer, err := c.Connection.Request(ctx, s.pairSuccess(linked, signed))
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return &refusal.Error{Kind: refusal.Timeout, Message: "the client did not answer in time"}
		}
		if errors.Is(err, wire.ErrGone) {
			return refusal.Conflictf("the client has disconnected")
		}
		return err
	}
	if wire.AttrString(answer, "type") != "result" {
		reason, _ := wire.Child(answer, "error")
		return refusal.Conflictf("the client refused to be linked: %s", wire.AttrString(reason, "text"))
	}
	_, err = pairing.VerifyDeviceSignature(*owner.Keys.Identity.Pub, linked.Identity, details,
		wire.ChildContent(answer, "pair-device-sign", "device-identity"))
	if err != nil {
		return refusal.Conflictf("the client's signature is wrong: %v", err)
	}
	if err := s.addDevice(ctx, linked, c.keys); err != nil {
		return err
	}
	c.linked = true
	c.Connection.CloseAfter(wire.StreamError(streamRestart, ""))
	return nil
}

// pairSuccess builds the request that offers the client to become a device.
func (s *Service) pairSuccess(linked *account.Device, signedIdentity []byte) waBinary.Node {
	pn := linked.Account.PN()
	pn.Device = linked.ID
	return waBinary.Node{
		Tag: "iq",
		Attrs: waBinary.Attrs{
			"from": types.ServerJID, "type": "set", "id": wire.NewID(), "xmlns": "md", "t": s.now().Unix(),
		},
		Content: []waBinary.Node{{Tag: "pair-success", Content: []waBinary.Node{
			{Tag: "device-identity", Content: signedIdentity},
			{Tag: "device", Attrs: waBinary.Attrs{"jid": pn, "lid": linked.JID()}},
			{Tag: "platform", Attrs: waBinary.Attrs{"name": "android"}},
		}}},
	}
}

// reserveDevice takes the next free device number of the account.
func (s *Service) reserveDevice(ctx context.Context, owner *account.Account) (id uint16, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx *sqlite.Tx) error {
		var next int
		if err := tx.QueryRowContext(ctx, "SELECT next_device FROM accounts WHERE number = $1", owner.Number).Scan(&next); err != nil {
			return err
		}
		free, ok := owner.FreeDevice(next)
		if !ok {
			return refusal.Conflictf("the account has too many linked devices")
		}
		id = free
		_, err := tx.ExecContext(ctx, "UPDATE accounts SET next_device = $1 WHERE number = $2", int(free)+1, owner.Number)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("link: reserve device: %w", err)
	}
	return id, nil
}

// addDevice records a device that was linked, and notifies the devices that hold
// the account's device list.
func (s *Service) addDevice(ctx context.Context, linked *account.Device, keys Registration) error {
	owner := linked.Account
	u := s.config.Accounts.NewUnit()
	u.Exec(`INSERT INTO devices (number, device, noise, identity, registration, skey_id, skey_public, skey_sig, key_index, created_at, name, kind)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		owner.Number, linked.ID, linked.Noise[:], linked.Identity[:], keys.registrationID, keys.signedPreKeyID,
		keys.signedPreKey[:], keys.signature[:], linked.KeyIndex, s.now().UnixMilli(), linked.Name, linked.Kind)
	if err := s.config.Settings.Ensure(u, owner); err != nil { //nolint:contextcheck // it computes, it waits for nothing
		return err
	}
	if err := s.config.Holders.Announce(ctx, u, owner, []uint16{linked.ID}); err != nil {
		return err
	}
	u.Then(func() { owner.AddDevice(linked) })
	u.Ring(owner.Number)
	return u.Commit(ctx)
}
