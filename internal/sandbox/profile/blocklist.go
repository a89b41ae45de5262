package profile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	waBinary "go.mau.fi/whatsmeow/binary"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/refusal"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// iqBlocklist answers with the people whom the account has blocked.
func (s *Service) iqBlocklist(ctx context.Context, c account.Asker, _ waBinary.Node) ([]waBinary.Node, error) {
	list, err := s.blocklist(ctx, c.Device.Account)
	if err != nil {
		return nil, err
	}
	return []waBinary.Node{list}, nil
}

func (s *Service) blocklist(ctx context.Context, of *account.Account) (waBinary.Node, error) {
	numbers := of.BlockedNumbers()
	list := waBinary.Node{Tag: "list"}
	hash := sha256.New()
	var items []waBinary.Node
	for _, number := range numbers {
		blocked, err := s.config.Accounts.Ensure(ctx, number)
		if err != nil {
			return list, err
		}
		items = append(items, waBinary.Node{Tag: "item", Attrs: waBinary.Attrs{"jid": blocked.LIDJID(), "pn_jid": blocked.PN()}})
		_, _ = hash.Write([]byte(blocked.LID + "\n")) // a hash never fails
	}
	list.Attrs = waBinary.Attrs{"dhash": hex.EncodeToString(hash.Sum(nil)[:8])}
	if len(items) > 0 {
		list.Content = items
	}
	return list, nil
}

// iqBlock blocks somebody, or lifts the block, and answers with the new list.
func (s *Service) iqBlock(ctx context.Context, c account.Asker, iq waBinary.Node) ([]waBinary.Node, error) {
	item, _ := wire.Child(iq, "item")
	whom, err := s.config.Accounts.ByJID(ctx, wire.AttrJID(item, "jid"))
	if err != nil {
		return nil, err
	}
	action := wire.AttrString(item, "action")
	if whom == nil || whom == c.Device.Account || (action != "block" && action != "unblock") {
		return nil, wire.ErrBadRequest
	}
	if err := s.setBlocked(ctx, c.Device.Account, c.Device, whom, action == "block"); err != nil {
		return nil, err
	}
	return s.iqBlocklist(ctx, c, iq)
}

// Block lets the phone of a number block somebody, or unblock him.
func (s *Service) Block(ctx context.Context, number, who string, blocked bool) error {
	of, err := s.config.Accounts.Named(ctx, number)
	if err != nil {
		return err
	}
	whom, err := s.config.Accounts.NamedIn(ctx, "who", who)
	if err != nil {
		return err
	}
	if whom == of {
		return refusal.Invalidf("who", "must be somebody else")
	}
	return s.setBlocked(ctx, of, nil, whom, blocked)
}

// setBlocked blocks somebody, or lifts the block, and notifies the account's other
// devices.
func (s *Service) setBlocked(ctx context.Context, of *account.Account, by *account.Device, whom *account.Account, blocked bool) error {
	action, seen := "unblock", "unblocked"
	u := s.config.Accounts.NewUnit()
	if blocked {
		action, seen = "block", "blocked"
		u.Exec("INSERT INTO blocks (number, blocked) VALUES ($1, $2) ON CONFLICT DO NOTHING", of.Number, whom.Number)
	} else {
		u.Exec("DELETE FROM blocks WHERE number = $1 AND blocked = $2", of.Number, whom.Number)
	}
	u.Ring(of.Number)
	changed := of.Blocks(whom) != blocked
	if changed {
		change := waBinary.Node{
			Tag: "blocklist", Attrs: waBinary.Attrs{"action": "modify", "dhash": wire.NewID(), "prev_dhash": wire.NewID()},
			Content: []waBinary.Node{{Tag: "item", Attrs: waBinary.Attrs{"jid": whom.LIDJID(), "action": action}}},
		}
		if err := s.tellDevices(u, of, by, change); err != nil {
			return err
		}
	}
	u.Then(func() {
		of.SetBlocked(whom.Number, blocked)
		if changed {
			s.config.Activities.Add(whom, account.NewActivity(seen, of, whom, ""))
		}
	})
	return u.Commit(ctx)
}
