// Events about the delivery of events.

package eventlog

// The kinds of events about the delivery of events.
const (
	KindWebhookSuspended Kind = "instance.webhook_suspended"
	KindEventsExpired    Kind = "events.expired"
	KindWebhookTest      Kind = "webhook.test"
)

func deliveryKinds() []Description {
	return []Description{
		{WebhookSuspended{}, "the webhook was suspended"},
		{EventsExpired{}, "events were removed before they were delivered"},
		{WebhookTest{}, "you asked for a test"},
	}
}

// WebhookSuspended reports that nothing is delivered any more until the webhook is
// saved again or resumed.
type WebhookSuspended struct {
	WebhookID    string `json:"webhookId" doc:"The webhook."`
	Reason       string `json:"reason" words:"gone,unreachable" doc:"gone where the endpoint answered 410, unreachable where nothing succeeded for too long."`
	FailingSince *Time  `json:"failingSince" doc:"When the endpoint began to fail; after an answer 410, the time of that answer."`
	NextSequence int64  `json:"nextSequence" doc:"The first event that was not delivered."`
}

// Kind is instance.webhook_suspended.
func (WebhookSuspended) Kind() Kind { return KindWebhookSuspended }

// EventsExpired reports that retention removed events that had not been delivered.
type EventsExpired struct {
	FromSequence int64 `json:"fromSequence" doc:"The first event that was removed."`
	ToSequence   int64 `json:"toSequence" doc:"The last event that was removed."`
}

// Kind is events.expired.
func (EventsExpired) Kind() Kind { return KindEventsExpired }

// WebhookTest is an event that only tests the endpoint.
type WebhookTest struct {
	Message string `json:"message" doc:"A sentence for people."`
}

// Kind is webhook.test.
func (WebhookTest) Kind() Kind { return KindWebhookTest }
