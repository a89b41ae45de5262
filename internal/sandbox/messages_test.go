package sandbox_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// The numbers of these tests. gateway and partner end with an even digit, so their
// accounts have thirteen digits.
const (
	gateway = "5511900000018"
	partner = "5511900000034"
	friend  = "4915100000014"
	other   = "4915100000027"
)

func anyMessage(content.Shown) bool { return true }

func hasStatus(status string) func(content.Shown) bool {
	return func(m content.Shown) bool { return m.Status == status }
}

func TestTextReachesThePhoneAndIsRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	id := c.text(friend, "hello")
	m := w.message(friend, id, hasStatus("read"))
	if m.Text != "hello" || m.Type != "text" || m.FromMe || m.From != gateway+"@s.whatsapp.net" || m.Chat != m.From {
		t.Errorf("shown as %+v", m)
	}
	c.receipt(id, types.ReceiptTypeDelivered)
	if r := c.receipt(id, types.ReceiptTypeRead); r.Sender.Server != types.HiddenUserServer {
		t.Errorf("the message went to a LID, its receipt comes from %s", r.Sender)
	}
	own := w.message(gateway, id, hasStatus("read"))
	if !own.FromMe || own.Chat != friend+"@s.whatsapp.net" || own.Text != "hello" {
		t.Errorf("own phone shows %+v", own)
	}
}

func TestTextOfAPhoneReachesTheClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	for _, text := range []string{"one", "two", "three"} {
		id := w.send(friend, gateway, text)
		m := c.got(text)
		if m.Info.ID != id || m.Info.SenderAlt.User != friend || m.Info.IsFromMe || m.Info.PushName == "" {
			t.Errorf("got %+v", m.Info)
		}
		w.message(friend, id, func(m content.Shown) bool { return m.Status == "delivered" && m.FromMe })
		w.message(gateway, id, func(m content.Shown) bool { return !m.FromMe && m.Text == text })
	}
}

// A client that decrypts and encrypts at the same time may use a key twice and lose
// one that it needs. Both sides ask again, so that no message is lost, but their
// order may change.
func TestManyTextsInBothDirectionsAllArrive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	const count = 40
	for i := range count {
		w.send(friend, gateway, fmt.Sprint("in ", i))
		c.text(friend, fmt.Sprint("out ", i))
	}
	for i := range count {
		c.got(fmt.Sprint("in ", i))
	}
	w.until("the phone shows all", func() bool { return len(w.messages(friend)) == 2*count },
		func() any { return texts(w.messages(friend)) })
}

func TestNumberThatEndsIn0000IsNotRegistered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	found, err := c.IsOnWhatsApp(context.Background(), []string{"+4915100000000", "+" + friend})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 2 || found[0].IsIn || !found[1].IsIn {
		t.Errorf("found %+v", found)
	}
	if _, err := c.tryText("4915100000000", "nobody"); err == nil {
		t.Error("a message to nobody was accepted")
	}
}

// People write numbers as they dial them. No account has one of these numbers.
func TestNumbersThatCannotBeAreNotRegistered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	wrong := []string{"+01188887766", "+011988887766", "+88887766", "+1188887766", "+11988887766"}
	answers, err := c.IsOnWhatsApp(context.Background(), append(wrong, "+"+friend))
	if err != nil {
		t.Fatal(err)
	}
	for _, answer := range answers {
		if answer.IsIn != (answer.Query == "+"+friend) {
			t.Errorf("%s is registered: %t", answer.Query, answer.IsIn)
		}
	}
	var phones struct{ Data []account.Phone }
	w.do(http.MethodGet, "/phones", nil, &phones)
	if len(phones.Data) != 2 {
		t.Errorf("there are now the phones %+v", phones.Data)
	}
}

func TestNumberThatEndsIn0001AnswersWithTheSameText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	c.text("4915100000001", "say it")
	if m := c.got("say it"); m.Info.IsFromMe || m.Info.SenderAlt.User != "4915100000001" {
		t.Errorf("got %+v", m.Info)
	}
}

func TestNumberThatEndsIn0002ReceivesNothingUntilItIsOnline(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	id := c.text("4915100000002", "later")
	meanwhile := c.text(friend, "meanwhile")
	c.receipt(meanwhile, types.ReceiptTypeRead)
	if list := w.messages("4915100000002"); len(list) != 0 {
		t.Errorf("an offline phone shows %+v", list)
	}
	w.message(gateway, id, hasStatus("sent"))
	w.do(http.MethodPut, "/phones/4915100000002", map[string]bool{"online": true}, nil)
	c.receipt(id, types.ReceiptTypeRead)
}

func TestNumberThatEndsIn0003NeverReads(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	id := c.text("4915100000003", "unread")
	later := c.text(friend, "read")
	c.receipt(id, types.ReceiptTypeDelivered)
	c.receipt(later, types.ReceiptTypeRead)
	w.message("4915100000003", id, hasStatus("delivered"))
}

func TestBrazilianNumbersAreFoundUnderBothForms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	for asked, exists := range cases.Sorted(map[string]string{
		"551133330014":  "5511933330014",
		"5511933330014": "5511933330014",
		"551133330015":  "551133330015",
		"5511933330015": "551133330015",
	}) {
		found, err := c.IsOnWhatsApp(context.Background(), []string{"+" + asked})
		if err != nil {
			t.Fatal(err)
		}
		if len(found) != 1 || !found[0].IsIn || found[0].PhoneNumber.User != exists || found[0].Query != "+"+asked {
			t.Errorf("%s: found %+v", asked, found)
		}
		var phone account.Phone
		w.do(http.MethodGet, "/phones/"+asked, nil, &phone)
		if phone.Number != exists {
			t.Errorf("%s is the phone %s", asked, phone.Number)
		}
	}
	id := c.text("551133330014", "by the other form")
	w.message("5511933330014", id, anyMessage)
}

func TestTwoClientsTalkToEachOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, two := w.newClient().link(gateway), w.newClient().link(partner)
	id := one.text(partner, "to two")
	m := two.got("to two")
	if m.Info.SenderAlt.User != gateway || m.Info.ID != id {
		t.Errorf("two got %+v", m.Info)
	}
	one.receipt(id, types.ReceiptTypeDelivered)
	if err := two.MarkRead(context.Background(), []types.MessageID{id}, time.Now(), m.Info.Chat, m.Info.Sender); err != nil {
		t.Fatal(err)
	}
	one.receipt(id, types.ReceiptTypeRead)
	w.message(partner, id, hasStatus("read"))
	two.text(gateway, "to one")
	one.got("to one")
	two.text(gateway, "again")
	one.got("again")
}

func TestOwnDevicesGetCopies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, two := w.newClient().link(gateway), w.newClient().link(gateway)
	id := one.text(friend, "from one")
	m := two.got("from one")
	if !m.Info.IsFromMe || m.Info.RecipientAlt.User != friend || m.Info.Chat.Server != types.HiddenUserServer || m.Info.ID != id {
		t.Errorf("two got %+v", m.Info)
	}
	two.text(friend, "from two")
	one.got("from two")
	w.send(friend, gateway, "to both")
	one.got("to both")
	two.got("to both")
	sent := w.send(gateway, friend, "from the phone")
	for _, c := range []*client{one, two} {
		if m := c.got("from the phone"); !m.Info.IsFromMe || m.Info.ID != sent {
			t.Errorf("got %+v", m.Info)
		}
		c.receipt(sent, types.ReceiptTypeRead)
	}
	w.message(friend, sent, hasStatus("read"))
}

func TestPhonesTalkToEachOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.send(friend, other, "hi")
	w.message(other, id, hasStatus("read"))
	w.message(friend, id, hasStatus("read"))
}

func TestReadByTheClientIsSeenByThePhone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	id := w.send(friend, gateway, "read me")
	m := c.got("read me")
	w.message(friend, id, hasStatus("delivered"))
	if err := c.MarkRead(context.Background(), []types.MessageID{id}, time.Now(), m.Info.Chat, m.Info.Sender); err != nil {
		t.Fatal(err)
	}
	w.message(friend, id, hasStatus("read"))
	w.message(gateway, id, hasStatus("read"))
	w.activity(friend, func(a account.Activity) bool {
		return a.Type == "receipt" && a.Value == "read" && a.From == gateway+"@s.whatsapp.net"
	})
}

func TestPersonReadsAndPlays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	id := c.text("4915100000003", "for a person")
	w.message("4915100000003", id, hasStatus("delivered"))
	w.do(http.MethodPost, chatPath("4915100000003", id, "read"), nil, nil)
	c.receipt(id, types.ReceiptTypeRead)
	w.do(http.MethodPost, chatPath("4915100000003", id, "played"), nil, nil)
	c.receipt(id, types.ReceiptTypePlayed)
	w.message("4915100000003", id, hasStatus("played"))
}

func TestReplyQuotesTheMessage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	id := c.text(friend, "question")
	w.message(friend, id, anyMessage)
	var answer struct{ MessageID string }
	w.do(http.MethodPost, "/phones/"+friend+"/messages", map[string]string{
		"to": gateway, "type": "text", "text": "answer", "quoteMessageId": id,
	}, &answer)
	m := expect(c, func(m *events.Message) bool { return m.Info.ID == answer.MessageID })
	if m.Message.GetExtendedTextMessage().GetContextInfo().GetStanzaID() != id {
		t.Errorf("got %+v", m.Message)
	}
	if shown := w.message(friend, answer.MessageID, anyMessage); shown.QuotedMessageID != id || shown.Text != "answer" {
		t.Errorf("shown as %+v", shown)
	}
}

// texts returns the texts of messages.
func texts(list []content.Shown) []string {
	var said []string
	for _, m := range list {
		said = append(said, m.Text)
	}
	return said
}

func TestManyTextsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	const count = 60
	for i := range count {
		c.text(friend, fmt.Sprint("out ", i))
	}
	w.until("the phone shows all", func() bool { return len(w.messages(friend)) == count },
		func() any { return texts(w.messages(friend)) })
	for i, text := range texts(w.messages(friend)) {
		if text != fmt.Sprint("out ", i) {
			t.Fatalf("in place %d stands %q", i, text)
		}
	}
}
