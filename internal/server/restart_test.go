package server_test

import (
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

// The program keeps its promises on both databases, and over a restart.
func TestProgramComesBackWithEverything(t *testing.T) {
	t.Parallel()
	for name, options := range cases.Sorted(map[string]func(t *testing.T) testkit.Options{
		"SQLite": func(t *testing.T) testkit.Options {
			t.Helper()
			return testkit.Options{DataDir: t.TempDir()}
		},
		"PostgreSQL": func(t *testing.T) testkit.Options {
			t.Helper()
			return testkit.Options{DataDir: t.TempDir(), DatabaseURL: postgres.Start(t)}
		},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t)
			before := testkit.Start(t, o)
			linked, stopped := before.Link(t, shopNumber), before.Link(t, otherNumber)
			shown, err := before.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "code is shown"})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := before.Client.GetQRCode(t.Context(), shown.InstanceID, client.GetQRCodeParams{}); err != nil {
				t.Fatal(err)
			}
			sent := sendText(t, before, linked, "before")
			testkit.Await(t, "status read", func() bool {
				return find(t, before, linked, sent.ID).Status == gateway.MessageRead
			})
			answer := before.Phones.SendText(t, customerNumber, shopNumber, "an answer")
			awaitMessage(t, before, linked, answer)
			if err := before.Partner.StopInstance(t.Context(), stopped); err != nil {
				t.Fatal(err)
			}
			before.Stop()

			after := testkit.Start(t, o)
			// What arrives while it was away is not lost either.
			missed := after.Phones.SendText(t, customerNumber, shopNumber, "are you there?")
			after.AwaitStatus(t, linked, gateway.StatusConnected)
			after.AwaitStatus(t, shown.InstanceID, gateway.StatusQRTimeout)
			if status := after.Instance(t, stopped).Status; status != "manually_stopped" {
				t.Errorf("the stopped instance is %s", status)
			}
			awaitMessage(t, after, linked, missed)
			sendText(t, after, linked, "after")
			if text := find(t, after, linked, answer).Text; text != "an answer" {
				t.Errorf("the answer of before is %q", text)
			}
		})
	}
}
