package gateway

import (
	"context"
	"io"
	"os"
	"time"
)

// Connector opens sessions on the messenger platform. It is safe for concurrent
// use.
type Connector interface {
	// Open prepares the session of an instance: with the keys that device
	// names, or with new keys where it is empty or its keys are gone. Nothing
	// happens on the network before Start.
	Open(ctx context.Context, device string, handler SessionHandler) (Session, error)
	// Encode writes content as the platform's clients do, the payload of a
	// message that Send takes.
	Encode(content Content) ([]byte, error)
	// EncodeEdited writes the payload of a text message with another text.
	EncodeEdited(payload []byte, text string) ([]byte, error)
	// EncodeForwarded writes the payload of a message that passes another one
	// on: its content with the platform's mark, without its quote.
	EncodeForwarded(payload []byte) ([]byte, error)
	// Describe reads what the payload of a message holds besides its text. It may
	// look people up, so it is called where nobody waits for a lock.
	Describe(ctx context.Context, payload []byte) (Details, error)
	// MediaOf describes the file of a message, and reports whether it has one.
	MediaOf(payload []byte) (Media, bool, error)
	// Forget removes the keys that device names without telling the platform.
	// Keys that are not there are no error.
	Forget(ctx context.Context, device string) error
}

// Session is one device of a messenger account, linked or being linked. Its
// methods may be called concurrently.
type Session interface {
	// Self returns the account that the session belongs to; empty before it is
	// linked.
	Self() Party
	// Linked reports whether the session has keys that the platform accepted.
	Linked() bool
	// Start begins connecting, and linking where nothing is linked. It returns
	// at once; the handler hears what comes of it. A lost connection is made
	// anew until Close.
	Start()
	// PairingCode asks for the eight characters that a person types on the
	// phone of number instead of scanning. The session must be showing codes.
	PairingCode(ctx context.Context, number string) (PairingCode, error)
	// Resolve asks the platform which numbers have an account. The answer has
	// the order of the numbers.
	Resolve(ctx context.Context, numbers []string) ([]Registration, error)
	// NewMessageID chooses the identifier of a message before it is sent.
	NewMessageID() string
	// Send sends a message and returns when the platform has acknowledged it,
	// refused it (PlatformFailed, RateLimited), or kept silent (PlatformTimeout).
	Send(ctx context.Context, out Outgoing) (Sent, error)
	// Upload encrypts a file and leaves it with the platform, for a message of
	// that type to point to. The file is read from its start.
	Upload(ctx context.Context, kind MessageType, file io.ReadSeeker) (Upload, error)
	// Download fetches the file of a message and decrypts it into file. What
	// the platform no longer has is asked for again from the phone; where that
	// has it no more either, the error is NotFound.
	Download(ctx context.Context, key MessageKey, payload []byte, file *os.File) error

	// EncodeChange writes the payload of the message that tells the platform of a
	// change to another one: an own message's edit, with its new content, or its
	// deletion, or a reaction to anybody's. Of the change only the kind and what
	// belongs to that are read.
	EncodeChange(key MessageKey, change Change) ([]byte, error)
	// MarkRead tells the sender of a message that it was read.
	MarkRead(ctx context.Context, key MessageKey, at time.Time) error

	// SetPresence shows a presence: to the chat, or of the account.
	SetPresence(ctx context.Context, chat JID, presence Presence) error
	// ProfilePicture returns where the picture of a person or group lies; empty
	// where there is none to be seen.
	ProfilePicture(ctx context.Context, of JID) (url string, err error)
	// SetBlocked blocks a person, or lifts it.
	SetBlocked(ctx context.Context, who JID, blocked bool) error
	// Group returns what is known about a group that this account is in. Its
	// error is NotFound for any other.
	Group(ctx context.Context, id JID) (Group, error)

	// Logout tells the platform to forget this device and removes the keys.
	// Afterwards the session is closed.
	Logout(ctx context.Context) error
	// Close ends the connection and everything the session started; the keys
	// stay. After it returns the handler hears nothing more.
	Close()
}

// SessionHandler hears what happens to a session. Calls about messages come in
// the order of the platform, one at a time; calls about the connection may come
// from other goroutines. A handler does one short thing and returns: the session
// stands still meanwhile. Those without an error return when what they were told
// is written, however long that takes, or when ctx ends or the session is closed.
type SessionHandler interface {
	// CodeShown tells the code that a person may scan now.
	CodeShown(ctx context.Context, code QRCode)
	// CodesExpired tells that the last code ran out; the session is over.
	CodesExpired(ctx context.Context)
	// Pairing tells the name of the keys of a link that a phone has just
	// accepted, before they are used. An error refuses the link.
	Pairing(ctx context.Context, device string) error
	// Paired tells that the phone's acceptance is complete; the session
	// connects with its new keys.
	Paired(ctx context.Context)
	// PairingFailed tells that a link did not come about after all; the session
	// goes on with new keys and new codes.
	PairingFailed(ctx context.Context)
	// Connected tells that the session is up, and for whom. After an error the
	// connection is made anew: nobody would know of this one.
	Connected(ctx context.Context, profile Profile) error
	// ProfileChanged tells a new name of the account.
	ProfileChanged(ctx context.Context, profile Profile)
	// PictureChanged tells where the account's profile picture lies; empty where
	// it has none.
	PictureChanged(ctx context.Context, url string)
	// ConnectionLost tells that the session is down and will be made anew. trouble
	// says why the platform could not be reached, nil where it was.
	ConnectionLost(ctx context.Context, trouble error)
	// Refused tells that the platform refuses the session for good; it is over.
	Refused(ctx context.Context, reason Reason)
	// LoggedOut tells that the phone has unlinked the session; its keys are gone.
	LoggedOut(ctx context.Context)

	// MessageArrived hands over a message, from somebody else or from another
	// device of this account. The platform is told "received" only after nil.
	MessageArrived(ctx context.Context, message Message) error
	// ChangeArrived hands over what somebody, here or there, did to a message
	// that exists. The platform is told "received" only after nil.
	ChangeArrived(ctx context.Context, change Change) error
	// ReceiptArrived hands over a receipt. The platform is told "received" only
	// after nil.
	ReceiptArrived(ctx context.Context, receipt Receipt) error

	// PresenceArrived tells what a contact shows. Presences are not kept by the
	// platform: one that is lost is gone.
	PresenceArrived(ctx context.Context, presence ContactPresence) error
	// GroupChangeArrived hands over a change of a group. The platform is told
	// "received" only after nil.
	GroupChangeArrived(ctx context.Context, change GroupChange) error
	// ContactChangeArrived hands over news about a contact.
	ContactChangeArrived(ctx context.Context, change ContactChange) error
	// CallArrived tells that a call rings.
	CallArrived(ctx context.Context, call Call) error
	// Restricted tells that the platform restricts this account.
	Restricted(ctx context.Context, restriction Restriction) error
	// HistoryArrived hands over messages from before the link, a bounded number
	// at a time. They are kept, and no events.
	HistoryArrived(ctx context.Context, messages []Message) error

	// SentPayload returns the payload of a message that this instance sent, or of
	// one that told of a change, for a recipient who could not decrypt it; false
	// where it is not known.
	SentPayload(ctx context.Context, chat JID, platformID string) (payload []byte, ok bool)
}

// Registration is the platform's answer about one number.
type Registration struct {
	Number string // as it was asked
	Exists bool
	JID    JID // of the account; empty where Exists is false
	LID    JID // empty where unknown
}

// Outgoing is a message on its way to the platform.
type Outgoing struct {
	PlatformID string
	Chat       JID
	Payload    []byte // from Connector.Encode or Session.EncodeChange
}

// Sent is the platform's acknowledgement.
type Sent struct {
	At time.Time // the platform's clock
	// Recipients is under which addresses the chat is known now; the LID may
	// have become known by sending.
	Chat Party
}
