package appstate

import (
	"bytes"
	"compress/zlib"
	"fmt"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"google.golang.org/protobuf/proto"
)

// History makes the history of an account, part by part, in the form in which it
// is handed over.
type History struct {
	packed bytes.Buffer
	zip    *zlib.Writer
}

// NewHistory begins a history INITIAL_BOOTSTRAP.
func NewHistory() (*History, error) {
	h := &History{}
	zip, err := zlib.NewWriterLevel(&h.packed, zlib.NoCompression) // what is made up does not pack well
	if err != nil {
		return nil, fmt.Errorf("appstate: pack history: %w", err)
	}
	h.zip = zip
	err = h.Add(&waHistorySync.HistorySync{
		SyncType: waHistorySync.HistorySync_INITIAL_BOOTSTRAP.Enum(),
		Progress: new(uint32(complete)), ChunkOrder: new(uint32(1)),
	})
	return h, err
}

// Add adds what part holds.
func (h *History) Add(part *waHistorySync.HistorySync) error {
	// Parts of a message behind one another are that message.
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

// Pack ends the history and returns it, packed.
func (h *History) Pack() ([]byte, error) {
	if err := h.zip.Close(); err != nil {
		return nil, fmt.Errorf("appstate: pack history: %w", err)
	}
	return h.packed.Bytes(), nil
}

// MaxInline is how long a packed history may be that comes along with its
// notification. It is what most accounts that a test makes up need, and what a
// client can read that knows no media host but the platform's own: the
// notification has no field for the host's name.
const MaxInline = 32 << 10

// Inline returns the notification that has a whole packed history in it.
func Inline(packed []byte) *waE2E.Message {
	return notify(&waE2E.HistorySyncNotification{
		SyncType: waE2E.HistorySyncType_INITIAL_BOOTSTRAP.Enum(), ChunkOrder: new(uint32(1)), Progress: new(uint32(complete)),
		InitialHistBootstrapInlinePayload: packed,
	})
}

// Left is where a phone has left a history for a device: on the media host.
type Left struct {
	DirectPath                   string
	Key, SHA256, EncryptedSHA256 []byte
	Size                         uint64 // packed, before it was encrypted
}

// Announce returns the notification of a history that lies on the media host.
func Announce(left Left) *waE2E.Message {
	return notify(&waE2E.HistorySyncNotification{
		SyncType: waE2E.HistorySyncType_INITIAL_BOOTSTRAP.Enum(), ChunkOrder: new(uint32(1)), Progress: new(uint32(complete)),
		DirectPath: &left.DirectPath, MediaKey: left.Key, FileSHA256: left.SHA256, FileEncSHA256: left.EncryptedSHA256,
		FileLength: &left.Size,
	})
}
