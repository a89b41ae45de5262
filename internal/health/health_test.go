package health

import (
	"context"
	"errors"
	"log/slog"
	"reflect"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/webhook"
)

// world is what a service looks at, with a clock that moves when the database is asked.
type world struct {
	now        time.Time
	takes      time.Duration
	broken     error
	used       int64
	summary    webhook.Summary
	free, disk int64
	refused    time.Time
}

func (w *world) version() gateway.ClientVersion {
	return gateway.ClientVersion{Version: "2.3000.1", RefusedSince: w.refused}
}

func (*world) Kind() string { return "SQLite" }

func (w *world) Ping(context.Context) error {
	w.now = w.now.Add(w.takes)
	return w.broken
}
func (*world) Size(context.Context) (int64, error) { return 4096, nil }
func (w *world) Used() (used, limit int64)         { return w.used, 1_000 }
func (w *world) Summarize() webhook.Summary        { return w.summary }

func TestReportNamesTheProblems(t *testing.T) {
	t.Parallel()
	const gigabyte = 1 << 30
	flows := func(flow webhook.Flow) webhook.Summary {
		return webhook.Summary{Flows: map[webhook.Flow]int{flow: 2}, Pending: 10_000}
	}
	for name, test := range cases.Sorted(map[string]struct {
		world  world
		ffmpeg bool
		want   []Problem
	}{
		"none":           {world{takes: time.Millisecond, free: 2 * gigabyte, disk: 20 * gigabyte, used: 900, summary: flows(webhook.FlowWaiting)}, true, nil},
		"unknown disk":   {world{}, true, nil},
		"little space":   {world{free: gigabyte - 1, disk: 2 * gigabyte}, true, []Problem{DiskFull}},
		"large and full": {world{free: 40 * gigabyte, disk: 1000 * gigabyte}, true, []Problem{DiskFull}},
		"slow":           {world{takes: time.Second}, true, []Problem{DatabaseSlow}},
		"several": {
			world{takes: time.Second, broken: errors.New("gone"), used: 901, summary: flows(webhook.FlowSuspended)},
			false,
			[]Problem{DatabaseSilent, WebhooksSuspended, FilesFull, NoFFmpeg},
		},
		"refused":     {world{refused: time.Unix(1, 0)}, true, []Problem{ClientOutdated}},
		"many events": {world{summary: webhook.Summary{Pending: 10_001}}, true, []Problem{EventsWait}},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &test.world
			service, err := New(Config{
				Database: w, Files: w, Webhooks: w, DataDir: "data", ClientVersion: w.version, Logger: slog.New(slog.DiscardHandler),
				Version: "1.2.3", FFmpeg: test.ffmpeg, Now: func() time.Time { return w.now },
			})
			if err != nil {
				t.Fatal(err)
			}
			service.free = func(string) (free, all int64, err error) { return w.free, w.disk, nil }
			w.now = w.now.Add(time.Hour)
			report := service.Report(t.Context())
			if !reflect.DeepEqual(report.Problems, test.want) {
				t.Errorf("the problems are %v, want %v", report.Problems, test.want)
			}
			if report.Uptime != time.Hour || report.Version != "1.2.3" || report.Client.Version != "2.3000.1" || report.Database.Ping != w.takes || report.Database.Answered != (w.broken == nil) {
				t.Errorf("reported %+v", report)
			}
		})
	}
}

func TestDiskSpace(t *testing.T) {
	t.Parallel()
	free, all, err := DiskSpace(t.TempDir())
	if errors.Is(err, errors.ErrUnsupported) {
		return
	}
	if err != nil || free <= 0 || all < free {
		t.Errorf("%d of %d bytes are free (%v)", free, all, err)
	}
	if _, _, err := DiskSpace("/nowhere/at/all"); err == nil {
		t.Error("a folder that does not exist has a disk")
	}
}
