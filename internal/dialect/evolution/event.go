// Events in that API's words.

package evolution

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/clock"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

// Format is the language of events: what is posted to webhooks. Its zero value will do.
type Format struct {
	// ServerURL is the address of the gateway, for receivers that call back; empty where it is not known.
	ServerURL string
	// ByEvent appends the name of the event to the address of the endpoint.
	ByEvent bool
	// Files puts the files of messages into their events.
	Files bool
}

// Formats are the formats of a gateway at an address, by the names that webhooks have for them.
func Formats(serverURL string) map[string]Format {
	all := map[string]Format{}
	for _, byEvent := range []bool{false, true} {
		for _, files := range []bool{false, true} {
			all[formatName(byEvent, files)] = Format{ServerURL: serverURL, ByEvent: byEvent, Files: files}
		}
	}
	return all
}

// formatName is the name of a format: evolution, with -by-event and -base64 behind it where they are chosen.
func formatName(byEvent, files bool) string {
	called := name
	if byEvent {
		called += suffixByEvent
	}
	if files {
		called += suffixFiles
	}
	return called
}

const (
	suffixByEvent = "-by-event"
	suffixFiles   = "-base64"
)

// TakesFiles reports whether the files of messages are in their events.
func (f Format) TakesFiles() bool { return f.Files }

// fileHole is where the file of a message is put. Within a text the quotes would be escaped, so it is found nowhere else.
const fileHole = `"base64":""`

// Body returns the JSON of an event, and what is appended to the endpoint's path. link leads to the file of a message, and file
// is that file in base64; nil if it is not to be in the event. ok is false for events that have no name in this language, or
// whose data can't be read.
func (f Format) Body(of gateway.Instance, event eventlog.Event, link string, file []byte) (path string, body []byte, ok bool) {
	kind, data, ok := translate(of, event)
	if !ok {
		return "", nil, false
	}
	if shown, isObject := data.(object); isObject {
		if content, isMessage := shown["message"].(object); isMessage {
			if link != "" {
				content["mediaUrl"] = link
			}
			if file != nil {
				content["base64"] = ""
			}
		}
	}
	var posted bytes.Buffer
	encoder := json.NewEncoder(&posted)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(object{
		"event": kind, "instance": cmp.Or(of.ExternalName, of.Name), "data": data, "date_time": clock.Spelled(event.At),
		"sender": string(of.Profile.JID), "server_url": f.ServerURL, "apikey": nil,
	})
	if f.ByEvent {
		path = "/" + strings.NewReplacer(".", "-", "_", "-").Replace(kind)
	}
	body = bytes.TrimSuffix(posted.Bytes(), []byte("\n"))
	if before, after, there := bytes.Cut(body, []byte(fileHole)); there && file != nil {
		// A file goes in as it is: the encoder would hold several copies of it.
		body = slices.Concat(before, []byte(fileHole[:len(fileHole)-1]), file, []byte(`"`), after)
	}
	return path, body, err == nil
}

// Signs reports that the API has no signature.
func (Format) Signs() bool { return false }

// keyHeader is the header of a webhook that is not sent: its value is the key of a token in Authorization.
const keyHeader = "Jwt_key"

// tokenLifetime is how long a token is valid.
const tokenLifetime = 10 * time.Minute

// SetHeaders makes the token of a webhook that has a key for it. That API signs nothing; with a secret, the gateway's own
// signature stands beside it.
func (Format) SetHeaders(header http.Header, at time.Time, _ string, _ []byte) {
	key := header.Get(keyHeader)
	header.Del(keyHeader)
	if key == "" {
		return
	}
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{
		"iat": at.Unix(), "exp": at.Add(tokenLifetime).Unix(), "app": "evolution", "action": "webhook",
	}).SignedString([]byte(key))
	if err == nil { // always, with a key of bytes
		header.Set("Authorization", "Bearer "+token)
	}
}

// Refuses reports whether an endpoint does not want an event at all, by what that API takes for it.
func (Format) Refuses(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return true
	default:
		return false
	}
}

// The names of events.
const (
	messagesUpsert = "messages.upsert"
	messagesUpdate = "messages.update"
	messagesEdited = "messages.edited"
	messagesDelete = "messages.delete"
	sendMessage    = "send.message"
	sendUpdate     = "send.message.update"
	connectionOf   = "connection.update"
	qrUpdated      = "qrcode.updated"
	contactsUpdate = "contacts.update"
	chatsUpdate    = "chats.update"
	chatsDelete    = "chats.delete"
	presenceUpdate = "presence.update"
	groupsUpsert   = "groups.upsert"
	groupsUpdate   = "groups.update"
	groupPeople    = "group-participants.update"
	labelsEdit     = "labels.edit"
	labelsAssigned = "labels.association"
	callOf         = "call"
)

// translate returns the name and the data of an event; ok is false where there is none.
func translate(of gateway.Instance, event eventlog.Event) (kind string, data any, ok bool) {
	read, err := client.Event{Type: string(event.Kind), Data: event.Data}.Decode()
	if err != nil {
		return "", nil, false
	}
	e := translation{of: of, event: event}
	switch read := read.(type) {
	case client.MessageReceivedEvent:
		return messagesUpsert, messageOf(of.ID, &read.Message, statusDelivered), true
	case client.MessageSentEvent:
		if read.Source == client.SourceAPI {
			return sendMessage, messageOf(of.ID, &read.Message, statusPending), true
		}
		return messagesUpsert, messageOf(of.ID, &read.Message, "SERVER_ACK"), true
	case client.MessageReactionEvent:
		return messagesUpsert, e.reaction(read), true
	case client.MessageStatusEvent:
		return messagesUpdate, e.status(read), true
	case client.MessagePollVoteEvent:
		if read.Selection != nil {
			return messagesUpsert, e.answer(read), true
		}
		return messagesUpdate, e.vote(read), true
	case client.MessageEditedEvent:
		return e.edited(read)
	case client.MessageDeletedEvent:
		key := keyIn(read.Chat, read.MessageID, e.isOwn(read.From))
		addParticipant(key, e.inGroup(read.Chat, read.From))
		key["status"] = statusDeleted
		return messagesDelete, key, true
	default:
		return e.ofOthers(read)
	}
}

// translation is the translation of one event.
type translation struct {
	of    gateway.Instance
	event eventlog.Event
}

// ofOthers is translate for events that are not of a message.
func (e translation) ofOthers(read any) (kind string, data any, ok bool) {
	switch read := read.(type) {
	case client.InstanceQREvent:
		return qrUpdated, object{"qrcode": object{"instance": cmp.Or(e.of.ExternalName, e.of.Name), "pairingCode": nil, "code": orNil(read.Code), "base64": read.QRCode}}, true
	case client.InstanceStatusEvent:
		return connectionOf, e.connection(read), true
	case client.ContactUpdatedEvent:
		return contactsUpdate, []object{{
			"remoteJid": addressOf(&read.Person), "pushName": nameOf(&read.Person), "profilePicUrl": nil, "instanceId": e.of.ID,
		}}, addressOf(&read.Person) != ""
	case client.ChatUpdatedEvent:
		if read.Deleted {
			return chatsDelete, []string{read.Chat.Chat}, true
		}
		return chatsUpdate, []object{{
			"remoteJid": read.Chat.Chat, "instanceId": e.of.ID, "unreadMessages": read.UnreadCount, "archived": read.Archived, "pinned": read.Pinned,
		}}, true
	case client.PresenceEvent:
		presence := object{"lastKnownPresence": read.Presence}
		if read.LastSeen != nil {
			presence["lastSeen"] = read.LastSeen.Unix()
		}
		return presenceUpdate, object{"id": read.Chat.Chat, "presences": object{addressOf(read.From): presence}}, true
	case client.GroupUpdatedEvent:
		return e.group(read)
	case client.LabelUpdatedEvent:
		return labelsEdit, object{"id": read.LabelID, "name": read.Name, "color": read.Color, "deleted": read.Deleted, "predefinedId": nil, "instance": cmp.Or(e.of.ExternalName, e.of.Name)}, true
	case client.LabelAssignedEvent:
		change := "remove"
		if read.Assigned {
			change = "add"
		}
		// That API tells of the labels of chats alone.
		return labelsAssigned, object{"instance": cmp.Or(e.of.ExternalName, e.of.Name), "type": change, "chatId": read.Chat.Chat, "labelId": read.LabelID}, read.MessageID == nil
	case client.CallReceivedEvent:
		return callOf, e.call(read.Chat, read.From, read.CallID, "offer", read.Video), true
	case client.CallEndedEvent:
		status := "timeout"
		switch read.Reason {
		case client.ReasonRejected:
			status = "reject"
		case client.ReasonAcceptedElsewhere:
			status = "accept"
		}
		return callOf, e.call(read.Chat, read.From, read.CallID, status, false), true
	default:
		return "", nil, false
	}
}

// isOwn reports whether somebody is the linked account.
func (e translation) isOwn(who *client.Person) bool {
	is := func(address *string, jid gateway.JID) bool {
		return address != nil && jid != "" && *address == string(jid)
	}
	return who != nil && (is(who.JID, e.of.Profile.JID) || is(who.LID, e.of.Profile.LID))
}

// inGroup is somebody in a group, and nobody in a chat with one person.
func (translation) inGroup(chat client.Chat, who *client.Person) *client.Person {
	if strings.HasSuffix(chat.Chat, ofGroup) || chat.Chat == client.StatusChat {
		return who
	}
	return nil
}

// reaction is a reaction as a message of its own. Its identifier is that of the event: the platform's is not kept.
func (e translation) reaction(read client.MessageReactionEvent) object {
	mine := e.isOwn(read.From)
	key := keyIn(read.Chat, e.event.ID, mine)
	addParticipant(key, e.inGroup(read.Chat, read.From))
	by := nameOf(read.From)
	if mine {
		by = own
	}
	return object{
		"key": key, "pushName": by, "status": statusDelivered, "messageType": "reactionMessage",
		"message": object{"reactionMessage": object{
			"key": object{"remoteJid": read.Chat.Chat, "id": read.MessageID}, "text": read.Reaction, "senderTimestampMs": e.event.At.UnixMilli(),
		}},
		"messageTimestamp": e.event.At.Unix(), "instanceId": e.of.ID, "source": "unknown",
	}
}

// update is the beginning of messages.update.
func (e translation) update(chat client.Chat, messageID string, id *string) object {
	return object{
		"keyId": messageID, "remoteJid": chat.Chat, "fromMe": true, "instanceId": e.of.ID, "messageId": orNil(textIn(id)),
	}
}

func (e translation) status(read client.MessageStatusEvent) object {
	update := e.update(read.Chat, read.MessageID, read.ID)
	update["status"] = statusOf(read.Status)
	if who := addressOf(read.Participant); who != "" {
		update["participant"] = who
	}
	return update
}

// vote is how a poll stands. Voters are known by name of this vote alone, so of the others only their number is told.
func (e translation) vote(read client.MessagePollVoteEvent) object {
	update := e.update(read.Chat, read.MessageID, &read.ID)
	update["status"] = statusDelivered
	voter := addressOf(read.From)
	chosen := map[string]bool{}
	for _, option := range read.Options {
		chosen[option] = true
	}
	votes := make([]object, 0, len(read.Tallies))
	for _, tally := range read.Tallies {
		voters := []string{}
		if chosen[tally.Option] {
			voters = append(voters, voter)
		}
		votes = append(votes, object{"name": tally.Option, "voters": voters, "count": tally.Votes})
	}
	update["pollUpdates"] = votes
	return update
}

func (e translation) edited(read client.MessageEditedEvent) (kind string, data any, ok bool) {
	mine := e.isOwn(read.From)
	key := keyIn(read.Chat, read.MessageID, mine)
	addParticipant(key, e.inGroup(read.Chat, read.From))
	kind = messagesEdited
	if mine {
		kind = sendUpdate
	}
	return kind, object{
		"key": key, "type": "MESSAGE_EDIT", "editedMessage": object{"conversation": read.Text}, "timestampMs": e.event.At.UnixMilli(),
	}, true
}

// connection is connection.update, with the reason by the number that Baileys has for it.
func (e translation) connection(read client.InstanceStatusEvent) object {
	data := object{"instance": cmp.Or(e.of.ExternalName, e.of.Name), "state": stateOf(read.Status), "statusReason": http.StatusOK}
	switch {
	case read.Status == client.StatusConnected:
		data["wuid"], data["profileName"], data["profilePictureUrl"] = orNil(textIn(read.MessengerJID)), orNil(e.of.Profile.Name), orNil(e.of.Profile.PictureURL)
	case stateOf(read.Status) == "close":
		data["statusReason"] = reasonOf(textIn(read.Reason))
	}
	return data
}

// reasonOf is why a session ended, by the number that Baileys has for it.
func reasonOf(reason string) int {
	const (
		connectionClosed   = 428
		connectionReplaced = 440
	)
	switch reason {
	case client.ReasonLoggedOut, client.ReasonUnlinkedOnPhone:
		return http.StatusUnauthorized
	case client.ReasonBanned:
		return http.StatusForbidden
	case client.ReasonClientOutdated:
		return http.StatusMethodNotAllowed
	case client.ReasonQRExpired, client.ReasonConnectionLost:
		return http.StatusRequestTimeout
	case client.ReasonReplaced:
		return connectionReplaced
	default:
		return connectionClosed
	}
}

// group is a change of a group: of its members, that it came to be, or of what is set, which the event names
// without the new values.
func (e translation) group(read client.GroupUpdatedEvent) (kind string, data any, ok bool) {
	actions := map[string]string{
		client.ChangeParticipantsAdded: "add", client.ChangeParticipantsRemoved: "remove",
		client.ChangeAdminsAdded: "promote", client.ChangeAdminsRemoved: "demote",
	}
	author := orNil(addressOf(read.Actor))
	if action := actions[read.Change]; action != "" {
		people, details := []string{}, []object{}
		for _, who := range read.Participants {
			address := addressOf(&who)
			people = append(people, address)
			var number any
			if who.JID != nil {
				number = *who.JID
			}
			details = append(details, object{"jid": address, "phoneNumber": number, "name": orNil(textIn(who.Name)), "imgUrl": nil})
		}
		return groupPeople, object{"id": read.GroupID, "author": author, "action": action, "participants": people, "participantsData": details}, true
	}
	change := []object{{"id": read.GroupID, "author": author}}
	if read.Change == client.ChangeCreated {
		return groupsUpsert, change, true
	}
	return groupsUpdate, change, true
}

// call is a call, in a status.
func (e translation) call(chat client.Chat, from *client.Person, id, status string, video bool) object {
	return object{
		"id": id, "from": addressOf(from), "chatId": chat.Chat, "date": clock.Spelled(e.event.At), "isGroup": strings.HasSuffix(chat.Chat, ofGroup),
		"isVideo": video, "offline": false, "status": status,
	}
}
