// Instances, and how they are linked.

package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// The statuses of an instance: Instance.Status and InstanceStatusEvent hold one.
const (
	StatusCreated         = "created"
	StatusConnecting      = "connecting"
	StatusPendingQR       = "pending_qr_code_scan"
	StatusConnected       = "connected"
	StatusStopped         = "stopped"
	StatusManuallyStopped = "manually_stopped"
	StatusError           = "error"
	StatusQRTimeout       = "qr_timeout"
	StatusPaymentPending  = "payment_pending"
)

// Instance is a linked session of a messenger account, or one that waits to be
// linked. The Messenger fields are empty while no account is linked.
type Instance struct {
	InstanceID             string    `json:"instanceId"`
	Name                   string    `json:"name"`
	Status                 string    `json:"status"` // one of the statuses above
	MessengerJID           string    `json:"messengerJid"`
	MessengerLID           string    `json:"messengerLid"`
	MessengerID            string    `json:"messengerId"`
	MessengerName          string    `json:"messengerName"`
	MessengerProfilePicURL string    `json:"messengerProfilePicUrl"`
	CreatedAt              time.Time `json:"createdAt"`
	UpdatedAt              time.Time `json:"updatedAt"`

	// Proxy is the URL of the proxy to the platform, with *** in place of the password;
	// empty if there is none. ProxyProblem is the ReasonProxy… why the instance does not
	// come through it now; empty if it does.
	Proxy        string `json:"proxy,omitempty"`
	ProxyProblem string `json:"proxyProblem,omitempty"`
	// Device is what the phone lists of the device, from the next linking on.
	Device DeviceLabel `json:"device,omitzero"`

	// Pace, Typing and NumberChecks are what the instance keeps to when it writes; zero is
	// off.
	Pace   Pace `json:"pace,omitzero"`
	Typing bool `json:"typing,omitempty"`
	// RejectCalls is whether calls of people are rejected; RejectCallsText is what the
	// callers get, empty for nothing.
	RejectCalls     bool   `json:"rejectCalls,omitempty"`
	RejectCallsText string `json:"rejectCallsText,omitempty"`
	NumberChecks    Budget `json:"numberChecks,omitzero"`
	// RestrictedUntil is until when the platform does not let the account write to new
	// contacts; nil if it does.
	RestrictedUntil *time.Time `json:"restrictedUntil,omitempty"`
}

// Pace is how fast messages of an instance leave the queue. A zero field is off.
type Pace struct {
	GapSeconds      float64 `json:"gapSeconds,omitempty"`    // between two messages at least
	JitterSeconds   float64 `json:"jitterSeconds,omitempty"` // the most that chance adds
	PerMinute       int     `json:"perMinute,omitempty"`
	NewChatsPerHour int     `json:"newChatsPerHour,omitempty"` // messages that begin a chat
	NewChatsPerDay  int     `json:"newChatsPerDay,omitempty"`
}

// Budget is how often something may happen within any hour and any day. A zero field is
// off.
type Budget struct {
	PerHour int `json:"perHour,omitempty"`
	PerDay  int `json:"perDay,omitempty"`
}

// DeviceLabel is what a phone lists of a linked device. Empty fields mean the defaults:
// Recado, and desktop.
type DeviceLabel struct {
	Name string `json:"name,omitempty"`
	Kind string `json:"kind,omitempty"` // desktop, chrome, edge, firefox, opera, safari, ipad or tablet
}

// InstanceChange is what is to be changed of an instance. A nil field stays as it is; empty
// means the default, which a name does not have.
type InstanceChange struct {
	Name *string
	// Proxy is socks5h://user:password@host:port, socks5://, http:// or https://. Empty
	// means no proxy.
	Proxy  *string
	Device *DeviceChange

	Pace   *PaceChange
	Typing *bool
	// RejectCalls rejects calls of people; RejectCallsText is what callers get, empty for
	// nothing.
	RejectCalls     *bool
	RejectCallsText *string
	NumberChecks    *BudgetChange
}

// PaceChange is what is to be changed of a Pace. A nil field stays as it is; zero is off.
type PaceChange struct {
	GapSeconds      *float64 `json:"gapSeconds,omitempty"`    // to the millisecond, up to an hour
	JitterSeconds   *float64 `json:"jitterSeconds,omitempty"` // up to an hour
	PerMinute       *int     `json:"perMinute,omitempty"`
	NewChatsPerHour *int     `json:"newChatsPerHour,omitempty"`
	NewChatsPerDay  *int     `json:"newChatsPerDay,omitempty"`
}

// BudgetChange is what is to be changed of a Budget. A nil field stays as it is; zero is
// off.
type BudgetChange struct {
	PerHour *int `json:"perHour,omitempty"`
	PerDay  *int `json:"perDay,omitempty"`
}

// DeviceChange is what is to be changed of what the phone lists.
type DeviceChange struct {
	Name, Kind *string
}

// MarshalJSON writes the change as a merge patch: null for a default, and nothing for what
// stays.
func (c InstanceChange) MarshalJSON() ([]byte, error) {
	patch := map[string]any{}
	if c.Name != nil {
		patch["name"] = *c.Name
	}
	setOrRemove(patch, "proxy", c.Proxy)
	if c.Device != nil {
		device := map[string]any{}
		setOrRemove(device, "name", c.Device.Name)
		setOrRemove(device, "kind", c.Device.Kind)
		patch["device"] = device
	}
	if c.Pace != nil {
		patch["pace"] = c.Pace
	}
	if c.RejectCalls != nil {
		patch["rejectCalls"] = *c.RejectCalls
	}
	if c.RejectCallsText != nil {
		if patch["rejectCallsText"] = *c.RejectCallsText; *c.RejectCallsText == "" {
			patch["rejectCallsText"] = nil
		}
	}
	if c.Typing != nil {
		patch["typing"] = *c.Typing
	}
	if c.NumberChecks != nil {
		patch["numberChecks"] = c.NumberChecks
	}
	return json.Marshal(patch)
}

func setOrRemove(patch map[string]any, field string, value *string) {
	switch {
	case value == nil:
	case *value == "":
		patch[field] = nil
	default:
		patch[field] = *value
	}
}

// Limits are what an instance has to heed when it writes, and what it has used up.
type Limits struct {
	Restriction  Restriction `json:"restriction"`
	Pace         PaceUse     `json:"pace"`
	NewChats     BudgetUse   `json:"newChats"`
	NumberChecks BudgetUse   `json:"numberChecks"`
	Unanswered   Unanswered  `json:"unanswered"`
}

// Restriction is the platform's refusal of messages that begin a chat. Its times are nil if
// it is not active.
type Restriction struct {
	Active bool       `json:"active"`
	Since  *time.Time `json:"since"`
	Until  *time.Time `json:"until"` // an hour after the platform has last said so where it has told no end
}

// PaceUse is how much of a pace is used. Nil means that any number is permitted.
type PaceUse struct {
	Waiting        int  `json:"waiting"` // messages in the queue
	SentLastMinute int  `json:"sentLastMinute"`
	PerMinute      *int `json:"perMinute"`
}

// BudgetUse is how much of a budget is used. Nil means that any number is permitted.
type BudgetUse struct {
	LastHour int  `json:"lastHour"`
	LastDay  int  `json:"lastDay"`
	PerHour  *int `json:"perHour"`
	PerDay   *int `json:"perDay"`
}

// Unanswered is how many of the people who were written to in the last days have not written
// since.
type Unanswered struct {
	Days     int `json:"days"`
	Messages int `json:"messages"` // to those who have not
	Chats    int `json:"chats"`    // those who have not
	OfChats  int `json:"ofChats"`  // all who were written to
}

// QRCode is a code that a phone scans to link an instance.
type QRCode struct {
	InstanceID string `json:"instanceId"`
	// QRCode is a PNG as a data URI, or the raw text.
	QRCode    string `json:"qrCode"`
	ExpiresAt int64  `json:"expiresAt"` // Unix time in milliseconds
	Attempt   int    `json:"attempt"`
}

// PairingCode is a code that a person types on the phone instead of scanning.
type PairingCode struct {
	InstanceID  string `json:"instanceId"`
	PairingCode string `json:"pairingCode"`
	ExpiresAt   int64  `json:"expiresAt"` // Unix time in milliseconds
}

// ListInstances returns a page of the instances in the scope of the key, oldest
// first. Zero means the first page, and a hundred instances.
func (c *Client) ListInstances(ctx context.Context, page, limit int) (Page[Instance], error) {
	var out Page[Instance]
	err := c.call(ctx, http.MethodGet, "/api/instances"+pageQuery(page, limit), nil, &out)
	return out, err
}

// Instances yields all instances in the scope of the key, oldest first, fetched page
// by page. An error ends the sequence.
func (c *Client) Instances(ctx context.Context) iter.Seq2[Instance, error] {
	return items(func(page int) (Page[Instance], error) { return c.ListInstances(ctx, page, 0) })
}

// Instance returns one instance. Its error has CodeInstanceNotFound if there is none
// with that id.
func (c *Client) Instance(ctx context.Context, instanceID string) (Instance, error) {
	var out Instance
	err := c.call(ctx, http.MethodGet, instancePath(instanceID, ""), nil, &out)
	return out, err
}

// ChangeInstance changes settings of an instance and returns it. A new proxy is tried before
// it is set; the error has CodeProxyUnreachable, CodeProxyAuthFailed or CodeProxyPlatform
// if it does not work.
func (c *Client) ChangeInstance(ctx context.Context, instanceID string, change InstanceChange) (Instance, error) {
	var out Instance
	err := c.call(ctx, http.MethodPatch, instancePath(instanceID, ""), change, &out)
	return out, err
}

// Limits returns what an instance has to heed when it writes.
func (c *Client) Limits(ctx context.Context, instanceID string) (Limits, error) {
	var out Limits
	err := c.call(ctx, http.MethodGet, instancePath(instanceID, "/limits"), nil, &out)
	return out, err
}

// QRCode starts linking if necessary, and returns the code to scan now, as a PNG data
// URI.
func (c *Client) QRCode(ctx context.Context, instanceID string) (QRCode, error) {
	var out QRCode
	err := c.call(ctx, http.MethodGet, instancePath(instanceID, "/qr"), nil, &out)
	return out, err
}

// RawQRCode is QRCode with the text that the picture encodes.
func (c *Client) RawQRCode(ctx context.Context, instanceID string) (QRCode, error) {
	var out QRCode
	err := c.call(ctx, http.MethodGet, instancePath(instanceID, "/qr?format=raw"), nil, &out)
	return out, err
}

// PairingCode starts linking if necessary, and returns the characters to type on the
// phone with that number.
func (c *Client) PairingCode(ctx context.Context, instanceID, phone string) (PairingCode, error) {
	var out PairingCode
	in := map[string]string{"phone": phone}
	err := c.call(ctx, http.MethodPost, instancePath(instanceID, "/pairing-code"), in, &out)
	return out, err
}

// Passkey is the platform's question for a passkey, which many accounts answer before
// they link a device.
type Passkey struct {
	InstanceID string          `json:"instanceId"`
	State      string          `json:"state"`     // none, requested, confirm, done or failed
	Request    json.RawMessage `json:"request"`   // while requested: the publicKey of navigator.credentials.get, as JSON
	ExpiresAt  int64           `json:"expiresAt"` // while requested or to be confirmed: Unix time in milliseconds
	Code       string          `json:"code"`      // while to be confirmed: what the phone shows too
	Confirmed  bool            `json:"confirmed"` // by ConfirmPasskey, or because the platform needs no comparison
	Reason     string          `json:"reason"`    // why it failed
}

// Passkey returns the platform's question for a passkey. It comes when a phone has scanned
// or typed the code.
func (c *Client) Passkey(ctx context.Context, instanceID string) (Passkey, error) {
	var out Passkey
	err := c.call(ctx, http.MethodGet, instancePath(instanceID, "/passkey"), nil, &out)
	return out, err
}

// AnswerPasskey hands over what a browser has signed: the JSON of credential.toJSON().
func (c *Client) AnswerPasskey(ctx context.Context, instanceID string, assertion json.RawMessage) error {
	return c.call(ctx, http.MethodPost, instancePath(instanceID, "/passkey"), assertion, nil)
}

// ConfirmPasskey says that the phone shows the same code as the question.
func (c *Client) ConfirmPasskey(ctx context.Context, instanceID string) error {
	return c.call(ctx, http.MethodPost, instancePath(instanceID, "/passkey/confirm"), nil, nil)
}

// Restart reconnects a linked instance, and starts linking one that is not.
func (c *Client) Restart(ctx context.Context, instanceID string) error {
	return c.call(ctx, http.MethodPost, instancePath(instanceID, "/restart"), nil, nil)
}

// Logout ends the instance's session on the platform and removes its keys.
func (c *Client) Logout(ctx context.Context, instanceID string) error {
	return c.call(ctx, http.MethodPost, instancePath(instanceID, "/logout"), nil, nil)
}

func instancePath(instanceID, rest string) string {
	return "/api/instances/" + url.PathEscape(instanceID) + rest
}
