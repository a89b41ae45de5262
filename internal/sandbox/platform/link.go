package platform

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/pairing"
	"github.com/recado-project/recado/internal/sqlite"
)

const (
	linkTimeout = 15 * time.Second

	// streamRestart tells a client that was linked to come back and log in.
	streamRestart = "515"
)

// Scan links the client that shows the code to the phone of the number. It
// returns when the client has accepted and the device is recorded. code is the
// text of the QR code.
func (s *Server) Scan(ctx context.Context, number, code string) error {
	qr, err := pairing.ParseQR(code)
	if err != nil {
		return invalidf("qrCode", "this is no linking code: %v", err)
	}
	c := s.pending.find(qr.Ref, s.now())
	if c == nil {
		return invalidf("qrCode", "nobody shows this code, or it has expired")
	}
	if qr.NoiseKey != c.noise.ClientKey() || qr.IdentityKey != c.linking.keys.identity {
		return invalidf("qrCode", "the code's keys are not those of the client that asked for it")
	}
	owner, err := s.phoneThatLinks(ctx, number)
	if err != nil {
		return err
	}
	return s.link(ctx, owner, c, qr.AdvSecret)
}

// phoneThatLinks returns the account of a phone that a person could hold.
func (s *Server) phoneThatLinks(ctx context.Context, number string) (*account, error) {
	owner, err := s.phoneOf(ctx, number)
	if err != nil {
		return nil, err
	}
	if !owner.isRegistered() {
		return nil, conflictf("the number is not registered")
	}
	if _, banned := owner.ban(s.now()); banned {
		return nil, conflictf("the account is banned")
	}
	return owner, nil
}

// link makes the waiting client a device of the account.
func (s *Server) link(ctx context.Context, owner *account, c *connection, advSecret []byte) error {
	ctx, cancel := context.WithTimeout(ctx, linkTimeout)
	defer cancel()
	c.linking.busy.Lock()
	defer c.linking.busy.Unlock()
	if c.linking.linked {
		return conflictf("the client that shows this code has been linked already")
	}
	id, err := s.reserveDevice(ctx, owner)
	if err != nil {
		return err
	}
	linked := &device{account: owner, id: id, noise: c.noise.ClientKey(), identity: c.linking.keys.identity, keyIndex: int(id)}
	signed, details, err := pairing.Identity(
		owner.keys.Identity, linked.identity, advSecret, owner.keys.RegistrationID, uint32(id), s.now())
	if err != nil {
		return fmt.Errorf("platform: link: %w", err)
	}
	answer, err := c.request(ctx, s.pairSuccess(linked, signed))
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return &Error{Kind: Timeout, Message: "the client did not answer in time"}
		}
		if errors.Is(err, errGone) {
			return conflictf("the client has disconnected")
		}
		return err
	}
	if attrString(answer, "type") != "result" {
		reason, _ := child(answer, "error")
		return conflictf("the client refused to be linked: %s", attrString(reason, "text"))
	}
	_, err = pairing.VerifyDeviceSignature(*owner.keys.Identity.Pub, linked.identity, details,
		childContent(answer, "pair-device-sign", "device-identity"))
	if err != nil {
		return conflictf("the client's signature is wrong: %v", err)
	}
	if err := s.addDevice(ctx, linked, c.linking.keys); err != nil {
		return err
	}
	c.linking.linked = true
	c.closeAfter(streamError(streamRestart, ""))
	return nil
}

// pairSuccess builds what tells the client which device it becomes.
func (s *Server) pairSuccess(linked *device, signedIdentity []byte) waBinary.Node {
	pn := linked.account.pn()
	pn.Device = linked.id
	return waBinary.Node{
		Tag: "iq",
		Attrs: waBinary.Attrs{
			"from": types.ServerJID, "type": "set", "id": newID(), "xmlns": "md", "t": s.now().Unix(),
		},
		Content: []waBinary.Node{{Tag: "pair-success", Content: []waBinary.Node{
			{Tag: "device-identity", Content: signedIdentity},
			{Tag: "device", Attrs: waBinary.Attrs{"jid": pn, "lid": linked.jid()}},
			{Tag: "platform", Attrs: waBinary.Attrs{"name": "android"}},
		}}},
	}
}

// reserveDevice chooses the number of the account's next device.
func (s *Server) reserveDevice(ctx context.Context, owner *account) (id uint16, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx *sqlite.Tx) error {
		var next int
		if err := tx.QueryRowContext(ctx, "SELECT next_device FROM accounts WHERE number = $1", owner.number).Scan(&next); err != nil {
			return err
		}
		owner.mu.RLock()
		free, ok := freeDevice(next, owner.devices)
		owner.mu.RUnlock()
		if !ok {
			return conflictf("the account has too many linked devices")
		}
		id = free
		_, err := tx.ExecContext(ctx, "UPDATE accounts SET next_device = $1 WHERE number = $2", int(free)+1, owner.number)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("platform: reserve device: %w", err)
	}
	return id, nil
}

// addDevice records a device that was linked, and tells those who hold the
// account's device list.
func (s *Server) addDevice(ctx context.Context, linked *device, keys registration) error {
	owner := linked.account
	u := s.newUnit()
	u.exec(`INSERT INTO devices (number, device, noise, identity, registration, skey_id, skey_public, skey_sig, key_index, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		owner.number, linked.id, linked.noise[:], linked.identity[:], keys.registrationID, keys.signedPreKeyID,
		keys.signedPreKey[:], keys.signature[:], linked.keyIndex, s.now().UnixMilli())
	if err := s.ensureAppState(u, owner); err != nil { //nolint:contextcheck // it computes, it waits for nothing
		return err
	}
	if err := s.announceDevices(ctx, u, owner, []uint16{linked.id}); err != nil {
		return err
	}
	u.then(func() {
		owner.mu.Lock()
		owner.devices[linked.id] = linked
		owner.mu.Unlock()
	})
	return u.commit(ctx)
}

// bytes32 is a registration id as it is sent.
func bytes32(v uint32) []byte { return binary.BigEndian.AppendUint32(nil, v) }
