package gateway

import (
	"encoding/json"
	"strings"
	"time"
)

// Status is the state of an instance (contract, "States and transitions").
type Status string

// The statuses of the contract.
const (
	StatusCreated         Status = "created"
	StatusConnecting      Status = "connecting"
	StatusPendingQR       Status = "pending_qr_code_scan"
	StatusConnected       Status = "connected"
	StatusStopped         Status = "stopped"
	StatusManuallyStopped Status = "manually_stopped"
	StatusError           Status = "error"
	StatusQRTimeout       Status = "qr_timeout"
	StatusPaymentPending  Status = "payment_pending"
)

// Reason says why a status changed, if the status itself does not say it. It may be
// empty.
type Reason string

// The reasons (events: instance.status).
const (
	ReasonLoggedOut      Reason = "logged_out"
	ReasonUnlinked       Reason = "unlinked_on_phone"
	ReasonBanned         Reason = "banned"
	ReasonReplaced       Reason = "replaced"
	ReasonClientOutdated Reason = "client_outdated"
	ReasonConnectionLost Reason = "connection_lost"
	ReasonQRExpired      Reason = "qr_expired"
	ReasonPayment        Reason = "payment"
	ReasonStopped        Reason = "stopped"

	// The proxy of the instance can't be reached, does not take its credentials, or does
	// not reach the platform.
	ReasonProxyUnreachable Reason = "proxy_unreachable"
	ReasonProxyAuth        Reason = "proxy_auth_failed"
	ReasonProxyPlatform    Reason = "proxy_platform_unreachable"
)

// Instance is one session of a messenger account, linked or to be linked.
type Instance struct {
	ID        string // UUID v7
	AccountID string
	Name      string
	// ExternalName is what the account's programs call the instance, and no other of the account;
	// empty: nothing.
	ExternalName string
	Status       Status
	Reason       Reason // of the last change of Status

	// Device names the session's keys in the connector's store; empty if nothing is
	// linked.
	Device string
	// Profile is the account that the instance is linked to; empty if there is none.
	Profile Profile

	// Proxy is what every connection of the instance to the platform goes through.
	Proxy Proxy
	// Label is what a phone shows of the device, from the next linking on.
	Label DeviceLabel
	// Sending is what the instance keeps to when it sends.
	Sending SendingRules
	// Switches are its settings that are on or off.
	Switches Switches
	// Restricted is the restriction of the account that the platform has spoken of last.
	Restricted Restricted

	CreatedAt time.Time
	UpdatedAt time.Time
}

// Switches are what an instance does of its own accord, or leaves. All of it is off at first. They are kept as JSON
// under these names, so that a new one needs no column.
type Switches struct {
	// ReadMessages tells people that their messages were read as soon as those are stored, ReadStatuses the same
	// of status posts.
	ReadMessages bool `json:"readMessages,omitempty"`
	ReadStatuses bool `json:"readStatuses,omitempty"`
	// AlwaysOnline shows the account online while the instance is connected.
	AlwaysOnline bool `json:"alwaysOnline,omitempty"`
	// IgnoreGroups drops what comes in of groups: nothing of it is kept, and it has no events.
	IgnoreGroups bool `json:"ignoreGroups,omitempty"`
}

// Linked reports whether the instance holds the keys of a session, connected or
// not.
func (i Instance) Linked() bool { return i.Device != "" }

// DeviceLabel is what a phone shows of a linked device. An empty field means the default.
type DeviceLabel struct {
	Name string
	Kind DeviceKind
}

// MaxDeviceName is how many characters the name of a label may have.
const MaxDeviceName = 50

// DeviceKind says what sort of device a label shows.
type DeviceKind string

// DeviceKinds lists the kinds of devices.
func DeviceKinds() []DeviceKind {
	return []DeviceKind{DeviceDesktop, DeviceChrome, DeviceEdge, DeviceFirefox, DeviceOpera, DeviceSafari, DeviceIPad, DeviceTablet}
}

// The kinds of devices.
const (
	DeviceDesktop DeviceKind = "desktop" // the default
	DeviceChrome  DeviceKind = "chrome"
	DeviceEdge    DeviceKind = "edge"
	DeviceFirefox DeviceKind = "firefox"
	DeviceOpera   DeviceKind = "opera"
	DeviceSafari  DeviceKind = "safari"
	DeviceIPad    DeviceKind = "ipad"
	DeviceTablet  DeviceKind = "tablet" // with Android
)

// Profile is the messenger account behind a linked instance.
type Profile struct {
	JID        JID
	LID        JID
	Name       string
	PictureURL string
}

// Cleaned returns the profile safe to keep, with a name and a URL within their
// bounds.
func (p Profile) Cleaned() Profile {
	p.Name, p.PictureURL = CleanName(p.Name), CleanURL(p.PictureURL)
	return p
}

// QRCode is what a person scans to link an instance.
type QRCode struct {
	Code      string // the raw string that the picture encodes
	ExpiresAt time.Time
	Attempt   int // counts from 1 in each linking
}

// PairingCode is what a person types on the phone instead of scanning.
type PairingCode struct {
	Code      string // eight characters
	ExpiresAt time.Time
}

// PasskeyState is how far the question for a passkey is.
type PasskeyState string

// The states of the question.
const (
	// PasskeyNone is when nothing is asked.
	PasskeyNone PasskeyState = "none"
	// PasskeyRequested is when a browser on the platform's page has to sign the request.
	PasskeyRequested PasskeyState = "requested"
	// PasskeyConfirm is when somebody has to confirm that the phone shows the same code,
	// or the phone is about to link the device.
	PasskeyConfirm PasskeyState = "confirm"
	// PasskeyDone is when the device is linked.
	PasskeyDone PasskeyState = "done"
	// PasskeyFailed is when the question ended without a link. The code that is shown
	// next begins another one.
	PasskeyFailed PasskeyState = "failed"
)

// PasskeyQuestion is the platform's question for a passkey, which comes after a phone has
// scanned or typed a code.
type PasskeyQuestion struct {
	State PasskeyState
	// Request is what navigator.credentials.get takes as publicKey, as JSON
	// (PublicKeyCredentialRequestOptions of WebAuthn). Only while it is requested.
	Request   json.RawMessage
	ExpiresAt time.Time // while it is requested or to be confirmed
	Code      string    // eight characters; only while it is to be confirmed
	Confirmed bool      // here; the phone may still have to
	Reason    string    // why it failed, for people
}

// Open reports whether something is still to be done.
func (q PasskeyQuestion) Open() bool { return q.State == PasskeyRequested || q.State == PasskeyConfirm }

// platformPage is the messenger's own page, on which a request for its name is signed.
const platformPage = "https://web.whatsapp.com"

// PasskeyPage returns the page on which a browser signs a request: the messenger's own, or
// "" if the request is for another name, as the sandbox's is.
func PasskeyPage(request json.RawMessage) string {
	name := PasskeyName(request)
	if name == "" || strings.HasSuffix(platformPage, "."+name) || strings.HasSuffix(platformPage, "/"+name) {
		return platformPage
	}
	return ""
}

// PasskeyName returns the name that a request is for (rpId), "" if it has none.
func PasskeyName(request json.RawMessage) string {
	var named struct {
		RPID string `json:"rpId"`
	}
	if json.Unmarshal(request, &named) != nil {
		return ""
	}
	return named.RPID
}

// PasskeySnippet returns what signs a request in the console of a browser, and copies what
// it has signed.
func PasskeySnippet(request json.RawMessage) string {
	return "copy(JSON.stringify((await navigator.credentials.get({publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(" +
		string(request) + ")})).toJSON()))"
}
