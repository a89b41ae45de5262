// Chats, contacts and what is done to messages.

package evolution

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/clock"
)

const (
	// maxListed bounds how many chats or contacts an answer has.
	maxListed = 10_000
	// maxNamed bounds how many messages a request may name, each of which is a call of the API.
	maxNamed = 100
	// maxPage is how many messages a page has at most, as in the API.
	maxPage = 100
	// messagesPage is how many messages a page has unless the request says it.
	messagesPage = 50
)

// window is the part of a list that a request wants: by page and size, or by how many to skip and to take.
func (c *call) window() (skip, take int) {
	skip, take = c.fields.count("skip", maxListed), c.fields.count("take", maxListed)
	if size := c.fields.count("offset", maxListed); take == 0 && size > 0 {
		take = size
		skip = max(c.fields.count("page", maxListed)-1, 0) * size
	}
	if take == 0 {
		take = maxListed
	}
	return skip, take
}

// listed are the things of a list in a window.
func listed[T any](all iter.Seq2[T, error], skip, take int, show func(T) object) ([]object, error) {
	shown, n := []object{}, 0
	for item, err := range all {
		if err != nil {
			return nil, err
		}
		n++
		if n <= skip {
			continue
		}
		if shown = append(shown, show(item)); len(shown) >= take {
			break
		}
	}
	return shown, nil
}

func (c *call) checkNumbers() (any, error) {
	given := c.fields.texts("numbers")
	if len(given) == 0 {
		return nil, missing("numbers")
	}
	return c.checked(given)
}

// checked says of each number, group and LID whether there is such a chat, in their order.
func (c *call) checked(given []string) ([]object, error) {
	// Groups and LIDs are no numbers: the platform is not asked about them.
	var numbers []string
	for _, number := range given {
		if chat := chatOf(number); !strings.HasSuffix(chat, ofGroup) && !strings.HasSuffix(chat, lid) {
			numbers = append(numbers, chat)
		}
	}
	var checked client.NumberChecks
	if len(numbers) > 0 {
		var err error
		if checked, err = c.client.CheckNumbers(c.ctx(), c.id(), client.CheckNumbers{Numbers: numbers}); err != nil {
			return nil, err
		}
	}
	results, next := make([]object, 0, len(given)), 0
	for _, number := range given {
		chat := chatOf(number)
		result := object{"jid": jidOf(number), "exists": true, "number": number}
		switch {
		case strings.HasSuffix(chat, lid):
			result["lid"] = chat
		case strings.HasSuffix(chat, ofGroup):
			_, err := c.client.GetGroup(c.ctx(), c.id(), chat)
			if err != nil && !isCode(err, client.CodeGroupNotFound, client.CodeForbidden) {
				return nil, err
			}
			result["exists"] = err == nil
		case next < len(checked.Results):
			result["exists"] = checked.Results[next].Exists
			if jid := checked.Results[next].JID; jid != "" {
				result["jid"] = jid
			}
			next++
		}
		results = append(results, result)
	}
	return results, nil
}

// chatShown is a chat as lists have it.
func (c *call) chatShown(chat client.ListedChat) object {
	shown := object{
		"id": chat.Chat, "remoteJid": chat.Chat, "pushName": orNil(textIn(chat.Name)), "profilePicUrl": nil, "updatedAt": nil,
		"windowStart": nil, "windowExpires": nil, "windowActive": false, "lastMessage": nil, "unreadCount": chat.UnreadCount, "isSaved": chat.Name != nil,
		"archived": chat.Archived,
	}
	if chat.LastActivityAt != nil {
		shown["updatedAt"] = clock.Spelled(*chat.LastActivityAt)
	}
	if chat.LastMessage != nil {
		shown["lastMessage"] = c.stored(*chat.LastMessage)
	}
	return shown
}

// stored is a message that is kept, as lists have it.
func (c *call) stored(m client.StoredMessage) object {
	status := storedStatus(&m)
	shown := messageOf(c.id(), &m.Message, status)
	shown["id"] = m.ID
	shown["MessageUpdate"] = []object{{"status": status}}
	return shown
}

func (c *call) findChats() (any, error) {
	where := c.fields.inner("where")
	if of := where.first("remoteJid", "id"); of != "" {
		chat, err := c.client.GetChat(c.ctx(), c.id(), chatOf(of))
		if isCode(err, client.CodeChatNotFound) {
			return []object{}, nil
		}
		return []object{c.chatShown(chat)}, err
	}
	skip, take := c.window()
	return listed(c.client.Chats(c.ctx(), c.id(), client.ListChatsParams{}), skip, take, c.chatShown)
}

// typesOf are the types of messages of a kind in that API's words, for a filter; empty for all.
func typesOf(kind string) string {
	switch kind {
	case "":
		return ""
	case "conversation", "extendedTextMessage":
		return client.TypeText
	case "audioMessage":
		return client.TypeVoice + "," + client.TypeAudio
	case "ptvMessage":
		return client.TypeVideo
	case "contactsArrayMessage":
		return client.TypeContact
	case "liveLocationMessage":
		return client.TypeLocation
	case "pollCreationMessage", "pollCreationMessageV3":
		return client.TypePoll
	default:
		return strings.TrimSuffix(kind, "Message")
	}
}

// sentAt is a time of a filter: a number of seconds, or a text; empty for none.
func sentAt(f fields, name string) string {
	if number := f.number(name); number > 0 {
		const inSeconds = 1e11 // no time in seconds is as large
		if number > inSeconds {
			number /= 1000
		}
		return time.Unix(int64(number), 0).UTC().Format(time.RFC3339)
	}
	return f.text(name)
}

func (c *call) findMessages() (any, error) {
	where := c.fields.inner("where")
	key, sent := where.inner("key"), where.inner("messageTimestamp")
	size := c.fields.count("offset", maxPage)
	if size == 0 {
		size = messagesPage
	}
	page := max(c.fields.count("page", maxListed), 1)
	answer := func(total, pages int, records []object) (any, error) {
		return object{"messages": object{"total": total, "pages": pages, "currentPage": page, "records": records}}, nil
	}
	if id := key.text("id"); id != "" {
		message, err := c.client.GetMessage(c.ctx(), c.id(), id)
		if isCode(err, client.CodeMessageNotFound) {
			return answer(0, 0, []object{})
		}
		if err != nil {
			return nil, err
		}
		return answer(1, 1, []object{c.stored(message)})
	}
	types, from, until := typesOf(where.text("messageType")), sentAt(sent, "gte"), sentAt(sent, "lte")
	var found client.Page[client.StoredMessage]
	var err error
	if of := key.first("remoteJid"); of != "" {
		found, err = c.client.ListChatMessages(c.ctx(), c.id(), chatOf(of), client.ListChatMessagesParams{
			Types: types, FromMe: key.optional("fromMe"), SentFrom: from, SentUntil: until,
		}, page, size)
		if isCode(err, client.CodeChatNotFound) {
			return answer(0, 0, []object{})
		}
	} else {
		found, err = c.client.ListMessages(c.ctx(), c.id(), client.ListMessagesParams{
			Types: types, FromMe: key.optional("fromMe"), SentFrom: from, SentUntil: until,
		}, page, size)
	}
	if err != nil {
		return nil, err
	}
	records := make([]object, 0, len(found.Data))
	for _, message := range found.Data {
		records = append(records, c.stored(message))
	}
	return answer(found.TotalCount, found.PageCount, records)
}

func (c *call) findStatus() (any, error) {
	where := c.fields.inner("where")
	id := where.first("keyId", "id")
	if id == "" {
		return []object{}, nil // the steps are told by events, and are not kept
	}
	m, err := c.client.GetMessage(c.ctx(), c.id(), id)
	if isCode(err, client.CodeMessageNotFound) {
		return []object{}, nil
	}
	if err != nil {
		return nil, err
	}
	return []object{{
		"id": m.ID, "keyId": m.MessageID, "remoteJid": m.Chat.Chat, "fromMe": m.FromMe, "participant": nil, "pollUpdates": nil,
		"status": storedStatus(&m), "messageId": m.ID, "instanceId": c.id(),
	}}, nil
}

// contactShown is a contact as lists have it.
func (c *call) contactShown(id string, name, addressBook *string) object {
	kind := "contact"
	if strings.HasSuffix(id, ofGroup) {
		kind = "group"
	}
	return object{
		"id": id, "remoteJid": id, "pushName": orNil(textIn(name)), "profilePicUrl": nil, "createdAt": clock.Spelled(c.instance.CreatedAt), "updatedAt": nil,
		"instanceId": c.id(), "isGroup": kind == "group", "isSaved": addressBook != nil, "type": kind,
	}
}

func (c *call) findContacts() (any, error) {
	where := c.fields.inner("where")
	if of := where.first("remoteJid", "id"); of != "" {
		chat := chatOf(of)
		if strings.HasSuffix(chat, ofGroup) {
			found, err := c.client.GetGroup(c.ctx(), c.id(), chat)
			if isCode(err, client.CodeGroupNotFound) {
				return []object{}, nil
			}
			return []object{c.contactShown(chat, &found.Subject, nil)}, err
		}
		found, err := c.client.GetContact(c.ctx(), c.id(), chat)
		if isCode(err, client.CodeRecipientNotRegistered) {
			return []object{}, nil
		}
		return []object{c.contactShown(found.ID, found.Name, found.AddressBookName)}, err
	}
	skip, take := c.window()
	return listed(c.client.Contacts(c.ctx(), c.id(), client.ListContactsParams{}), skip, take, func(contact client.KnownContact) object {
		return c.contactShown(contact.ID, contact.Name, contact.AddressBookName)
	})
}

func (c *call) markRead() (any, error) {
	messages := c.fields.objects("readMessages")
	switch {
	case len(messages) == 0:
		return nil, missing("readMessages")
	case len(messages) > maxNamed:
		return nil, refuse(http.StatusBadRequest, fmt.Sprintf("readMessages must have %d messages or less", maxNamed))
	}
	for _, key := range messages {
		if key.yes("fromMe") {
			continue // nobody reads what he has written
		}
		if _, err := c.client.MarkRead(c.ctx(), c.id(), client.MarkRead{MessageID: key.text("id")}); err != nil {
			return nil, err
		}
	}
	return object{"message": "Read messages", "read": "success"}, nil
}

// chat is the chat that a request is about: it is named itself, or by its last message.
func (c *call) chat() (string, error) {
	if chat := c.fields.text("chat"); chat != "" {
		return chatOf(chat), nil
	}
	if chat := c.fields.inner("lastMessage").inner("key").text("remoteJid"); chat != "" {
		return chatOf(chat), nil
	}
	return "", missing("chat")
}

func (c *call) markUnread() (any, error) {
	chat, err := c.chat()
	if err != nil {
		return nil, err
	}
	read := false
	_, err = c.client.ChangeChat(c.ctx(), c.id(), chat, client.ChatChange{Read: &read})
	return object{"chatId": chat, "markedChatUnread": true}, err
}

func (c *call) archive() (any, error) {
	chat, err := c.chat()
	if err != nil {
		return nil, err
	}
	archived := c.fields.yes("archive")
	_, err = c.client.ChangeChat(c.ctx(), c.id(), chat, client.ChatChange{Archived: &archived})
	return object{"chatId": chat, "archived": true}, err
}

// changed is the answer to a change of a message: the message by which it is told to others.
func (c *call) changed(key fields, change object) object {
	change["key"] = object{"remoteJid": chatOf(key.text("remoteJid")), "fromMe": key.yes("fromMe"), "id": key.text("id")}
	return object{
		"key": change["key"], "pushName": own, "status": statusPending, "messageType": "protocolMessage",
		"message": object{"protocolMessage": change}, "instanceId": c.id(), "source": "unknown",
	}
}

func (c *call) deleteMessage() (any, error) {
	id, err := c.fields.need("id")
	if err != nil {
		return nil, err
	}
	return c.changed(c.fields, object{"type": "REVOKE"}), c.client.DeleteMessage(c.ctx(), c.id(), client.DeleteMessage{MessageID: id})
}

func (c *call) editMessage() (any, error) {
	text, err := c.fields.need("text")
	if err != nil {
		return nil, err
	}
	key := c.fields.inner("key")
	id, err := key.need("id")
	if err != nil {
		return nil, err
	}
	_, err = c.client.EditMessage(c.ctx(), c.id(), client.EditMessage{MessageID: id, Message: text})
	return c.changed(key, object{"type": "MESSAGE_EDIT", "editedMessage": object{"conversation": text}}), err
}

func (c *call) sendPresence() (any, error) {
	to, err := c.number()
	if err != nil {
		return nil, err
	}
	presence, err := oneOf(c.fields, "presence", map[string]string{
		"composing": client.PresenceComposing, "recording": client.PresenceRecording, "paused": client.PresencePaused,
		"available": client.PresenceAvailable, "unavailable": client.PresenceUnavailable,
	})
	if err != nil {
		return nil, err
	}
	if err := c.client.SendPresence(c.ctx(), c.id(), client.Presence{To: to, Presence: presence}); err != nil {
		return nil, err
	}
	if delay := c.delay(); delay > 0 && (presence == client.PresenceComposing || presence == client.PresenceRecording) {
		if err := c.wait(delay); err != nil {
			return nil, err
		}
		err = c.client.SendPresence(c.ctx(), c.id(), client.Presence{To: to, Presence: client.PresencePaused})
	}
	return object{"presence": presence}, err
}

func (c *call) block() (any, error) {
	who, err := c.number()
	if err != nil {
		return nil, err
	}
	block, err := oneOf(c.fields, "status", map[string]bool{"block": true, "unblock": false})
	if err != nil {
		return nil, err
	}
	if block {
		err = c.client.BlockContact(c.ctx(), c.id(), who)
	} else {
		err = c.client.UnblockContact(c.ctx(), c.id(), who)
	}
	return object{"block": "success"}, err
}

// fileOfMessage answers with the file of a message.
func (c *call) fileOfMessage() (any, error) {
	key := c.fields.inner("message").inner("key")
	id, err := key.need("id")
	if err != nil {
		return nil, err
	}
	m, err := c.client.GetMessage(c.ctx(), c.id(), id)
	if err != nil {
		return nil, err
	}
	if m.Media == nil {
		return nil, refuse(http.StatusBadRequest, "The message is not of the media type")
	}
	link, err := c.client.GetMediaDownloadLink(c.ctx(), c.id(), id)
	if err != nil {
		return nil, err
	}
	response, err := c.handler.config.Gateway.Fetch(c.request, link.URL) //nolint:bodyclose // the answer closes it
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		_ = response.Body.Close() // the status says it
		return nil, refuse(http.StatusBadRequest, "The file is not there any more")
	}
	kind, content := fileOf(&m.Message)
	about, err := json.Marshal(object{
		"mediaType": kind, "fileName": link.FileName, "caption": content["caption"], "mimetype": m.Media.MimeType, "buffer": nil,
		"size": object{"fileLength": content["fileLength"], "height": content["height"], "width": content["width"]},
	})
	if err != nil {
		return nil, fmt.Errorf("evolution: encode an answer: %w", err)
	}
	return streamed(func(w io.Writer) error {
		defer func() { _ = response.Body.Close() }() // it was read to its end, or the client has gone
		if _, err := fmt.Fprintf(w, `%s,"base64":"`, about[:len(about)-1]); err != nil {
			return fmt.Errorf("evolution: answer with a file: %w", err)
		}
		encoder := base64.NewEncoder(base64.StdEncoding, w)
		if _, err := io.Copy(encoder, response.Body); err != nil {
			return fmt.Errorf("evolution: answer with a file: %w", err)
		}
		if err := encoder.Close(); err != nil {
			return fmt.Errorf("evolution: answer with a file: %w", err)
		}
		_, err := io.WriteString(w, `"}`)
		return err
	}), nil
}
