package watchtest_test

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/postgres"
	"github.com/recado-project/recado/internal/whatsapp"
)

// page fetches the page of metrics. The disk of the machine that the tests run on may be full;
// that is not what they are about.
func page(t *testing.T, g *testkit.Gateway) string {
	t.Helper()
	status, content := get(t, g.Server.AdminURL()+"/metrics")
	if status != http.StatusOK {
		t.Fatalf("the page of metrics answers %d: %s", status, content)
	}
	content = set(t, content, "recado_disk_free_bytes", 500<<30)
	return set(t, content, "recado_disk_size_bytes", 1000<<30)
}

// healthyPage is the page of a program that works.
func healthyPage(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	g := testkit.Start(t, testkit.Options{Admin: true, DataDir: folder, Platform: whatsapp.Config{ClockEvery: 10 * time.Millisecond}})
	live(t, g)
	backUp(t, folder, "")
	testkit.Await(t, "everything was delivered", func() bool {
		found := scrape(t, g)
		return found.value("recado_events_delivered_total", "kind=message.sent") == 3 && found.value("recado_queue_messages") == 0 && found["recado_clock_offset_seconds"] != nil &&
			found.value("recado_webhook_attempt_duration_seconds", "outcome=delivered") > 3
	})
	return page(t, g)
}

// subject is a program to which something is about to happen.
type subject struct {
	*testkit.Gateway

	t     *testing.T
	id    string // of its one instance
	sink  *testkit.Sink
	ahead *atomic.Int64 // how much the program's clock is fast
}

// pass lets time pass on the program's clock.
func (s subject) pass(d time.Duration) { s.ahead.Add(int64(d)) }

// until returns the page on which a value is at least so much.
func (s subject) until(least float64, name string, labels ...string) string {
	s.t.Helper()
	testkit.Await(s.t, name, func() bool {
		s.pass(10 * time.Second) // what was read from the database is old by now
		return scrape(s.t, s.Gateway).value(name, labels...) >= least
	})
	return page(s.t, s.Gateway)
}

func (s subject) text(words string) error {
	_, err := s.Client.SendText(s.t.Context(), s.id, client.Text{To: customerNumber, Message: words})
	return err
}

// platformAway is the case in which no instance can connect.
const platformAway = "the platform is away for an hour"

// provocation makes something happen that should be noticed.
type provocation struct {
	alerts  []string
	options testkit.Options
	outage  bool // of a PostgreSQL database
	// provoke returns what scrapes find from then on.
	provoke func(s subject) []stretch
	begun   func(s subject) // before the first scrape; may be nil
}

// provoked makes what can go wrong with a program go wrong, and returns what it says of
// itself meanwhile. It adds the alerts that should fire to want.
func provoked(t *testing.T, want map[string][]string) map[string][]stretch {
	t.Helper()
	var mu sync.Mutex
	cases := map[string][]stretch{}
	t.Run("provoked", func(t *testing.T) {
		for name, p := range provocations() {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := subject{t: t, ahead: new(atomic.Int64), sink: testkit.NewSink(t)}
				p.options.Admin = true
				if p.options.Platform.ClockEvery == 0 {
					p.options.Platform.ClockEvery = 24 * time.Hour // time passes for the program alone
				}
				p.options.Now = func() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) }
				if p.outage {
					p.options.DatabaseURL = postgres.Start(t)
				}
				s.Gateway = testkit.Start(t, p.options)
				s.id = s.Link(t, shopNumber)
				if !p.outage { // it could not save how far it is
					if _, err := s.Client.SaveWebhookConfig(t.Context(), s.id, client.NewWebhookConfig{WebhookURL: s.sink.URL}); err != nil {
						t.Fatal(err)
					}
				}
				if p.begun != nil {
					p.begun(s)
				}
				before := stretch{Content: page(t, s.Gateway), Minutes: 30}
				if p.outage {
					defer postgres.Outage(t, p.options.DatabaseURL)()
				}
				after := p.provoke(s)
				mu.Lock()
				defer mu.Unlock()
				cases[name], want[name] = append([]stretch{before}, after...), p.alerts
			})
		}
	})
	return cases
}

func provocations() map[string]provocation {
	hurried := testkit.Options{Platform: whatsapp.Config{SendTimeout: 2 * time.Second}}
	return map[string]provocation{
		"the database is away": {alerts: []string{"RecadoDatabaseDown"}, outage: true, provoke: func(s subject) []stretch {
			testkit.Await(s.t, "the outage is noticed", func() bool {
				s.pass(10 * time.Second)
				return scrape(s.t, s.Gateway).value("recado_database_up") == 0
			})
			return []stretch{{Content: page(s.t, s.Gateway), Minutes: 5}}
		}},
		"the phone unlinks": {alerts: []string{"RecadoInstanceUnlinked"}, provoke: func(s subject) []stretch {
			s.Phones.Do(s.t, shopNumber, "unlink")
			s.AwaitStatus(s.t, s.id, gateway.StatusStopped)
			return []stretch{{Content: s.until(1, "recado_session_losses_total", "reason=unlinked_on_phone"), Minutes: 5}}
		}},
		"the account is banned": {alerts: []string{"RecadoInstancesInError"}, provoke: func(s subject) []stretch {
			s.Phones.Do(s.t, shopNumber, "ban")
			s.AwaitStatus(s.t, s.id, gateway.StatusError)
			return []stretch{{Content: s.until(1, "recado_instances", "status=error"), Minutes: 40}}
		}},
		"connections are cut again and again": {alerts: []string{"RecadoSessionsUnsteady"}, provoke: func(s subject) []stretch {
			for n := range 15 {
				s.Phones.Disconnect(s.t, shopNumber)
				s.until(float64(n+1), "recado_session_losses_total", "reason=connection_lost")
				s.AwaitStatus(s.t, s.id, gateway.StatusConnected)
			}
			return []stretch{{Content: page(s.t, s.Gateway), Minutes: 8}}
		}},
		platformAway: {alerts: []string{"RecadoSessionsDown", "RecadoSessionNotBack"}, provoke: func(s subject) []stretch {
			s.Phones.Faults(s.t, map[string]any{"refuseLogins": true})
			s.Phones.Disconnect(s.t, "")
			s.until(3, "recado_session_attempts_failed_total", "reason=hung_up")
			s.pass(time.Hour)
			s.until(1, "recado_instances", "status=connecting")
			return []stretch{{Content: s.until(3_600, "recado_sessions_oldest_connecting_seconds"), Minutes: 60}}
		}},
		"the client is outdated": {
			alerts: []string{"RecadoClientOutdated", "RecadoInstancesInError"}, provoke: func(s subject) []stretch {
				s.Phones.Faults(s.t, map[string]any{"outdated": true, "versionPage": "down"})
				s.Phones.Disconnect(s.t, "")
				s.AwaitStatus(s.t, s.id, gateway.StatusError)
				s.until(1, "recado_instances", "status=error")
				return []stretch{{Content: s.until(1, "recado_client_version_refused"), Minutes: 40}}
			},
		},
		"the clock is off": {
			alerts: []string{"RecadoClockOff"}, options: testkit.Options{Platform: whatsapp.Config{ClockEvery: 10 * time.Millisecond}}, provoke: func(s subject) []stretch {
				s.pass(3 * time.Minute)
				return []stretch{{Content: s.until(120, "recado_clock_offset_seconds"), Minutes: 40}}
			},
		},
		"a reload finds something wrong": {alerts: []string{"RecadoSettingsRefused"}, provoke: func(s subject) []stretch {
			s.Server.RefusedSettings(true)
			return []stretch{{Content: s.until(1, "recado_settings_refused"), Minutes: 40}}
		}},
		"nothing is acknowledged": {
			alerts: []string{"RecadoSendsFail", "RecadoRequestsFail"}, options: hurried,
			begun: func(s subject) { // the first of all does not count as more than before
				s.Phones.Faults(s.t, map[string]any{"dropAcks": 1})
				if s.text("lost") == nil {
					s.t.Error("a send is answered that nobody has acknowledged")
				}
			},
			provoke: func(s subject) []stretch {
				for range 4 {
					_ = s.text("lost") // it fails
				}
				return []stretch{{Content: page(s.t, s.Gateway), Minutes: 8}}
			},
		},
		"acknowledgements take long": {alerts: []string{"RecadoSendsSlow"}, begun: func(s subject) {
			if err := s.text("at once"); err != nil {
				s.t.Error(err)
			}
		}, provoke: func(s subject) (stretches []stretch) {
			s.Phones.Faults(s.t, map[string]any{"ackDelayMs": 5_500})
			for range 2 {
				if err := s.text("slowly"); err != nil {
					s.t.Error(err)
				}
				stretches = append(stretches, stretch{Content: page(s.t, s.Gateway), Minutes: 8})
			}
			return stretches
		}},
		"the queue is stuck": {alerts: []string{"RecadoQueueStuck"}, options: hurried, provoke: func(s subject) []stretch {
			s.Phones.Faults(s.t, map[string]any{"dropAcks": 1})
			// A receipt would show that the message was sent after all.
			s.Phones.Update(s.t, customerNumber, map[string]any{"online": false})
			if _, err := s.Client.SendText(s.t.Context(), s.id, client.Text{To: customerNumber, Message: "later", Prefer: client.RespondAsync}); err != nil {
				s.t.Fatal(err)
			}
			s.until(1, "recado_send_duration_seconds", "kind=text", "outcome=timeout")
			return []stretch{{Content: s.until(700, "recado_queue_overdue_seconds"), Minutes: 10}}
		}},
		"an endpoint hangs": {alerts: []string{"RecadoWebhookBacklog"}, provoke: func(s subject) []stretch {
			hangs := make(chan struct{})
			s.t.Cleanup(func() { close(hangs) })
			s.sink.Answer(func(testkit.Delivered) int { <-hangs; return http.StatusOK })
			if err := s.text("to be delivered"); err != nil {
				s.t.Error(err)
			}
			return []stretch{{Content: s.until(400, "recado_webhook_oldest_waiting_seconds", "state=ok"), Minutes: 10}}
		}},
		"an endpoint fails": {alerts: []string{"RecadoWebhookEndpointsFailing"}, provoke: func(s subject) []stretch {
			s.sink.Answer(func(testkit.Delivered) int { return http.StatusInternalServerError })
			if err := s.text("to be delivered"); err != nil {
				s.t.Error(err)
			}
			return []stretch{{Content: s.until(1, "recado_webhooks", "state=backoff"), Minutes: 40}}
		}},
		"an endpoint is gone": {alerts: []string{"RecadoWebhookSuspended"}, provoke: func(s subject) []stretch {
			s.sink.Answer(func(testkit.Delivered) int { return http.StatusGone })
			if err := s.text("to be delivered"); err != nil {
				s.t.Error(err)
			}
			return []stretch{{Content: s.until(1, "recado_webhooks", "state=suspended"), Minutes: 5}}
		}},
		"an endpoint refuses one event": {alerts: []string{"RecadoDeadLetters"}, provoke: func(s subject) []stretch {
			s.sink.Answer(func(d testkit.Delivered) int {
				if strings.Contains(string(d.Body), "unbearable") {
					return http.StatusUnprocessableEntity
				}
				return http.StatusNoContent
			})
			s.Phones.SendText(s.t, customerNumber, shopNumber, "unbearable")
			testkit.Await(s.t, "the event is given up", func() bool {
				s.pass(time.Hour)
				// Another chat shows that the endpoint works, and that time has passed.
				s.Phones.SendText(s.t, otherNumber, shopNumber, "bearable")
				return scrape(s.t, s.Gateway).value("recado_webhook_events_given_up_total") >= 1
			})
			return []stretch{{Content: page(s.t, s.Gateway), Minutes: 5}}
		}},
	}
}
