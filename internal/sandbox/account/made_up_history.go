package account

import "encoding/json"

// MadeUpHistory describes a history that is made up for new devices: how many chats
// it has, how many messages each, and how long they are. The zero value is no
// history.
type MadeUpHistory struct {
	Chats    int `json:"chats"`
	Messages int `json:"messages"` // of each chat
	Bytes    int `json:"bytes"`    // of each message

	Raw []byte `json:"raw,omitempty"` // a waHistorySync.HistorySync that is added as it stands

	Silent bool `json:"silent,omitempty"` // the phone answers no request for older messages
}

func (f *MadeUpHistory) parse(text string) error {
	if text == "" {
		*f = MadeUpHistory{}
		return nil
	}
	return json.Unmarshal([]byte(text), f)
}
