// The history that a phone sends to a new device.

package appstate

import (
	"bytes"
	"compress/zlib"
	"fmt"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"google.golang.org/protobuf/proto"
)

// complete is the progress, in per cent, of the last part of a history.
const complete = 100

// PushName is the name that somebody has given himself, as a phone knows it.
type PushName struct {
	JID  string // by number
	Name string
}

// Mapping maps a JID by number to the JID by LID of the same person.
type Mapping struct {
	PN  string
	LID string
}

// Bootstrap returns the history sync notification INITIAL_BOOTSTRAP, without
// conversations.
func Bootstrap(mappings []Mapping) (*waE2E.Message, error) {
	history := &waHistorySync.HistorySync{
		SyncType: waHistorySync.HistorySync_INITIAL_BOOTSTRAP.Enum(),
		Progress: new(uint32(complete)),
	}
	for _, mapping := range mappings {
		history.PhoneNumberToLidMappings = append(history.PhoneNumberToLidMappings, &waHistorySync.PhoneNumberToLIDMapping{
			PnJID: &mapping.PN, LidJID: &mapping.LID,
		})
	}
	return notification(history, waE2E.HistorySyncType_INITIAL_BOOTSTRAP)
}

// PushNames returns the history sync notification PUSH_NAME.
func PushNames(names []PushName) (*waE2E.Message, error) {
	history := &waHistorySync.HistorySync{SyncType: waHistorySync.HistorySync_PUSH_NAME.Enum()}
	for _, name := range names {
		history.Pushnames = append(history.Pushnames, &waHistorySync.Pushname{ID: &name.JID, Pushname: &name.Name})
	}
	return notification(history, waE2E.HistorySyncType_PUSH_NAME)
}

// Recent returns the history sync notification RECENT with progress 100, after
// which the device no longer expects.
func Recent() (*waE2E.Message, error) {
	history := &waHistorySync.HistorySync{
		SyncType: waHistorySync.HistorySync_RECENT.Enum(),
		Progress: new(uint32(complete)),
	}
	return notification(history, waE2E.HistorySyncType_RECENT)
}

// notification wraps a history in a message from a phone. The history is inside it,
// so that no media host is needed.
func notification(history *waHistorySync.HistorySync, kind waE2E.HistorySyncType) (*waE2E.Message, error) {
	history.ChunkOrder = new(uint32(1))
	raw, err := proto.Marshal(history)
	if err != nil {
		return nil, fmt.Errorf("appstate: encode history: %w", err)
	}
	var payload bytes.Buffer
	compressor := zlib.NewWriter(&payload)
	if _, err := compressor.Write(raw); err != nil {
		return nil, fmt.Errorf("appstate: compress history: %w", err)
	}
	if err := compressor.Close(); err != nil {
		return nil, fmt.Errorf("appstate: compress history: %w", err)
	}
	return notify(&waE2E.HistorySyncNotification{
		SyncType:                          kind.Enum(),
		ChunkOrder:                        history.ChunkOrder,
		Progress:                          history.Progress,
		InitialHistBootstrapInlinePayload: payload.Bytes(),
	}), nil
}

// notify wraps a notification in a message from a phone.
func notify(notification *waE2E.HistorySyncNotification) *waE2E.Message {
	return &waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{
		Type:                    waE2E.ProtocolMessage_HISTORY_SYNC_NOTIFICATION.Enum(),
		HistorySyncNotification: notification,
	}}
}
