// What the owners of phones do with their chats, labels and contacts.

package testkit

import (
	"net/http"
	"testing"
)

// NameContact has the owner of a phone write a name into the address book.
func (p *Phones) NameContact(tb testing.TB, number, contact, name string) {
	tb.Helper()
	p.call(tb, http.MethodPut, "/phones/"+number+"/contacts/"+contact, map[string]any{"name": name}, nil)
}

// SetStatusAudience chooses who sees the status posts of a phone: contacts, a whitelist or a
// blacklist of numbers.
func (p *Phones) SetStatusAudience(tb testing.TB, number, show string, people ...string) {
	tb.Helper()
	p.call(tb, http.MethodPut, "/phones/"+number+"/status-audience", map[string]any{"show": show, "people": people}, nil)
}

// AddressBook returns the names in the address book of a phone, by the chat ID.
func (p *Phones) AddressBook(tb testing.TB, number string) map[string]string {
	tb.Helper()
	var out struct {
		Data []struct{ Contact, Name string }
	}
	p.call(tb, http.MethodGet, "/phones/"+number+"/contacts", nil, &out)
	names := map[string]string{}
	for _, entry := range out.Data {
		names[entry.Contact] = entry.Name
	}
	return names
}

// ChatState is how a phone shows a chat.
type ChatState struct {
	Chat         string `json:"chat"`
	Archived     bool   `json:"archived"`
	Pinned       bool   `json:"pinned"`
	MutedUntil   string `json:"mutedUntil"`
	MarkedUnread bool   `json:"markedUnread"`
	Disappearing int    `json:"disappearingSeconds"`
}

// ChatState returns how the phone of a number shows a chat.
func (p *Phones) ChatState(tb testing.TB, number, chat string) ChatState {
	tb.Helper()
	var out struct{ Data []ChatState }
	p.call(tb, http.MethodGet, "/phones/"+number+"/chats", nil, &out)
	for _, state := range out.Data {
		if state.Chat == chat {
			return state
		}
	}
	return ChatState{Chat: chat}
}

// ChangeChat has the owner of a phone arrange a chat.
func (p *Phones) ChangeChat(tb testing.TB, number, chat string, change map[string]any) {
	tb.Helper()
	p.call(tb, http.MethodPatch, "/phones/"+number+"/chats/"+chat, change, nil)
}

// DeleteChat has the owner of a phone delete a chat.
func (p *Phones) DeleteChat(tb testing.TB, number, chat string) {
	tb.Helper()
	p.call(tb, http.MethodDelete, "/phones/"+number+"/chats/"+chat, nil, nil)
}

// ClearChat has the owner of a phone delete the messages of a chat, with those that are starred
// or without.
func (p *Phones) ClearChat(tb testing.TB, number, chat string, starred bool) {
	tb.Helper()
	p.call(tb, http.MethodDelete, "/phones/"+number+"/chats/"+chat+"/messages"+map[bool]string{false: "?starred=keep"}[starred], nil, nil)
}

// SetRaw sets something in the app state of a phone without checking it.
func (p *Phones) SetRaw(tb testing.TB, number, collection string, index []string, value []byte) {
	tb.Helper()
	p.call(tb, http.MethodPost, "/phones/"+number+"/raw-setting", map[string]any{"collection": collection, "index": index, "value": value}, nil)
}

// SetLabel has the owner of a phone make or change a label.
func (p *Phones) SetLabel(tb testing.TB, number, id, name string, color int) {
	tb.Helper()
	p.call(tb, http.MethodPut, "/phones/"+number+"/labels/"+id, map[string]any{"name": name, "color": color}, nil)
}

// PhoneLabel is a label as a phone shows it.
type PhoneLabel struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Color    int      `json:"color"`
	Chats    []string `json:"chats"`
	Messages []string `json:"messages"`
}

// Labels returns the labels of a phone, by their IDs.
func (p *Phones) Labels(tb testing.TB, number string) map[string]PhoneLabel {
	tb.Helper()
	var out struct{ Data []PhoneLabel }
	p.call(tb, http.MethodGet, "/phones/"+number+"/labels", nil, &out)
	labels := map[string]PhoneLabel{}
	for _, label := range out.Data {
		labels[label.ID] = label
	}
	return labels
}

// LabelChat has the owner of a phone put a label on a chat, or take it away.
func (p *Phones) LabelChat(tb testing.TB, number, chat, label string, on bool) {
	tb.Helper()
	p.call(tb, map[bool]string{true: http.MethodPut, false: http.MethodDelete}[on], "/phones/"+number+"/chats/"+chat+"/labels/"+label, nil, nil)
}
