// Tokens for writing to people who have not written yet.

package keys

import (
	"context"
	"encoding/json"
	"time"

	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
)

const (
	kindToken = "privacy token"
	kindSalt  = "salt"
)

type tokenRow struct {
	Token  []byte `json:"token"`
	At     int64  `json:"at"`               // in seconds
	SentAt int64  `json:"sentAt,omitempty"` // in seconds; 0 for never
}

// PutPrivacyTokens writes tokens, unless there are newer ones.
func (k *deviceKeys) PutPrivacyTokens(ctx context.Context, tokens ...store.PrivacyToken) error {
	k.contacts.Lock()
	defer k.contacts.Unlock()
	for _, token := range tokens {
		name := nameOf(token.User.ToNonAD().String())
		known, found, err := readRow[tokenRow](ctx, k.rows, kindToken, name)
		if err != nil {
			return err
		}
		row := tokenRow{Token: token.Token, At: token.Timestamp.Unix(), SentAt: known.SentAt}
		if found && row.At < known.At {
			continue
		}
		if !token.SenderTimestamp.IsZero() {
			row.SentAt = token.SenderTimestamp.Unix()
		}
		if err := putRow(ctx, k.rows, kindToken, name, row); err != nil {
			return err
		}
	}
	return k.rows.save(ctx)
}

// GetPrivacyToken returns the newest token for writing to a person, under either of the
// addresses; nil if there is none.
func (k *deviceKeys) GetPrivacyToken(ctx context.Context, user types.JID) (*store.PrivacyToken, error) {
	var newest *store.PrivacyToken
	for _, address := range k.addresses(ctx, user) {
		row, found, err := readRow[tokenRow](ctx, k.rows, kindToken, nameOf(address.ToNonAD().String()))
		if err != nil {
			return nil, err
		}
		at := time.Unix(row.At, 0)
		if !found || newest != nil && !at.After(newest.Timestamp) {
			continue
		}
		newest = &store.PrivacyToken{User: user.ToNonAD(), Token: row.Token, Timestamp: at}
		if row.SentAt != 0 {
			newest.SenderTimestamp = time.Unix(row.SentAt, 0)
		}
	}
	return newest, nil
}

// DeleteExpiredPrivacyTokens deletes the tokens from before a time, and counts them.
func (k *deviceKeys) DeleteExpiredPrivacyTokens(ctx context.Context, cutoff time.Time) (int64, error) {
	k.contacts.Lock()
	defer k.contacts.Unlock()
	found, err := k.rows.list(ctx, kindToken, "")
	if err != nil {
		return 0, err
	}
	var deleted int64
	for _, row := range found {
		var token tokenRow
		if json.Unmarshal(row.Value, &token) != nil || token.At < cutoff.Unix() { // one that is damaged is of no use
			k.rows.put(ctx, kindToken, row.Name, nil)
			deleted++
		}
	}
	return deleted, k.rows.save(ctx)
}

// GetNCTSalt returns the salt that stands in for a missing token, nil if there is none.
func (k *deviceKeys) GetNCTSalt(ctx context.Context) ([]byte, error) {
	return k.rows.get(ctx, kindSalt, "")
}

// PutNCTSalt writes the salt.
func (k *deviceKeys) PutNCTSalt(ctx context.Context, salt []byte) error {
	k.rows.put(ctx, kindSalt, "", salt)
	return k.rows.save(ctx)
}

// DeleteNCTSalt deletes the salt.
func (k *deviceKeys) DeleteNCTSalt(ctx context.Context) error {
	k.rows.put(ctx, kindSalt, "", nil)
	return k.rows.save(ctx)
}
