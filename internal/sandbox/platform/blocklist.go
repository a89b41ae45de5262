package platform

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sqlite"
)

// loadBlocked fills in whom the account has blocked.
func loadBlocked(ctx context.Context, db *sqlite.DB, of *account) error {
	numbers, err := queryStrings(ctx, db.Reader(), "SELECT blocked FROM blocks WHERE number = $1", of.number)
	if err != nil {
		return fmt.Errorf("platform: load blocked people: %w", err)
	}
	for _, number := range numbers {
		of.blocked[number] = struct{}{}
	}
	return nil
}

// iqBlocklist answers whom the account has blocked.
func iqBlocklist(ctx context.Context, c *connection, _ waBinary.Node) ([]waBinary.Node, error) {
	list, err := c.s.blocklist(ctx, c.device.account)
	if err != nil {
		return nil, err
	}
	return []waBinary.Node{list}, nil
}

func (s *Server) blocklist(ctx context.Context, of *account) (waBinary.Node, error) {
	of.mu.RLock()
	numbers := slices.Sorted(maps.Keys(of.blocked))
	of.mu.RUnlock()
	list := waBinary.Node{Tag: "list"}
	hash := sha256.New()
	var items []waBinary.Node
	for _, number := range numbers {
		blocked, err := s.directory.ensure(ctx, number)
		if err != nil {
			return list, err
		}
		items = append(items, waBinary.Node{Tag: "item", Attrs: waBinary.Attrs{"jid": blocked.lidJID(), "pn_jid": blocked.pn()}})
		_, _ = hash.Write([]byte(blocked.lid + "\n")) // a hash never fails
	}
	list.Attrs = waBinary.Attrs{"dhash": hex.EncodeToString(hash.Sum(nil)[:8])}
	if len(items) > 0 {
		list.Content = items
	}
	return list, nil
}

// iqBlock blocks somebody, or lifts it, and answers the new list.
func iqBlock(ctx context.Context, c *connection, iq waBinary.Node) ([]waBinary.Node, error) {
	item, _ := child(iq, "item")
	whom, err := c.s.directory.byJID(ctx, attrJID(item, "jid"))
	if err != nil {
		return nil, err
	}
	action := attrString(item, "action")
	if whom == nil || whom == c.device.account || (action != "block" && action != "unblock") {
		return nil, errBadRequest
	}
	if err := c.s.setBlocked(ctx, c.device, whom, action == "block"); err != nil {
		return nil, err
	}
	return iqBlocklist(ctx, c, iq)
}

// setBlocked keeps that the account has blocked somebody, or lifted it, and
// tells its other devices.
func (s *Server) setBlocked(ctx context.Context, by *device, whom *account, blocked bool) error {
	of, action, seen := by.account, "unblock", "unblocked"
	u := s.newUnit()
	if blocked {
		action, seen = "block", "blocked"
		u.exec("INSERT INTO blocks (number, blocked) VALUES ($1, $2) ON CONFLICT DO NOTHING", of.number, whom.number)
	} else {
		u.exec("DELETE FROM blocks WHERE number = $1 AND blocked = $2", of.number, whom.number)
	}
	changed := of.blocks(whom) != blocked
	for _, linked := range of.companions() {
		if linked == by || !changed {
			continue
		}
		err := u.toDevice(linked, waBinary.Node{
			Tag:   "notification",
			Attrs: waBinary.Attrs{"from": types.ServerJID, "type": "account_sync", "id": newID(), "t": s.now().Unix()},
			Content: []waBinary.Node{{
				Tag: "blocklist", Attrs: waBinary.Attrs{"action": "modify", "dhash": newID(), "prev_dhash": newID()},
				Content: []waBinary.Node{{Tag: "item", Attrs: waBinary.Attrs{"jid": whom.lidJID(), "action": action}}},
			}},
		})
		if err != nil {
			return err
		}
	}
	u.then(func() {
		of.mu.Lock()
		if blocked {
			of.blocked[whom.number] = struct{}{}
		} else {
			delete(of.blocked, whom.number)
		}
		of.mu.Unlock()
		if changed {
			s.activities.add(whom, activity(seen, of, whom, ""))
		}
	})
	return u.commit(ctx)
}
