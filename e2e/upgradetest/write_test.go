//go:build upgradedata

package upgradetest_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"image"
	"image/png"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit/postgres"
	"github.com/recado-project/recado/internal/testkit/process"
	"github.com/recado-project/recado/internal/testkit/sink"
)

//nolint:gochecknoglobals // flags of the test binary
var (
	program = flag.String("program", "", "the version that writes; without it, the present one")
	version = flag.String("version", "", "the folder in testdata to write")
)

// Data are written by a version of the program, for the test of all later ones.
func TestWrite(t *testing.T) {
	t.Parallel()
	if *version == "" {
		t.Fatal("-version is missing")
	}
	from := *program
	if from == "" {
		from = process.Program(t)
	}
	to := filepath.Join("testdata", *version)
	if err := os.MkdirAll(to, 0o750); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	save(t, filepath.Join(to, "sqlite.json"), writes(t, from, folder, ""))
	pack(t, folder, filepath.Join(to, "sqlite.tar.gz"))

	folder, url := t.TempDir(), postgres.Start(t)
	save(t, filepath.Join(to, "postgres.json"), writes(t, from, folder, url))
	dump, err := exec.CommandContext(t.Context(), "pg_dump", "--inserts", "--no-owner", "--no-privileges", url).Output()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(dump)) {
		if !strings.HasPrefix(line, `\`) { // a command of psql
			lines = append(lines, line)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "postgres.sql"), []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	pack(t, folder, filepath.Join(to, "postgres.tar.gz"))
}

// writes lets a program work, and returns what it has written.
func writes(t *testing.T, program, folder, databaseURL string) written {
	t.Helper()
	ctx, endpoint := t.Context(), sink.New(t)
	w := openWorld(t, program, folder, databaseURL)
	create := []string{"keys", "create", "--name", "test", "--partner", "--data", filepath.Join(folder, "gateway")}
	if databaseURL != "" {
		create = append(create, "--database-url", databaseURL)
	}
	key, err := exec.CommandContext(ctx, program, create...).Output()
	if err != nil {
		t.Fatal(err)
	}
	did := written{APIKey: strings.TrimSpace(string(key)), Text: "Bom dia! 🍞"}
	c := client.New(w.baseURL, did.APIKey)
	instance, err := c.CreateInstance(ctx, client.NewInstance{Name: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	did.InstanceID = instance.InstanceID
	code, err := c.GetQRCode(ctx, did.InstanceID, client.GetQRCodeParams{Format: client.FormatRaw})
	if err != nil {
		t.Fatal(err)
	}
	w.phones.Scan(t, shopNumber, code.QRCode)
	w.awaitConnected(c, did.InstanceID)
	did.Secret = "whsec_" + base64.StdEncoding.EncodeToString([]byte("a secret of twenty-four!"))
	if _, err := c.SaveWebhookConfig(ctx, did.InstanceID, client.NewWebhookConfig{WebhookURL: endpoint.URL, Secret: did.Secret}); err != nil {
		t.Fatal(err)
	}
	sent, err := c.SendText(ctx, did.InstanceID, client.Text{To: customerNumber, Message: "Olá!"})
	if err != nil {
		t.Fatal(err)
	}
	did.Sent = sent.MessageID
	did.Received = w.phones.SendText(t, customerNumber, shopNumber, did.Text)
	did.Picture = w.phones.Send(t, customerNumber, map[string]any{"to": shopNumber, "type": "image", "media": picture(t), "caption": "Esta"})
	endpoint.Await("the picture", func(taken []sink.Delivered) bool {
		for _, d := range taken {
			if strings.Contains(string(d.Body), did.Picture) {
				return true
			}
		}
		return false
	})
	did.PictureHash = w.fetch(c, did.InstanceID, did.Picture)

	// The last events can't be delivered.
	endpoint.Answer(func(sink.Delivered) int { return http.StatusServiceUnavailable })
	last := w.phones.SendText(t, customerNumber, shopNumber, "nobody hears this yet")
	did.Events = w.readEvents(c, did.InstanceID, func(events []client.Event) bool {
		return len(events) > 0 && strings.Contains(string(events[len(events)-1].Data), last)
	})
	w.stop()
	for _, d := range endpoint.Delivered() {
		did.Delivered = append(did.Delivered, d.Event.Sequence)
	}
	return did
}

// picture is a small file to send.
func picture(t *testing.T) string {
	t.Helper()
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, 16, 16))); err != nil {
		t.Fatal(err)
	}
	return client.DataURI("image/png", file.Bytes())
}

func save(t *testing.T, path string, value any) {
	t.Helper()
	content, err := json.Marshal(value) // indented, the data of the events would be
	if err == nil {
		err = os.WriteFile(path, append(content, '\n'), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// pack writes the files of a folder into an archive.
func pack(t *testing.T, folder, archive string) {
	t.Helper()
	var packed bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	files := tar.NewWriter(compressed)
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		if err := files.WriteHeader(&tar.Header{Name: filepath.ToSlash(name), Mode: 0o600, Size: int64(len(content))}); err != nil {
			return err
		}
		_, err = files.Write(content)
		return err
	})
	if err := errors.Join(err, files.Close(), compressed.Close(), os.WriteFile(archive, packed.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
}
