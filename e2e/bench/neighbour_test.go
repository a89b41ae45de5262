package bench_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/crowd"
	"github.com/recado-project/recado/internal/testkit/process"
)

// BenchmarkNeighbour measures what the requests of an account take while two keys of another one do
// their worst, as a ratio of what they take without: bodies that rest, voice notes of half an
// hour, stickers of large videos, pictures of many megapixels, previews and files of servers that do not
// answer, streams, and texts. It reports the most that the gateway and its programs have had in memory above the start.
func BenchmarkNeighbour(b *testing.B) {
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		b.Skip("there is no ffmpeg")
	}
	for b.Loop() {
		n := startNeighbours(b)
		start := n.gateway.rss(b)
		alone := n.measure(b)
		ctx, stop := context.WithCancel(b.Context())
		var attacking sync.WaitGroup
		n.attack(ctx, &attacking)
		watched := n.watchMemory(ctx, &attacking)
		<-time.After(3 * time.Second) // until all of it is under way
		beside := n.measure(b)
		stop()
		attacking.Wait()
		for _, kind := range neighbourKinds() {
			b.ReportMetric(float64(alone[kind].Microseconds())/1000, "ms-"+kind)
			b.ReportMetric(float64(beside[kind])/float64(alone[kind]), "ratio-"+kind)
		}
		b.ReportMetric(float64(<-watched-start)/1e6, "MB-above-the-start")
		b.ReportMetric(0, "ns/op")
	}
}

func neighbourKinds() []string {
	return []string{"text", "picture", "voice-note", "document", "preview"}
}

// neighbours are two accounts on one gateway.
type neighbours struct {
	*world

	red       [2]*client.Client // two keys of the account that does its worst
	redID     string
	blue      *client.Client
	blueID    string
	slow      *httptest.Server // takes half a minute for each answer
	page      *httptest.Server
	files     string // a folder
	recipient string
}

func startNeighbours(b *testing.B) *neighbours {
	b.Helper()
	n := &neighbours{world: &world{sandbox: startSandbox(b, "--load"), data: b.TempDir(), flags: []string{"--allow-private-urls"}}, files: b.TempDir()}
	n.startGateway(b)
	for i := range 2 {
		n.link(b, i)
	}
	n.awaitConnected(b)
	n.redID, n.red[0], n.red[1], n.recipient = n.instances[0], n.client, n.key(b, ""), crowd.Recipient(0)
	n.blue = n.key(b, "blue")
	n.client = n.blue
	n.link(b, 2)
	n.awaitConnected(b)
	n.blueID = n.instances[2]
	n.slow = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-time.After(30 * time.Second):
		}
	}))
	b.Cleanup(n.slow.Close)
	n.page = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "<html><head><title>Prices</title></head></html>")
	}))
	b.Cleanup(n.page.Close)
	n.make(b, "note.wav", "-f", "lavfi", "-i", "sine=frequency=440:duration=3", "-c:a", "pcm_s16le")
	n.make(b, "long.flac", "-f", "lavfi", "-i", "anullsrc=r=8000:cl=mono", "-t", "1790", "-c:a", "flac")
	n.make(b, "large.mp4", "-f", "lavfi", "-i", "testsrc2=s=3840x2160:r=10", "-t", "6", "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p")
	n.make(b, "photo.jpg", "-f", "lavfi", "-i", "testsrc2=s=1600x1200", "-frames:v", "1")
	n.make(b, "large.png", "-f", "lavfi", "-i", "testsrc2=s=5600x4200", "-frames:v", "1")
	return n
}

// key makes a key of an account; of the first one if the name is empty.
func (n *neighbours) key(b *testing.B, account string) *client.Client {
	b.Helper()
	args := []string{"keys", "create", "--name", "bench", "--partner", "--data", n.data}
	if account != "" {
		args = append(args, "--account", account)
	}
	key, err := exec.CommandContext(b.Context(), process.Program(b), args...).Output()
	if err != nil {
		b.Fatal(err)
	}
	return client.New("http://"+n.gateway.address, strings.TrimSpace(string(key)), client.WithHTTPClient(keepingConnections(b)))
}

func (n *neighbours) make(b *testing.B, name string, args ...string) {
	b.Helper()
	args = append(append([]string{"-v", "error"}, args...), filepath.Join(n.files, name))
	if said, err := exec.CommandContext(b.Context(), "ffmpeg", args...).CombinedOutput(); err != nil {
		b.Fatalf("ffmpeg: %v: %s", err, said)
	}
}

func (n *neighbours) file(name string) *client.File {
	content, err := os.ReadFile(filepath.Join(n.files, name))
	if err != nil {
		panic(err) // make has written it
	}
	return &client.File{Content: bytes.NewReader(content), Name: name}
}

// measure returns the 99th percentile of what the requests of blue take.
func (n *neighbours) measure(b *testing.B) map[string]time.Duration {
	b.Helper()
	const each = 50
	took := map[string][]time.Duration{}
	document := make([]byte, 900_000)
	ctx := b.Context()
	for i := range each {
		for kind, send := range cases.Sorted(map[string]func() error{
			"text": func() error {
				_, err := n.blue.SendText(ctx, n.blueID, client.Text{To: n.recipient, Message: "Oi!"})
				return err
			},
			"picture": func() error {
				_, err := n.blue.SendImage(ctx, n.blueID, client.Image{To: n.recipient, File: n.file("photo.jpg")})
				return err
			},
			"voice-note": func() error {
				_, err := n.blue.SendVoiceNote(ctx, n.blueID, client.VoiceNote{To: n.recipient, File: n.file("note.wav")})
				return err
			},
			"document": func() error {
				_, err := n.blue.SendDocument(ctx, n.blueID, client.Document{To: n.recipient, File: &client.File{Content: bytes.NewReader(document), Name: "a.bin"}})
				return err
			},
			"preview": func() error {
				_, err := n.blue.SendText(ctx, n.blueID, client.Text{To: n.recipient, Message: fmt.Sprintf("%s/%d", n.page.URL, i), LinkPreview: true})
				return err
			},
		}) {
			began := time.Now()
			if err := send(); err != nil {
				b.Errorf("%s: %v", kind, err)
			}
			took[kind] = append(took[kind], time.Since(began))
		}
	}
	worst := map[string]time.Duration{}
	for _, kind := range neighbourKinds() {
		slices.Sort(took[kind])
		worst[kind] = took[kind][len(took[kind])*99/100]
	}
	return worst
}

// attack does the worst of red until ctx ends.
func (n *neighbours) attack(ctx context.Context, under *sync.WaitGroup) {
	again := func(times int, do func(key *client.Client)) {
		for i := range times {
			under.Go(func() {
				for ctx.Err() == nil {
					do(n.red[i%2])
					select { // who is refused comes back soon, and finds out whether there is room
					case <-time.After(100 * time.Millisecond):
					case <-ctx.Done():
					}
				}
			})
		}
	}
	again(8, func(key *client.Client) { // bodies that rest
		from, to := io.Pipe()
		go func() {
			_, _ = to.Write(make([]byte, 60<<20))
			<-ctx.Done()
			_ = to.Close()
		}()
		_, _ = key.SendDocument(ctx, n.redID, client.Document{To: n.recipient, File: &client.File{Content: from, Name: "a.bin"}})
		_ = from.Close()
	})
	again(6, func(key *client.Client) {
		_, _ = key.SendVoiceNote(ctx, n.redID, client.VoiceNote{To: n.recipient, File: n.file("long.flac")})
	})
	again(6, func(key *client.Client) {
		_, _ = key.SendSticker(ctx, n.redID, client.Sticker{To: n.recipient, File: n.file("large.mp4"), Convert: true})
	})
	again(6, func(key *client.Client) {
		_, _ = key.SendImage(ctx, n.redID, client.Image{To: n.recipient, File: n.file("large.png")})
	})
	again(20, func(key *client.Client) {
		_, _ = key.SendText(ctx, n.redID, client.Text{To: n.recipient, Message: n.slow.URL, LinkPreview: true})
	})
	again(60, func(key *client.Client) {
		_, _ = key.SendDocument(ctx, n.redID, client.Document{To: n.recipient, Document: n.slow.URL})
	})
	again(100, func(key *client.Client) {
		stream, err := key.Events(ctx, n.redID, client.EventsParams{})
		if err != nil {
			<-time.After(time.Second) // it is refused
			return
		}
		<-ctx.Done()
		_ = stream.Close()
	})
	again(4, func(key *client.Client) {
		_, _ = key.SendText(ctx, n.redID, client.Text{To: n.recipient, Message: "Oi!"})
	})
}

// watchMemory returns the most that the gateway and its programs have in memory until ctx ends.
func (n *neighbours) watchMemory(ctx context.Context, under *sync.WaitGroup) <-chan int64 {
	most := make(chan int64, 1)
	under.Go(func() {
		var peak int64
		for ctx.Err() == nil {
			peak = max(peak, memoryOfAll(n.gateway.PID()))
			<-time.After(20 * time.Millisecond)
		}
		most <- peak
	})
	return most
}

// memoryOfAll is the resident memory of a process and of those that it has started, in bytes, without
// what they share with others (smaps_rollup: Pss).
func memoryOfAll(pid int) (all int64) {
	pids := []int{pid}
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, task := range tasks {
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, task.Name()))
		for text := range strings.FieldsSeq(string(children)) {
			if child, err := strconv.Atoi(text); err == nil {
				pids = append(pids, child)
			}
		}
	}
	for _, one := range pids {
		content, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", one))
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(content), "\nPss:")
		if fields := strings.Fields(rest); len(fields) > 0 {
			kilobytes, _ := strconv.ParseInt(fields[0], 10, 64)
			all += kilobytes << 10
		}
	}
	return all
}
