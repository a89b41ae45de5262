// step: before-you-start

// The guide (docs/guide.md) as a program. What belongs to a step stands between its mark and the next one. Run it beside
// recado dev, which prints what RECADO_URL, RECADO_API_KEY and RECADO_PARTNER_KEY have to be.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/recado-project/recado/client"
)

// must ends the program with an error, or returns the answer.
func must[Answer any](answer Answer, err error) Answer {
	check(err)
	return answer
}

// check ends the program with an error.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

// read returns what is at an address.
func read(ctx context.Context, address string) []byte {
	return exchange(must(http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)))
}

// sandbox lets simulated phones do what people would do.
func sandbox[Answer any](ctx context.Context, method, path string, body any) (answer Answer) {
	address := os.Getenv("RECADO_URL") + "/sandbox/api/" + path
	request := must(http.NewRequestWithContext(ctx, method, address, bytes.NewReader(must(json.Marshal(body)))))
	request.Header.Set("Content-Type", "application/json")
	if said := exchange(request); len(said) > 0 {
		check(json.Unmarshal(said, &answer))
	}
	return answer
}

// exchange returns the body of the answer to a request.
func exchange(request *http.Request) []byte {
	response, err := http.DefaultClient.Do(request)
	check(err)
	defer func() { check(response.Body.Close()) }()
	body := must(io.ReadAll(response.Body))
	if response.StatusCode >= http.StatusBadRequest {
		panic(fmt.Errorf("%s: %s", request.URL, body))
	}
	return body
}

func main() {
	ctx := context.Background()
	url := os.Getenv("RECADO_URL")
	files := url + "/sandbox/files"
	recado := client.New(url, os.Getenv("RECADO_API_KEY"))
	partner := client.New(url, os.Getenv("RECADO_PARTNER_KEY"))

	// step: before-you-start-2
	health := must(recado.GetHealth(ctx))
	fmt.Println(health.Status)

	// step: before-you-start-3
	readiness := must(recado.GetReadiness(ctx))
	fmt.Println(readiness.Status)

	// step: link-a-phone
	instanceID := must(partner.CreateInstance(ctx, client.NewInstance{Name: "shop"})).InstanceID

	// step: by-qr-code
	qr := must(recado.GetQRCode(ctx, instanceID, client.GetQRCodeParams{}))
	fmt.Println(qr.Code)

	// step: by-qr-code-2
	sandbox[map[string]any](ctx, http.MethodPost, "phones/5511999990200/scan", map[string]any{"qrCode": qr.Code})

	// step: by-qr-code-3
	for must(recado.GetInstance(ctx, instanceID)).Status != client.StatusConnected {
		<-time.After(200 * time.Millisecond)
	}

	// step: see-your-instances
	for listed, err := range recado.Instances(ctx, client.ListInstancesParams{}) {
		check(err)
		fmt.Println(listed.Name, listed.Status)
	}

	// step: see-your-instances-2
	instance := must(recado.GetInstance(ctx, instanceID))
	fmt.Println(instance.Status)

	// step: change-an-instance
	must(recado.ChangeInstance(ctx, instanceID, client.InstanceChange{
		Name:   new("shop"),
		Device: client.Set(client.DeviceChange{Name: client.Set("Front desk"), Kind: client.Set("chrome")}),
		Proxy:  client.Null[string](),
	}))

	// step: change-an-instance-2
	must(recado.ChangeInstance(ctx, instanceID, client.InstanceChange{ExternalName: client.Set("store-17")}))
	found := must(recado.ListInstances(ctx, client.ListInstancesParams{ExternalName: "store-17"}, 0, 0))
	fmt.Println(found.Data[0].Name)

	// step: change-an-instance-3
	must(recado.ChangeInstance(ctx, instanceID, client.InstanceChange{ExternalName: client.Null[string]()}))

	// step: what-an-instance-does-by-itself
	must(recado.ChangeInstance(ctx, instanceID, client.InstanceChange{
		ReadMessages: client.Set(true),
		ReadStatuses: client.Set(true),
		AlwaysOnline: client.Set(true),
		IgnoreGroups: client.Set(true),
	}))
	must(recado.ChangeInstance(ctx, instanceID, client.InstanceChange{
		ReadMessages: client.Null[bool](),
		ReadStatuses: client.Null[bool](),
		AlwaysOnline: client.Null[bool](),
		IgnoreGroups: client.Null[bool](),
	}))

	// step: what-the-account-has-to-heed
	limits := must(recado.GetLimits(ctx, instanceID))
	fmt.Println(limits.Restriction.Active)

	// step: restart
	check(recado.RestartInstance(ctx, instanceID))

	// step: log-out
	check(recado.LogoutInstance(ctx, instanceID))

	// step: by-pairing-code
	pairing := must(recado.GetPairingCode(ctx, instanceID, client.NewPairingCode{Phone: "5511999990200"}))
	fmt.Println(pairing.PairingCode)

	// step: by-pairing-code-2
	sandbox[map[string]any](ctx, http.MethodPost, "phones/5511999990200/pairing-code", map[string]any{
		"code": pairing.PairingCode,
	})

	// step: by-pairing-code-3
	for must(recado.GetInstance(ctx, instanceID)).Status != client.StatusConnected {
		<-time.After(200 * time.Millisecond)
	}

	// step: with-a-passkey
	check(recado.LogoutInstance(ctx, instanceID))
	sandbox[map[string]any](ctx, http.MethodPut, "phones/5511999990200", map[string]any{"passkey": true})
	raw := must(recado.GetQRCode(ctx, instanceID, client.GetQRCodeParams{Format: "raw"}))
	sandbox[map[string]any](ctx, http.MethodPost, "phones/5511999990200/scan", map[string]any{"qrCode": raw.Code})
	for must(recado.GetPasskey(ctx, instanceID)).State != "requested" {
		<-time.After(200 * time.Millisecond)
	}

	// step: with-a-passkey-2
	passkey := must(recado.GetPasskey(ctx, instanceID))
	fmt.Println(passkey.State)

	// step: with-a-passkey-3
	signed := sandbox[client.PasskeyAnswer](ctx, http.MethodPost, "phones/5511999990200/passkey/assert", map[string]any{
		"request": passkey.Request,
	})
	check(recado.AnswerPasskey(ctx, instanceID, signed))

	// step: with-a-passkey-4
	for must(recado.GetInstance(ctx, instanceID)).Status != client.StatusConnected {
		<-time.After(200 * time.Millisecond)
	}

	// step: with-a-passkey-5
	check(recado.ConfirmPasskey(ctx, instanceID))

	// step: check-numbers
	checked := must(recado.CheckNumbers(ctx, instanceID, client.CheckNumbers{
		Numbers: []string{"11988887766", "5511977776655", "5511988880000"},
	}))
	fmt.Println(checked.Results[0].JID)

	// step: text
	sent := must(recado.SendText(ctx, instanceID, client.Text{To: "11988887766", Message: "Oi! Seu pedido saiu para entrega."}))
	fmt.Println(sent.MessageID)

	// step: reply
	messageID := sent.MessageID
	must(recado.SendText(ctx, instanceID, client.Text{
		To:             "5511988887766",
		Message:        "Chega até as 18h.",
		QuoteMessageID: messageID,
	}))

	// step: reply-2
	must(recado.SendText(ctx, instanceID, client.Text{
		To:             "5511988887766",
		Message:        "Chega até as 19h.",
		QuoteMessageID: "5511988887766@s.whatsapp.net_" + messageID,
	}))

	// step: reply-3
	must(recado.SendText(ctx, instanceID, client.Text{
		To:             "5511988887766",
		Message:        "Chega até as 20h.",
		QuoteMessageID: sent.ID,
	}))

	// step: mentions
	must(recado.SendText(ctx, instanceID, client.Text{
		To:       "5511988887766",
		Message:  "Fala com a @5511966665544, por favor.",
		Mentions: []string{"5511966665544"},
	}))

	// step: link-preview
	must(recado.SendText(ctx, instanceID, client.Text{To: "5511988887766", Message: "Veja " + files, LinkPreview: true}))

	// step: image
	must(recado.SendImage(ctx, instanceID, client.Image{
		To:      "5511988887766",
		Image:   files + "/photo.png",
		Caption: "Seu pedido",
	}))

	// step: image-2
	photo := read(ctx, files+"/photo.png")
	must(recado.SendImage(ctx, instanceID, client.Image{To: "5511988887766", Image: client.DataURI("image/png", photo)}))

	// step: image-3
	once := &client.File{Content: bytes.NewReader(photo), Name: "photo.png"}
	must(recado.SendImage(ctx, instanceID, client.Image{To: "5511988887766", File: once, ViewOnce: true}))

	// step: send-a-file-many-times
	file := &client.File{Content: bytes.NewReader(photo), Name: "photo.png"}
	upload := must(recado.CreateUpload(ctx, client.NewUpload{File: file}))
	fmt.Println(upload.ID)

	// step: send-a-file-many-times-2
	must(recado.SendImage(ctx, instanceID, client.Image{To: "5511988887766", Image: "upload:" + upload.ID}))

	// step: send-a-file-many-times-3
	stored := must(recado.GetUpload(ctx, upload.ID))
	fmt.Println(stored.FileName)

	// step: send-a-file-many-times-4
	uploads := must(recado.ListUploads(ctx, 0, 10))
	fmt.Println(uploads.Data[0].FileName)

	// step: send-a-file-many-times-5
	uploaded := must(recado.GetUploadDownloadLink(ctx, upload.ID))
	fmt.Println(uploaded.URL)

	// step: send-a-file-many-times-6
	check(recado.DeleteUpload(ctx, upload.ID))

	// step: video
	must(recado.SendVideo(ctx, instanceID, client.Video{
		To:      "5511988887766",
		Video:   files + "/clip.mp4",
		Caption: "Como montar",
	}))

	// step: video-note
	must(recado.SendVideoNote(ctx, instanceID, client.VideoNote{To: "5511988887766", Video: files + "/clip.mp4"}))

	// step: album
	must(recado.SendAlbum(ctx, instanceID, client.Album{
		To: "5511988887766",
		Items: []client.AlbumItem{
			{Image: files + "/photo.png", Caption: "Seu pedido"},
			{Video: files + "/clip.mp4"},
		},
	}))

	// step: voice-note
	must(recado.SendVoiceNote(ctx, instanceID, client.VoiceNote{To: "5511988887766", Audio: files + "/voice.ogg"}))

	// step: audio-file
	must(recado.SendAudioFile(ctx, instanceID, client.AudioFile{To: "5511988887766", Audio: files + "/tone.mp3"}))

	// step: document
	document := must(recado.SendDocument(ctx, instanceID, client.Document{
		To:       "5511988887766",
		Document: files + "/invoice.pdf",
		FileName: "Nota fiscal 1234.pdf",
		Caption:  "Sua nota",
	}))

	// step: sticker
	must(recado.SendSticker(ctx, instanceID, client.Sticker{To: "5511988887766", Sticker: files + "/sticker.webp"}))

	// step: location
	must(recado.SendLocation(ctx, instanceID, client.Location{
		To:        "5511988887766",
		Latitude:  -23.5614,
		Longitude: -46.6559,
		Name:      "MASP",
		Address:   "Av. Paulista, 1578",
	}))

	// step: contact-card
	must(recado.SendContact(ctx, instanceID, client.Contact{
		To: "5511988887766",
		Contact: client.Card{
			FullName:     "Ana Souza",
			PhoneNumber:  "5511977776655",
			Organization: "Loja Ltda.",
		},
	}))

	// step: polls
	poll := must(recado.SendPoll(ctx, instanceID, client.Poll{
		To:       "5511988887766",
		Question: "Quando entregamos?",
		Options:  []string{"Hoje", "Amanhã"},
	}))

	// step: polls-2
	votes := must(recado.GetVotes(ctx, instanceID, poll.MessageID))
	fmt.Println(votes.Voters)

	// step: templates
	must(recado.CreateTemplate(ctx, client.NewTemplate{
		Name:     "order_shipped",
		Language: "pt_BR",
		Components: []client.NewTemplateComponent{
			{
				Type: "BODY",
				Text: "Olá {{1}}, o pedido {{2}} saiu para entrega.",
			},
		},
	}))

	// step: templates-2
	must(recado.SendTemplate(ctx, instanceID, client.TemplateMessage{
		To:             "5511988887766",
		Name:           "order_shipped",
		Language:       "pt_BR",
		BodyParameters: map[string]string{"1": "Ana", "2": "1234"},
	}))

	// step: templates-3
	templates := must(recado.ListTemplates(ctx, client.ListTemplatesParams{Name: "order_shipped"}, 0, 0))
	check(recado.DeleteTemplate(ctx, templates.Data[0].ID))

	// step: calendar-events
	appointment := must(recado.SendEvent(ctx, instanceID, client.CalendarEvent{
		To:       "5511988887766",
		Name:     "Prova da camiseta",
		Start:    time.Date(2031, 5, 6, 13, 0, 0, 0, time.UTC),
		End:      time.Date(2031, 5, 6, 13, 30, 0, 0, time.UTC),
		Location: client.EventLocation{Name: "Nossa loja"},
	}))

	// step: calendar-events-2
	check(recado.CancelEvent(ctx, instanceID, appointment.MessageID))

	// step: react
	check(recado.SendReaction(ctx, instanceID, client.Reaction{MessageID: messageID, Reaction: "👍"}))

	// step: pin
	check(recado.PinMessage(ctx, instanceID, messageID, client.Pin{DurationSeconds: 604800}))

	// step: pin-2
	check(recado.UnpinMessage(ctx, instanceID, messageID))

	// step: star
	check(recado.StarMessage(ctx, instanceID, messageID))
	check(recado.UnstarMessage(ctx, instanceID, messageID))

	// step: forward
	must(recado.ForwardMessage(ctx, instanceID, client.Forward{To: "5511977770100", MessageID: messageID}))

	// step: edit
	must(recado.EditMessage(ctx, instanceID, client.EditMessage{MessageID: messageID, Message: "Oi! Seu pedido chegou."}))

	// step: delete
	check(recado.DeleteMessage(ctx, instanceID, client.DeleteMessage{MessageID: messageID}))

	// step: mark-as-read
	received := sandbox[map[string]any](ctx, http.MethodPost, "phones/5511988887766/messages", map[string]any{
		"to": "5511999990200", "type": "text", "text": "Obrigada!",
	})["messageId"].(string)
	for event, err := range recado.Follow(ctx, instanceID, client.FollowOptions{After: new(int64(0)), Types: []string{client.TypeMessageReceived}}) {
		check(err)
		fmt.Println(event.Type)
		break
	}

	// step: mark-as-read-2
	must(recado.MarkRead(ctx, instanceID, client.MarkRead{MessageID: received}))

	// step: download-a-file
	link := must(recado.GetMediaDownloadLink(ctx, instanceID, document.MessageID))
	fmt.Println(link.FileName)

	// step: download-a-file-2
	invoice := read(ctx, link.URL)
	fmt.Println(len(invoice))

	// step: get-a-message
	thanks := must(recado.GetMessage(ctx, instanceID, received))
	fmt.Println(thanks.Status)

	// step: list-chats
	chats := must(recado.ListChats(ctx, instanceID, client.ListChatsParams{Search: "98888-7766"}, 0, 0))
	fmt.Println(chats.Data[0].Chat)

	// step: get-a-chat
	chat := must(recado.GetChat(ctx, instanceID, "5511988887766"))
	fmt.Println(chat.UnreadCount)

	// step: list-the-messages-of-a-chat
	documents := must(recado.ListChatMessages(ctx, instanceID, "5511988887766", client.ListChatMessagesParams{Types: "document"}, 0, 1))
	fmt.Println(documents.Data[0].Type)

	// step: search
	notes := must(recado.ListChatMessages(ctx, instanceID, "5511988887766", client.ListChatMessagesParams{Search: "NOTA su"}, 0, 1))
	fmt.Println(notes.Data[0].Type)

	// step: list-or-search-the-messages-of-all-chats
	everywhere := must(recado.ListMessages(ctx, instanceID, client.ListMessagesParams{Search: "NOTA su", FromMe: new(true)}, 0, 1))
	fmt.Println(everywhere.Data[0].Type)

	// step: older-messages
	history := must(recado.RequestHistory(ctx, instanceID, "5511988887766", client.RequestHistory{Count: 20}))
	fmt.Println(history.RequestID)

	// step: arrange-chats
	must(recado.ChangeChat(ctx, instanceID, "5511988887766", client.ChatChange{Archived: new(true), MutedUntil: client.Set("forever")}))

	// step: arrange-chats-2
	check(recado.DeleteChat(ctx, instanceID, "5511977770100"))

	// step: delete-for-yourself
	check(recado.DeleteMessageForMe(ctx, instanceID, received))

	// step: labels
	label := must(recado.CreateLabel(ctx, instanceID, client.NewLabel{Name: "Waiting for payment", Color: 3}))
	fmt.Println(label.LabelID)
	labelID := label.LabelID

	// step: labels-2
	check(recado.LabelChat(ctx, instanceID, "5511988887766", labelID))

	// step: labels-3
	check(recado.UnlabelChat(ctx, instanceID, "5511988887766", labelID))

	// step: labels-4
	check(recado.LabelMessage(ctx, instanceID, received, labelID))

	// step: labels-5
	check(recado.UnlabelMessage(ctx, instanceID, received, labelID))

	// step: labels-6
	labels := must(recado.ListLabels(ctx, instanceID, 0, 0))
	fmt.Println(labels.TotalCount)

	// step: labels-7
	one := must(recado.GetLabel(ctx, instanceID, labelID))
	fmt.Println(one.Name)

	// step: labels-8
	must(recado.ChangeLabel(ctx, instanceID, labelID, client.LabelChange{Name: new("Paid")}))

	// step: labels-9
	check(recado.DeleteLabel(ctx, instanceID, labelID))

	// step: presence
	check(recado.SendPresence(ctx, instanceID, client.Presence{To: "5511988887766", Presence: "composing"}))

	// step: presence-of-contacts
	must(recado.SubscribePresence(ctx, instanceID, "5511988887766", client.NewSubscription{Hours: 24}))

	// step: presence-of-contacts-2
	subscription := must(recado.GetPresenceSubscription(ctx, instanceID, "5511988887766"))
	fmt.Println(subscription.ID)

	// step: presence-of-contacts-3
	subscriptions := must(recado.ListPresenceSubscriptions(ctx, instanceID, 0, 0))
	fmt.Println(subscriptions.TotalCount)

	// step: presence-of-contacts-4
	check(recado.UnsubscribePresence(ctx, instanceID, "5511988887766"))

	// step: profile-picture
	must(recado.GetProfilePicture(ctx, instanceID, "5511977770100"))

	// step: profile-picture-2
	sandbox[map[string]any](ctx, http.MethodPut, "phones/5511988887766", map[string]any{"profilePicture": files + "/photo.png"})

	// step: profile-picture-3
	must(recado.GetProfilePicture(ctx, instanceID, "11988887766"))

	// step: contacts
	must(recado.NameContact(ctx, instanceID, "5511988887766", client.ContactName{Name: "Gabriela (shop)"}))

	// step: contacts-2
	contact := must(recado.GetContact(ctx, instanceID, "5511988887766"))
	fmt.Println(contact.ID)

	// step: contacts-3
	contacts := must(recado.ListContacts(ctx, instanceID, client.ListContactsParams{Search: "(shop)"}, 0, 0))
	fmt.Println(contacts.TotalCount)

	// step: contacts-4
	must(recado.FindAddresses(ctx, instanceID, client.FindAddresses{Addresses: []string{"5511988887766"}}))

	// step: block-and-unblock
	check(recado.BlockContact(ctx, instanceID, "5511988887766"))

	// step: block-and-unblock-2
	check(recado.UnblockContact(ctx, instanceID, "5511988887766"))

	// step: profile
	profile := must(recado.GetProfile(ctx, instanceID))
	fmt.Println(profile.Name)

	// step: profile-2
	must(recado.ChangeProfile(ctx, instanceID, client.ProfileChange{About: client.Set("Aberto das 8 às 18")}))

	// step: privacy
	privacy := must(recado.GetPrivacy(ctx, instanceID))
	fmt.Println(privacy.Disappearing)

	// step: privacy-2
	must(recado.ChangePrivacy(ctx, instanceID, client.PrivacyChange{LastSeen: new("contacts"), Groups: new("contacts")}))

	// step: block-list
	check(recado.PutBlock(ctx, instanceID, "5511988887766"))

	// step: block-list-2
	blocks := must(recado.ListBlocks(ctx, instanceID, 0, 0))
	fmt.Println(blocks.TotalCount)

	// step: block-list-3
	check(recado.DeleteBlock(ctx, instanceID, "5511988887766"))

	// step: calls
	callID := sandbox[map[string]any](ctx, http.MethodPost, "phones/5511988887766/call", map[string]any{
		"to": "5511999990200",
	})["callId"].(string)
	for event, err := range recado.Follow(ctx, instanceID, client.FollowOptions{After: new(int64(0)), Types: []string{client.TypeCallReceived}}) {
		check(err)
		fmt.Println(event.Type)
		break
	}

	// step: calls-2
	check(recado.RejectCall(ctx, instanceID, callID))

	// step: calls-3
	must(recado.ChangeInstance(ctx, instanceID, client.InstanceChange{
		RejectCalls:     client.Set(true),
		RejectCallsText: client.Set("We can not take calls here. Please write."),
	}))

	// step: calls-4
	must(recado.ChangeInstance(ctx, instanceID, client.InstanceChange{
		RejectCalls:     client.Null[bool](),
		RejectCallsText: client.Null[string](),
	}))

	// step: groups
	members := []map[string]string{{"number": "5511999990200"}, {"number": "5511977770100"}}
	created := sandbox[client.Group](ctx, http.MethodPost, "groups", map[string]any{
		"subject": "Clientes", "owner": "5511988887766", "participants": members,
	})
	groupID := created.ID

	// step: groups-2
	group := must(recado.GetGroup(ctx, instanceID, groupID))
	fmt.Println(group.Subject)

	// step: groups-3
	must(recado.SendText(ctx, instanceID, client.Text{To: groupID, Message: "Bom dia a todos!"}))

	// step: make-a-group-and-change-it
	team := must(recado.CreateGroup(ctx, instanceID, client.NewGroup{
		Subject:      "Equipe",
		Description:  "Quem trabalha aqui",
		Participants: []string{"5511988887766", "11977770100", "5511988880000"},
	}))
	fmt.Println(team.ID)

	// step: make-a-group-and-change-it-2
	groups := must(recado.ListGroups(ctx, instanceID, client.ListGroupsParams{Subject: "equipe"}, 0, 0))
	fmt.Println(groups.TotalCount)

	// step: make-a-group-and-change-it-3
	must(recado.ChangeGroup(ctx, instanceID, team.ID, client.GroupChange{
		Description:  client.Null[string](),
		Info:         new("admins"),
		Approval:     new(true),
		Disappearing: new(int64(604800)),
	}))

	// step: make-a-group-and-change-it-4
	settings := must(recado.GetGroupSettings(ctx, instanceID, team.ID))
	fmt.Println(settings.Info)

	// step: make-a-group-and-change-it-5
	must(recado.ChangeGroupParticipants(ctx, instanceID, team.ID, client.ParticipantChange{
		Action:       "promote",
		Participants: []string{"5511988887766", "5511966660100"},
	}))

	// step: invite-links-and-who-waits
	invite := must(recado.GetGroupInvite(ctx, instanceID, team.ID))
	fmt.Println(invite.Code)

	// step: invite-links-and-who-waits-2
	invited := must(recado.GetInvitedGroup(ctx, instanceID, invite.Code))
	fmt.Println(invited.Subject)

	// step: invite-links-and-who-waits-3
	joined := must(recado.JoinGroup(ctx, instanceID, invite.Code))
	fmt.Println(joined.Status)

	// step: invite-links-and-who-waits-4
	sandbox[map[string]any](ctx, http.MethodPost, "phones/5511966660100/join", map[string]any{"invite": invite.Code})

	// step: invite-links-and-who-waits-5
	must(recado.ListJoinRequests(ctx, instanceID, team.ID))

	// step: invite-links-and-who-waits-6
	must(recado.AnswerJoinRequests(ctx, instanceID, team.ID, client.AnswerJoinRequests{
		Action:       "approve",
		Participants: []string{"5511966660100"},
	}))

	// step: invite-links-and-who-waits-7
	must(recado.ResetGroupInvite(ctx, instanceID, team.ID))

	// step: communities
	community := must(recado.CreateCommunity(ctx, instanceID, client.NewCommunity{Subject: "Nossas lojas"}))
	fmt.Println(community.ID)

	// step: communities-2
	communities := must(recado.ListCommunities(ctx, instanceID, 0, 0))
	fmt.Println(communities.TotalCount)

	// step: communities-3
	check(recado.LinkGroup(ctx, instanceID, community.ID, team.ID))

	// step: communities-4
	linked := must(recado.ListCommunityGroups(ctx, instanceID, community.ID, 0, 0))
	fmt.Println(linked.TotalCount)

	// step: communities-5
	check(recado.UnlinkGroup(ctx, instanceID, community.ID, team.ID))

	// step: communities-6
	check(recado.LeaveGroup(ctx, instanceID, team.ID))

	// step: channels
	followed := sandbox[map[string]any](ctx, http.MethodPost, "channels", map[string]any{
		"owner": "5511988887766", "name": "Novidades da Ana", "posts": []any{"Canecas novas", "Frete grátis na sexta"},
	})["invite"].(string)

	// step: channels-2
	channel := must(recado.GetChannel(ctx, instanceID, followed))
	fmt.Println(channel.ID)

	// step: channels-3
	check(recado.FollowChannel(ctx, instanceID, channel.ID))
	check(recado.MuteChannel(ctx, instanceID, channel.ID))

	// step: channels-4
	channels := must(recado.ListChannels(ctx, instanceID, client.ListChannelsParams{Name: "nov"}, 0, 0))
	fmt.Println(channels.Data[0].Name)

	// step: channels-5
	must(recado.ListChannelPosts(ctx, instanceID, channel.ID, client.ListChannelPostsParams{Limit: 1}))

	// step: channels-6
	check(recado.ReactToPost(ctx, instanceID, channel.ID, "2", client.ChannelReaction{Reaction: "👍"}))

	// step: channels-7
	check(recado.UnmuteChannel(ctx, instanceID, channel.ID))
	check(recado.UnfollowChannel(ctx, instanceID, channel.ID))

	// step: channels-8
	own := must(recado.CreateChannel(ctx, instanceID, client.NewChannel{Name: "A loja"}))
	fmt.Println(own.ID)

	// step: channels-9
	must(recado.SendText(ctx, instanceID, client.Text{To: own.ID, Message: "Abrimos às 8!"}))

	// step: post
	must(recado.PostStatusText(ctx, instanceID, client.StatusText{
		Message:    "Aberto até as 20h hoje!",
		Background: "#7E2AA8",
		Font:       "bold",
	}))

	// step: post-2
	must(recado.PostStatusText(ctx, instanceID, client.StatusText{
		Message:  "Só para clientes VIP: 20% hoje",
		Audience: []string{"5511988887766"},
	}))

	// step: post-3
	must(recado.PostStatusVideo(ctx, instanceID, client.StatusVideo{Video: files + "/clip.mp4"}))

	// step: post-4
	must(recado.PostStatusVoice(ctx, instanceID, client.StatusVoice{Audio: files + "/voice.ogg"}))

	// step: post-5
	must(recado.PostStatusImage(ctx, instanceID, client.StatusImage{Image: files + "/photo.png", Caption: "Novidade"}))

	// step: who-sees-it
	audience := must(recado.ListStatusAudience(ctx, instanceID, 0, 0))
	fmt.Println(audience.Rule)

	// step: status-posts-of-contacts
	must(recado.ListStatusPosts(ctx, instanceID, 0, 1))

	// step: set-the-webhook
	webhook := must(recado.SaveWebhookConfig(ctx, instanceID, client.NewWebhookConfig{
		WebhookURL: files + "/recado",
		Secret:     "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
	}))
	fmt.Println(webhook.WebhookURL)

	// step: set-the-webhook-2
	must(recado.TestWebhook(ctx, instanceID, webhook.ID))

	// step: see-your-webhook
	config := must(recado.GetWebhookConfig(ctx, instanceID))
	fmt.Println(config.WebhookURL)

	// step: see-what-was-delivered
	must(recado.SendText(ctx, instanceID, client.Text{To: "5511988887766", Message: "Chegou?"}))

	// step: see-what-was-delivered-2
	must(recado.ListWebhookDeliveries(ctx, instanceID, webhook.ID, 0, 1))

	// step: replay-events
	must(recado.ReplayWebhook(ctx, instanceID, webhook.ID, client.Replay{FromSequence: 1}))

	// step: resume
	check(recado.ResumeWebhook(ctx, instanceID, webhook.ID))

	// step: remove-the-webhook
	check(recado.DeleteWebhookConfig(ctx, instanceID))

	// step: deliver-to-several-places
	crm := must(recado.CreateWebhook(ctx, instanceID, client.NewWebhook{
		URL:     files + "/crm",
		Events:  []string{"message.received"},
		Chats:   []string{"direct"},
		Headers: map[string]string{"Authorization": "Bearer 7f3a"},
	}))
	fmt.Println(crm.ID)

	// step: deliver-to-several-places-2
	must(recado.ChangeWebhook(ctx, instanceID, crm.ID, client.WebhookChange{Chats: []string{"direct", "group"}}))

	// step: deliver-to-several-places-3
	must(recado.GetWebhook(ctx, instanceID, crm.ID))
	webhooks := must(recado.ListWebhooks(ctx, instanceID, 0, 1))
	fmt.Println(webhooks.TotalCount)

	// step: deliver-to-several-places-4
	must(recado.TestWebhook(ctx, instanceID, crm.ID))
	must(recado.ListWebhookDeliveries(ctx, instanceID, crm.ID, 0, 1))
	must(recado.ReplayWebhook(ctx, instanceID, crm.ID, client.Replay{FromSequence: 1}))
	check(recado.ResumeWebhook(ctx, instanceID, crm.ID))
	check(recado.DeleteWebhook(ctx, instanceID, crm.ID))

	// step: deliver-to-several-places-5
	desk := must(partner.CreateAccountWebhook(ctx, client.NewWebhook{URL: files + "/desk", Events: []string{"message.received"}}))
	fmt.Println(desk.ID)

	// step: deliver-to-several-places-6
	must(partner.ListAccountWebhooks(ctx, 0, 1))
	must(partner.GetAccountWebhook(ctx, desk.ID))
	must(partner.ChangeAccountWebhook(ctx, desk.ID, client.WebhookChange{IsActive: new(false)}))
	check(partner.DeleteAccountWebhook(ctx, desk.ID))

	// step: deliver-to-several-places-7
	must(partner.SetAppSecret(ctx, client.NewAppSecret{AppSecret: "7f3a5c1e9b2d4f6a"}))
	must(partner.GetAppSecret(ctx))
	check(partner.DeleteAppSecret(ctx))

	// step: follow-the-stream
	types := []string{client.TypeMessageReceived, client.TypeInstanceStatus}
	for event, err := range recado.Follow(ctx, instanceID, client.FollowOptions{After: new(int64(0)), Types: types}) {
		check(err)
		fmt.Println(event.Type)
		break
	}

	// step: send-once-even-when-you-ask-twice
	first := must(recado.SendText(ctx, instanceID, client.Text{
		To:             "5511988887766",
		Message:        "Pedido 1234 enviado.",
		IdempotencyKey: "order-1234-shipped",
	}))
	fmt.Println(first.MessageID)

	// step: send-once-even-when-you-ask-twice-2
	second := must(recado.SendText(ctx, instanceID, client.Text{
		To:             "5511988887766",
		Message:        "Pedido 1234 enviado.",
		IdempotencyKey: "order-1234-shipped",
	}))
	fmt.Println(second.MessageID)

	// step: send-once-even-when-you-ask-twice-3
	third := must(recado.SendText(ctx, instanceID, client.Text{
		To:             "5511988887766",
		Message:        "Pedido 1234 enviado.",
		IdempotencyKey: "order-1234-shipped",
	}))
	fmt.Println(third.MessageID)

	// step: send-once-even-when-you-ask-twice-4
	if _, err := recado.SendText(ctx, instanceID, client.Text{
		To:             "5511988887766",
		Message:        "Pedido 5678 enviado.",
		IdempotencyKey: "order-1234-shipped",
	}); err != nil {
		if refusal, ok := errors.AsType[*client.Error](err); ok {
			fmt.Println(refusal.Code)
		}
	}

	// step: call-a-message-by-your-own-word
	must(recado.SendText(ctx, instanceID, client.Text{
		To:         "5511988887766",
		Message:    "O pedido 1235 chega hoje.",
		ClientData: "order 1235",
	}))

	// step: at-a-time
	sendAt := time.Now().Add(20 * time.Hour)
	queued := must(recado.SendText(ctx, instanceID, client.Text{To: "5511988887766", Message: "Amanhã às 9h?", SendAt: sendAt}))
	fmt.Println(queued.ID)

	// step: see-the-queue
	queue := must(recado.ListQueue(ctx, instanceID, 0, 0))
	fmt.Println(queue.TotalCount)

	// step: see-the-queue-2
	waiting := must(recado.GetQueuedMessage(ctx, instanceID, queued.ID))
	fmt.Println(waiting.State)

	// step: cancel
	check(recado.CancelQueuedMessage(ctx, instanceID, queued.ID))

	// step: cancel-2
	must(recado.CancelQueue(ctx, instanceID))

	// step: without-waiting
	must(recado.SendText(ctx, instanceID, client.Text{
		To:             "5511988887766",
		Message:        "Recebemos seu pagamento.",
		Prefer:         "respond-async",
		IdempotencyKey: "order-1234-paid",
	}))

	// step: pages
	page := must(recado.ListInstances(ctx, client.ListInstancesParams{}, 2, 1))
	fmt.Println(page.CurrentPage)

	// step: when-it-goes-wrong
	if _, err := recado.SendLocation(ctx, instanceID, client.Location{To: "5511988887766", Latitude: 91, Longitude: -46.6559}); err != nil {
		if refusal, ok := errors.AsType[*client.Error](err); ok {
			fmt.Println(refusal.Code)
		}
	}

	// step: when-it-goes-wrong-2
	if _, err := recado.SendText(ctx, instanceID, client.Text{To: "5511988880000", Message: "Oi!"}); err != nil {
		if refusal, ok := errors.AsType[*client.Error](err); ok {
			fmt.Println(refusal.Code)
		}
	}

	// step: keys
	key := must(partner.CreateAPIKey(ctx, client.NewKey{
		Name:        "website",
		InstanceIDs: []string{instanceID},
		ExpiresAt:   time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC),
	}))
	fmt.Println(key.Name)

	// step: keys-2
	keys := must(partner.ListAPIKeys(ctx, 3, 1))
	fmt.Println(keys.TotalCount)

	// step: keys-3
	check(partner.RevokeAPIKey(ctx, key.ID))

	// step: keys-4
	website := client.New(url, key.Key)
	if _, err := website.ListInstances(ctx, client.ListInstancesParams{}, 0, 0); err != nil {
		if refusal, ok := errors.AsType[*client.Error](err); ok {
			fmt.Println(refusal.Code)
		}
	}

	// step: stop
	check(partner.StopInstance(ctx, instanceID))

	// step: payment
	must(partner.SetPayment(ctx, instanceID, client.Payment{Pending: true}))

	// step: payment-2
	if _, err := recado.SendText(ctx, instanceID, client.Text{To: "5511988887766", Message: "Oi!"}); err != nil {
		if refusal, ok := errors.AsType[*client.Error](err); ok {
			fmt.Println(refusal.Code)
		}
	}

	// step: delete-an-instance
	check(partner.DeleteInstance(ctx, instanceID))
}
