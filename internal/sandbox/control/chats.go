// What people do with the chats and the messages on their phones, and their address books.

package control

import (
	"net/http"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/addressbook"
	"github.com/recado-project/recado/internal/sandbox/chatstate"
)

// listChatStates answers with how the chats of a phone are arranged.
func (a *api) listChatStates(r *http.Request) (any, error) {
	states, err := a.config.ChatStates.Of(r.Context(), r.PathValue("number"))
	return list[chatstate.State]{states}, err
}

// changeChat arranges a chat. In mutedUntil, null ends a mute.
func (a *api) changeChat(r *http.Request) (any, error) {
	var body struct {
		Archived     *bool     `json:"archived"`
		Pinned       *bool     `json:"pinned"`
		Read         *bool     `json:"read"`
		MutedUntil   removable `json:"mutedUntil"`
		Disappearing *uint32   `json:"disappearingSeconds"`
	}
	if err := decode(r, &body, false); err != nil {
		return nil, err
	}
	number, chat := r.PathValue("number"), r.PathValue("chat")
	change := chatstate.Change{Archived: body.Archived, Pinned: body.Pinned, Read: body.Read, MutedUntil: body.MutedUntil.value}
	if body.MutedUntil.present && change.MutedUntil == nil {
		change.MutedUntil = new(string)
	}
	if err := a.config.ChatStates.Change(r.Context(), number, chat, change); err != nil {
		return nil, err
	}
	if body.Disappearing == nil {
		return nil, nil
	}
	return nil, a.config.Phones.SetDisappearing(r.Context(), number, chat, *body.Disappearing)
}

// deleteChat deletes a chat with its messages.
func (a *api) deleteChat(r *http.Request) (any, error) {
	return nil, a.config.ChatStates.Delete(r.Context(), r.PathValue("number"), r.PathValue("chat"))
}

// starMessage stars a message for the account alone.
func (a *api) starMessage(r *http.Request) (any, error) {
	var body struct {
		Starred *bool `json:"starred"`
	}
	if err := decode(r, &body, false); err != nil {
		return nil, err
	}
	if body.Starred == nil {
		return nil, validation(detail{"starred", "is required"})
	}
	return nil, a.config.ChatStates.Star(r.Context(), r.PathValue("number"), r.PathValue("message"), *body.Starred)
}

// deleteForMe deletes a message from the account's own devices.
func (a *api) deleteForMe(r *http.Request) (any, error) {
	return nil, a.config.ChatStates.DeleteForMe(r.Context(), r.PathValue("number"), r.PathValue("message"))
}

// clearChat deletes the messages of a chat; with starred=keep, not those that are starred.
func (a *api) clearChat(r *http.Request) (any, error) {
	return nil, a.config.ChatStates.Clear(r.Context(), r.PathValue("number"), r.PathValue("chat"), r.URL.Query().Get("starred") != "keep")
}

// listContacts answers with the address book of a phone.
func (a *api) listContacts(r *http.Request) (any, error) {
	entries, err := a.config.AddressBook.Of(r.Context(), r.PathValue("number"))
	return list[addressbook.Entry]{entries}, err
}

// nameContact writes a name into the address book of a phone.
func (a *api) nameContact(r *http.Request) (any, error) {
	var body struct {
		Name string `json:"name"`
	}
	if err := decode(r, &body, false); err != nil {
		return nil, err
	}
	return nil, a.config.AddressBook.Name(r.Context(), r.PathValue("number"), r.PathValue("contact"), body.Name)
}

// getAudience answers with who sees the status posts of a phone.
func (a *api) getAudience(r *http.Request) (any, error) {
	return a.config.AddressBook.AudienceOf(r.Context(), r.PathValue("number"))
}

// setAudience chooses who sees the status posts of a phone.
func (a *api) setAudience(r *http.Request) (any, error) {
	var body account.PostAudience
	if err := decode(r, &body, false); err != nil {
		return nil, err
	}
	return nil, a.config.AddressBook.SetAudience(r.Context(), r.PathValue("number"), body)
}
