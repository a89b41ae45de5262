package media

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The programs of this machine are found and run; without them nothing is wrong yet.
func TestCheckTools(t *testing.T) {
	found, err := checkTools(t.Context(), patience)
	if err != nil || (found.FFmpeg == "") != (found.Version == "") || len(found.Missing) > 0 {
		t.Errorf("found %+v, %v", found, err)
	}
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	if found, err := checkTools(t.Context(), patience); err != nil || found.FFmpeg != "" {
		t.Errorf("without one: %+v, %v", found, err)
	}
	write := func(script string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(bin, "ffmpeg"), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write("echo ' A..... pcm_s16le  x'; echo ' V..... mjpeg  x'; echo ' V..... libwebp_anim  x'; echo ' V..... libx264 x'; echo ' A..... aac x'")
	if found, err := checkTools(t.Context(), patience); err != nil || !slices.Equal(found.Missing, []string{"libopus"}) {
		t.Errorf("without Opus: %+v, %v", found, err)
	}
	write("echo broken >&2; exit 1")
	if _, err := checkTools(t.Context(), patience); err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("one that does not run: %v", err)
	}
}
