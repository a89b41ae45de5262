package server_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/whatsapp"
)

func trySend(t *testing.T, g *testkit.Gateway, id, text string) (client.Sent, error) {
	t.Helper()
	return g.Client.SendText(t.Context(), id, client.Text{To: customerNumber, Message: text})
}

// sendText sends a text and looks at the phone for it.
func sendText(t *testing.T, g *testkit.Gateway, id, text string) client.Sent {
	t.Helper()
	sent, err := trySend(t, g, id, text)
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Phones.AwaitMessage(t, customerNumber, sent.MessageID); got.Text != text {
		t.Errorf("the phone shows %q, want %q", got.Text, text)
	}
	return sent
}

func find(t *testing.T, g *testkit.Gateway, id, ref string) gateway.Message {
	t.Helper()
	message, err := g.Server.Messages().Find(t.Context(), id, gateway.ParseMessageRef(ref))
	if err != nil {
		t.Fatal(err)
	}
	return message
}

func awaitMessage(t *testing.T, g *testkit.Gateway, id, platformID string) gateway.Message {
	t.Helper()
	var message gateway.Message
	testkit.Await(t, "message "+platformID, func() bool {
		found, err := g.Server.Messages().Find(t.Context(), id, gateway.MessageRef{ID: platformID})
		message = found
		return err == nil
	})
	return message
}

func TestTextInEveryRecipientFormat(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	lid := g.Phones.Get(t, customerNumber).LID
	sendText(t, g, id, "who is who becomes known with the first message by number")
	for name, c := range cases.Sorted(map[string]struct{ to, phone string }{
		"international number":                      {"5511988887766", customerNumber},
		"with a plus and blanks":                    {"+55 (11) 98888-7766", customerNumber},
		"Brazilian mobile":                          {"11988887766", customerNumber},
		"without the ninth digit":                   {"551188887766", customerNumber},
		"with a ninth digit that the account lacks": {"5511977776655", "551177776655"},
		"personal chat ID":                          {"5511988887766@s.whatsapp.net", customerNumber},
		"personal chat ID of old":                   {"5511988887766@c.us", customerNumber},
		"LID":                                       {lid, customerNumber},
		"number abroad":                             {"14155550124", "14155550124"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sent, err := g.Client.SendText(t.Context(), id, client.Text{To: c.to, Message: name})
			if err != nil {
				t.Fatal(err)
			}
			got := g.Phones.AwaitMessage(t, c.phone, sent.MessageID)
			if got.Text != name || got.From != shopNumber+"@s.whatsapp.net" || got.FromMe {
				t.Errorf("the phone shows %+v", got)
			}
			if stored := find(t, g, id, sent.ID); stored.Chat.JID != gateway.JID(c.phone+"@"+gateway.PersonalSuffix) || !stored.Chat.LID.IsLID() {
				t.Errorf("kept with the chat %+v", stored.Chat)
			}
		})
	}
	// A message that would reach no device is not reported as sent.
	for name, to := range cases.Sorted(map[string]string{
		"number without an account":  "5511988880000",
		"chat ID without an account": "5511988880000@s.whatsapp.net",
		"LID of nobody":              "99999999999999@lid",
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := g.Client.SendText(t.Context(), id, client.Text{To: to, Message: "nobody"})
			testkit.Refused(t, err, http.StatusBadRequest, "RECIPIENT_NOT_REGISTERED")
		})
	}
}

func TestReceiptsMoveAMessageToRead(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	sent := sendText(t, g, id, "Oi!")
	testkit.Await(t, "status read", func() bool {
		return find(t, g, id, sent.ID).Status == gateway.MessageRead
	})

	// A phone that is away leaves its messages at "sent" until it is back.
	const away = "5511988880002"
	held, err := g.Client.SendText(t.Context(), id, client.Text{To: away, Message: "Are you there?"})
	if err != nil {
		t.Fatal(err)
	}
	if status := find(t, g, id, held.ID).Status; status != gateway.MessageSent {
		t.Errorf("status %s while the phone is away", status)
	}
	g.Phones.Update(t, away, map[string]any{"online": true})
	testkit.Await(t, "status after the phone came back", func() bool {
		return find(t, g, id, held.ID).Status >= gateway.MessageDelivered
	})
}

func TestAnswerOfAPhoneIsKeptAndCanBeQuoted(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	sendText(t, g, id, "Oi!")
	answer := g.Phones.SendText(t, customerNumber, shopNumber, "Oi, quanto custa?")
	kept := awaitMessage(t, g, id, answer)
	if kept.Text != "Oi, quanto custa?" || kept.FromMe || kept.Source != gateway.SourcePeer {
		t.Errorf("kept %+v", kept)
	}
	lid := g.Phones.Get(t, customerNumber).LID
	for _, ref := range []string{
		answer,
		kept.ID,
		customerNumber + "@s.whatsapp.net_" + answer,
		"false_" + customerNumber + "@c.us_" + answer,
		lid + "_" + answer,
	} {
		sent, err := g.Client.SendText(t.Context(), id, client.Text{To: customerNumber, Message: "R$ 10", QuoteMessageID: ref})
		if err != nil {
			t.Fatalf("quoting %s: %v", ref, err)
		}
		if got := g.Phones.AwaitMessage(t, customerNumber, sent.MessageID); got.QuotedMessageID != answer {
			t.Errorf("quoting %s: the phone shows the quote of %q", ref, got.QuotedMessageID)
		}
	}
	_, err := g.Client.SendText(t.Context(), id, client.Text{To: customerNumber, Message: "?", QuoteMessageID: "3EB0NOTHING"})
	testkit.Refused(t, err, http.StatusNotFound, "MESSAGE_NOT_FOUND")
}

// What a program calls a message comes back with everything that becomes of it, and changes nothing where it calls it
// nothing.
func TestClientDataComesBack(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	stream, err := g.Client.Events(t.Context(), id, client.EventsParams{After: new(int64(0)), Types: []string{client.TypeMessageSent, client.TypeMessageStatus}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	const atOnce, later, pictures, nobodys = `{"order": 17}`, "order 18", "order 19", "order 20"
	send := func(text client.Text) string {
		t.Helper()
		sent, err := g.Client.SendText(t.Context(), id, text)
		if err != nil {
			t.Fatal(err)
		}
		return sent.MessageID
	}
	data := map[string]string{
		send(client.Text{To: customerNumber, Message: "at once", ClientData: atOnce}):                                 atOnce,
		send(client.Text{To: customerNumber, Message: "later", ClientData: later, Prefer: client.RespondAsync}):       later,
		send(client.Text{To: customerNumber, Message: "it is called nothing"}):                                        "",
		send(client.Text{To: "551133330000", Message: "to nobody", ClientData: nobodys, Prefer: client.RespondAsync}): nobodys,
	}
	shown := client.DataURI("image/png", picture(t))
	album, err := g.Client.SendAlbum(t.Context(), id, client.Album{To: customerNumber, Items: []client.AlbumItem{{Image: shown}, {Image: shown}}, ClientData: pictures})
	if err != nil {
		t.Fatal(err)
	}
	for _, messageID := range append(ids(album), album.MessageID) {
		data[messageID] = pictures
	}
	ended := map[string]bool{}
	for len(ended) < len(data) {
		event, err := stream.Next()
		if err != nil {
			t.Fatal(err)
		}
		var said struct {
			MessageID  string  `json:"messageId"`
			Status     string  `json:"status"`
			ClientData *string `json:"clientData"`
		}
		if err := json.Unmarshal(event.Data, &said); err != nil {
			t.Fatal(err)
		}
		want, ours := data[said.MessageID]
		if !ours || said.ClientData != nil && (want == "" || *said.ClientData != want) || said.ClientData == nil && want != "" {
			t.Errorf("of %q is said %s", want, event.Data)
		}
		if said.Status == "read" || said.Status == "failed" {
			ended[said.MessageID] = true
		}
	}
	for messageID, want := range cases.Sorted(data) {
		if kept := kept(t, g, id, messageID); kept.ClientData != want {
			t.Errorf("%q is kept as %q", want, kept.ClientData)
		}
	}
	waits := leave(t, g, id, client.Text{To: customerNumber, Message: "tomorrow", ClientData: later, SendAt: time.Now().Add(24 * time.Hour)})
	if queued, err := g.Client.GetQueuedMessage(t.Context(), id, waits.ID); err != nil || queued.ClientData != later {
		t.Errorf("in the queue is %+v (%v)", queued, err)
	}
}

// What a person sends from the phone itself belongs to the chat as well.
func TestMessageFromTheOwnPhoneIsKept(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	messageID := g.Phones.SendText(t, shopNumber, customerNumber, "by hand")
	kept := awaitMessage(t, g, id, messageID)
	if !kept.FromMe || kept.Source != gateway.SourceDevice || kept.Chat.JID != gateway.JID(customerNumber+"@"+gateway.PersonalSuffix) {
		t.Errorf("kept %+v", kept)
	}
}

func TestMessagesOfAnotherInstanceDoNotExist(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	one, other := g.Link(t, shopNumber), g.Link(t, otherNumber)
	sent := sendText(t, g, one, "mine")
	_, err := g.Client.SendText(t.Context(), other, client.Text{To: customerNumber, Message: "?", QuoteMessageID: sent.ID})
	testkit.Refused(t, err, http.StatusNotFound, "MESSAGE_NOT_FOUND")
}

func TestPlatformsRefusalsHaveTheirCodes(t *testing.T) {
	t.Parallel()
	for name, c := range cases.Sorted(map[string]struct {
		faults map[string]any
		status int
		code   string
	}{
		"restricted":     {map[string]any{"sendError": 463}, http.StatusTooManyRequests, "RECIPIENT_RESTRICTED"},
		"refused":        {map[string]any{"sendError": 479}, http.StatusBadGateway, "PLATFORM_ERROR"},
		"no acknowledge": {map[string]any{"dropAcks": 1}, http.StatusGatewayTimeout, "PLATFORM_TIMEOUT"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, id := testkit.StartLinked(t, testkit.Options{Platform: whatsapp.Config{SendTimeout: answerWait}})
			sendText(t, g, id, "the chat is not new")
			g.Phones.Faults(t, c.faults)
			_, err := trySend(t, g, id, name)
			testkit.Refused(t, err, c.status, c.code)
			g.Phones.Faults(t, map[string]any{})
			sendText(t, g, id, "well again")
		})
	}
}

// The acknowledgement is lost and the request fails, but the phone has the message and
// says so meanwhile: it did not fail.
func TestAcknowledgedMessageDoesNotFail(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{Platform: whatsapp.Config{SendTimeout: answerWait}})
	g.Phones.Faults(t, map[string]any{"dropAcks": 1})
	_, err := trySend(t, g, id, "perhaps")
	testkit.Refused(t, err, http.StatusGatewayTimeout, "PLATFORM_TIMEOUT")
	shown := g.Phones.Messages(t, customerNumber, "")
	if len(shown) != 1 {
		t.Fatalf("the phone shows %d messages", len(shown))
	}
	stream, err := g.Client.Events(t.Context(), id, client.EventsParams{After: new(int64(0)), Types: []string{"message.status"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	for read := false; !read; {
		event, err := stream.Next()
		if err != nil {
			t.Fatal(err)
		}
		read = strings.Contains(string(event.Data), `"status":"read"`)
		if strings.Contains(string(event.Data), `"status":"failed"`) {
			t.Errorf("it is reported as failed: %s", event.Data)
		}
	}
	if got := find(t, g, id, shown[0].MessageID).Status; got != gateway.MessageRead {
		t.Errorf("its status is %s", got)
	}
}

func TestRepeatWithTheSameIdempotencyKeySendsOnce(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	text := client.Text{To: customerNumber, Message: "once", IdempotencyKey: "order-17"}
	first, err := g.Client.SendText(t.Context(), id, text)
	if err != nil || first.IdempotencyReplayed {
		t.Fatalf("first: %+v (%v)", first, err)
	}
	second, err := g.Client.SendText(t.Context(), id, text)
	if err != nil || !second.IdempotencyReplayed || second.ID != first.ID || second.MessageID != first.MessageID {
		t.Errorf("repeat: %+v (%v), want %+v", second, err, first)
	}
	g.Phones.AwaitMessage(t, customerNumber, first.MessageID)
	if got := len(g.Phones.Messages(t, customerNumber, "")); got != 1 {
		t.Errorf("the phone has %d messages", got)
	}
	text.Message = "another"
	_, err = g.Client.SendText(t.Context(), id, text)
	testkit.Refused(t, err, http.StatusConflict, "IDEMPOTENCY_CONFLICT")

	// Another key of the same account is another caller.
	key, err := g.Partner.CreateAPIKey(t.Context(), client.NewKey{Name: "another"})
	if err != nil {
		t.Fatal(err)
	}
	text.Message = "once"
	other, err := client.New(g.BaseURL, key.Key).SendText(t.Context(), id, text)
	if err != nil || other.IdempotencyReplayed || other.ID == first.ID {
		t.Errorf("another caller: %+v (%v)", other, err)
	}
}

// An answer that has the message says what the message's own look-up says, and a repeat of the request says it, too.
func TestAnswerHasTheMessage(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	quoted, err := g.Client.SendText(t.Context(), id, client.Text{To: customerNumber, Message: "Oi"})
	if err != nil || quoted.Message.ID != "" {
		t.Fatalf("an answer with the message %+v, which nobody asked for; error %v", quoted.Message, err)
	}
	image := client.Image{
		To: customerNumber, Image: client.DataURI("image/png", picture(t)), Caption: "the new one",
		Prefer: client.ReturnRepresentation, IdempotencyKey: "a picture", QuoteMessageID: quoted.ID,
	}
	for _, replayed := range []bool{false, true} {
		sent, err := g.Client.SendImage(t.Context(), id, image)
		if err != nil || sent.IdempotencyReplayed != replayed || sent.Message.ID != sent.ID {
			t.Fatalf("answered %+v, error %v; want the message, and a repeat %t", sent, err, replayed)
		}
		kept, err := g.Client.GetMessage(t.Context(), id, sent.ID)
		if err != nil {
			t.Fatal(err)
		}
		kept.Status = sent.Message.Status // its receipts may have come meanwhile
		if !reflect.DeepEqual(sent.Message, kept) {
			t.Errorf("the answer has %+v, the look-up %+v", sent.Message, kept)
		}
	}
	later, err := g.Client.SendText(t.Context(), id, client.Text{To: customerNumber, Message: "Oi", Prefer: client.ReturnRepresentation + ", " + client.RespondAsync})
	if err != nil || !later.Accepted || later.Message.ID != "" {
		t.Errorf("a message in the queue is answered with %+v, error %v", later, err)
	}
}

func TestRepeatWhileTheFirstStillRuns(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	sendText(t, g, id, "warm")
	g.Phones.Faults(t, map[string]any{"ackDelayMs": 2000})
	text := client.Text{To: customerNumber, Message: "slow", IdempotencyKey: "slow"}
	answered := make(chan error, 1)
	go func() {
		_, err := g.Client.SendText(t.Context(), id, text)
		answered <- err
	}()
	// The first one is under way once the phone has it; its ack is not.
	testkit.Await(t, "the first message on the phone", func() bool {
		return len(g.Phones.Messages(t, customerNumber, "")) == 2
	})
	_, err := g.Client.SendText(t.Context(), id, text)
	testkit.Refused(t, err, http.StatusConflict, "IDEMPOTENCY_CONFLICT")
	if refusal, ok := errors.AsType[*client.Error](err); ok && refusal.RetryAfter == 0 {
		t.Error("no Retry-After")
	}
	if err := <-answered; err != nil {
		t.Error(err)
	}
}

func TestRepeatOfARefusedSendAnswersTheSame(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	g.Phones.Faults(t, map[string]any{"sendError": 463})
	text := client.Text{To: customerNumber, Message: "no", IdempotencyKey: "no"}
	_, err := g.Client.SendText(t.Context(), id, text)
	testkit.Refused(t, err, http.StatusTooManyRequests, "RECIPIENT_RESTRICTED")
	g.Phones.Faults(t, map[string]any{})
	_, err = g.Client.SendText(t.Context(), id, text)
	testkit.Refused(t, err, http.StatusTooManyRequests, "RECIPIENT_RESTRICTED")
	if got := len(g.Phones.Messages(t, customerNumber, "")); got != 0 {
		t.Errorf("the phone has %d messages", got)
	}
}

// A client that does not know what became of its message asks again, and the
// phone has it once.
func TestRepeatOfAnUncertainSendIsSentOnce(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{Platform: whatsapp.Config{SendTimeout: answerWait}})
	sendText(t, g, id, "warm")
	g.Phones.Faults(t, map[string]any{"dropAcks": 1})
	text := client.Text{To: customerNumber, Message: "perhaps", IdempotencyKey: "perhaps"}
	_, err := g.Client.SendText(t.Context(), id, text)
	testkit.Refused(t, err, http.StatusGatewayTimeout, "PLATFORM_TIMEOUT")
	g.Phones.Faults(t, map[string]any{})
	again, err := g.Client.SendText(t.Context(), id, text)
	if err != nil || !again.IdempotencyReplayed {
		t.Fatalf("the repeat was answered %+v (%v)", again, err)
	}
	g.Phones.AwaitMessage(t, customerNumber, sendText(t, g, id, "last").MessageID)
	var shown []string
	for _, message := range g.Phones.Messages(t, customerNumber, "") {
		shown = append(shown, message.Text)
	}
	if !slices.Equal(shown, []string{"warm", "perhaps", "last"}) {
		t.Errorf("the phone shows %q", shown)
	}
	testkit.Await(t, "status read", func() bool { return find(t, g, id, again.ID).Status == gateway.MessageRead })
}

// People are mentioned by any form of their number, and phones find out who is meant.
func TestMentions(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	const third = "5511988880004"
	group := g.Phones.CreateGroup(t, "Team", customerNumber, shopNumber, third)
	lid, thirdLID := g.Phones.Get(t, customerNumber).LID, g.Phones.Get(t, third).LID
	user := func(address string) string { return strings.TrimSuffix(address, "@lid") }
	for name, test := range cases.Sorted(map[string]struct {
		text client.Text
		want string
		who  []string
	}{
		"by number": {
			client.Text{To: group.ID, Message: "@5511988887766, look", Mentions: []string{"+55 11 98888-7766"}},
			"@" + user(lid) + ", look",
			[]string{lid},
		},
		"by numbers that begin alike, one of them twice": {
			client.Text{To: group.ID, Message: "@5511988887766@5511988887766 @55119888877665", Mentions: []string{"11988887766", customerNumber}},
			"@" + user(lid) + "@" + user(lid) + " @55119888877665",
			[]string{lid},
		},
		"by chat IDs, which are used as they are": {
			client.Text{To: group.ID, Message: "@" + user(thirdLID) + " and @5511988887766", Mentions: []string{thirdLID, customerNumber + "@c.us"}},
			"@" + user(thirdLID) + " and @5511988887766",
			[]string{thirdLID, customerNumber + "@s.whatsapp.net"},
		},
		"in a chat of two": {client.Text{To: customerNumber, Message: "ask @" + third, Mentions: []string{third}}, "ask @" + user(thirdLID), []string{thirdLID}},
	}) {
		if _, err := g.Client.CheckNumbers(t.Context(), id, client.CheckNumbers{Numbers: []string{customerNumber, third}}); err != nil { // so that LIDs are known
			t.Fatal(err)
		}
		sent, err := g.Client.SendText(t.Context(), id, test.text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := g.Phones.AwaitMessage(t, customerNumber, sent.MessageID); got.Text != test.want || !slices.Equal(got.Mentions, test.who) || got.Everyone {
			t.Errorf("%s: the phone shows %q with the mentions %v; want %q, %v", name, got.Text, got.Mentions, test.want, test.who)
		}
	}
	all, err := g.Client.SendImage(t.Context(), id, client.Image{
		To: group.ID, Image: client.DataURI("image/png", picture(t)), Caption: "@all @" + third, MentionEveryone: true, Mentions: []string{third},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Phones.AwaitMessage(t, customerNumber, all.MessageID); !got.Everyone || len(got.Mentions) != 1 || got.Caption != "@all @"+user(thirdLID) {
		t.Errorf("the phone shows %+v", got)
	}
	later, err := g.Client.SendText(t.Context(), id, client.Text{To: group.ID, Message: "@" + third + "?", Mentions: []string{third}, Prefer: client.RespondAsync})
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Phones.AwaitMessage(t, customerNumber, later.MessageID); len(got.Mentions) != 1 || got.Text != "@"+user(thirdLID)+"?" {
		t.Errorf("from the queue came %+v", got)
	}

	_, err = g.Client.SendText(t.Context(), id, client.Text{To: customerNumber, Message: "all", MentionEveryone: true})
	testkit.Refused(t, err, http.StatusBadRequest, "VALIDATION_ERROR")
	_, err = g.Client.SendText(t.Context(), id, client.Text{To: customerNumber, Message: "all", MentionEveryone: true, SendAt: time.Now().Add(time.Hour)})
	testkit.Refused(t, err, http.StatusBadRequest, "VALIDATION_ERROR")
	_, err = g.Client.SendText(t.Context(), id, client.Text{To: group.ID, Message: "who?", Mentions: []string{"5511988880000"}})
	testkit.Refused(t, err, http.StatusBadRequest, "RECIPIENT_NOT_REGISTERED")
	_, err = g.Client.SendText(t.Context(), id, client.Text{To: group.ID, Message: "who?", Mentions: []string{third, group.ID, "x"}})
	testkit.Refused(t, err, http.StatusBadRequest, "VALIDATION_ERROR")

	// What others mention is told with both addresses.
	sink := pollVotes(t, g, id)
	received := g.Phones.Send(t, customerNumber, map[string]any{
		"to": group.ID, "type": "text", "text": "@" + shopNumber + " please", "mentions": []string{shopNumber}, "mentionsEveryone": true,
	})
	var message client.MessageReceivedEvent
	sink.AwaitType("message.received", func(d testkit.Delivered) bool {
		return json.Unmarshal(d.Event.Data, &message) == nil && message.MessageID == received
	})
	if !message.MentionsEveryone || len(message.Mentions) != 1 || message.Mentions[0].JID == nil || *message.Mentions[0].JID != shopNumber+"@"+gateway.PersonalSuffix ||
		message.Mentions[0].LID == nil || message.Text == nil || !strings.HasPrefix(*message.Text, "@"+user(*message.Mentions[0].LID)) {
		t.Errorf("the event is %+v", message)
	}
}

// A text shows the page behind its link, if that is asked for; then it has one in events too,
// and still has it when it is forwarded. A phone's own preview is told.
func TestLinkPreviews(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.URL.Path == "/" {
			_, _ = io.WriteString(w, `<title>Loja</title><meta name="description" content="Tudo"><meta property="og:image" content="/missing">`)
		}
	}))
	t.Cleanup(shop.Close)
	g, id := testkit.StartLinked(t, testkit.Options{})
	for _, later := range []bool{false, true} {
		sent, err := g.Client.SendText(t.Context(), id, client.Text{To: customerNumber, Message: "Veja " + shop.URL + "/", LinkPreview: true, Prefer: testkit.Prefer(later)})
		if err != nil {
			t.Fatal(err)
		}
		got := g.Phones.AwaitMessage(t, customerNumber, sent.MessageID)
		if got.Text != "Veja "+shop.URL+"/" || got.Preview == nil || *got.Preview != (content.Preview{URL: shop.URL + "/", Title: "Loja", Description: "Tudo"}) {
			t.Errorf("the phone shows %+v with %+v", got, got.Preview)
		}
		forwarded, err := g.Client.ForwardMessage(t.Context(), id, client.Forward{To: customerNumber, MessageID: sent.MessageID})
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Phones.AwaitMessage(t, customerNumber, forwarded.MessageID); got.Preview == nil || got.Preview.Title != "Loja" {
			t.Errorf("forwarded: %+v", got)
		}
	}
	before := asked.Load()
	for message, preview := range cases.Sorted(map[string]bool{"Veja " + shop.URL: false, "Veja " + shop.URL + "/nothing": true, "Oi": true}) {
		sent, err := g.Client.SendText(t.Context(), id, client.Text{To: customerNumber, Message: message, LinkPreview: preview})
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Phones.AwaitMessage(t, customerNumber, sent.MessageID); got.Text != message || got.Preview != nil {
			t.Errorf("%q: %+v", message, got)
		}
	}
	if now := asked.Load(); now != before+1 {
		t.Errorf("%d pages were fetched, want one", now-before)
	}
	received := g.Phones.Send(t, customerNumber, map[string]any{
		"to": shopNumber, "type": "text", "text": "Vi http://a.example", "preview": map[string]any{"url": "http://a.example", "title": "A\u202e", "description": ""},
	})
	awaitMessage(t, g, id, received)
	message, err := g.Client.GetMessage(t.Context(), id, received)
	if err != nil || message.Preview == nil || message.Preview.URL != "http://a.example" || message.Preview.Title == nil || *message.Preview.Title != "A" || message.Preview.Description != nil {
		t.Errorf("received %+v with %+v (%v)", message, message.Preview, err)
	}
}

// The sandbox has no keys, and those of a demo are no secret: what a browser may
// be made to send is refused on the whole address.
func TestPagesOfTheWebAreKeptAwayFromADemo(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	for _, c := range []struct {
		method, path, host, origin string
		refused                    bool
	}{
		{http.MethodGet, "/sandbox/api/phones", "rebind.evil.example", "", true},
		{http.MethodGet, "/api/instances", "rebind.evil.example", "", true},
		{http.MethodGet, "/docs", "rebind.evil.example", "", true},
		{http.MethodPost, "/sandbox/api/faults/disconnect", "", "https://evil.example", true},
		{http.MethodPost, "/api/partner/instances", "", "https://evil.example", true},
		{http.MethodPost, "/sandbox/api/faults/disconnect", "", "", false},
	} {
		request, err := http.NewRequestWithContext(t.Context(), c.method, g.BaseURL+c.path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		if c.host != "" {
			request.Host = c.host
		}
		if c.origin != "" {
			request.Header.Set("Origin", c.origin)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || (response.StatusCode == http.StatusForbidden) != c.refused {
			t.Errorf("%s %s for %q from %q: %d %s", c.method, c.path, c.host, c.origin, response.StatusCode, body)
		}
	}
}
