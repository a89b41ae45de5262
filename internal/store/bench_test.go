package store_test

import (
	"context"
	"errors"
	"flag"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/database"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

// BenchmarkSend is what the store does for one sent message: four writes, of which
// three have an event. Many callers share commits, as under load.
func BenchmarkSend(b *testing.B) {
	for name, config := range cases.Sorted(map[string]func() store.Config{
		"SQLite":     func() store.Config { return store.Config{Path: filepath.Join(b.TempDir(), "recado.db")} },
		"PostgreSQL": func() store.Config { return store.Config{URL: postgres.Start(b)} },
	}) {
		b.Run(name, func(b *testing.B) {
			s := open(b, config())
			instance := benchInstance(b, s)
			var n atomic.Int64
			b.ReportAllocs()
			b.SetParallelism(64)
			began := processorTime(b)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					message := database.Message(instance.ID, n.Add(1))
					message.Chat.JID = database.Chat(0)
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

// messagesRead is how many messages there are to read. The figures in docs/performance.md
// are for a million.
//
//nolint:gochecknoglobals // a flag
var messagesRead = flag.Int("messages", 100_000, "how many messages BenchmarkReading reads among")

// BenchmarkReading is what people and programs ask of the messages of one instance. It reports
// the median and the slowest of a hundred besides the mean. A send is measured alone, and
// while others read fifty times a second.
func BenchmarkReading(b *testing.B) {
	for name, config := range cases.Sorted(map[string]func() store.Config{
		"SQLite":     func() store.Config { return store.Config{Path: filepath.Join(b.TempDir(), "recado.db")} },
		"PostgreSQL": func() store.Config { return store.Config{URL: postgres.Start(b)} },
	}) {
		s := open(b, config())
		instance := benchInstance(b, s)
		database.Fill(b, s, instance.ID, *messagesRead)
		var chats [2]gateway.Chat
		for n := range chats {
			chat, found, err := s.Chats.FindChat(b.Context(), instance.ID, gateway.Party{JID: database.Chat(int64(n))})
			if err != nil || !found {
				b.Fatal(found, err)
			}
			chats[n] = chat
		}
		large, usual := chats[0], chats[1]
		middle, err := s.Chats.ListMessages(b.Context(), instance.ID, gateway.MessageFilter{ChatID: large.ID}, gateway.PageRequest{Page: 50, Limit: 100})
		if err != nil {
			b.Fatal(err)
		}
		list := func(chat gateway.Chat, filter gateway.MessageFilter) func() error {
			return func() error {
				filter.ChatID = chat.ID
				page, err := s.Chats.ListMessages(b.Context(), instance.ID, filter, gateway.PageRequest{Page: 1, Limit: 100})
				if err == nil && len(page.Items) == 0 {
					err = errors.New("nothing was found")
				}
				return err
			}
		}
		listChats := func(filter gateway.ChatFilter) func() error {
			return func() error {
				page, err := s.Chats.ListChats(b.Context(), instance.ID, filter, gateway.PageRequest{Page: 1, Limit: 100})
				if err == nil && len(page.Items) == 0 {
					err = errors.New("nothing was found")
				}
				return err
			}
		}
		reads := []struct {
			name string
			do   func() error
		}{
			{"message", func() error {
				_, err := s.FindMessages(b.Context(), instance.ID, middle.Items[0].PlatformID)
				return err
			}},
			{"chats", listChats(gateway.ChatFilter{})},
			{"chats unread", listChats(gateway.ChatFilter{Unread: new(true)})},
			{"chats by name", listChats(gateway.ChatFilter{Search: "person 77"})},
			{"chat", list(usual, gateway.MessageFilter{})},
			{"chat types", list(usual, gateway.MessageFilter{Types: []gateway.MessageType{gateway.TypeImage}})},
			{"chat search", list(usual, gateway.MessageFilter{Search: "pedido 10"})},
			{"large chat", list(large, gateway.MessageFilter{})},
			{"large chat page 900", func() error {
				deep := gateway.PageRequest{Page: *messagesRead / 10 / 100 * 9 / 10, Limit: 100}
				page, err := s.Chats.ListMessages(b.Context(), instance.ID, gateway.MessageFilter{ChatID: large.ID}, deep)
				if err == nil && len(page.Items) == 0 {
					err = errors.New("nothing was found")
				}
				return err
			}},
			{"large chat before", list(large, gateway.MessageFilter{Before: middle.Items[0].Position()})},
			{"large chat after", list(large, gateway.MessageFilter{After: middle.Items[0].Position(), OldestFirst: true})},
			{"all search rare", func() error {
				page, err := s.Chats.ListMessages(b.Context(), instance.ID, gateway.MessageFilter{Search: "nobody says this"}, gateway.PageRequest{Page: 1, Limit: 20})
				if err == nil && page.Total > 0 {
					err = errors.New("something was found")
				}
				return err
			}},
			{"all search common", list(gateway.Chat{}, gateway.MessageFilter{Search: "pedido"})},
			{"all", list(gateway.Chat{}, gateway.MessageFilter{})},
			{"large chat search rare", list(large, gateway.MessageFilter{Search: "1000"})},
			{"large chat search", list(large, gateway.MessageFilter{Search: "pedido 10"})},
			{"large chat search common", list(large, gateway.MessageFilter{Search: "pedido"})},
		}
		for _, read := range reads {
			b.Run(name+"/"+read.name, func(b *testing.B) { reportEach(b, read.do) })
		}
		sent := int64(1 << 40)
		send := func() error {
			sent++
			message := database.Message(instance.ID, sent)
			return s.AcceptMessage(b.Context(), message, nil)()
		}
		b.Run(name+"/send alone", func(b *testing.B) { reportEach(b, send) })
		b.Run(name+"/send while others read", func(b *testing.B) {
			ctx, stop := context.WithCancel(b.Context())
			var readers sync.WaitGroup
			reads := reads[:len(reads)-2] // without those that take a processor for long
			for n := range 2 {
				readers.Go(func() {
					ticker := time.NewTicker(40 * time.Millisecond)
					defer ticker.Stop()
					for turn := n; ; turn++ {
						select {
						case <-ctx.Done():
							return
						case <-ticker.C:
							if err := reads[turn%len(reads)].do(); err != nil {
								b.Error(err)
							}
						}
					}
				})
			}
			reportEach(b, send)
			stop()
			readers.Wait()
		})
	}
}

// reportEach measures each of the calls.
func reportEach(b *testing.B, do func() error) {
	b.Helper()
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		if err := do(); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
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
