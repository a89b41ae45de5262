package upgradetest_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit/postgres"
	"github.com/recado-project/recado/internal/testkit/process"
	"github.com/recado-project/recado/internal/testkit/sink"
)

// Today's program opens the data of every version: the instance connects without a new
// code, messages, files and events are there, and the webhook goes on where it was.
func TestDataOfEveryVersionAreOpened(t *testing.T) {
	t.Parallel()
	versions, err := filepath.Glob("testdata/*/sqlite.json")
	if err != nil || len(versions) < 2 {
		t.Fatalf("found the data of %d versions (%v)", len(versions), err)
	}
	for _, path := range versions {
		version := filepath.Dir(path)
		t.Run(filepath.Base(version)+" on SQLite", func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			unpack(t, filepath.Join(version, "sqlite.tar.gz"), folder)
			opens(t, readWritten(t, path), folder, "")
		})
		t.Run(filepath.Base(version)+" on PostgreSQL", func(t *testing.T) {
			t.Parallel()
			folder, url := t.TempDir(), postgres.Start(t)
			unpack(t, filepath.Join(version, "postgres.tar.gz"), folder)
			dump, err := os.ReadFile(filepath.Join(folder, "postgres.sql"))
			if err != nil {
				t.Fatal(err)
			}
			postgres.Load(t, url, string(dump))
			opens(t, readWritten(t, filepath.Join(version, "postgres.json")), folder, url)
		})
	}
}

// opens starts today's program on the data, and sees that all of it is there.
func opens(t *testing.T, before written, folder, databaseURL string) {
	t.Helper()
	ctx, endpoint := t.Context(), sink.New(t)
	w := openWorld(t, process.Program(t), folder, databaseURL, "--keep-media", "0")
	c := client.New(w.baseURL, before.APIKey)
	w.awaitConnected(c, before.InstanceID)

	// Events are as they were, and the program goes on counting where it stopped.
	number := len(before.Events)
	found := w.readEvents(c, before.InstanceID, func(events []client.Event) bool { return len(events) >= number })
	for i, was := range before.Events {
		is := found[i]
		if is.ID != was.ID || is.Sequence != was.Sequence || is.Type != was.Type || string(is.Data) != string(was.Data) {
			t.Errorf("event %d is %s %d %s, was %s %d %s", i+1, is.ID, is.Sequence, is.Data, was.ID, was.Sequence, was.Data)
		}
	}

	// The webhook delivers what the earlier version could not, and nothing twice.
	hook, err := c.GetWebhookConfig(ctx, before.InstanceID)
	if err != nil || hook.Secret != before.Secret {
		t.Errorf("the webhook is %+v (%v), its secret was %s", hook, err, before.Secret)
	}
	if _, err := c.SaveWebhookConfig(ctx, before.InstanceID, client.NewWebhookConfig{WebhookURL: endpoint.URL}); err != nil {
		t.Fatal(err)
	}

	// Messages are known, and so is the file of one.
	forwarded, err := c.ForwardMessage(ctx, before.InstanceID, client.Forward{To: otherNumber, MessageID: before.Received})
	if err != nil {
		t.Fatal(err)
	}
	if got := w.phones.AwaitMessage(t, otherNumber, forwarded.MessageID); got.Text != before.Text {
		t.Errorf("the message of before says %q", got.Text)
	}
	answer, err := c.SendText(ctx, before.InstanceID, client.Text{To: customerNumber, Message: "after", QuoteMessageID: before.Sent})
	if err != nil {
		t.Fatal(err)
	}
	if got := w.phones.AwaitMessage(t, customerNumber, answer.MessageID); got.Text != "after" || got.QuotedMessageID == "" {
		t.Errorf("the answer is %+v", got)
	}
	if got := w.fetch(c, before.InstanceID, before.Picture); got != before.PictureHash {
		t.Errorf("the file is %s, was %s", got, before.PictureHash)
	}
	incoming := w.phones.SendText(t, customerNumber, shopNumber, "are you there?")
	isIncoming := func(d sink.Delivered) bool {
		data, err := d.Event.Decode()
		received, ok := data.(client.MessageReceivedEvent)
		return err == nil && ok && received.MessageID == incoming
	}
	all := func(taken []sink.Delivered) []int64 {
		sequences := slices.Clone(before.Delivered)
		for _, d := range taken {
			sequences = append(sequences, d.Event.Sequence)
		}
		slices.Sort(sequences) // each chat has an order of its own
		return sequences
	}
	taken := endpoint.Await("all events up to a message of after", func(taken []sink.Delivered) bool {
		sequences := all(taken)
		return slices.ContainsFunc(taken, isIncoming) &&
			int64(len(slices.Compact(sequences))) == sequences[len(sequences)-1]-sequences[0]+1
	})
	if sequences := all(taken); len(slices.Compact(slices.Clone(sequences))) != len(sequences) {
		t.Errorf("before and after, the webhook delivered %d", sequences)
	}
	w.stop()
}
