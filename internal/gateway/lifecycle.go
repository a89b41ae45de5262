package gateway

import "context"

// Lifecycle is informed of what happens to a session: the linking, the connection
// and the account. Calls may come from several goroutines. An implementation does
// one short thing and returns: the session stands still meanwhile. Methods without
// an error return when the change is written, however long that takes, or when ctx
// ends or the session is closed.
type Lifecycle interface {
	LinkingLifecycle
	ConnectionLifecycle
	AccountLifecycle
}

// LinkingLifecycle is informed of how a session is linked to an account.
type LinkingLifecycle interface {
	// CodeShown passes on the code that a person may scan now.
	CodeShown(ctx context.Context, code QRCode)
	// PasskeyChanged passes on the platform's question for a passkey, and each change of
	// it. The codes that were shown before it are void.
	PasskeyChanged(ctx context.Context, question PasskeyQuestion)
	// CodesExpired says that the last code ran out; the session is over.
	CodesExpired(ctx context.Context)
	// Pairing names the keys of a link that a phone has just accepted, before they
	// are used. An error refuses the link.
	Pairing(ctx context.Context, device string) error
	// Paired says that the phone's acceptance is complete; the session connects
	// with its new keys.
	Paired(ctx context.Context)
	// PairingFailed says that a link that the phone had accepted failed after all;
	// the session goes on with new keys and new codes.
	PairingFailed(ctx context.Context)
}

// ConnectionLifecycle is informed of a session's connection and of its end.
type ConnectionLifecycle interface {
	// Connected says that the session is up, and for which account. After an error
	// the connection is made anew, because the instance would not know of this one.
	Connected(ctx context.Context, profile Profile) error
	// ConnectionLost says that the session is down and will be made anew. trouble
	// is why the platform could not be reached, nil if it was reached.
	ConnectionLost(ctx context.Context, trouble error)
	// Refused says that the platform refuses the session for good; it is over.
	Refused(ctx context.Context, reason Reason)
	// Outdated says that the platform refuses the version of the client, and that there is
	// no other one to try; why says it in words. The session goes on, and tries again when
	// a newer version was looked up.
	Outdated(ctx context.Context, why error)
	// LoggedOut says that the phone has unlinked the session; its keys are gone.
	LoggedOut(ctx context.Context)
}

// AccountLifecycle is informed of changes of the session's own account.
type AccountLifecycle interface {
	// ProfileChanged passes on a new name of the account.
	ProfileChanged(ctx context.Context, profile Profile)
	// PictureChanged passes on the URL of the account's profile picture; empty if
	// it has none.
	PictureChanged(ctx context.Context, url string)
}
