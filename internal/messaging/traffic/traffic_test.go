package traffic_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging/traffic"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// counted is a store that has counted for one instance.
type counted struct {
	hours []gateway.Traffic
	err   error
}

func (c counted) CountTraffic(context.Context, string, time.Time, time.Time) ([]gateway.Traffic, error) {
	return c.hours, c.err
}

// street is traffic with a bell to ring.
type street struct {
	*traffic.Traffic

	bell *eventlog.Bell
}

func newStreet(t *testing.T, store traffic.Store) street {
	t.Helper()
	s := street{bell: new(eventlog.Bell)}
	var err error
	if s.Traffic, err = traffic.New(traffic.Config{
		Store: store, Bell: s.bell, Logger: slog.New(slog.DiscardHandler), Now: time.Now,
	}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := s.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { stop(); running.Wait() })
	s.TakeUp([]gateway.Tenure{{InstanceID: "a"}})
	synctest.Wait()
	return s
}

func (s street) ring(instanceID string, kinds ...eventlog.Kind) {
	var events []eventlog.Event
	for _, kind := range kinds {
		events = append(events, eventlog.Event{InstanceID: instanceID, Kind: kind})
	}
	s.bell.Ring(events)
}

// hours returns the hours of an instance in which there was something.
func (s street) hours(instanceID string) map[string]string {
	got := map[string]string{}
	for _, hour := range s.Hours(instanceID) {
		if hour.Received+hour.Sent > 0 {
			got[hour.Hour.Format("2 15:04")] = fmt.Sprint(hour.Received, " ", hour.Sent)
		}
	}
	return got
}

func TestTrafficIsCountedByTheHour(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // the clock begins on the 1st of January 2000
		time.Sleep(36*time.Hour + 30*time.Minute)
		earlier := time.Date(2000, 1, 2, 12, 0, 0, 0, time.UTC)
		s := newStreet(t, counted{hours: []gateway.Traffic{
			{Hour: earlier.Add(-24 * time.Hour), Received: 9}, {Hour: earlier.Add(-3 * time.Hour), Received: 2, Sent: 3}, {Hour: earlier, Received: 4},
		}})
		s.ring("a", eventlog.KindMessageReceived, eventlog.KindMessageStatus, eventlog.KindMessageSent)
		s.ring("a", eventlog.KindMessageReceived)
		s.ring("b", eventlog.KindMessageSent)
		s.ring("c", eventlog.KindPresence)
		for id, want := range cases.Sorted(map[string]map[string]string{
			"a": {"2 09:00": "2 3", "2 12:00": "6 1"}, "b": {"2 12:00": "0 1"}, "c": {}, "d": {},
		}) {
			if got := s.hours(id); !maps.Equal(got, want) || len(s.Hours(id)) != 24 {
				t.Errorf("%s has %v, want %v", id, got, want)
			}
		}
		for name, test := range cases.Sorted(map[string]struct {
			since time.Time
			want  gateway.Traffic
		}{
			"in this hour":    {earlier.Add(30 * time.Minute), gateway.Traffic{Hour: earlier, Received: 6, Sent: 1}},
			"in some hours":   {earlier.Add(-150 * time.Minute), gateway.Traffic{Hour: earlier.Add(-3 * time.Hour), Received: 8, Sent: 4}},
			"as far as known": {earlier.AddDate(-1, 0, 0), gateway.Traffic{Hour: earlier.Add(-24 * time.Hour), Received: 17, Sent: 4}},
		}) {
			got, err := s.Since(t.Context(), test.since, []string{"a", "d"})
			if err != nil {
				t.Fatal(err)
			}
			if got["a"] != test.want || got["d"].Received != 0 || len(got) != 2 {
				t.Errorf("%s: got %+v, want %+v", name, got, test.want)
			}
		}

		time.Sleep(23 * time.Hour)
		s.ring("b", eventlog.KindMessageSent)
		if got, want := s.hours("b"), map[string]string{"2 12:00": "0 1", "3 11:00": "0 1"}; !maps.Equal(got, want) {
			t.Errorf("a day later b has %v, want %v", got, want)
		}
		time.Sleep(4 * time.Hour)
		if got := s.Remembered(); got != 1 {
			t.Errorf("%d instances are remembered, want that with messages", got)
		}
	})
}

// A count that fails is no reason not to start.
func TestTrafficCountsWithoutThePast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStreet(t, counted{err: errors.New("no database")})
		s.ring("a", eventlog.KindMessageReceived)
		if got, want := s.hours("a"), map[string]string{"1 00:00": "1 0"}; !maps.Equal(got, want) {
			t.Errorf("a has %v, want %v", got, want)
		}
	})
}
