package history

import (
	"slices"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// Whatever the phone answers, only what was asked for is taken.
func TestTake(t *testing.T) {
	t.Parallel()
	chat := gateway.Party{JID: "1@s.whatsapp.net", LID: "11@lid"}
	now := time.Unix(1_800_000_000, 0)
	message := func(id string, change func(*gateway.Message)) gateway.Message {
		m := gateway.Message{PlatformID: id, Chat: gateway.Party{LID: chat.LID}, SentAt: now.Add(-time.Hour)}
		if change != nil {
			change(&m)
		}
		return m
	}
	request := &Request{before: gateway.Message{PlatformID: "KNOWN", Chat: chat, SentAt: now, CreatedAt: now}, count: 3, taken: map[string]struct{}{}}
	var taken []string
	var placed time.Time // the last one, which is of the second in which the known one was sent
	for _, part := range [][]gateway.Message{
		{
			message("A", nil), message("A", nil), message("KNOWN", nil),
			message("foreign", func(m *gateway.Message) { m.Chat = gateway.Party{LID: "22@lid"} }),
			message("nowhere", func(m *gateway.Message) { m.Chat = gateway.Party{} }),
			message("newer", func(m *gateway.Message) { m.SentAt = now.Add(time.Second) }),
			message("no time", func(m *gateway.Message) { m.SentAt = time.Time{} }),
		},
		{message("B", func(m *gateway.Message) { m.Chat = gateway.Party{JID: chat.JID} }), message("A", nil)},
		{message("C", func(m *gateway.Message) { m.SentAt = now }), message("too many", nil)},
		{message("far too many", nil)},
	} {
		for _, m := range request.Take(part) {
			taken, placed = append(taken, m.PlatformID), m.CreatedAt
		}
	}
	if !placed.Before(now) {
		t.Errorf("a message of the same second is placed at %s", placed)
	}
	if want := []string{"A", "B", "C"}; !slices.Equal(taken, want) {
		t.Errorf("taken are %v, want %v", taken, want)
	}
}
