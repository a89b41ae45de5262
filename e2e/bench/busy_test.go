package bench_test

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/crowd"
)

// busy is a gateway on which one account sends texts while another one works as accounts do.
type busy struct {
	*neighbours

	red    *client.Client
	chat   string // of the first instance of red, with largeChat messages
	newest int    // the number of the phone that was linked last
}

// largeChat is how many messages the chat has that is searched: as many as a history brings.
const largeChat = 10_000

// BenchmarkBusy measures the 99th percentile of a text while others do what is a day's work: ten pictures at once, a search of a
// word that hundreds of a chat's messages have, a backup, and the history of an account that is linked; each over and
// over, and all of it at once. It is a ratio of what a text takes without. Whatever works is on the same processors.
func BenchmarkBusy(b *testing.B) {
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		b.Skip("there is no ffmpeg, which makes the picture")
	}
	w := startBusy(b)
	alone := w.texts(b)
	work := map[string][]func(ctx context.Context) error{
		"pictures": slices.Repeat([]func(ctx context.Context) error{w.sendPicture}, 10),
		"search":   {w.search},
		"backup":   {func(ctx context.Context) error { return w.backUp(ctx, b.TempDir()) }},
		"history":  {w.linkWithHistory},
	}
	var all []func(ctx context.Context) error
	for _, one := range cases.Sorted(work) {
		all = append(all, one...)
	}
	work["all"] = all
	for name, workers := range cases.Sorted(work) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				ctx, stop := context.WithCancel(b.Context())
				var working sync.WaitGroup
				for _, do := range workers {
					working.Go(func() {
						for ctx.Err() == nil {
							if err := do(ctx); err != nil && ctx.Err() == nil {
								b.Error(err)
								return
							}
						}
					})
				}
				beside := w.texts(b)
				stop()
				working.Wait()
				b.ReportMetric(float64(alone.Microseconds())/1000, "alone-ms")
				b.ReportMetric(float64(beside.Microseconds())/1000, "beside-ms")
				b.ReportMetric(float64(beside)/float64(alone), "ratio")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

func startBusy(b *testing.B) *busy {
	b.Helper()
	w := &busy{neighbours: startNeighbours(b, "--history-per-chat", strconv.Itoa(largeChat)), newest: 2}
	w.red = client.New("http://"+w.Address, w.Keys[0], client.WithHTTPClient(keepingConnections(b)))
	searched, err := w.linkHistory(b.Context(), 1, largeChat)
	if err != nil {
		b.Fatal(err)
	}
	chats, err := w.red.ListChats(b.Context(), searched, client.ListChatsParams{}, 0, 0)
	if err != nil {
		b.Fatal(err)
	}
	w.Instance, w.chat = searched, chats.Data[0].Chat
	w.rest(b)
	return w
}

// texts is the 99th percentile of what a text of blue takes.
func (w *busy) texts(b *testing.B) time.Duration {
	b.Helper()
	took := make([]time.Duration, 500)
	for i := range took {
		began := time.Now()
		if _, err := w.blue.SendText(b.Context(), w.blueID, client.Text{To: w.Recipient, Message: "Oi!"}); err != nil {
			b.Fatal(err)
		}
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	return took[len(took)*99/100]
}

func (w *busy) sendPicture(ctx context.Context) error {
	_, err := w.red.SendImage(ctx, w.Instance, client.Image{To: w.Recipient, File: w.file("photo.jpg")})
	if refusal, ok := errors.AsType[*client.Error](err); ok && refusal.RetryAfter > 0 { // as many as fit are under way
		select {
		case <-time.After(refusal.RetryAfter):
		case <-ctx.Done():
		}
		return nil
	}
	return err
}

func (w *busy) search(ctx context.Context) error {
	_, err := w.red.ListChatMessages(ctx, w.Instance, w.chat, client.ListChatMessagesParams{Search: "a"}, 0, 100)
	return err
}

func (w *busy) backUp(ctx context.Context, folder string) error {
	said, err := exec.CommandContext(ctx, w.program, "backup", folder+fmt.Sprintf("/%d.tar.gz", time.Now().UnixNano()), "--data", w.data).CombinedOutput()
	if err != nil {
		return fmt.Errorf("backup: %w: %s", err, said)
	}
	return nil
}

func (w *busy) linkWithHistory(ctx context.Context) error {
	_, err := w.linkHistory(ctx, 20, 500)
	return err
}

// linkHistory links an instance to a phone with a history of so many chats and messages of each, and waits until all
// of it is stored.
func (w *busy) linkHistory(ctx context.Context, chats, messages int) (instanceID string, err error) {
	w.newest++
	if err := crowd.MakeUpHistory(ctx, w.sandbox.address, crowd.Owner(w.newest), chats, messages); err != nil {
		return "", err
	}
	instance, err := w.red.CreateInstance(ctx, client.NewInstance{Name: fmt.Sprintf("with a history %d", w.newest)})
	if err != nil {
		return "", err
	}
	code, err := w.red.GetQRCode(ctx, instance.InstanceID, client.GetQRCodeParams{Format: client.FormatRaw})
	if err != nil {
		return "", err
	}
	if err := crowd.Scan(ctx, w.sandbox.address, crowd.Owner(w.newest), code.QRCode); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		_, err := w.red.GetMessage(ctx, instance.InstanceID, fmt.Sprintf("OLD%d-1", chats-1)) // the last of the history
		if err == nil {
			return instance.InstanceID, nil
		}
		if refusal, ok := errors.AsType[*client.Error](err); !ok || refusal.Code != client.CodeMessageNotFound {
			return "", err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}
