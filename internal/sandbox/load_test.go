package sandbox_test

import (
	"fmt"
	"net/http"
	"testing"

	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox"
)

func TestLoadPhonesAnswerWithoutReading(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(cfg *sandbox.Config) { cfg.Load = true })
	one, two := w.newClient().link(gateway), w.newClient().link(partner)
	id := one.text(friend, "for nobody to read")
	one.receipt(id, types.ReceiptTypeDelivered)
	one.receipt(id, types.ReceiptTypeRead)
	list := w.messages(friend)
	if len(list) != 1 || list[0].MessageID != id || list[0].Text != "" || list[0].MediaSize == nil || *list[0].MediaSize == 0 {
		t.Errorf("shown: %+v", list)
	}
	for _, id := range []string{one.text(friend, "a"), one.text(friend, "b"), one.text(other, "c")} {
		one.receipt(id, types.ReceiptTypeRead)
	}
	one.text(partner, "between clients")
	two.got("between clients")
	w.send(friend, gateway, "a phone writes")
	one.got("a phone writes")
	if count, err := one.internals().GetServerPreKeyCount(t.Context()); err != nil || count > 50 {
		t.Errorf("the client has uploaded %d keys, %v", count, err)
	}
	w.do(http.MethodPut, "/phones/"+other, map[string]bool{"online": false}, nil)
	one.text(other, "to nobody")
	one.text(friend, "after it")
	if list := w.messages(other); len(list) != 1 {
		t.Errorf("an offline phone shows %+v", list)
	}
}

// BenchmarkLoadSend measures a client that sends and a sandbox that answers, in
// one process.
func BenchmarkLoadSend(b *testing.B) {
	for _, load := range []bool{true, false} {
		b.Run(fmt.Sprintf("load=%v", load), func(b *testing.B) {
			w := newWorld(b, func(cfg *sandbox.Config) { cfg.Load = load })
			c := w.newClient().link(gateway)
			c.text(friend, "first")
			w.send(friend, gateway, "session")
			c.got("session")
			b.ResetTimer()
			for range b.N {
				c.text(friend, "again")
			}
			b.StopTimer()
			c.forget()
		})
	}
}

func TestGroupsInALoadTest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(cfg *sandbox.Config) { cfg.Load = true })
	c, second := w.newClient().link(gateway), w.newClient().link(partner)
	info, jid := w.makeGroup(friend, gateway, partner)
	id := c.say(jid, textMessage("under load"))
	second.got("under load")
	if r := c.receipt(id, types.ReceiptTypeRead); r.Chat != jid || r.Sender.Server != types.HiddenUserServer {
		t.Errorf("the receipt is %+v", r)
	}
	w.message(friend, id, inChat(info.ID))
	w.send(friend, info.ID, "of a phone")
	c.got("of a phone")
}
