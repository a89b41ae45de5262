// What a phone does when a chat or a message is marked or deleted on one of the account's
// devices.

package chatstate

import (
	"context"

	wmstate "go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/proto/waSyncAction"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/appstate"
	"github.com/recado-project/recado/internal/sandbox/database"
	"github.com/recado-project/recado/internal/sandbox/receipt"
	"github.com/recado-project/recado/internal/sandbox/setting"
	"github.com/recado-project/recado/internal/sqlite"
)

// Actions are what phones do when something is set that is about a chat's messages.
func Actions() map[string]setting.Action {
	return map[string]setting.Action{
		wmstate.IndexDeleteChat: func(ctx context.Context, tx *sqlite.Tx, of *account.Account, m appstate.Mutation) error {
			return onMessages(ctx, tx, of, m, m.Value.GetDeleteChatAction().GetMessageRange(),
				"DELETE FROM messages WHERE number = $1 AND chat = $2 AND at < $3")
		},
		wmstate.IndexClearChat: func(ctx context.Context, tx *sqlite.Tx, of *account.Account, m appstate.Mutation) error {
			withStarred := len(m.Index) < 3 || m.Index[2] != keepStarred
			return onMessages(ctx, tx, of, m, m.Value.GetClearChatAction().GetMessageRange(),
				"DELETE FROM messages WHERE number = $1 AND chat = $2 AND at < $3 AND (starred = 0 OR $4)", withStarred)
		},
		wmstate.IndexMarkChatAsRead: func(ctx context.Context, tx *sqlite.Tx, of *account.Account, m appstate.Mutation) error {
			action := m.Value.GetMarkChatAsReadAction()
			if !action.GetRead() {
				return nil
			}
			return onMessages(ctx, tx, of, m, action.GetMessageRange(),
				"UPDATE messages SET status = MAX(status, $4), read_due = 0 WHERE number = $1 AND chat = $2 AND at < $3 AND from_me = 0", receipt.StatusRead)
		},
		wmstate.IndexStar: func(ctx context.Context, tx *sqlite.Tx, of *account.Account, m appstate.Mutation) error {
			return onMessage(ctx, tx, of, m,
				"UPDATE messages SET starred = $5 WHERE number = $1 AND chat = $2 AND id = $3 AND from_me = $4 AND deleted = 0", m.Value.GetStarAction().GetStarred())
		},
		wmstate.IndexDeleteMessageForMe: func(ctx context.Context, tx *sqlite.Tx, of *account.Account, m appstate.Mutation) error {
			return onMessage(ctx, tx, of, m, "DELETE FROM messages WHERE number = $1 AND chat = $2 AND id = $3 AND from_me = $4")
		},
	}
}

// onMessage runs a statement on the message that an index names: chat, id, and whether the
// account sent it.
func onMessage(ctx context.Context, tx *sqlite.Tx, of *account.Account, mutation appstate.Mutation, statement string, more ...any) error {
	if len(mutation.Index) < 4 {
		return nil
	}
	chat, known, err := chatOf(ctx, tx, mutation)
	if err != nil || !known {
		return err
	}
	_, err = tx.ExecContext(ctx, statement, append([]any{of.Number, chat, mutation.Index[2], mutation.Index[3] == "1"}, more...)...)
	return err
}

// chatOf is the chat that an index names, people by number; false if it names none.
func chatOf(ctx context.Context, tx *sqlite.Tx, mutation appstate.Mutation) (chat string, known bool, err error) {
	if len(mutation.Index) < 2 || mutation.Removed {
		return "", false, nil
	}
	jid, err := types.ParseJID(mutation.Index[1])
	if err != nil {
		return "", false, nil //nolint:nilerr // clients set what they like
	}
	if jid.Server == types.HiddenUserServer {
		found, err := database.One(tx.QueryRowContext(ctx, "SELECT number FROM accounts WHERE lid = $1", jid.User), &jid.User)
		if err != nil || !found {
			return "", false, err
		}
		jid.Server = types.DefaultUserServer
	}
	return jid.String(), true, nil
}

// onMessages runs a statement on the messages of a chat, up to the end of the range.
func onMessages(
	ctx context.Context, tx *sqlite.Tx, of *account.Account, mutation appstate.Mutation, until *waSyncAction.SyncActionMessageRange,
	statement string, more ...any,
) error {
	chat, known, err := chatOf(ctx, tx, mutation)
	if err != nil || !known {
		return err
	}
	end := until.GetLastMessageTimestamp()
	if end < 0 || end > 1<<40 {
		return nil
	}
	_, err = tx.ExecContext(ctx, statement, append([]any{of.Number, chat, (end + 1) * 1000}, more...)...)
	return err
}

// SetTimer notes after how many seconds new messages of a chat with a person disappear.
func SetTimer(u *account.Unit, number string, chat types.JID, seconds uint32) {
	u.Exec("INSERT INTO timers (number, chat, seconds) VALUES ($1, $2, $3) ON CONFLICT (number, chat) DO UPDATE SET seconds = excluded.seconds",
		number, chat.String(), int64(seconds))
}
