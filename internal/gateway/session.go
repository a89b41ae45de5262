package gateway

import (
	"context"
	"io"
	"os"
	"time"
)

// Session is one device of a messenger account, linked or being linked. Its
// methods may be called concurrently. What happens to it goes to its Lifecycle,
// what it receives to its Receiver.
type Session interface {
	Linking
	Sending
	Files
	People
	Groups
	OwnAccount
	Contacts
	Chats
	Labels
	OlderMessages
	Calls
	Channels

	// Self returns the account that the session belongs to; empty before it is
	// linked.
	Self() Party
	// Start begins connecting, and linking if nothing is linked. It returns at
	// once; the lifecycle is informed of the result. A lost connection is made anew
	// until Close.
	Start()
	// Close ends the connection and everything the session started; the keys
	// stay. After it returns, neither the lifecycle nor the receiver is called.
	Close()
}

// Linking is the part of a session that binds it to an account and releases it.
type Linking interface {
	// Linked reports whether the session has keys that the platform accepted.
	Linked() bool
	// PairingCode asks for the eight characters that a person types on the
	// phone of number instead of scanning. The session must be showing codes.
	PairingCode(ctx context.Context, number string) (PairingCode, error)
	// AnswerPasskey hands the platform what a browser has signed for the question that is
	// open: the assertion as JSON (AuthenticationResponseJSON of WebAuthn). A wrong answer
	// is Invalid; one that was found wrong here may be given anew. Without such a question
	// the error is Conflict.
	AnswerPasskey(ctx context.Context, assertion []byte) error
	// ConfirmPasskey says that the phone shows the same code; it may be said again. Without
	// a code to confirm the error is Conflict.
	ConfirmPasskey(ctx context.Context) error
	// Logout asks the platform to forget this device and removes the keys.
	// Afterwards the session is closed.
	Logout(ctx context.Context) error
}

// Sending is the part of a session that hands messages to the platform.
type Sending interface {
	// Send sends a message and returns when the platform has acknowledged it,
	// refused it (PlatformFailed, RateLimited), or kept silent (PlatformTimeout).
	Send(ctx context.Context, out Outgoing) (Sent, error)
	// EncodeChange writes the payload of the message that carries a change of another
	// message to the platform: an edit of one's own message, with its new content, its
	// deletion, or a reaction to any message. It reads only the change's kind and the
	// fields that belong to that kind.
	EncodeChange(key MessageKey, change Change) ([]byte, error)
	// MarkRead sends the sender of a message a receipt that it was read.
	MarkRead(ctx context.Context, key MessageKey, at time.Time) error
}

// Files is the part of a session that transfers the files of messages.
type Files interface {
	// Upload encrypts a file and leaves it with the platform, for a message of that type in
	// that chat to point to. The file is read from its start. For a channel it is not encrypted.
	Upload(ctx context.Context, chat JID, kind MessageType, file io.ReadSeeker) (Upload, error)
	// Download fetches the file of a message and decrypts it into file. A file that
	// the platform no longer has is requested from the phone; if the phone does not
	// have it either, the error is NotFound.
	Download(ctx context.Context, key MessageKey, payload []byte, file *os.File) error
}

// People is the part of a session that is about contacts.
type People interface {
	// Resolve asks the platform which numbers have an account. The answer has
	// the order of the numbers.
	Resolve(ctx context.Context, numbers []string) ([]Registration, error)
	// SetPresence shows a presence: to the chat, or of the account.
	SetPresence(ctx context.Context, chat JID, presence Presence) error
	// FollowPresence asks the platform to report when a contact comes and goes. It forgets
	// that with the connection.
	FollowPresence(ctx context.Context, contact Party) error
	// DropPresence ignores what a contact shows of being online, until it is followed again or
	// written to: the platform can't be told.
	DropPresence(contact Party)
	// ProfilePicture returns the URL of the picture of a person or group; empty
	// if there is none that this account may see.
	ProfilePicture(ctx context.Context, of JID) (url string, err error)
	// SetBlocked blocks or unblocks a person.
	SetBlocked(ctx context.Context, who JID, blocked bool) error
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
	Payload    []byte // from Encoder.Encode or Session.EncodeChange
	// Kept waits until the message is kept. It is called before anything is sent, and if
	// it fails nothing is. It may be called again; nil means that the message is kept.
	Kept func(ctx context.Context) error
}

// Sent is the platform's acknowledgement.
type Sent struct {
	At time.Time // the platform's clock
	// Chat holds the addresses under which the chat is known now; sending may have
	// made the LID known.
	Chat Party
}
