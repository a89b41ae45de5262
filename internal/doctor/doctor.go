// Package doctor looks at everything that a gateway stands on, and says of each thing whether
// it is as it should be and what to do if not. It changes nothing, takes no lock, and may run
// beside the gateway. `recado doctor` calls it.
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
	// patience is how long one check may take, grace how long after that it may take to notice.
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
	Check string `json:"check"` // what was looked at
	State State  `json:"state"`
	Found string `json:"found"` // for people
	Do    string `json:"do"`    // what to do about it; empty if there is nothing to do
}

// Config says what is looked at: what the gateway is started with.
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

// Examine looks at everything, side by side, in some ten seconds at most. The findings are in
// the same order each time, and at least one for each thing that is looked at.
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

// checks are those that can be made side by side.
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
	}
}

// examine makes checks side by side. One that hangs, as on a file system whose server is gone,
// is left behind: nothing can end it.
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

// longest bounds what is quoted of others in a finding.
const longest = 600

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
	if len(text) <= longest {
		return text
	}
	return strings.ToValidUTF8(text[:longest], "") + "…"
}
