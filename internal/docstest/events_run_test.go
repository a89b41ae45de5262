package docstest_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// example is an event of the program.
type example struct {
	kind     eventlog.Kind
	title    string
	envelope string
}

// The people of the examples.
const (
	shopNumber  = "5511999990200" // the account of the instance
	anaNumber   = "5511988887766"
	brunoNumber = "5511977770100"
	carlaNumber = "5521966660144" // hides her number
)

// story makes things happen, and keeps the events that they cause.
type story struct {
	t        *testing.T
	gateway  *testkit.Gateway
	client   *client.Client
	phones   *testkit.Phones
	instance string
	tape     *tape
	examples map[eventlog.Kind][]example
}

// caused makes the program append every kind of event.
func caused(t *testing.T) map[eventlog.Kind][]example {
	t.Helper()
	g := testkit.Start(t, testkit.Options{})
	s := &story{t: t, gateway: g, client: g.Client, phones: g.Phones, examples: map[eventlog.Kind][]example{}}
	for number, name := range cases.Sorted(map[string]string{shopNumber: "Loja Azul", anaNumber: "Ana Souza", brunoNumber: "Bruno Lima"}) {
		s.phones.Update(t, number, map[string]any{"name": name})
	}
	s.phones.Update(t, carlaNumber, map[string]any{"name": "Carla Dias", "hideNumber": true})
	s.link()
	s.receive()
	s.send()
	s.change()
	s.meetPeople()
	s.meetGroup()
	s.deliver()
	s.part()
	return s.examples
}

// keep waits for an event and keeps it as an example. wanted has to accept exactly
// one event, the same one in every run.
func (s *story) keep(kind eventlog.Kind, title string, wanted func(data map[string]any) bool) {
	s.t.Helper()
	s.examples[kind] = append(s.examples[kind], example{kind, title, s.tape.await(s.t, kind, title, wanted)})
}

// about accepts the events of one message.
func about(messageID string) func(map[string]any) bool {
	return func(data map[string]any) bool { return data["messageId"] == messageID }
}

// with accepts data with a field of that value.
func with(field, value string) func(map[string]any) bool {
	return func(data map[string]any) bool { return data[field] == value }
}

func both(one, other func(map[string]any) bool) func(map[string]any) bool {
	return func(data map[string]any) bool { return one(data) && other(data) }
}

func (s *story) link() {
	s.t.Helper()
	created, err := s.gateway.Partner.CreateInstance(s.t.Context(), client.NewInstance{Name: "shop"})
	if err != nil {
		s.t.Fatal(err)
	}
	s.instance = created.InstanceID
	s.tape = newTape(s.t, s.gateway, s.instance)
	s.phones.Update(s.t, shopNumber, map[string]any{"passkey": true})
	code, err := s.client.GetQRCode(s.t.Context(), s.instance, client.GetQRCodeParams{})
	if err != nil {
		s.t.Fatal(err)
	}
	s.phones.Scan(s.t, shopNumber, code.QRCode)
	s.gateway.AnswerPasskey(s.t, s.instance, shopNumber)
	s.gateway.AwaitStatus(s.t, s.instance, gateway.StatusConnected)
	s.keep(eventlog.KindInstancePasskey, "A phone has scanned the code", with("state", string(gateway.PasskeyRequested)))
	s.keep(eventlog.KindInstancePasskey, "It is linked", with("state", string(gateway.PasskeyDone)))
	s.keep(eventlog.KindInstanceQR, "The first code", func(data map[string]any) bool { return data["attempt"] == json.Number("1") })
	s.keep(eventlog.KindInstanceStatus, "Linked and connected", with("status", string(gateway.StatusConnected)))
}

// business is an example of the sandbox's page of what people and businesses write.
func business(t *testing.T, id string) map[string]any {
	t.Helper()
	examples, err := content.Examples()
	if err != nil {
		t.Fatal(err)
	}
	for _, example := range examples {
		if example.ID == id {
			return map[string]any{"type": "content", "content": example.Content}
		}
	}
	t.Fatalf("there is no example %s", id)
	return nil
}

func (s *story) receive() {
	s.t.Helper()
	for _, m := range []struct {
		title, from string
		content     map[string]any
	}{
		{"A text", anaNumber, map[string]any{"type": "text", "text": "Oi! Quanto custa a camiseta azul?"}},
		{"A picture", anaNumber, map[string]any{"type": "image", "media": picture(s.t), "caption": "Esta aqui"}},
		{"A voice note", anaNumber, map[string]any{"type": "voice", "media": fileURI(s.t, "audio/ogg", "voice.ogg")}},
		{"A document", anaNumber, map[string]any{"type": "document", "media": dataURI("application/pdf", "%PDF-1.4\n%%EOF\n"), "fileName": "Comprovante.pdf"}},
		{"A place", anaNumber, map[string]any{"type": "location", "latitude": -23.5614, "longitude": -46.6559, "name": "MASP", "address": "Av. Paulista, 1578"}},
		{"A contact card", anaNumber, map[string]any{"type": "contact", "contact": map[string]any{
			"fullName": "Bruno Lima", "phoneNumber": brunoNumber, "organization": "Loja Ltda.",
		}}},
		{"A poll", anaNumber, map[string]any{"type": "poll", "text": "Qual cor?", "options": []string{"azul", "verde"}}},
		{"A calendar event", anaNumber, map[string]any{"type": "event", "text": "Prova da camiseta", "event": map[string]any{
			"start": "2031-05-06T13:00:00Z", "end": "2031-05-06T13:30:00Z", "location": map[string]any{"name": "Loja", "address": "Rua Augusta, 100"},
		}}},
		{"From an advertisement", anaNumber, map[string]any{"type": "text", "text": "Vi o anúncio. Ainda tem?", "referral": map[string]any{
			"sourceType": "ad", "sourceId": "120210000000000000", "sourceUrl": "https://fb.me/abc", "headline": "Camisetas", "body": "Só esta semana", "clickId": "ARAkLkA8rmlFeiCktEJQ-QTwRiyYHAFDLMNDBH0CD3qpjd0HR4irJ6LEkR7JwFF4XvnO2E4Nx0-eM-GABDLOPaOdRMv-_zfUQ2a",
		}}},
		{"An order", anaNumber, map[string]any{"type": "order", "text": "Para hoje, por favor", "order": map[string]any{
			"id": "1001", "title": "Camiseta azul", "items": 2, "total": 99.8, "currency": "BRL",
		}}},
		{"A button was pressed", anaNumber, map[string]any{"type": "selection", "text": "Falar com alguém", "selectedId": "human"}},
		{"A template of a business, with buttons", anaNumber, business(s.t, "template")},
		{"A product of a catalogue", anaNumber, business(s.t, "product")},
		{"A question about a product", anaNumber, business(s.t, "question")},
		{"A payment that is asked for", anaNumber, business(s.t, "payment")},
		{"A live location", anaNumber, business(s.t, "live_location")},
		{"Several contact cards", anaNumber, business(s.t, "contacts")},
		{"From somebody whose number is not known", carlaNumber, map[string]any{"type": "text", "text": "Bom dia!"}},
		{"A kind that the gateway does not know", anaNumber, map[string]any{"type": "unsupported", "kind": "pin"}},
	} {
		m.content["to"] = shopNumber
		id := s.phones.Send(s.t, m.from, m.content)
		s.keep(eventlog.KindMessageReceived, m.title, about(id))
		if m.content["type"] == "poll" {
			s.phones.Vote(s.t, anaNumber, id, "azul")
			s.keep(eventlog.KindMessagePollVote, "A vote", about(id))
		}
		if m.content["type"] == "event" {
			s.phones.Respond(s.t, anaNumber, id, "going", 0)
			s.keep(eventlog.KindMessageEventResponse, "Somebody comes", about(id))
		}
	}
	// From here on, every event has their names.
	s.tape.await(s.t, eventlog.KindContactUpdated, "Ana's name", with("name", "Ana Souza"))
	s.tape.await(s.t, eventlog.KindContactUpdated, "Carla's name", with("name", "Carla Dias"))
}

func (s *story) send() {
	s.t.Helper()
	sent := s.sendText(anaNumber, "R$ 49,90. Quer que eu separe uma?")
	s.keep(eventlog.KindMessageSent, "Through the API", about(sent))
	s.keep(eventlog.KindMessageStatus, "Read", both(about(sent), with("status", "read")))
	id := s.phones.SendText(s.t, shopNumber, anaNumber, "Chega amanhã.")
	s.keep(eventlog.KindMessageSent, "On the phone", about(id))
	s.phones.React(s.t, anaNumber, sent, "👍")
	s.keep(eventlog.KindMessageReaction, "A thumb", both(about(sent), with("reaction", "👍")))
	s.phones.React(s.t, anaNumber, sent, "")
	s.keep(eventlog.KindMessageReaction, "Taken back", both(about(sent), with("reaction", "")))
}

func (s *story) sendText(to, text string) (messageID string) {
	s.t.Helper()
	sent, err := s.client.SendText(s.t.Context(), s.instance, client.Text{To: to, Message: text})
	if err != nil {
		s.t.Fatal(err)
	}
	return sent.MessageID
}

func (s *story) change() {
	s.t.Helper()
	id := s.phones.SendText(s.t, anaNumber, shopNumber, "Quero duas.")
	s.tape.await(s.t, eventlog.KindMessageReceived, "the text to edit", about(id))
	s.phones.Edit(s.t, anaNumber, id, "Quero três.")
	s.keep(eventlog.KindMessageEdited, "By who wrote it", about(id))
	s.phones.Pin(s.t, anaNumber, id, 86_400)
	s.keep(eventlog.KindMessagePinned, "For a day", func(data map[string]any) bool { return data["messageId"] == id && data["pinnedUntil"] != nil })
	s.phones.AwaitMessage(s.t, shopNumber, id)
	s.phones.Star(s.t, shopNumber, id, true)
	s.keep(eventlog.KindMessageStarred, "On the phone", about(id))
	s.phones.Delete(s.t, anaNumber, id)
	s.keep(eventlog.KindMessageDeleted, "By who wrote it", about(id))
	id = s.phones.SendText(s.t, anaNumber, shopNumber, "Obrigada!")
	s.tape.await(s.t, eventlog.KindMessageReceived, "the text to delete", about(id))
	s.phones.AwaitMessage(s.t, shopNumber, id)
	s.phones.DeleteForMe(s.t, shopNumber, id)
	s.keep(eventlog.KindMessageDeletedForMe, "On the phone", about(id))
}

func (s *story) meetPeople() {
	s.t.Helper()
	s.phones.Presence(s.t, anaNumber, shopNumber, "composing")
	s.keep(eventlog.KindPresence, "Typing", with("presence", "composing"))
	s.phones.Presence(s.t, anaNumber, shopNumber, "available")
	s.phones.Presence(s.t, anaNumber, shopNumber, "unavailable")
	s.keep(eventlog.KindPresence, "Gone", with("presence", "unavailable"))
	call := s.phones.Call(s.t, anaNumber, shopNumber, true)
	s.keep(eventlog.KindCallReceived, "A video call", func(map[string]any) bool { return true })
	s.phones.EndCall(s.t, anaNumber, call, "hangup")
	s.keep(eventlog.KindCallEnded, "The caller gave up", with("callId", call))

	channel := s.phones.CreateChannel(s.t, anaNumber, "Novidades")
	s.phones.FollowChannel(s.t, shopNumber, channel.ID, false)
	s.keep(eventlog.KindChannelUpdated, "Followed on the phone", with("channelId", channel.ID))
	s.phones.UnfollowChannel(s.t, shopNumber, channel.ID)

	s.phones.Update(s.t, shopNumber, map[string]any{"about": "Aberto das 8 às 18"})
	s.keep(eventlog.KindAccountUpdated, "It says something else about itself", with("change", "about"))
	s.phones.Block(s.t, shopNumber, brunoNumber, true)
	s.keep(eventlog.KindAccountUpdated, "Somebody was blocked on the phone", with("change", "blocked"))
	s.phones.Block(s.t, shopNumber, brunoNumber, false)
	s.phones.ChangeChat(s.t, shopNumber, anaNumber, map[string]any{"archived": true})
	s.keep(eventlog.KindChatUpdated, "Archived on the phone", func(data map[string]any) bool { return data["archived"] == true })

	s.phones.SetLabel(s.t, shopNumber, "6", "Aguardando pagamento", 3)
	s.keep(eventlog.KindLabelUpdated, "A new label", with("name", "Aguardando pagamento"))
	s.phones.LabelChat(s.t, shopNumber, anaNumber, "6", true)
	s.keep(eventlog.KindLabelAssigned, "Put on a chat", with("labelId", "6"))

	asked, err := s.client.RequestHistory(s.t.Context(), s.instance, anaNumber, client.RequestHistory{Count: 10})
	if err != nil {
		s.t.Fatal(err)
	}
	s.keep(eventlog.KindChatHistory, "There is nothing older", with("requestId", asked.RequestID))

	s.phones.Update(s.t, anaNumber, map[string]any{"name": "Ana S. Lima"})
	s.phones.SendText(s.t, anaNumber, shopNumber, "Casei!")
	s.keep(eventlog.KindContactUpdated, "Another name", with("name", "Ana S. Lima"))
	if _, err := s.client.CheckNumbers(s.t.Context(), s.instance, client.CheckNumbers{Numbers: []string{carlaNumber}}); err != nil {
		s.t.Fatal(err)
	}
	s.keep(eventlog.KindContactUpdated, "A number that was not known", with("jid", carlaNumber+"@s.whatsapp.net"))
}

func (s *story) meetGroup() {
	s.t.Helper()
	group := s.phones.CreateGroup(s.t, "Promoções", anaNumber, shopNumber)
	of := func(change string) func(map[string]any) bool {
		return both(with("groupId", group.ID), with("change", change))
	}
	s.keep(eventlog.KindGroupUpdated, "This account is in a new group", of("created"))
	s.phones.UpdateGroup(s.t, group.ID, map[string]any{"subject": "Promoções de verão"})
	s.keep(eventlog.KindGroupUpdated, "Another name", of("subject"))
	s.phones.UpdateGroup(s.t, group.ID, map[string]any{"add": []string{brunoNumber}})
	s.keep(eventlog.KindGroupUpdated, "Somebody was added", of("participants_added"))
	s.phones.UpdateGroup(s.t, group.ID, map[string]any{"adminsAdd": true})
	s.keep(eventlog.KindGroupUpdated, "Only administrators add people from now on", of("settings"))

	sent := s.sendText(group.ID, "Bom dia a todos!")
	s.keep(eventlog.KindMessageStatus, "Read by one member of a group", both(both(about(sent), with("status", "read")),
		func(data map[string]any) bool {
			participant, _ := data["participant"].(map[string]any)
			return participant["jid"] == anaNumber+"@s.whatsapp.net"
		}))
	s.phones.AwaitMessage(s.t, anaNumber, sent)
	id := s.phones.Send(s.t, anaNumber, map[string]any{"to": group.ID, "type": "text", "text": "Bom dia!", "quoteMessageId": sent})
	s.keep(eventlog.KindMessageReceived, "An answer in a group", about(id))
}

// part ends the story: the account is restricted, and the phone unlinks the instance.
func (s *story) part() {
	s.t.Helper()
	s.phones.Restrict(s.t, shopNumber, 24*60*60)
	s.keep(eventlog.KindInstanceRestricted, "The messenger says so", func(data map[string]any) bool { return data["recipient"] == nil })
	// The gateway itself refuses what would begin a chat, so the platform refuses what it
	// takes for known.
	s.phones.Faults(s.t, map[string]any{"sendError": 463})
	_, err := s.client.SendText(s.t.Context(), s.instance, client.Text{To: anaNumber, Message: "Olá!"})
	testkit.Refused(s.t, err, http.StatusTooManyRequests, gateway.CodeRecipientRestricted)
	s.keep(eventlog.KindInstanceRestricted, "A message was refused", func(data map[string]any) bool { return data["recipient"] != nil })
	s.phones.Faults(s.t, map[string]any{})

	s.phones.Do(s.t, shopNumber, "unlink")
	s.keep(eventlog.KindInstanceStatus, "Unlinked on the phone", with("reason", string(gateway.ReasonUnlinked)))
}

// deliver has a webhook tested and suspended. Events expire only after days, so that
// example is made by hand.
func (s *story) deliver() {
	s.t.Helper()
	sink := testkit.NewSink(s.t)
	hook, err := s.client.SaveWebhookConfig(s.t.Context(), s.instance, client.NewWebhookConfig{WebhookURL: sink.URL})
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.client.TestWebhook(s.t.Context(), s.instance, hook.ID); err != nil {
		s.t.Fatal(err)
	}
	test := sink.AwaitType(string(eventlog.KindWebhookTest), nil)
	s.examples[eventlog.KindWebhookTest] = []example{{eventlog.KindWebhookTest, "A test", string(test.Body)}}
	sink.Answer(func(testkit.Delivered) int { return http.StatusGone })
	s.phones.SendText(s.t, anaNumber, shopNumber, "Alguém aí?")
	s.keep(eventlog.KindWebhookSuspended, "The endpoint has answered 410", with("reason", "gone"))

	event, err := eventlog.NewEvent(s.instance, "", "", exampleTime(), eventlog.EventsExpired{FromSequence: 4211, ToSequence: 5020})
	if err != nil {
		s.t.Fatal(err)
	}
	event.Sequence = 1
	s.examples[event.Kind] = []example{{event.Kind, "Events 4211 to 5020 are gone", string(event.Envelope())}}
}

func dataURI(mimeType, file string) string {
	return "data:" + mimeType + ";base64," + base64.StdEncoding.EncodeToString([]byte(file))
}

func fileURI(t *testing.T, mimeType, name string) string {
	t.Helper()
	return dataURI(mimeType, readFile(t, "internal/media/testdata/"+name))
}

func picture(t *testing.T) string {
	t.Helper()
	picture := image.NewRGBA(image.Rect(0, 0, 64, 48))
	picture.Set(1, 1, color.White)
	var file bytes.Buffer
	if err := png.Encode(&file, picture); err != nil {
		t.Fatal(err)
	}
	return dataURI("image/png", file.String())
}
