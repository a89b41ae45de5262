package webhook

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/testkit/cases"
)

func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

func TestKey(t *testing.T) {
	t.Parallel()
	for secret, want := range cases.Sorted(map[Secret]string{
		"whsec_aGVsbG8=":  "hello",
		"whsec_aGVsbG8":   "whsec_aGVsbG8", // base64 has its padding
		"whsec_":          "whsec_",
		"whsec_not it":    "whsec_not it",
		"aGVsbG8=":        "aGVsbG8=",
		"açaí":            "açaí",
		"WHSEC_aGVsbG8=":  "WHSEC_aGVsbG8=",
		"whsec_aGVsbG8= ": "whsec_aGVsbG8= ",
		// Base64 in a form that not every language takes.
		"whsec_aGVs\nbG8=": "whsec_aGVs\nbG8=",
		"whsec_aGVsbG8=\n": "whsec_aGVsbG8=\n",
		"whsec_aGVsbG9=":   "whsec_aGVsbG9=",
	}) {
		if got := string(secret.key()); got != want {
			t.Errorf("the key of %q is %q, want %q", string(secret), got, want)
		}
	}
	var out strings.Builder
	slog.New(slog.NewTextHandler(&out, nil)).Info("test", slog.Any("secret", Secret("very secret")))
	if strings.Contains(out.String(), "very secret") {
		t.Errorf("it is logged: %s", out.String())
	}
}

func FuzzKey(f *testing.F) {
	for _, secret := range []string{"whsec_aGVsbG8=", "whsec_", "plain", "whsec_aGVs\nbG8=", ""} {
		f.Add(secret)
	}
	f.Fuzz(func(t *testing.T, secret string) {
		key := Secret(secret).key()
		if secret != "" && len(key) == 0 {
			t.Errorf("%q has no key", secret)
		}
		if string(key) == secret {
			return
		}
		decoded, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil || !bytes.Equal(decoded, key) || !strings.HasPrefix(secret, "whsec_") {
			t.Errorf("the key of %q is %q", secret, key)
		}
	})
}

func TestParseRetryAfter(t *testing.T) {
	t.Parallel()
	for value, want := range cases.Sorted(map[string]time.Duration{
		"":                              0,
		"0":                             0,
		"7":                             7 * time.Second,
		" 7 ":                           7 * time.Second,
		"3600":                          time.Hour,
		"3601":                          time.Hour,
		"9223372036854775807":           time.Hour,
		"99999999999999999999999":       0, // nobody means that
		"-1":                            0,
		"1.5":                           0,
		"soon":                          0,
		"Fri, 20 Nov 2026 12:00:30 GMT": 30 * time.Second,
		"Fri, 20 Nov 2026 11:00:00 GMT": 0,
		"Sat, 20 Nov 2027 12:00:00 GMT": time.Hour,
	}) {
		if got := parseRetryAfter(value, noon(), time.Hour); got != want {
			t.Errorf("%q means %s, want %s", value, got, want)
		}
	}
}

func FuzzParseRetryAfter(f *testing.F) {
	for _, value := range []string{"", "7", "-7", "Fri, 20 Nov 2026 12:00:30 GMT", "99999999999999999999"} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if got := parseRetryAfter(value, noon(), time.Hour); got < 0 || got > time.Hour {
			t.Errorf("%q means %s", value, got)
		}
	})
}

func TestPool(t *testing.T) {
	t.Parallel()
	p := &pool{size: 2}
	var order []string
	wait := func(name string, uses bool) func() bool {
		return func() bool {
			order = append(order, name)
			return uses
		}
	}
	for range 2 {
		if !p.enter(nil) {
			t.Fatal("there is no place")
		}
	}
	if p.enter(wait("a", true)) || p.enter(wait("b", false)) || p.enter(wait("c", true)) {
		t.Fatal("there is a third place")
	}
	p.leave() // to a
	p.leave() // to b, who can't use it, and on to c
	if want := []string{"a", "b", "c"}; !slices.Equal(order, want) || p.used != 2 {
		t.Errorf("%v were admitted, %d places are used", order, p.used)
	}
	p.leave()
	p.leave()
	if p.used != 0 {
		t.Errorf("%d places are used by nobody", p.used)
	}
}

// A slot that moves frees its place for others, once, and never after it was
// left.
func TestSlotMoves(t *testing.T) {
	t.Parallel()
	healthy, slow := &pool{size: 1}, &pool{size: 1}
	place := func() *slot {
		if !healthy.enter(nil) {
			t.Fatal("there is no place")
		}
		return &slot{pool: healthy}
	}
	first := place()
	first.move(slow)
	first.move(slow)
	second := place()
	second.move(slow) // beyond its size
	if healthy.used != 0 || slow.used != 2 {
		t.Errorf("%d and %d places are used", healthy.used, slow.used)
	}
	admitted := false
	if slow.enter(func() bool { admitted = true; return true }) {
		t.Error("a full pool lets in")
	}
	first.leave()
	if admitted || slow.used != 1 {
		t.Errorf("it is admitted while %d places are used", slow.used)
	}
	second.leave()
	if !admitted || slow.used != 1 {
		t.Errorf("it is admitted: %v; %d places are used", admitted, slow.used)
	}
	third := place()
	third.leave()
	third.move(slow)
	if healthy.used != 0 || slow.used != 1 {
		t.Errorf("after the last left %d and %d places are used", healthy.used, slow.used)
	}
}

func TestAttempts(t *testing.T) {
	t.Parallel()
	var h attempts
	for range 250 {
		h.add(Attempt{})
	}
	numbers := func(all []Attempt) string {
		if len(all) == 0 {
			return "none"
		}
		for i := range all[1:] {
			if all[i+1].Number != all[i].Number+1 {
				t.Errorf("%d comes after %d", all[i+1].Number, all[i].Number)
			}
		}
		return fmt.Sprint(all[0].Number, " to ", all[len(all)-1].Number)
	}
	taken := h.take(30)
	if got := numbers(taken); got != "221 to 250" {
		t.Errorf("taken are %s", got)
	}
	if got := numbers(h.take(30)); got != "none" {
		t.Errorf("left are %s", got)
	}
	h.add(Attempt{})
	h.putBack(taken)
	h.add(Attempt{})
	if got := numbers(h.take(100)); got != "221 to 252" {
		t.Errorf("after they were put back there are %s", got)
	}
	for range 120 {
		h.add(Attempt{})
	}
	taken = h.take(100)
	for range 60 {
		h.add(Attempt{})
	}
	h.putBack(taken)
	if got := numbers(h.take(100)); got != "333 to 432" {
		t.Errorf("of too many there are %s", got)
	}
}

func TestReadable(t *testing.T) {
	t.Parallel()
	for body, want := range cases.Sorted(map[string]string{
		"": "", "ok": "ok", "a\x00b": "a\uFFFDb", "\xff\xfe": "\uFFFD", "aé": "a\uFFFD", "abcd": "ab",
	}) {
		if got := readable([]byte(body), 2); body != "a\x00b" && got != want {
			t.Errorf("%q reads %q, want %q", body, got, want)
		}
	}
	if got := readable([]byte("a\x00b"), 10); got != "a\uFFFDb" {
		t.Errorf("it reads %q", got)
	}
}
