package gateway

import "time"

// Idempotency remembers that a client's send was accepted under a key of the
// client's choosing, so that a repeat sends nothing.
type Idempotency struct {
	KeyID       string // the API key that sent it
	Key         string // the client's Idempotency-Key
	RequestHash []byte // of the request: the same key with another request is refused
	InstanceID  string
	MessageID   string // internal identifier of the message that was accepted
	// Failure is the error of the first request after its message was accepted; nil if
	// it succeeded or has no answer yet.
	Failure   *Error
	CreatedAt time.Time
}
