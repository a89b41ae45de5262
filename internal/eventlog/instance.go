package eventlog

import "github.com/recado-project/recado/internal/gateway"

// InstanceStatus tells that the status of the instance changed.
type InstanceStatus struct {
	Status         string  `json:"status" doc:"One of the statuses of an instance."`
	PreviousStatus string  `json:"previousStatus" doc:"The status before."`
	Reason         *string `json:"reason" doc:"logged_out, unlinked_on_phone, banned, replaced, client_outdated, connection_lost, qr_expired, payment or stopped; null where there is no more to say."`
	MessengerJID   *string `json:"messengerJid" doc:"The linked account; null where nothing is linked."`
	MessengerLID   *string `json:"messengerLid" doc:"Its LID."`
}

// NewInstanceStatus makes the data of a change from a status to that of
// instance.
func NewInstanceStatus(instance gateway.Instance, previous gateway.Status) InstanceStatus {
	return InstanceStatus{
		Status: string(instance.Status), PreviousStatus: string(previous), Reason: orNull(instance.Reason),
		MessengerJID: orNull(instance.Profile.JID), MessengerLID: orNull(instance.Profile.LID),
	}
}

// Kind is instance.status.
func (InstanceStatus) Kind() Kind { return KindInstanceStatus }

// InstanceQR tells a new code to scan, in the form of the QR endpoint.
type InstanceQR struct {
	InstanceID string `json:"instanceId" doc:"The instance, as in the envelope."`
	QRCode     string `json:"qrCode" doc:"A PNG data URI."`
	ExpiresAt  int64  `json:"expiresAt" doc:"Unix time in milliseconds."`
	Attempt    int    `json:"attempt" doc:"Counts from 1 in each linking."`
}

// Kind is instance.qr.
func (InstanceQR) Kind() Kind { return KindInstanceQR }

// InstanceRestricted tells that the platform restricts writing to new contacts.
type InstanceRestricted struct {
	Until     *Time   `json:"until" doc:"null where it is not known."`
	Recipient *Person `json:"recipient" doc:"The message to whom was refused; null where the platform told it unasked."`
}

// NewInstanceRestricted makes the data of a restriction.
func NewInstanceRestricted(restriction gateway.Restriction) InstanceRestricted {
	return InstanceRestricted{Until: TimeOrNull(restriction.Until), Recipient: NewPerson(restriction.Recipient)}
}

// Kind is instance.restricted.
func (InstanceRestricted) Kind() Kind { return KindInstanceRestricted }

// WebhookSuspended tells that nothing is delivered any more until the
// configuration is saved again or resumed.
type WebhookSuspended struct {
	Reason       string `json:"reason" doc:"gone where the endpoint answered 410, unreachable where nothing succeeded for too long."`
	FailingSince *Time  `json:"failingSince" doc:"When it began to fail; of an answer 410, that moment."`
	// NextSequence is the first event that waits.
	NextSequence int64 `json:"nextSequence" doc:"The first event that was not delivered."`
}

// Kind is instance.webhook_suspended.
func (WebhookSuspended) Kind() Kind { return KindWebhookSuspended }

// EventsExpired tells that retention removed events that had not been delivered.
type EventsExpired struct {
	FromSequence int64 `json:"fromSequence" doc:"The first that is gone."`
	ToSequence   int64 `json:"toSequence" doc:"The last that is gone."`
}

// Kind is events.expired.
func (EventsExpired) Kind() Kind { return KindEventsExpired }

// WebhookTest is an event that only tries the endpoint.
type WebhookTest struct {
	Message string `json:"message" doc:"For people."`
}

// Kind is webhook.test.
func (WebhookTest) Kind() Kind { return KindWebhookTest }
