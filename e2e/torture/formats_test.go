package torture_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/recado-project/recado/internal/testkit/sink"
)

// said is what programs of other tools read in a delivery in their language, as far as it is judged.
type said struct {
	account string // the number of the instance
	message string // its ID
	by      string // the ID of the event
	with    []string
}

// chat is how the ledgers call the chat of a message.
func (s said) chat(w *world) string {
	for _, shop := range w.shops {
		if shop.account == s.account && len(s.with) > 0 {
			return shop.id + "/" + s.with[0] + "@s.whatsapp.net"
		}
	}
	return "unknown"
}

// language reads deliveries: received and sent return what one says of a message that came in, or went out; ok is false for every
// other one.
type language struct {
	received, sent func(sink.Delivered) (said, bool)
}

// languages are those of the formats, by their names.
func languages() map[string]language {
	return map[string]language{
		"evolution": {
			received: func(d sink.Delivered) (said, bool) { return inEvolution(d, "messages.upsert") },
			sent:     func(d sink.Delivered) (said, bool) { return inEvolution(d, "send.message") },
		},
		"cloud": {received: receivedInCloud, sent: sentInCloud},
	}
}

// inEvolution reads an event that has a message, as n8n's flows do.
func inEvolution(d sink.Delivered, event string) (said, bool) {
	var body struct {
		Event  string `json:"event"`
		Sender string `json:"sender"`
		Data   struct {
			Key struct {
				ID      string `json:"id"`
				Chat    string `json:"remoteJid"`
				ChatAlt string `json:"remoteJidAlt"`
			} `json:"key"`
		} `json:"data"`
	}
	if json.Unmarshal(d.Body, &body) != nil || body.Event != event {
		return said{}, false
	}
	s := said{account: bare(body.Sender), message: body.Data.Key.ID, by: d.Header.Get("Webhook-Id")}
	for _, address := range []string{body.Data.Key.Chat, body.Data.Key.ChatAlt} {
		if address != "" {
			s.with = append(s.with, bare(address))
		}
	}
	return s, true
}

// inCloud reads the first thing that a body of the Cloud API has, as Chatwoot does.
func inCloud(d sink.Delivered) (account string, value cloudValue) {
	var body struct {
		Entry []struct {
			Changes []struct {
				Value cloudValue `json:"value"`
			} `json:"changes"`
		} `json:"entry"`
	}
	if json.Unmarshal(d.Body, &body) != nil || len(body.Entry) == 0 || len(body.Entry[0].Changes) == 0 {
		return "", cloudValue{}
	}
	value = body.Entry[0].Changes[0].Value
	return value.Metadata.PhoneNumberID, value
}

type cloudValue struct {
	Metadata struct {
		PhoneNumberID string `json:"phone_number_id"`
	} `json:"metadata"`
	Contacts []struct {
		WaID   string `json:"wa_id"`
		UserID string `json:"user_id"`
	} `json:"contacts"`
	Messages []struct {
		ID string `json:"id"`
	} `json:"messages"`
	Statuses []struct {
		ID        string `json:"id"`
		Status    string `json:"status"`
		Recipient string `json:"recipient_id"`
	} `json:"statuses"`
}

func receivedInCloud(d sink.Delivered) (said, bool) {
	account, value := inCloud(d)
	if len(value.Messages) == 0 || len(value.Contacts) == 0 {
		return said{}, false
	}
	s := said{account: account, message: value.Messages[0].ID, by: d.Header.Get("Webhook-Id")}
	for _, address := range []string{value.Contacts[0].WaID, value.Contacts[0].UserID} {
		if address != "" {
			s.with = append(s.with, address)
		}
	}
	return s, true
}

func sentInCloud(d sink.Delivered) (said, bool) {
	account, value := inCloud(d)
	if len(value.Statuses) == 0 || value.Statuses[0].Status != "sent" {
		return said{}, false
	}
	status := value.Statuses[0]
	return said{account: account, message: status.ID, by: d.Header.Get("Webhook-Id"), with: []string{status.Recipient}}, true
}

// bare is the number, or the digits of the LID, that an address begins with.
func bare(address string) string {
	for n, digit := range address {
		if digit < '0' || digit > '9' {
			return address[:n]
		}
	}
	return address
}

// spoken returns what a sink was told in a language, by chat.
func (w *world) spoken(at *sink.Sink, read func(sink.Delivered) (said, bool)) map[string][]arrival {
	chats := map[string][]arrival{}
	for _, d := range at.Delivered() {
		if s, ok := read(d); ok {
			chat := s.chat(w)
			chats[chat] = append(chats[chat], arrival{s.message, s.by})
		}
	}
	return chats
}

// People whose messages name them by number at one time and without it at another stay one person each, with one conversation, for
// programs that know them by any of the addresses that the languages of other tools give them; and a message is told once.
func TestPeopleStayOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "", 1)
	write := func(hidden func(n int) bool, what string) {
		t.Helper()
		var writing errgroup.Group
		writing.SetLimit(8)
		for n := range changers {
			writing.Go(func() error {
				number := fmt.Sprintf("5511977%06d", n*10+5) // the last digits of some numbers have a meaning in the sandbox
				w.phones.Update(t, number, map[string]any{"hideNumber": hidden(n)})
				w.phones.SendText(t, number, w.shops[0].number, fmt.Sprintf("%s %s", number, what))
				return nil
			})
		}
		_ = writing.Wait() // what fails ends the test
	}
	write(func(n int) bool { return n%2 == 0 }, "one")
	w.awaitEvents(w.shops[0].id, changers)
	w.restart()
	write(func(n int) bool { return n%2 != 0 }, "two")
	for name, language := range languages() {
		taken := w.formats[name].Await("every message in the language "+name, func(taken []sink.Delivered) bool {
			return len(conversations(taken, language.received).messages) >= 2*changers
		})
		told := conversations(taken, language.received)
		if told.count() != changers || len(told.messages) != 2*changers {
			t.Errorf("%s: %d people are %d conversations with %d messages", name, changers, told.count(), len(told.messages))
		}
		for message, by := range told.messages {
			if len(by) != 1 {
				t.Errorf("%s: message %s is told by %d events", name, message, len(by))
			}
		}
	}
}

// conversing is what a program makes of messages: an address leads to the conversation in which somebody has used it before.
type conversing struct {
	parent   map[string]string
	messages map[string]map[string]bool // IDs of the events by that of the message
}

func conversations(taken []sink.Delivered, read func(sink.Delivered) (said, bool)) conversing {
	c := conversing{parent: map[string]string{}, messages: map[string]map[string]bool{}}
	for _, d := range taken {
		s, ok := read(d)
		if !ok || d.Status >= http.StatusMultipleChoices {
			continue
		}
		if c.messages[s.message] == nil {
			c.messages[s.message] = map[string]bool{}
		}
		c.messages[s.message][s.by] = true
		for _, address := range s.with {
			c.parent[c.of(address)] = c.of(s.with[0])
		}
	}
	return c
}

// of returns what stands for the conversation of an address.
func (c conversing) of(address string) string {
	for c.parent[address] != "" && c.parent[address] != address {
		address = c.parent[address]
	}
	return address
}

func (c conversing) count() int {
	all := map[string]bool{}
	for address := range c.parent {
		all[c.of(address)] = true
	}
	return len(all)
}
