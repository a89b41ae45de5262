package evolution_test

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// wrote has the customer write to the shop, and waits until it is kept.
func wrote(t *testing.T, g *testkit.Gateway, id, what string) (messageID string) {
	t.Helper()
	messageID = g.Phones.SendText(t, customerNumber, shopNumber, what)
	testkit.Await(t, "the message", func() bool {
		_, err := g.Client.GetMessage(t.Context(), id, messageID)
		return err == nil
	})
	return messageID
}

// Chats, messages and contacts are found as that API finds them.
func TestChatsAreFound(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	o := newTool(t, g, id)
	jid := customerNumber + "@s.whatsapp.net"
	g.Phones.Update(t, nobody, map[string]any{"registered": false})
	came := wrote(t, g, id, "Tem?")
	sent := text(o.does(http.StatusCreated, http.MethodPost, "/message/sendText", object{"number": customerNumber, "text": "Tem"}), "key", "id")
	o.does(http.StatusCreated, http.MethodPost, "/message/sendText", object{"number": otherNumber, "text": "Oi"})

	for name, test := range cases.Sorted(map[string]struct {
		operation string
		body      any
		want      map[string]any
	}{
		"chats":                {"findChats", object{}, map[string]any{"0/remoteJid": otherNumber + "@s.whatsapp.net", "1/remoteJid": jid, "1/lastMessage/message/conversation": "Tem", "2": nil}},
		"a chat":               {"findChats", object{"where": object{"remoteJid": jid}}, map[string]any{"0/remoteJid": jid, "1": nil}},
		"no chat":              {"findChats", object{"where": object{"id": nobody}}, map[string]any{"0": nil}},
		"a page of chats":      {"findChats", object{"page": 2, "offset": "1"}, map[string]any{"0/remoteJid": jid, "1": nil}},
		"chats skipped":        {"findChats", object{"skip": 1, "take": 5}, map[string]any{"0/remoteJid": jid}},
		"messages":             {"findMessages", object{}, map[string]any{"messages/total": 3.0, "messages/records/0/message/conversation": "Oi", "messages/currentPage": 1.0}},
		"of a chat":            {"findMessages", object{"where": object{"key": object{"remoteJid": jid}}, "page": 2, "offset": 1}, map[string]any{"messages/total": 2.0, "messages/pages": 2.0, "messages/currentPage": 2.0, "messages/records/0/key/id": came, "messages/records/1": nil}},
		"of others":            {"findMessages", object{"where": object{"key": object{"fromMe": "false"}}}, map[string]any{"messages/total": 1.0, "messages/records/0/key/id": came, "messages/records/0/status": "DELIVERY_ACK"}},
		"a message":            {"findMessages", object{"where": object{"key": object{"id": sent}}}, map[string]any{"messages/total": 1.0, "messages/records/0/key/id": sent}},
		"no message":           {"findMessages", object{"where": object{"key": object{"id": "3EB0"}}}, map[string]any{"messages/total": 0.0}},
		"pictures":             {"findMessages", object{"where": object{"messageType": "imageMessage"}}, map[string]any{"messages/total": 0.0}},
		"texts until long ago": {"findMessages", object{"where": object{"messageType": "conversation", "messageTimestamp": object{"lte": 1000000000}}}, map[string]any{"messages/total": 0.0}},
		"status":               {"findStatusMessage", object{"where": object{"keyId": came}}, map[string]any{"0/keyId": came, "0/status": "DELIVERY_ACK"}},
		"contacts":             {"findContacts", object{}, map[string]any{"0/instanceId": id}},
		"a contact":            {"findContacts", object{"where": object{"id": jid}}, map[string]any{"0/remoteJid": jid, "0/type": "contact", "1": nil}},
		"profile":              {"fetchProfile", object{"number": customerNumber}, map[string]any{"wuid": jid, "numberExists": true, "isBusiness": false}},
		"business":             {"fetchBusinessProfile", object{"number": customerNumber}, map[string]any{"isBusiness": false, "jid": jid}},
		"picture":              {"fetchProfilePictureUrl", object{"number": customerNumber}, map[string]any{"wuid": jid}},
		"numbers": {"whatsappNumbers", object{"numbers": []string{"+" + customerNumber, nobody, "5@lid", "120363000000000000@g.us"}}, map[string]any{
			"0/jid": jid, "0/exists": true, "0/number": "+" + customerNumber, "1/exists": false, "1/jid": nobody + "@s.whatsapp.net", "2/exists": true, "3/exists": false,
		}},
	}) {
		answer := o.does(http.StatusOK, http.MethodPost, "/chat/"+test.operation, test.body)
		for place, want := range cases.Sorted(test.want) {
			if got := find(answer, place); got != want {
				t.Errorf("%s: %s is %v, want %v, in %v", name, place, got, want, answer)
			}
		}
	}
}

// What is done to chats and messages reaches the phones.
func TestChatsAreChanged(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	o := newTool(t, g, id)
	jid := customerNumber + "@s.whatsapp.net"
	came := wrote(t, g, id, "Tem?")
	key := object{"remoteJid": jid, "fromMe": false, "id": came}
	o.does(http.StatusCreated, http.MethodPost, "/chat/markMessageAsRead", object{"readMessages": []object{key}})
	if chat, err := g.Client.GetChat(t.Context(), id, customerNumber); err != nil || chat.UnreadCount != 0 {
		t.Errorf("after it was read: %+v, %v", chat, err)
	}
	o.does(http.StatusCreated, http.MethodPost, "/chat/markChatUnread", object{"lastMessage": object{"key": key}, "chat": jid})
	o.does(http.StatusCreated, http.MethodPost, "/chat/archiveChat", object{"lastMessage": object{"key": key}, "archive": true})
	if chat, err := g.Client.GetChat(t.Context(), id, customerNumber); err != nil || !chat.MarkedUnread || !chat.Archived {
		t.Errorf("after it was marked and archived: %+v, %v", chat, err)
	}
	sent := at(o.does(http.StatusCreated, http.MethodPost, "/message/sendText", object{"number": customerNumber, "text": "Tem"}), "key")
	edited := o.does(http.StatusOK, http.MethodPost, "/chat/updateMessage", object{"number": customerNumber, "key": sent, "text": "Tem sim"})
	if text(edited, "message", "protocolMessage", "editedMessage", "conversation") != "Tem sim" || text(edited, "key", "id") != text(sent, "id") {
		t.Errorf("edited: %v", edited)
	}
	if _, found := o.ask(http.MethodPost, "/chat/findMessages/shop", object{"where": object{"key": sent}}); text(found, "messages", "records", 0, "message", "conversation") != "Tem sim" || text(found, "messages", "records", 0, "status") != "EDITED" {
		t.Errorf("after the edit: %v", found)
	}
	if deleted := o.does(http.StatusCreated, http.MethodDelete, "/chat/deleteMessageForEveryone", sent); text(deleted, "message", "protocolMessage", "type") != "REVOKE" {
		t.Errorf("deleted: %v", deleted)
	}
	if answer := o.does(http.StatusCreated, http.MethodPost, "/chat/sendPresence", object{"number": customerNumber, "presence": "recording", "delay": 1}); text(answer, "presence") != "recording" {
		t.Errorf("the presence: %v", answer)
	}
	for _, status := range []string{"block", "unblock"} {
		o.does(http.StatusCreated, http.MethodPost, "/chat/updateBlockStatus", object{"number": customerNumber, "status": status})
	}
	for operation, body := range cases.Sorted(map[string]object{
		"markMessageAsRead": {}, "markChatUnread": {}, "updateMessage": {"text": "x"}, "sendPresence": {"number": customerNumber, "presence": "asleep"}, "updateBlockStatus": {"number": customerNumber},
		"getBase64FromMediaMessage": {"message": object{"key": object{"id": came}}}, "whatsappNumbers": {}, "fetchProfile": {}, "updatePrivacySettings": {"last": "nobody"},
	}) {
		o.refused(http.StatusBadRequest, http.MethodPost, "/chat/"+operation+"/shop", body)
	}
}

// The file of a message comes as base64.
func TestFilesOfMessages(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	o := newTool(t, g, id)
	file := bytes.Repeat([]byte("um contrato "), 10_000)
	sent := o.does(http.StatusCreated, http.MethodPost, "/message/sendMedia", object{
		"number": customerNumber, "mediatype": "document", "media": base64.StdEncoding.EncodeToString(file), "fileName": "contrato.txt",
	})
	answer := o.does(http.StatusCreated, http.MethodPost, "/chat/getBase64FromMediaMessage", object{"message": object{"key": object{"id": text(sent, "key", "id")}}})
	if content, err := base64.StdEncoding.DecodeString(text(answer, "base64")); err != nil || !bytes.Equal(content, file) ||
		text(answer, "mediaType") != "documentMessage" || text(answer, "fileName") != "contrato.txt" || !strings.HasPrefix(text(answer, "mimetype"), "text/plain") {
		t.Errorf("the file has %d bytes, %v, %v", len(content), err, answer)
	}
}

// The account's own profile and privacy.
func TestTheOwnProfile(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	o := newTool(t, g, id)
	o.does(http.StatusOK, http.MethodPost, "/chat/updateProfileName", object{"name": "Loja"})
	o.does(http.StatusOK, http.MethodPost, "/chat/updateProfileStatus", object{"status": "Aberta"})
	o.does(http.StatusOK, http.MethodPost, "/chat/updateProfilePicture", object{"picture": base64.StdEncoding.EncodeToString(picture(t))})
	if profile, err := g.Client.GetProfile(t.Context(), id); err != nil || profile.Name != "Loja" || profile.About != "Aberta" || profile.Picture == nil {
		t.Errorf("the profile is %+v, %v", profile, err)
	}
	o.does(http.StatusOK, http.MethodDelete, "/chat/removeProfilePicture", nil)
	changed := o.does(http.StatusCreated, http.MethodPost, "/chat/updatePrivacySettings", object{"readreceipts": "none", "profile": "contacts", "last": "none", "online": "match_last_seen", "groupadd": "contacts"})
	if text(changed, "data", "readreceipts") != "none" || text(changed, "data", "online") != "match_last_seen" {
		t.Errorf("changed: %v", changed)
	}
	if privacy := o.does(http.StatusOK, http.MethodGet, "/chat/fetchPrivacySettings", nil); text(privacy, "last") != "none" || text(privacy, "profile") != "contacts" {
		t.Errorf("the privacy is %v", privacy)
	}
}
