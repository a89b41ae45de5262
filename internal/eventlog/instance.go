// Events about the instance itself.

package eventlog

import (
	"encoding/json"

	"github.com/recado-project/recado/internal/gateway"
)

// The kinds of events about the instance itself.
const (
	KindInstanceStatus     Kind = "instance.status"
	KindInstanceQR         Kind = "instance.qr"
	KindInstancePasskey    Kind = "instance.passkey"
	KindInstanceRestricted Kind = "instance.restricted"
)

func instanceKinds() []Description {
	return []Description{
		{InstanceStatus{}, "the status of the instance changed, or why it does not come through its proxy"},
		{InstanceQR{}, "there is a new code to scan"},
		{InstancePasskey{}, "the platform asks for a passkey before it links, or that went on"},
		{InstanceRestricted{}, "the platform restricts writing to new contacts"},
	}
}

// InstanceStatus reports that the status of the instance changed, or the reason why it
// does not come through its proxy while it is connecting.
type InstanceStatus struct {
	Status         string  `json:"status" doc:"One of the statuses of an instance."`
	PreviousStatus string  `json:"previousStatus" doc:"The status before."`
	Reason         *string `json:"reason" words:"logged_out,unlinked_on_phone,banned,replaced,client_outdated,connection_lost,proxy_unreachable,proxy_auth_failed,proxy_platform_unreachable,qr_expired,payment,stopped" doc:"logged_out, unlinked_on_phone, banned, replaced, client_outdated, connection_lost, proxy_unreachable, proxy_auth_failed, proxy_platform_unreachable, qr_expired, payment or stopped; null where no reason is known."`
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

// InstanceQR carries a new code to scan, as the operation for QR codes answers it.
type InstanceQR struct {
	InstanceID string `json:"instanceId" format:"uuid" doc:"The instance."`
	QRCode     string `json:"qrCode" doc:"The code: a PNG as a data URI, or the text that it encodes where an answer was asked for with format=raw." example:"data:image/png;base64,iVBORw0KGgo="`
	Code       string `json:"code" doc:"The text that the picture encodes, to draw the picture yourself." example:"https://wa.me/settings/linked_devices#2@…"`
	ExpiresAt  int64  `json:"expiresAt" doc:"When the code expires, Unix time in milliseconds." example:"1795012930123"`
	Attempt    int    `json:"attempt" doc:"Number of the code within one linking, counted from 1." example:"1"`
}

// Kind is instance.qr.
func (InstanceQR) Kind() Kind { return KindInstanceQR }

// InstancePasskey carries the platform's question for a passkey, and each change of it.
type InstancePasskey struct {
	State     string          `json:"state" words:"requested,confirm,done,failed" doc:"requested, confirm, done or failed."`
	Request   *map[string]any `json:"request" doc:"While requested: what navigator.credentials.get takes as publicKey."`
	ExpiresAt *Time           `json:"expiresAt" doc:"While requested or to be confirmed."`
	Code      *string         `json:"code" doc:"To compare with the phone, while it is to be confirmed."`
	Reason    *string         `json:"reason" doc:"Why it failed, for people."`
}

// NewInstancePasskey makes the data of a question.
func NewInstancePasskey(question gateway.PasskeyQuestion) (InstancePasskey, error) {
	event := InstancePasskey{
		State: string(question.State), ExpiresAt: TimeOrNull(question.ExpiresAt), Code: orNull(question.Code), Reason: orNull(question.Reason),
	}
	if question.Request == nil {
		return event, nil
	}
	err := json.Unmarshal(question.Request, &event.Request)
	return event, err
}

// Kind is instance.passkey.
func (InstancePasskey) Kind() Kind { return KindInstancePasskey }

// InstanceRestricted reports that the platform restricts writing to new contacts.
type InstanceRestricted struct {
	Until     *Time   `json:"until" doc:"null where it is not known."`
	Recipient *Person `json:"recipient" doc:"The recipient of the message that was refused; null where the platform announced the restriction by itself."`
}

// NewInstanceRestricted makes the data of a restriction.
func NewInstanceRestricted(restriction gateway.Restriction) InstanceRestricted {
	return InstanceRestricted{Until: TimeOrNull(restriction.Until), Recipient: NewPerson(restriction.Recipient)}
}

// Kind is instance.restricted.
func (InstanceRestricted) Kind() Kind { return KindInstanceRestricted }
