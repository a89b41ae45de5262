// Restrictions of an account.

package session

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/database"
	"github.com/recado-project/recado/internal/sandbox/refusal"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// codeRestricted refuses a message to a new contact.
const codeRestricted = 463

// Restrict forbids the account of a number for a while to write to people with whom
// it has no chat, and notifies its devices. A duration of 0 lifts the restriction.
func (s *Service) Restrict(ctx context.Context, number string, d time.Duration) error {
	if d < 0 {
		return refusal.Invalidf("seconds", "must not be negative")
	}
	of, err := s.config.Accounts.Named(ctx, number)
	if err != nil {
		return err
	}
	until := int64(0)
	if d > 0 {
		until = s.now().Add(d).UnixMilli()
	}
	u := s.config.Accounts.NewUnit()
	u.Exec("UPDATE accounts SET restricted_until = $1 WHERE number = $2", until, of.Number)
	u.Then(func() { of.SetRestriction(until) })
	u.Ring(of.Number)
	word, err := restrictionNotice(until)
	if err != nil {
		return err
	}
	for _, linked := range of.Companions() {
		err := u.ToDevice(linked, waBinary.Node{
			Tag:   "notification",
			Attrs: waBinary.Attrs{"from": types.ServerJID, "type": "mex", "id": wire.NewID(), "t": s.now().Unix()},
			Content: []waBinary.Node{{
				Tag: "update", Attrs: waBinary.Attrs{"op_name": "NotificationUserReachoutTimelockUpdate"}, Content: word,
			}},
		})
		if err != nil {
			return err
		}
	}
	return u.Commit(ctx)
}

// restrictionNotice encodes the notification for the devices.
func restrictionNotice(until int64) ([]byte, error) {
	lock := map[string]any{"is_active": until > 0}
	if until > 0 {
		lock["enforcement_type"] = "DEFAULT"
		lock["time_enforcement_ends"] = strconv.FormatInt(time.UnixMilli(until).Unix(), 10)
	}
	word, err := json.Marshal(map[string]any{"data": map[string]any{"xwa2_notify_account_reachout_timelock": lock}})
	if err != nil {
		return nil, fmt.Errorf("session: encode restriction: %w", err)
	}
	return word, nil
}

// mayWrite reports whether an account may write to another one. A restricted
// account may do so only if its phone has a chat with the other one.
func (s *Service) mayWrite(ctx context.Context, from, to *account.Account) (bool, error) {
	if to == nil || to == from || !from.IsRestricted(s.now()) {
		return true, nil
	}
	known, err := database.Ints(ctx, s.db.Reader(),
		"SELECT seq FROM messages WHERE number = $1 AND chat = $2 LIMIT 1", from.Number, to.PN().String())
	if err != nil {
		return false, fmt.Errorf("session: look for chat: %w", err)
	}
	return len(known) > 0, nil
}
