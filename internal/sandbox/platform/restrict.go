package platform

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
)

// codeRestricted refuses a message to a new contact.
const codeRestricted = 463

// Restrict restricts the account of the number from writing to people with whom
// it has no chat, for so long, and tells its devices; 0 lifts it.
func (s *Server) Restrict(ctx context.Context, number string, d time.Duration) error {
	if d < 0 {
		return invalidf("seconds", "must not be negative")
	}
	of, err := s.phoneOf(ctx, number)
	if err != nil {
		return err
	}
	until := int64(0)
	if d > 0 {
		until = s.now().Add(d).UnixMilli()
	}
	u := s.newUnit()
	u.exec("UPDATE accounts SET restricted_until = $1 WHERE number = $2", until, of.number)
	u.then(func() {
		of.mu.Lock()
		of.restrictedUntil = until
		of.mu.Unlock()
	})
	word, err := restrictionWord(until)
	if err != nil {
		return err
	}
	for _, linked := range of.companions() {
		err := u.toDevice(linked, waBinary.Node{
			Tag:   "notification",
			Attrs: waBinary.Attrs{"from": types.ServerJID, "type": "mex", "id": newID(), "t": s.now().Unix()},
			Content: []waBinary.Node{{
				Tag: "update", Attrs: waBinary.Attrs{"op_name": "NotificationUserReachoutTimelockUpdate"}, Content: word,
			}},
		})
		if err != nil {
			return err
		}
	}
	return u.commit(ctx)
}

// restrictionWord is what the devices are told.
func restrictionWord(until int64) ([]byte, error) {
	lock := map[string]any{"is_active": until > 0}
	if until > 0 {
		lock["enforcement_type"] = "DEFAULT"
		lock["time_enforcement_ends"] = strconv.FormatInt(time.UnixMilli(until).Unix(), 10)
	}
	word, err := json.Marshal(map[string]any{"data": map[string]any{"xwa2_notify_account_reachout_timelock": lock}})
	if err != nil {
		return nil, fmt.Errorf("platform: encode restriction: %w", err)
	}
	return word, nil
}

// isRestricted reports whether the account may not write to new contacts.
func (a *account) isRestricted(now time.Time) bool {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return time.UnixMilli(a.restrictedUntil).After(now)
}

// mayWrite reports whether the account may write to somebody: a restricted one
// only to whom its phone has a chat with.
func (s *Server) mayWrite(ctx context.Context, from, to *account) (bool, error) {
	if to == nil || to == from || !from.isRestricted(s.now()) {
		return true, nil
	}
	known, err := queryInts(ctx, s.db.Reader(),
		"SELECT seq FROM messages WHERE number = $1 AND chat = $2 LIMIT 1", from.number, to.pn().String())
	if err != nil {
		return false, fmt.Errorf("platform: look for chat: %w", err)
	}
	return len(known) > 0, nil
}
