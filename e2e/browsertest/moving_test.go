//go:build screenshots

// The moving picture of the README: a shop's dashboard beside a customer's phone.

package browsertest_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit"
)

//nolint:gochecknoglobals // flags are
var moving = flag.String("moving", "", "file to write the moving picture of the README into, a WebP")

// A customer writes, and a program answers. Each frame is a picture of both pages.
func TestMovingPicture(t *testing.T) {
	t.Parallel()
	if *moving == "" {
		t.Fatal("say where the picture goes: -moving FILE")
	}
	w := start(t, testkit.Options{})
	shop, _ := w.street(t)
	dashboard, phone := w.owner(), w.owner()
	dashboard.Language("en")
	dashboard.SetSize(1120, 700)
	phone.SetSize(400, 700)
	dashboard.Light()
	phone.Light()
	chat := "/instances/" + shop + "/chats?chat=" + anaNumber + "@s.whatsapp.net"
	dashboard.Open(chat)
	phone.Open(chatOf(anaNumber, shopNumber))
	awaitPictures("#inbox-log .picture img")(dashboard)
	awaitPictures(".log img")(phone)
	phone.Eval(`scrollTo(0, document.body.scrollHeight); document.querySelector("#left-log").scrollTop = 1e6`, nil)

	folder := t.TempDir()
	var list strings.Builder
	frame := func(shown time.Duration) {
		name := fmt.Sprintf("%02d.png", strings.Count(list.String(), "file "))
		left, right := filepath.Join(folder, "left.png"), filepath.Join(folder, "right.png")
		dashboard.Screenshot(left)
		phone.Screenshot(right)
		ffmpeg(t, "-i", left, "-i", right, "-filter_complex", "hstack", filepath.Join(folder, name))
		fmt.Fprintf(&list, "file %s\nduration %.2f\n", name, shown.Seconds())
	}
	frame(1500 * time.Millisecond)
	asked := "Oi! O bolo já saiu?"
	for n := 4; n < len(asked)+4; n += 4 {
		phone.Fill("#left-write textarea", string([]rune(asked)[:min(n, len([]rune(asked)))]))
		frame(150 * time.Millisecond)
	}
	phone.Press("\r")
	phone.AwaitText("#left-log", asked)
	dashboard.AwaitText("#inbox-log", asked)
	frame(1500 * time.Millisecond)
	answer := "Saiu do forno agora, Ana! O entregador chega em 20 minutos."
	if _, err := w.Client.SendText(t.Context(), shop, client.Text{To: anaNumber, Message: answer}); err != nil {
		t.Fatal(err)
	}
	phone.AwaitText("#left-log", answer)
	dashboard.AwaitText("#inbox-log", answer)
	frame(1500 * time.Millisecond)
	dashboard.AwaitTrue("the phone has read it", `[...document.querySelectorAll("#inbox-log .mine")].at(-1).textContent.includes("Read")`)
	frame(3 * time.Second)

	frames := filepath.Join(folder, "frames")
	if err := os.WriteFile(frames, []byte(list.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	ffmpeg(t, "-f", "concat", "-i", frames, "-loop", "0", "-quality", "60", *moving)
}

func ffmpeg(t *testing.T, arguments ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "ffmpeg", append([]string{"-y", "-loglevel", "error"}, arguments...)...)
	if said, err := command.CombinedOutput(); err != nil {
		t.Fatalf("ffmpeg: %v\n%s", err, said)
	}
}
