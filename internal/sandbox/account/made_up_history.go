package account

import "encoding/json"

// MadeUpHistory is a made-up history: so many chats with so many texts of so many
// bytes. The zero value is none.
type MadeUpHistory struct {
	Chats    int `json:"chats"`
	Messages int `json:"messages"` // of each chat
	Bytes    int `json:"bytes"`    // of each message

	Raw []byte `json:"raw,omitempty"` // a waHistorySync.HistorySync that is added as it stands
}

func (f *MadeUpHistory) parse(text string) error {
	if text == "" {
		*f = MadeUpHistory{}
		return nil
	}
	return json.Unmarshal([]byte(text), f)
}
