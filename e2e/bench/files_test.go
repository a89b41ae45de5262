package bench_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/media/mediatest"
	"github.com/recado-project/recado/internal/testkit/crowd"
)

const (
	filesEach      = 40  // of each way
	textsBetween   = 100 // texts before each of them, to compare with
	picturesAtOnce = 4
)

// BenchmarkFiles sends pictures of 1.4 MB, stickers and voice notes, each beside texts of the same process just before. It reports
// the processor's time of the gateway and the programs that it starts, also as so many texts, and what they have written to the disk
// beyond what is written for a text. "First" is a file that was never sent before, "again" one for another recipient. At last it sends
// four pictures at once, over and over, and reports the most memory of the gateway and its programs.
func BenchmarkFiles(b *testing.B) {
	w := &world{sandbox: startSandbox(b, "--load"), data: b.TempDir(), flags: []string{"--allow-private-urls"}}
	w.startGateway(b)
	w.link(b, 0)
	w.awaitConnected(b)
	w.send(b, crowd.WarmUp, 1)
	f := newBenchFiles(b, w)
	picture := func(from string) func(context.Context) error {
		return func(ctx context.Context) error { return f.sendPicture(ctx, from) }
	}
	for b.Loop() {
		for _, way := range []struct {
			name string
			send func(ctx context.Context) error
		}{
			{"url-first", func(ctx context.Context) error { return f.sendPicture(ctx, f.url("picture", f.unique())) }},
			{"url-again", picture(f.url("picture", 0))},
			{"uri-first", func(ctx context.Context) error {
				return f.sendPicture(ctx, dataURI("image/jpeg", numbered(f.picture, f.unique())))
			}},
			{"uri-again", picture(dataURI("image/jpeg", f.picture))},
			{"upload-again", picture(f.upload)},
			{"sticker-first", func(ctx context.Context) error { return f.sendSticker(ctx, f.url("sticker", f.unique())) }},
			{"sticker-again", func(ctx context.Context) error { return f.sendSticker(ctx, f.url("sticker", 0)) }},
			{"voice-first", func(ctx context.Context) error { return f.sendNote(ctx, f.url("note", f.unique())) }},
			{"voice-again", func(ctx context.Context) error { return f.sendNote(ctx, f.url("note", 0)) }},
		} {
			if err := way.send(b.Context()); err != nil {
				b.Fatalf("%s: %v", way.name, err)
			}
			text := f.cost(b, textsBetween, f.sendText)
			used := f.cost(b, filesEach, way.send)
			b.ReportMetric(used.cpu*1000, way.name+"-ms")
			b.ReportMetric(used.cpu/text.cpu, way.name+"-texts")
			b.ReportMetric((used.written-text.written)/1000, way.name+"-KB")
		}
		b.ReportMetric(f.peak(b), "MB-four-at-once")
		b.ReportMetric(0, "ns/op")
	}
}

// benchFiles are files to be sent, and the server that has them. A number is appended to those that were never sent: viewers
// ignore what comes after the end of a file.
type benchFiles struct {
	*world

	picture, sticker, note []byte
	server                 *httptest.Server
	upload                 string // the picture, uploaded before
	last                   atomic.Int64
}

func newBenchFiles(b *testing.B, w *world) *benchFiles {
	b.Helper()
	f := &benchFiles{world: w, picture: mediatest.Photograph(b, 2200, 1640), sticker: mediaSample(b, "sticker.webp"), note: mediaSample(b, "voice.ogg")}
	f.server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		name, number, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		content := map[string][]byte{"picture": f.picture, "sticker": f.sticker, "note": f.note}[name]
		if n, err := strconv.ParseInt(number, 10, 64); err == nil && n > 0 {
			content = numbered(content, n)
		}
		_, _ = rw.Write(content)
	}))
	b.Cleanup(f.server.Close)
	kept, err := w.client.CreateUpload(b.Context(), client.NewUpload{Media: f.url("picture", 0)})
	if err != nil {
		b.Fatal(err)
	}
	f.upload = "upload:" + kept.ID
	return f
}

func mediaSample(b *testing.B, name string) []byte {
	b.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "internal", "media", "testdata", name))
	if err != nil {
		b.Fatal(err)
	}
	return content
}

// numbered is a file that differs from all others.
func numbered(content []byte, number int64) []byte {
	return binary.BigEndian.AppendUint64(bytes.Clone(content), uint64(number))
}

func dataURI(mimeType string, content []byte) string {
	return "data:" + mimeType + ";base64," + base64.StdEncoding.EncodeToString(content)
}

func (f *benchFiles) unique() int64 { return f.last.Add(1) }

// url is where a file is; with a number it differs from all others.
func (f *benchFiles) url(name string, number int64) string {
	return fmt.Sprintf("%s/%s/%d", f.server.URL, name, number)
}

func (f *benchFiles) sendText(ctx context.Context) error {
	_, err := f.client.SendText(ctx, f.instances[0], client.Text{To: crowd.Recipient(0), Message: "a message"})
	return err
}

func (f *benchFiles) sendPicture(ctx context.Context, from string) error {
	_, err := f.client.SendImage(ctx, f.instances[0], client.Image{To: crowd.Recipient(0), Image: from})
	return err
}

func (f *benchFiles) sendSticker(ctx context.Context, from string) error {
	_, err := f.client.SendSticker(ctx, f.instances[0], client.Sticker{To: crowd.Recipient(0), Sticker: from})
	return err
}

func (f *benchFiles) sendNote(ctx context.Context, from string) error {
	_, err := f.client.SendVoiceNote(ctx, f.instances[0], client.VoiceNote{To: crowd.Recipient(0), Audio: from})
	return err
}

// fileCost is what one send has taken.
type fileCost struct{ cpu, written float64 } // seconds; bytes

// cost is what a send takes, of so many one after another.
func (f *benchFiles) cost(b *testing.B, times int, send func(ctx context.Context) error) fileCost {
	b.Helper()
	cpu, written := f.gateway.usedByAll(b)
	for range times {
		if err := send(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	cpuNow, writtenNow := f.gateway.usedByAll(b)
	return fileCost{(cpuNow - cpu).Seconds() / float64(times), float64(writtenNow-written) / float64(times)}
}

// usedByAll is what a process and the programs that it started, and that have ended, have used so far: of the processor
// (proc(5): utime, stime, cutime and cstime), and bytes that they have written to disks.
func (s *server) usedByAll(b *testing.B) (cpu time.Duration, written int64) {
	b.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.PID()))
	if err != nil {
		b.Skip("CPU of a process is read from /proc, as Linux has it")
	}
	io, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", s.PID()))
	if err != nil {
		b.Fatal(err)
	}
	for _, field := range strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))[11:15] {
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		cpu += time.Duration(ticks) * 10 * time.Millisecond
	}
	_, rest, _ := strings.Cut(string(io), "\nwrite_bytes: ")
	line, _, _ := strings.Cut(rest, "\n")
	if written, err = strconv.ParseInt(line, 10, 64); err != nil {
		b.Fatal(err)
	}
	return cpu, written
}

// peak is the most memory of the gateway and its programs, in MB, while several pictures that were never sent are sent at a time.
func (f *benchFiles) peak(b *testing.B) float64 {
	b.Helper()
	ctx, stop := context.WithCancel(b.Context())
	var watching, sending sync.WaitGroup
	most := f.gateway.watchMemory(ctx, &watching)
	for range picturesAtOnce {
		sending.Go(func() {
			for range filesEach / picturesAtOnce {
				if err := f.sendPicture(b.Context(), f.url("picture", f.unique())); err != nil {
					b.Error(err)
				}
			}
		})
	}
	sending.Wait()
	stop()
	watching.Wait()
	return float64(<-most) / 1e6
}
