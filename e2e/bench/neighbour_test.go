package bench_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
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

	"golang.org/x/time/rate"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/crowd"
	"github.com/recado-project/recado/internal/testkit/process"
)

// attackVariable has the attack of a process that does nothing else.
const attackVariable = "BENCH_ATTACK"

// neighbours are two accounts on one gateway.
type neighbours struct {
	*world
	attackers

	blue   *client.Client
	blueID string
	page   *httptest.Server
}

// attackers are two keys of the account that does its worst.
type attackers struct {
	Address   string    `json:"address"` // of the gateway
	Instance  string    `json:"instance"`
	Recipient string    `json:"recipient"`
	Keys      [2]string `json:"keys"`
	Slow      string    `json:"slow"`  // the URL of a server that takes half a minute for each answer
	Files     string    `json:"files"` // a folder

	clients [2]*client.Client
}

// attackPlan is one of their attacks.
type attackPlan struct {
	attackers

	Name string `json:"name"`
}

// TestMain makes this program attack a gateway where it was started to do that.
func TestMain(m *testing.M) {
	if plan := os.Getenv(attackVariable); plan != "" {
		if err := attackUntilKilled(plan); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// BenchmarkNeighbour measures what the requests of an account take while two keys of another one do
// their worst, as a ratio of what they take without: bodies that rest, voice notes of half an
// hour, stickers of large videos, pictures of many megapixels, previews and files of servers that do not
// answer, streams, and texts, over a line of 500 Mbit/s; each alone, and all at once. It reports the most that the gateway and its
// programs have had in memory above the start. The attackers are a process with a low priority, as they
// would be on machines of their own: what they need of this one's processors is not what is measured.
func BenchmarkNeighbour(b *testing.B) {
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		b.Skip("there is no ffmpeg")
	}
	n := startNeighbours(b)
	alone := n.measure(b)
	for _, kind := range neighbourKinds() {
		b.Logf("%s alone: %v", kind, alone[kind].Round(time.Microsecond))
	}
	for name := range cases.Sorted(n.attacks()) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				n.beside(b, name, alone)
			}
		})
	}
}

// beside measures the requests of blue while red attacks.
func (n *neighbours) beside(b *testing.B, name string, alone map[string]time.Duration) {
	b.Helper()
	start := n.gateway.rss(b)
	ctx, stop := context.WithCancel(b.Context())
	attacker := n.start(b, name)
	var watching sync.WaitGroup
	watched := n.gateway.watchMemory(ctx, &watching)
	<-time.After(3 * time.Second) // until all of it is under way
	beside := n.measure(b)
	stop()
	watching.Wait()
	if err := attacker.Process.Kill(); err != nil {
		b.Errorf("the attackers have ended: %v", err)
	}
	_ = attacker.Wait()
	for _, kind := range neighbourKinds() {
		b.ReportMetric(float64(beside[kind])/float64(alone[kind]), "ratio-"+kind)
	}
	b.ReportMetric(float64(<-watched-start)/1e6, "MB-above-the-start")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkHostileFile sends small files that are much work: a video of 100 KB whose decoder keeps 16 pictures of 30
// megapixels, as a video and as a sticker, and ten hours of silence as a voice note. It reports what the
// gateway and its programs have had in memory at most, in all, and how long the answer took.
func BenchmarkHostileFile(b *testing.B) {
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		b.Skip("there is no ffmpeg")
	}
	n := startNeighbours(b)
	n.make(b, "refs.mp4", "-f", "lavfi", "-i", "color=c=red:s=5440x5440:r=10", "-frames:v", "20", "-pix_fmt", "yuv444p10le", "-c:v", "libx264",
		"-preset", "ultrafast", "-bf", "0", "-refs", "16", "-x264-params", "ref=16:level=6.2:keyint=250")
	n.make(b, "hours.flac", "-f", "lavfi", "-i", "anullsrc=r=8000:cl=mono", "-t", "36000", "-c:a", "flac")
	ctx := b.Context()
	for name, send := range cases.Sorted(map[string]func() error{
		"video": func() error {
			_, err := n.blue.SendVideo(ctx, n.blueID, client.Video{To: n.Recipient, File: n.file("refs.mp4")})
			return err
		},
		"sticker": func() error {
			_, err := n.blue.SendSticker(ctx, n.blueID, client.Sticker{To: n.Recipient, File: n.file("refs.mp4"), Convert: true})
			return err
		},
		"voice-note": func() error {
			_, err := n.blue.SendVoiceNote(ctx, n.blueID, client.VoiceNote{To: n.Recipient, File: n.file("hours.flac")})
			return err
		},
	}) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				watching, stop := context.WithCancel(ctx)
				var watcher sync.WaitGroup
				most := n.gateway.watchMemory(watching, &watcher)
				began := time.Now()
				err := send()
				took := time.Since(began)
				stop()
				watcher.Wait()
				b.Logf("answered %v", err)
				b.ReportMetric(float64(<-most)/1e6, "MB-in-all")
				b.ReportMetric(float64(took.Milliseconds()), "ms")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

func neighbourKinds() []string {
	return []string{"text", "picture", "voice-note", "document", "preview"}
}

func startNeighbours(b *testing.B, flags ...string) *neighbours {
	b.Helper()
	n := &neighbours{world: &world{sandbox: startSandbox(b, "--load"), data: b.TempDir(), flags: append(flags, "--allow-private-urls")}}
	n.startGateway(b)
	for i := range 2 {
		n.link(b, i)
	}
	n.awaitConnected(b)
	n.attackers = attackers{
		Address: n.gateway.address, Instance: n.instances[0], Recipient: crowd.Recipient(0),
		Keys: [2]string{n.key(b, ""), n.key(b, "")}, Files: b.TempDir(),
	}
	n.blue = client.New("http://"+n.gateway.address, n.key(b, "blue"), client.WithHTTPClient(keepingConnections(b)))
	n.client = n.blue
	n.link(b, 2)
	n.awaitConnected(b)
	n.blueID = n.instances[2]
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-time.After(30 * time.Second):
		}
	}))
	b.Cleanup(slow.Close)
	n.Slow = slow.URL
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
func (n *neighbours) key(b *testing.B, account string) string {
	b.Helper()
	args := []string{"keys", "create", "--name", "bench", "--partner", "--data", n.data}
	if account != "" {
		args = append(args, "--account", account)
	}
	key, err := exec.CommandContext(b.Context(), process.Program(b), args...).Output()
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(string(key))
}

func (n *neighbours) make(b *testing.B, name string, args ...string) {
	b.Helper()
	args = append(append([]string{"-v", "error"}, args...), filepath.Join(n.Files, name))
	if said, err := exec.CommandContext(b.Context(), "ffmpeg", args...).CombinedOutput(); err != nil {
		b.Fatalf("ffmpeg: %v: %s", err, said)
	}
}

func (a *attackers) file(name string) *client.File {
	content, err := os.ReadFile(filepath.Join(a.Files, name))
	if err != nil {
		panic(err) // make has written it
	}
	return &client.File{Content: bytes.NewReader(content), Name: name}
}

// measure returns the 99th percentile of what the requests of blue take.
func (n *neighbours) measure(b *testing.B) map[string]time.Duration {
	b.Helper()
	const each = 100
	took := map[string][]time.Duration{}
	document := make([]byte, 900_000)
	ctx := b.Context()
	for i := range each {
		for kind, send := range cases.Sorted(map[string]func() error{
			"text": func() error {
				_, err := n.blue.SendText(ctx, n.blueID, client.Text{To: n.Recipient, Message: "Oi!"})
				return err
			},
			"picture": func() error {
				_, err := n.blue.SendImage(ctx, n.blueID, client.Image{To: n.Recipient, File: n.file("photo.jpg")})
				return err
			},
			"voice-note": func() error {
				_, err := n.blue.SendVoiceNote(ctx, n.blueID, client.VoiceNote{To: n.Recipient, File: n.file("note.wav")})
				return err
			},
			"document": func() error {
				_, err := n.blue.SendDocument(ctx, n.blueID, client.Document{To: n.Recipient, File: &client.File{Content: bytes.NewReader(document), Name: "a.bin"}})
				return err
			},
			"preview": func() error {
				_, err := n.blue.SendText(ctx, n.blueID, client.Text{To: n.Recipient, Message: fmt.Sprintf("%s/%d", n.page.URL, i), LinkPreview: true})
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

// attack is what so many clients of red do, over and over.
type attack struct {
	clients int
	do      func(ctx context.Context, key *client.Client)
}

// attacks are the worst that red does, one by one and all at once.
func (a *attackers) attacks() map[string][]attack {
	each := map[string][]attack{
		"bodies": {{8, func(ctx context.Context, key *client.Client) {
			from, to := io.Pipe()
			go func() {
				_, _ = to.Write(make([]byte, 60<<20)) // and never closes it
			}()
			_, _ = key.SendDocument(ctx, a.Instance, client.Document{To: a.Recipient, File: &client.File{Content: from, Name: "a.bin"}})
			_ = from.Close()
		}}},
		"voice-notes": {{6, func(ctx context.Context, key *client.Client) {
			_, _ = key.SendVoiceNote(ctx, a.Instance, client.VoiceNote{To: a.Recipient, File: a.file("long.flac")})
		}}},
		"stickers": {{6, func(ctx context.Context, key *client.Client) {
			_, _ = key.SendSticker(ctx, a.Instance, client.Sticker{To: a.Recipient, File: a.file("large.mp4"), Convert: true})
		}}},
		"pictures": {{6, func(ctx context.Context, key *client.Client) {
			_, _ = key.SendImage(ctx, a.Instance, client.Image{To: a.Recipient, File: a.file("large.png")})
		}}},
		"previews": {{20, func(ctx context.Context, key *client.Client) {
			_, _ = key.SendText(ctx, a.Instance, client.Text{To: a.Recipient, Message: a.Slow, LinkPreview: true})
		}}},
		"files-of-others": {{60, func(ctx context.Context, key *client.Client) {
			_, _ = key.SendDocument(ctx, a.Instance, client.Document{To: a.Recipient, Document: a.Slow})
		}}},
		"streams": {{100, func(ctx context.Context, key *client.Client) {
			stream, err := key.Events(ctx, a.Instance, client.EventsParams{})
			if err != nil {
				<-time.After(time.Second) // it is refused
				return
			}
			<-ctx.Done()
			_ = stream.Close()
		}}},
		"texts": {{4, func(ctx context.Context, key *client.Client) {
			_, _ = key.SendText(ctx, a.Instance, client.Text{To: a.Recipient, Message: "Oi!"})
		}}},
	}
	all := []attack(nil)
	for _, one := range cases.Sorted(each) {
		all = append(all, one...)
	}
	each["all"] = all
	return each
}

// start begins an attack in a process of its own. The caller ends it.
func (n *neighbours) start(b *testing.B, name string) *exec.Cmd {
	b.Helper()
	plan, err := json.Marshal(attackPlan{n.attackers, name})
	if err != nil {
		b.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	command := exec.CommandContext(b.Context(), "nice", "-n", "19", program)
	command.Env = append(os.Environ(), attackVariable+"="+string(plan))
	command.Stderr = os.Stderr
	if err := command.Start(); err != nil {
		b.Fatal(err)
	}
	return command
}

// The line of the attackers to the gateway: 500 Mbit/s. Loopback carries many times that, and what it
// takes of the processors for it nobody's priority bounds.
const (
	lineBytes = 500_000_000 / 8
	lineBurst = 64 << 10
)

// attackConnection is a connection over the attackers' line.
type attackConnection struct {
	net.Conn

	line *rate.Limiter
}

// Write sends as fast as the line is.
func (c attackConnection) Write(content []byte) (sent int, err error) {
	for sent < len(content) && err == nil {
		piece := content[sent:min(len(content), sent+lineBurst)]
		if err = c.line.WaitN(context.Background(), len(piece)); err == nil {
			var n int
			n, err = c.Conn.Write(piece)
			sent += n
		}
	}
	return sent, err
}

// attackUntilKilled does an attack over and over.
func attackUntilKilled(plan string) error {
	var a attackPlan
	if err := json.Unmarshal([]byte(plan), &a); err != nil {
		return fmt.Errorf("read the plan of an attack: %w", err)
	}
	line := rate.NewLimiter(lineBytes, lineBurst)
	transport := &http.Transport{MaxIdleConnsPerHost: 500, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		to, err := new(net.Dialer).DialContext(ctx, network, address)
		return attackConnection{to, line}, err
	}}
	for i, key := range a.Keys {
		a.clients[i] = client.New("http://"+a.Address, key, client.WithHTTPClient(&http.Client{Transport: transport}))
	}
	var under sync.WaitGroup
	for _, attack := range a.attacks()[a.Name] {
		for i := range attack.clients {
			under.Go(func() {
				for {
					attack.do(context.Background(), a.clients[i%2])
					<-time.After(100 * time.Millisecond) // who is refused comes back soon, and finds out whether there is room
				}
			})
		}
	}
	under.Wait()
	return nil
}

// watchMemory returns the most that the process and its programs have in memory until ctx ends.
func (s *server) watchMemory(ctx context.Context, under *sync.WaitGroup) <-chan int64 {
	most := make(chan int64, 1)
	under.Go(func() {
		var peak int64
		for ctx.Err() == nil {
			peak = max(peak, memoryOfAll(s.PID()))
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
