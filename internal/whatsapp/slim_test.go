package whatsapp

import (
	"os"
	"os/exec"
	"runtime"
	"testing"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/store"
)

// aloneVariable is set for a process that runs one test alone.
const aloneVariable = "TEST_ALONE"

// A client that has not sent anything is small. If this fails after an update of the
// library, look how it keeps the messages that it has sent. It is measured in a process of its own:
// what other tests leave behind is freed whenever it is.
func TestAnIdleClientIsSmall(t *testing.T) {
	t.Parallel()
	if os.Getenv(aloneVariable) == "" {
		program, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		alone := exec.CommandContext(t.Context(), program, "-test.run", "^"+t.Name()+"$", "-test.v")
		alone.Env = append(os.Environ(), aloneVariable+"=1")
		if said, err := alone.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, said)
		}
		return
	}
	const clients = 100
	size := func(change func(*whatsmeow.Client)) int64 {
		made := make([]*whatsmeow.Client, clients)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for i := range made {
			made[i] = whatsmeow.NewClient(&store.Device{}, nil)
			change(made[i])
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(made)
		return (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / clients
	}
	whole, slimmed := size(func(*whatsmeow.Client) {}), size(slim)
	if slimmed > 24<<10 || slimmed > whole/2 {
		t.Errorf("a client takes %d bytes, and %d as the library makes it", slimmed, whole)
	}
	t.Logf("a client takes %d bytes, and %d as the library makes it", slimmed, whole)
}
