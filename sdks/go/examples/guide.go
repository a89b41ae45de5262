// step: before-you-start

// The guide (docs/guide.md) as a program. What belongs to a step stands between its mark and the next one. Run it beside
// recado dev, which prints what RECADO_URL, RECADO_API_KEY and RECADO_PARTNER_KEY have to be.
package main

import (
	"bytes"
	"context"
	"encoding/json"
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
}
