package hostile_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/leak"
)

func TestMain(m *testing.M) {
	testkit.Tune()
	leak.Check(m)
}

// The phones of the tests. A number with an even last digit exists with thirteen digits.
const (
	shopNumber     = testkit.LinkedNumber
	customerNumber = "5511988887766"
	// stranger sends the hostile messages to the shop.
	stranger = "5511977770666"
	// adminNumber administers the groups; the shop and the stranger are members.
	adminNumber = "5511966660100"
)

// besieged is an instance that strangers write to, with a stream of its events.
type besieged struct {
	*testkit.Gateway

	id     string
	stream *client.EventStream
	said   int
}

// besiege links an instance on the database of url, or on SQLite.
func besiege(tb testing.TB, url string) *besieged {
	tb.Helper()
	b := &besieged{}
	b.Gateway, b.id = testkit.StartLinked(tb, testkit.Options{DatabaseURL: url})
	ctx, cancel := context.WithCancel(context.Background())
	tb.Cleanup(cancel)
	stream, err := b.Client.Events(ctx, b.id, client.EventsParams{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = stream.Close() })
	b.stream = stream
	return b
}

// unharmed fails the test unless the next message arrives, the instance has stayed
// connected, and a send works. It returns the events since the last call.
func (b *besieged) unharmed(tb testing.TB) (events []client.Event) {
	tb.Helper()
	b.said++
	last := fmt.Sprintf("are you still there? %d", b.said)
	b.Phones.SendText(tb, customerNumber, shopNumber, last)
	alarm := time.AfterFunc(90*time.Second, func() { _ = b.stream.Close() })
	defer alarm.Stop()
	for {
		event, err := b.stream.Next()
		if err != nil {
			tb.Fatalf("the next message is not reported: %v", err)
		}
		events = append(events, event)
		if event.Type == "instance.status" {
			tb.Errorf("the instance did not stay connected: %s", event.Data)
		}
		if event.Type == "message.received" && strings.Contains(string(event.Data), last) {
			break
		}
	}
	b.AwaitStatus(tb, b.id, gateway.StatusConnected)
	if _, err := b.Client.SendText(tb.Context(), b.id, client.Text{To: customerNumber, Message: "yes"}); err != nil {
		tb.Errorf("a send afterwards failed: %v", err)
	}
	return events
}

func mustMarshal(tb testing.TB, message *waE2E.Message) []byte {
	tb.Helper()
	payload, err := proto.MarshalOptions{AllowPartial: true}.Marshal(message)
	if err != nil {
		tb.Fatal(err)
	}
	return payload
}
