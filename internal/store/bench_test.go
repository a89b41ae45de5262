package store_test

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

// BenchmarkSend is what the store does for one sent message: four writes, of which
// three have an event. Many callers share commits, as under load.
func BenchmarkSend(b *testing.B) {
	for name, config := range map[string]func() store.Config{
		"SQLite":     func() store.Config { return store.Config{Path: filepath.Join(b.TempDir(), "recado.db")} },
		"PostgreSQL": func() store.Config { return store.Config{URL: postgres.Start(b)} },
	} {
		b.Run(name, func(b *testing.B) {
			s := open(b, config())
			instance := benchInstance(b, s)
			var n atomic.Int64
			b.ReportAllocs()
			b.SetParallelism(64)
			began := processorTime(b)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					message := benchMessage(instance, n.Add(1))
					if err := s.AcceptMessage(b.Context(), message, nil)(); err != nil {
						b.Error(err)
					}
					update, ids := s.UpdateMessages, []string{message.PlatformID}
					for status := gateway.MessageSent; status <= gateway.MessageRead; status++ {
						if err := update(b.Context(), instance.ID, ids, advance(b, status)); err != nil {
							b.Error(err)
						}
						update = s.UpdateMessagesSoon // the receipts
					}
				}
			})
			b.ReportMetric(float64((processorTime(b)-began).Nanoseconds())/float64(b.N), "cpu-ns/op")
		})
	}
}

// processorTime is how long this process has computed so far.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkRequest is what the store does for every request: look its key and
// its instance up.
func BenchmarkRequest(b *testing.B) {
	s := open(b, store.Config{Path: filepath.Join(b.TempDir(), "recado.db")})
	instance := benchInstance(b, s)
	key := gateway.Key{ID: "key", AccountID: instance.AccountID, Hash: []byte("hash")}
	if err := s.CreateKey(b.Context(), key); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, found, err := s.FindKey(b.Context(), key.Hash); err != nil || !found {
			b.Fatal(err)
		}
		if _, err := s.GetInstance(b.Context(), instance.ID); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReading is what the store does for people who look at an instance with 100,000
// messages: it finds its chats, and one chat that is not there, for which it looks at all
// messages that it may.
func BenchmarkReading(b *testing.B) {
	for name, config := range map[string]func() store.Config{
		"SQLite":     func() store.Config { return store.Config{Path: filepath.Join(b.TempDir(), "recado.db")} },
		"PostgreSQL": func() store.Config { return store.Config{URL: postgres.Start(b)} },
	} {
		s := open(b, config())
		instance := benchInstance(b, s)
		for n := range int64(100) {
			messages := make([]gateway.Message, 1_000)
			for i := range messages {
				messages[i] = benchMessage(instance, n*1_000+int64(i))
				messages[i].Chat.JID = gateway.JID(fmt.Sprintf("%d@s.whatsapp.net", i%300))
			}
			if err := s.AddHistory(b.Context(), instance.ID, messages); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(name+"/chats", func(b *testing.B) {
			for b.Loop() {
				if _, err := s.NewestMessages(b.Context(), instance.ID, gateway.Position{}, 1_000); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/chat", func(b *testing.B) {
			nobody := gateway.Party{JID: "9999@s.whatsapp.net", LID: "9@lid"}
			for b.Loop() {
				if _, _, err := s.NewestOfChat(b.Context(), instance.ID, nobody, gateway.Position{}, 3_000, 30); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// advance moves a message to a status, with its event.
func advance(b *testing.B, status gateway.MessageStatus) func(found []gateway.Message) ([]gateway.Message, []eventlog.Event, error) {
	b.Helper()
	return func(found []gateway.Message) ([]gateway.Message, []eventlog.Event, error) {
		found[0].Status, found[0].StatusAt = status, time.UnixMilli(1_795_000_000_000)
		event, err := eventlog.NewEvent(found[0].InstanceID, found[0].Chat.JID, "", found[0].StatusAt,
			eventlog.WebhookTest{Message: status.String()})
		return found, []eventlog.Event{event}, err
	}
}

func benchInstance(b *testing.B, s *store.Store) gateway.Instance {
	b.Helper()
	account := gateway.Account{ID: "account", Name: "account"}
	if err := s.CreateAccount(b.Context(), account); err != nil {
		b.Fatal(err)
	}
	instance := gateway.Instance{ID: uuid.Must(uuid.NewV7()).String(), AccountID: account.ID, Status: gateway.StatusConnected}
	if err := s.CreateInstance(b.Context(), instance); err != nil {
		b.Fatal(err)
	}
	return instance
}

func benchMessage(instance gateway.Instance, n int64) gateway.Message {
	at := time.UnixMilli(1_795_000_000_000 + n)
	return gateway.Message{
		ID: uuid.Must(uuid.NewV7()).String(), InstanceID: instance.ID, PlatformID: fmt.Sprintf("3EB0%018X", n),
		Chat:   gateway.Party{JID: "5511999990000@s.whatsapp.net"},
		Sender: gateway.Party{JID: "5511888880000@s.whatsapp.net"},
		FromMe: true, Source: gateway.SourceAPI, Type: gateway.TypeText, Text: "Your order is on its way.",
		Payload: make([]byte, 200), CreatedAt: at, SentAt: at,
	}
}
