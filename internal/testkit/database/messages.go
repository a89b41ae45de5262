// Messages to fill a store with, for benchmarks of reading them.

package database

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store"
)

// Chats is how many chats the messages are in. The first has a tenth of them besides its own.
const Chats = 2_000

// Chat is the chat of the message with a number.
func Chat(n int64) gateway.JID {
	if n%10 == 0 {
		n = 0
	}
	return gateway.JID(fmt.Sprintf("5511%09d@s.whatsapp.net", n%Chats))
}

// Message is a message with a number, in its chat.
func Message(instanceID string, n int64) gateway.Message {
	at := time.UnixMilli(1_795_000_000_000 + n)
	return gateway.Message{
		ID: uuid.Must(uuid.NewV7()).String(), InstanceID: instanceID, PlatformID: fmt.Sprintf("3EB0%018X", n),
		Chat:   gateway.Party{JID: Chat(n)},
		Sender: gateway.Party{JID: "5511888880000@s.whatsapp.net"},
		FromMe: true, Source: gateway.SourceAPI, Type: gateway.TypeText, Text: "Your order is on its way.",
		Payload: make([]byte, 200), CreatedAt: at, SentAt: at,
	}
}

// Fill adds so many messages, and an unread one to each chat, and puts them into the index of words.
func Fill(tb testing.TB, s *store.Store, instanceID string, count int) {
	tb.Helper()
	words := strings.Fields("olá bom dia pedido entrega amanhã hoje pagamento boleto nota fiscal obrigado endereço rua número chegou atrasado cancelar troca produto")
	const slice = 1_000
	for first := 0; first < count; first += slice {
		messages := make([]gateway.Message, min(slice, count-first))
		for i := range messages {
			n := int64(first + i)
			message := Message(instanceID, n)
			message.Sender.Name, message.FromMe = fmt.Sprint("Person ", n%Chats), n%3 == 0
			message.Status, message.StatusAt = gateway.MessageRead, message.SentAt
			message.Text = fmt.Sprintf("%s %s %s %d", words[n%7], words[n%11], words[n/3%20], n%5000)
			if n%9 == 0 {
				message.Type = gateway.TypeImage
			}
			messages[i] = message
		}
		if err := s.AddHistory(tb.Context(), instanceID, messages); err != nil {
			tb.Fatal(err)
		}
	}
	for n := range int64(Chats) { // what makes them unread
		message := Message(instanceID, int64(count)+n)
		message.Chat.JID, message.FromMe, message.Source, message.WireKey = Chat(n), false, gateway.SourcePeer, message.ID
		message.Text = "pedido 1000"
		if _, err := s.AddMessage(tb.Context(), message); err != nil {
			tb.Fatal(err)
		}
	}
	if err := s.Chats.CatchUp(tb.Context()); err != nil {
		tb.Fatal(err)
	}
}
