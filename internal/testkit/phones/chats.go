// What the owners of phones do with their chats, labels and contacts.

package phones

import (
	"net/http"
	"testing"

	"github.com/recado-project/recado/internal/sandbox/addressbook"
	"github.com/recado-project/recado/internal/sandbox/chatstate"
	"github.com/recado-project/recado/internal/sandbox/label"
)

// NameContact has the owner of a phone write a name into the address book.
func (p *API) NameContact(tb testing.TB, number, contact, name string) {
	tb.Helper()
	p.call(tb, http.MethodPut, "/phones/"+number+"/contacts/"+contact, map[string]any{"name": name})
}

// SetStatusAudience chooses who sees the status posts of a phone: contacts, a whitelist or a
// blacklist of numbers.
func (p *API) SetStatusAudience(tb testing.TB, number, show string, people ...string) {
	tb.Helper()
	p.call(tb, http.MethodPut, "/phones/"+number+"/status-audience", map[string]any{"show": show, "people": people})
}

// AddressBook returns the names in the address book of a phone, by the chat ID.
func (p *API) AddressBook(tb testing.TB, number string) map[string]string {
	tb.Helper()
	names := map[string]string{}
	for _, entry := range list[addressbook.Entry](tb, p, "/phones/"+number+"/contacts") {
		names[entry.Contact] = entry.Name
	}
	return names
}

// ChatState returns how the phone of a number shows a chat.
func (p *API) ChatState(tb testing.TB, number, chat string) chatstate.State {
	tb.Helper()
	for _, state := range list[chatstate.State](tb, p, "/phones/"+number+"/chats") {
		if state.Chat == chat {
			return state
		}
	}
	return chatstate.State{Chat: chat}
}

// ChangeChat has the owner of a phone arrange a chat.
func (p *API) ChangeChat(tb testing.TB, number, chat string, change map[string]any) {
	tb.Helper()
	p.call(tb, http.MethodPatch, "/phones/"+number+"/chats/"+chat, change)
}

// DeleteChat has the owner of a phone delete a chat.
func (p *API) DeleteChat(tb testing.TB, number, chat string) {
	tb.Helper()
	p.call(tb, http.MethodDelete, "/phones/"+number+"/chats/"+chat, nil)
}

// ClearChat has the owner of a phone delete the messages of a chat, with those that are starred
// or without.
func (p *API) ClearChat(tb testing.TB, number, chat string, starred bool) {
	tb.Helper()
	p.call(tb, http.MethodDelete, "/phones/"+number+"/chats/"+chat+"/messages"+map[bool]string{false: "?starred=keep"}[starred], nil)
}

// SetRaw sets something in the app state of a phone without checking it.
func (p *API) SetRaw(tb testing.TB, number, collection string, index []string, value []byte) {
	tb.Helper()
	p.call(tb, http.MethodPost, "/phones/"+number+"/raw-setting", map[string]any{"collection": collection, "index": index, "value": value})
}

// SetLabel has the owner of a phone make or change a label.
func (p *API) SetLabel(tb testing.TB, number, id, name string, color int) {
	tb.Helper()
	p.call(tb, http.MethodPut, "/phones/"+number+"/labels/"+id, map[string]any{"name": name, "color": color})
}

// Labels returns the labels of a phone, by their IDs.
func (p *API) Labels(tb testing.TB, number string) map[string]label.Label {
	tb.Helper()
	labels := map[string]label.Label{}
	for _, one := range list[label.Label](tb, p, "/phones/"+number+"/labels") {
		labels[one.ID] = one
	}
	return labels
}

// LabelChat has the owner of a phone put a label on a chat, or take it away.
func (p *API) LabelChat(tb testing.TB, number, chat, labelID string, on bool) {
	tb.Helper()
	p.call(tb, putOrDelete(on), "/phones/"+number+"/chats/"+chat+"/labels/"+labelID, nil)
}
