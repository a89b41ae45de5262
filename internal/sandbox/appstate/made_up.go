// Histories that are made up, to be as large as a test wants.

package appstate

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strconv"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/proto/waWeb"
	"go.mau.fi/whatsmeow/types"
)

// AddMadeUp adds made-up chats with messages of some bytes each, the newest first. The texts are
// random, so that compression does not make them smaller than the caller wants.
func (h *History) AddMadeUp(chats, messages, textBytes int, now int64) error {
	const (
		firstNumber = 5511970000000
		firstLID    = 900_000_000_000_000
	)
	text := make([]byte, (textBytes+1)/2)
	for chat := range chats {
		pn := strconv.Itoa(firstNumber+chat) + "@" + types.DefaultUserServer
		lid := strconv.Itoa(firstLID+chat) + "@" + types.HiddenUserServer
		conversation := &waHistorySync.Conversation{ID: &lid}
		for message := range messages {
			if _, err := rand.Read(text); err != nil {
				return err
			}
			conversation.Messages = append(conversation.Messages, &waHistorySync.HistorySyncMsg{
				MsgOrderID: new(uint64(messages - message)), //nolint:gosec // it is positive
				Message: &waWeb.WebMessageInfo{
					Key: &waCommon.MessageKey{
						RemoteJID: &lid, FromMe: new(message%2 == 1), ID: new(fmt.Sprintf("OLD%d-%d", chat, messages-message)),
					},
					Message:          &waE2E.Message{Conversation: new(hex.EncodeToString(text)[:textBytes])},
					MessageTimestamp: new(uint64(now - 60*int64(message+1))), //nolint:gosec // a time of this century
					Status:           waWeb.WebMessageInfo_READ.Enum(),
				},
			})
		}
		err := h.Add(&waHistorySync.HistorySync{
			Conversations:            []*waHistorySync.Conversation{conversation},
			PhoneNumberToLidMappings: []*waHistorySync.PhoneNumberToLIDMapping{{PnJID: &pn, LidJID: &lid}},
			Pushnames:                []*waHistorySync.Pushname{{ID: &lid, Pushname: new("Contact " + strconv.Itoa(chat+1))}},
		})
		if err != nil {
			return err
		}
	}
	return nil
}
