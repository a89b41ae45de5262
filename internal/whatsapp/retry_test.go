package whatsapp_test

import (
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/sandbox/profile"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/whatsapp"
)

// A recipient who can't decrypt a message asks for it again. It is served from
// what the gateway keeps, when whatsmeow has forgotten all: after a restart.
func TestRetryIsServedAfterARestart(t *testing.T) {
	t.Parallel()
	const awayNumber = "5511988880002" // fetches its messages on command
	for name, byLID := range cases.Sorted(map[string]bool{"kept by number": false, "kept by LID": true}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, whatsapp.Config{})
			session, _, device := w.link(t)
			payload, err := w.connector.Encoder.Encode(gateway.Content{Type: gateway.TypeText, Text: "Oi"})
			if err != nil {
				t.Fatal(err)
			}
			id := w.connector.Encoder.NewMessageID()
			if _, err := session.Messages().Send(t.Context(), gateway.Outgoing{
				PlatformID: id, Chat: gateway.JID(awayNumber + "@" + gateway.PersonalSuffix), Payload: payload,
			}); err != nil {
				t.Fatal(err)
			}
			w.awaitAnswers(t, session)
			session.Close()
			if err := w.box.Phones.LoseKeys(t.Context(), awayNumber); err != nil {
				t.Fatal(err)
			}

			e := newRecorder()
			chat := gateway.JID(awayNumber + "@" + gateway.PersonalSuffix)
			if byLID {
				chat = w.lidOf(t, awayNumber)
			}
			e.sent[string(chat)+"/"+id] = payload
			again, err := w.connector.Open(t.Context(), gateway.Instance{ID: instanceID, Device: device}, e, e)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(again.Close)
			again.Start()
			e.await(t, "connected")
			if _, err := w.box.Profiles.Update(t.Context(), awayNumber, profile.Update{Online: new(true)}); err != nil {
				t.Fatal(err)
			}
			// The phone sends a receipt for the message when it has read it.
			receipt := e.await(t, "receipt").receipt
			if receipt.Status != gateway.MessageDelivered || receipt.MessageIDs[0] != id {
				t.Errorf("got %+v", receipt)
			}
			deadline := time.NewTimer(patience)
			defer deadline.Stop()
			tick := time.NewTicker(time.Millisecond)
			defer tick.Stop()
			for {
				shown, err := w.box.Phones.Messages(t.Context(), awayNumber, "")
				if err != nil {
					t.Fatal(err)
				}
				if len(shown) == 1 && shown[0].MessageID == id && shown[0].Text == "Oi" {
					return
				}
				select {
				case <-tick.C:
				case <-deadline.C:
					t.Fatalf("the phone shows %+v", shown)
				}
			}
		})
	}
}
