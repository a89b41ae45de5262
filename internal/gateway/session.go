package gateway

import (
	"context"
	"io"
	"os"
	"time"
)

// Session is one device of a messenger account, linked, as use cases work with it: each takes
// the part that it needs. The parts may be used concurrently.
type Session interface {
	Account() OwnAccount
	Messages() Messages
	Files() Files
	People() People
	Groups() Groups
	Channels() Channels
	Chats() Chats
	Calls() Calls
}

// Sessions finds the sessions of instances.
type Sessions interface {
	// Session returns the session of an instance that is connected. Its error is Conflict for
	// any other one.
	Session(ctx context.Context, instanceID string) (Session, error)
}

// SupervisedSession is a session, linked or being linked, for its supervisor, who alone starts
// and ends it. What happens to it goes to its Lifecycle, what it receives to its Receiver.
type SupervisedSession interface {
	Session
	Linking

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
	// ConfirmPasskey says that the phone shows the same code. It is idempotent. Without
	// a code to confirm the error is Conflict.
	ConfirmPasskey(ctx context.Context) error
	// Logout asks the platform to forget this device and removes the keys.
	// Afterwards the session is closed.
	Logout(ctx context.Context) error
}

// Messages is the part of a session that hands messages to the platform, and asks the phone for
// older ones.
type Messages interface {
	// Send sends a message and returns when the platform has acknowledged it,
	// refused it (PlatformFailed, RateLimited), or kept silent (PlatformTimeout).
	Send(ctx context.Context, out Outgoing) (Sent, error)
	// EncodeChange writes the payload of the message that carries a change of another
	// message to the platform: an edit of one's own message, with its new content, its
	// deletion, or a reaction to any message. It reads only the change's kind and the
	// fields that belong to that kind.
	EncodeChange(key MessageKey, change Change) ([]byte, error)
	// MarkRead sends the sender of a message a receipt that it was read. more are the platform's
	// identifiers of others by the same sender in the same chat.
	MarkRead(ctx context.Context, key MessageKey, at time.Time, more ...string) error
	// RequestOlder asks the phone for messages of a chat that are older than one of it, and
	// returns the identifier of the request. A HistoryAnswer says how it ends. Its error is
	// Conflict too while another request for the chat waits.
	RequestOlder(ctx context.Context, before Message, count int) (requestID string, err error)
}

// Files is the part of a session that transfers the files of messages.
type Files interface {
	// Upload encrypts a file and leaves it with the platform, for a message of that type in
	// that chat to point to. For a channel it is not encrypted. A file that was uploaded not long
	// ago is not uploaded again.
	Upload(ctx context.Context, chat JID, kind MessageType, file File) (Upload, error)
	// Download fetches the file of a message and decrypts it into file. A file that
	// the platform no longer has is requested from the phone; if the phone does not
	// have it either, the error is NotFound.
	Download(ctx context.Context, key MessageKey, payload []byte, file *os.File) error
}

// File is a file to be left with the platform.
type File struct {
	Content io.ReadSeeker // read from its start
	// SHA256 is the hash of the content, as it was computed here. Messages whose files have the same
	// may share an upload; nil is for a file that is its message's alone.
	SHA256 []byte
}

// People is the part of a session about other people. It is larger than other ports because
// all of it works with the addresses that a device knows of a person.
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
	// ContactDetails asks the platform what somebody says of themselves.
	ContactDetails(ctx context.Context, who Party) (ContactDetails, error)
	// NameContact writes a name into the address book, on all devices of the account. Its
	// error is Conflict before the phone has given this device its keys, and if the platform
	// refuses.
	NameContact(ctx context.Context, who Party, name string) error
	// Addresses returns both addresses of people, as far as this device knows them. The
	// platform is not asked.
	Addresses(ctx context.Context, people []JID) ([]Party, error)
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
	Payload    []byte // from Encoder.Encode or Messages.EncodeChange
	// Stored waits until the message is stored. It is called before anything is sent, and if
	// it fails nothing is. It may be called again; nil means that the message is stored.
	Stored func(ctx context.Context) error
}

// Sent is the platform's acknowledgement.
type Sent struct {
	At time.Time // the platform's clock
	// Chat holds the addresses under which the chat is known now; sending may have
	// made the LID known.
	Chat Party
}
