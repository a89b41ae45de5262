package appstate

import (
	"bytes"
	"compress/zlib"
	"io"
	"testing"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"google.golang.org/protobuf/proto"
)

// unwrap reads a notification as clients do.
func unwrap(t *testing.T, message *waE2E.Message, err error) (*waE2E.HistorySyncNotification, *waHistorySync.HistorySync) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if message.GetProtocolMessage().GetType() != waE2E.ProtocolMessage_HISTORY_SYNC_NOTIFICATION {
		t.Errorf("the message is a %s", message.GetProtocolMessage().GetType())
	}
	notification := message.GetProtocolMessage().GetHistorySyncNotification()
	reader, err := zlib.NewReader(bytes.NewReader(notification.GetInitialHistBootstrapInlinePayload()))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	var history waHistorySync.HistorySync
	if err := proto.Unmarshal(raw, &history); err != nil {
		t.Fatal(err)
	}
	return notification, &history
}

func TestHistory(t *testing.T) {
	t.Parallel()
	message, err := Bootstrap([]Mapping{{"1@s.whatsapp.net", "2@lid"}, {"3@s.whatsapp.net", "4@lid"}})
	notification, history := unwrap(t, message, err)
	if notification.GetSyncType() != waE2E.HistorySyncType_INITIAL_BOOTSTRAP ||
		history.GetSyncType() != waHistorySync.HistorySync_INITIAL_BOOTSTRAP {
		t.Errorf("bootstrap is a %s, %s", notification.GetSyncType(), history.GetSyncType())
	}
	if mappings := history.GetPhoneNumberToLidMappings(); len(mappings) != 2 ||
		mappings[0].GetPnJID() != "1@s.whatsapp.net" || mappings[1].GetLidJID() != "4@lid" {
		t.Errorf("the mappings are %v", mappings)
	}

	message, err = PushNames([]PushName{{"1@s.whatsapp.net", "Ana"}, {"3@s.whatsapp.net", "Bia"}})
	notification, history = unwrap(t, message, err)
	if notification.GetSyncType() != waE2E.HistorySyncType_PUSH_NAME || history.GetSyncType() != waHistorySync.HistorySync_PUSH_NAME {
		t.Errorf("push names are a %s, %s", notification.GetSyncType(), history.GetSyncType())
	}
	if got := history.GetPushnames(); len(got) != 2 || got[0].GetPushname() != "Ana" || got[1].GetID() != "3@s.whatsapp.net" {
		t.Errorf("the names are %v", got)
	}

	message, err = Recent()
	notification, history = unwrap(t, message, err)
	if notification.GetSyncType() != waE2E.HistorySyncType_RECENT || history.GetSyncType() != waHistorySync.HistorySync_RECENT ||
		notification.GetProgress() != 100 {
		t.Errorf("recent is a %s, %s, at %d", notification.GetSyncType(), history.GetSyncType(), notification.GetProgress())
	}
}
