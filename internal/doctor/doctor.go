// Package doctor checks everything that a gateway stands on, and says what is wrong and what to do about it.
// It changes nothing, takes no lock, and may run while the gateway does. `recado doctor` calls it.
package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/seal"
	"github.com/recado-project/recado/internal/server"
)

const (
	// patience is how long one check may take, grace how much longer to wait until it notices that.
	patience, grace = 9 * time.Second, time.Second
)

// State is how something is.
type State string

// The states.
const (
	OK      State = "ok"
	Warning State = "warning" // it works, and should be looked at
	Wrong   State = "wrong"   // it does not work, or something can be lost
)

// Finding is what was found out about one thing.
type Finding struct {
	Check string `json:"check"` // what was checked
	State State  `json:"state"`
	Found string `json:"found"` // for people
	Do    string `json:"do"`    // what to do about it; empty if there is nothing to do
}

// Config says what is checked: what the gateway is started with.
type Config struct {
	Server server.Config // without the master key
	Master seal.Source
	// Settings is what reading the settings has found.
	Settings []Finding
	Now      func() time.Time // required
}

// examination is one run of all checks.
type examination struct {
	config   Config
	patience time.Duration // for one check

	opened

	platformClock chan clocked // gets one value
}

// check looks at one thing, and returns what it has found.
type check struct {
	name string
	look func(ctx context.Context) []Finding
}

// Examine makes all checks concurrently, in some ten seconds at most. The findings come in the same order
// each time, at least one for each check.
func Examine(ctx context.Context, config Config) []Finding {
	return newExamination(config).run(ctx)
}

func newExamination(config Config) *examination {
	return &examination{config: config, patience: patience, platformClock: make(chan clocked, 1)}
}

func (e *examination) run(ctx context.Context) []Finding {
	findings := e.settings()
	e.open(ctx)
	if e.database != nil {
		defer func() { _ = e.database.Close() }() // it was only read
	}
	return append(findings, e.examine(ctx, e.checks())...)
}

// checks are those that can be made concurrently.
func (e *examination) checks() []check {
	return []check{
		{"master key", e.masterKey},
		{"data folder", e.folder},
		{"disk", e.space},
		{"fsync", e.fsync},
		{"database", e.databaseItself},
		{"durability", e.durability},
		{"clock", e.clocks},
		{"files", e.files},
		{"ffmpeg", e.ffmpeg},
		{"platform", e.platform},
		{"proxies", e.proxies},
		{"public address", e.public},
		{"nodes", e.otherNodes},
		{"instances", e.instances},
		{"webhooks", e.webhooks},
		{"dialects", e.dialects},
	}
}

// examine makes checks concurrently. It abandons a check that hangs, such as one of a file system whose server
// is gone: nothing can end it.
func (e *examination) examine(ctx context.Context, checks []check) []Finding {
	found := make([]chan []Finding, len(checks))
	ctx, cancel := context.WithTimeout(ctx, e.patience)
	defer cancel()
	for i, one := range checks {
		found[i] = make(chan []Finding, 1)
		go func() { found[i] <- one.look(ctx) }()
	}
	var all []Finding
	late := time.NewTimer(e.patience + grace)
	defer late.Stop()
	hangs := false
	for i, one := range checks {
		if !hangs {
			select {
			case findings := <-found[i]:
				all = append(all, findings...)
				continue
			case <-late.C:
				hangs = true
			}
		}
		select {
		case findings := <-found[i]:
			all = append(all, findings...)
		default:
			all = append(all, Finding{
				one.name, Wrong, fmt.Sprintf("there was no answer within %s", e.patience+grace),
				"find out what hangs: a disk, a mounted file system, or the network",
			})
		}
	}
	return all
}

// maxQuoted bounds what a finding quotes of others.
const maxQuoted = 600

// ok, warning and wrong make the findings of a check.
func ok(check, format string, args ...any) Finding {
	return Finding{check, OK, bounded(fmt.Sprintf(format, args...)), ""}
}

func warning(check, do, format string, args ...any) Finding {
	return Finding{check, Warning, bounded(fmt.Sprintf(format, args...)), do}
}

func wrong(check, do, format string, args ...any) Finding {
	return Finding{check, Wrong, bounded(fmt.Sprintf(format, args...)), do}
}

func bounded(text string) string {
	if len(text) <= maxQuoted {
		return text
	}
	return strings.ToValidUTF8(text[:maxQuoted], "") + "…"
}
