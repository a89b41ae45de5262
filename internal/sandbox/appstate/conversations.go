package appstate

import (
	"bytes"
	"compress/zlib"
	"fmt"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"google.golang.org/protobuf/proto"
)

// History builds the history of an account, part by part.
type History struct {
	packed bytes.Buffer
	zip    *zlib.Writer
}

// NewHistory begins a history.
func NewHistory(kind waHistorySync.HistorySync_HistorySyncType) (*History, error) {
	h := &History{}
	zip, err := zlib.NewWriterLevel(&h.packed, zlib.NoCompression) // what is made up does not pack well
	if err != nil {
		return nil, fmt.Errorf("appstate: pack history: %w", err)
	}
	h.zip = zip
	err = h.Add(&waHistorySync.HistorySync{
		SyncType: kind.Enum(),
		Progress: new(uint32(complete)), ChunkOrder: new(uint32(1)),
	})
	return h, err
}

// Add adds a part.
func (h *History) Add(part *waHistorySync.HistorySync) error {
	// Encoded parts of a protobuf message can be appended to each other.
	raw, err := proto.MarshalOptions{AllowPartial: true}.Marshal(part)
	if err != nil {
		return fmt.Errorf("appstate: pack history: %w", err)
	}
	return h.AddRaw(raw)
}

// AddRaw adds a part that is encoded already.
func (h *History) AddRaw(part []byte) error {
	if _, err := h.zip.Write(part); err != nil {
		return fmt.Errorf("appstate: pack history: %w", err)
	}
	return nil
}

// Pack ends the history and returns it compressed.
func (h *History) Pack() ([]byte, error) {
	if err := h.zip.Close(); err != nil {
		return nil, fmt.Errorf("appstate: pack history: %w", err)
	}
	return h.packed.Bytes(), nil
}

// MaxInline is the largest size of a packed history that is sent inside its
// notification. It is enough for most accounts in tests. It also serves clients
// that know no media host but the real platform's, because the notification has no
// field for a host name.
const MaxInline = 32 << 10

// Inline returns the notification that contains a whole packed history.
func Inline(packed []byte) *waE2E.Message {
	return notify(&waE2E.HistorySyncNotification{
		SyncType: waE2E.HistorySyncType_INITIAL_BOOTSTRAP.Enum(), ChunkOrder: new(uint32(1)), Progress: new(uint32(complete)),
		InitialHistBootstrapInlinePayload: packed,
	})
}

// Left points to a history on the media host.
type Left struct {
	DirectPath                   string
	Key, SHA256, EncryptedSHA256 []byte
	Size                         uint64 // packed, before it was encrypted
}

// Announce returns the notification of a history on the media host.
func Announce(left Left) *waE2E.Message {
	return notify(&waE2E.HistorySyncNotification{
		SyncType: waE2E.HistorySyncType_INITIAL_BOOTSTRAP.Enum(), ChunkOrder: new(uint32(1)), Progress: new(uint32(complete)),
		DirectPath: &left.DirectPath, MediaKey: left.Key, FileSHA256: left.SHA256, FileEncSHA256: left.EncryptedSHA256,
		FileLength: &left.Size,
	})
}

// OnDemand makes a notification that of a history that a device has asked for with a request.
func OnDemand(request string, message *waE2E.Message) *waE2E.Message {
	notification := message.GetProtocolMessage().GetHistorySyncNotification()
	notification.SyncType, notification.PeerDataRequestSessionID = waE2E.HistorySyncType_ON_DEMAND.Enum(), &request
	return message
}
