// How the owner of the account arranges chats.

package keys

import (
	"context"
	"time"

	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
)

const kindChatSetting = "chat setting"

// mutedForever stands for store.MutedForever.
const mutedForever = -1

type chatSettingRow struct {
	MutedUntil int64 `json:"mutedUntil,omitempty"` // in seconds, 0 for not, mutedForever for always
	Pinned     bool  `json:"pinned,omitempty"`
	Archived   bool  `json:"archived,omitempty"`
}

func (k *deviceKeys) changeChatSetting(ctx context.Context, chat types.JID, change func(row *chatSettingRow)) error {
	k.contacts.Lock()
	defer k.contacts.Unlock()
	row, _, err := readRow[chatSettingRow](ctx, k.rows, kindChatSetting, nameOf(chat.String()))
	if err != nil {
		return err
	}
	change(&row)
	if err := putRow(ctx, k.rows, kindChatSetting, nameOf(chat.String()), row); err != nil {
		return err
	}
	return k.rows.save(ctx)
}

// PutMutedUntil writes until when a chat is silent.
func (k *deviceKeys) PutMutedUntil(ctx context.Context, chat types.JID, mutedUntil time.Time) error {
	return k.changeChatSetting(ctx, chat, func(row *chatSettingRow) {
		switch {
		case mutedUntil.Equal(store.MutedForever):
			row.MutedUntil = mutedForever
		case mutedUntil.IsZero():
			row.MutedUntil = 0
		default:
			row.MutedUntil = mutedUntil.Unix()
		}
	})
}

// PutPinned writes whether a chat is pinned.
func (k *deviceKeys) PutPinned(ctx context.Context, chat types.JID, pinned bool) error {
	return k.changeChatSetting(ctx, chat, func(row *chatSettingRow) { row.Pinned = pinned })
}

// PutArchived writes whether a chat is archived.
func (k *deviceKeys) PutArchived(ctx context.Context, chat types.JID, archived bool) error {
	return k.changeChatSetting(ctx, chat, func(row *chatSettingRow) { row.Archived = archived })
}

// GetChatSettings returns what is known of a chat.
func (k *deviceKeys) GetChatSettings(ctx context.Context, chat types.JID) (types.LocalChatSettings, error) {
	row, found, err := readRow[chatSettingRow](ctx, k.rows, kindChatSetting, nameOf(chat.String()))
	settings := types.LocalChatSettings{Found: found, Pinned: row.Pinned, Archived: row.Archived}
	if row.MutedUntil == mutedForever {
		settings.MutedUntil = store.MutedForever
	} else if row.MutedUntil > 0 {
		settings.MutedUntil = time.Unix(row.MutedUntil, 0)
	}
	return settings, err
}
