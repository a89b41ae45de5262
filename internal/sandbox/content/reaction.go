// Reactions in the group in which a community announces, which only those who have the message can
// read.

package content

import (
	"crypto/rand"
	"fmt"
	"time"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"
)

const reactionPurpose = "Enc Reaction"

// SecretOf returns the secret with which a message is reacted to, voted for and responded to; nil if
// it carries none.
func SecretOf(m *waE2E.Message) []byte {
	for range 4 { // clients do not nest deeper
		if secret := m.GetMessageContextInfo().GetMessageSecret(); secret != nil {
			return secret
		}
		inner, _ := ViewOnce(Unwrap(m))
		if inner == m {
			return nil
		}
		m = inner
	}
	return nil
}

// Secretive gives a message a secret, if it carries none.
func Secretive(m *waE2E.Message) {
	if SecretOf(m) != nil {
		return
	}
	secret := make([]byte, secretBytes)
	rand.Read(secret)
	SetSecret(m, secret)
}

// SetSecret gives a message a secret.
func SetSecret(m *waE2E.Message, secret []byte) {
	if m.MessageContextInfo == nil {
		m.MessageContextInfo = &waE2E.MessageContextInfo{}
	}
	m.MessageContextInfo.MessageSecret = secret
}

// SealReaction makes the message with a reaction to the message of the ballot, which key names. An
// empty emoji takes the last one back.
func (b Ballot) SealReaction(emoji string, key *waCommon.MessageKey, now time.Time) (*waE2E.Message, error) {
	plain, err := proto.Marshal(&waE2E.ReactionMessage{Text: &emoji, SenderTimestampMS: new(now.UnixMilli())})
	if err != nil {
		return nil, fmt.Errorf("content: write a reaction: %w", err)
	}
	payload, iv, err := b.seal(reactionPurpose, plain)
	if err != nil {
		return nil, err
	}
	return &waE2E.Message{EncReactionMessage: &waE2E.EncReactionMessage{TargetMessageKey: key, EncPayload: payload, EncIV: iv}}, nil
}

// OpenReaction decrypts a reaction. ok is false if it was made for something else, or by somebody
// else.
func (b Ballot) OpenReaction(sealed *waE2E.EncReactionMessage) (emoji string, ok bool) {
	plain, ok := b.open(reactionPurpose, sealed.GetEncPayload(), sealed.GetEncIV())
	if !ok {
		return "", false
	}
	var opened waE2E.ReactionMessage
	if err := proto.Unmarshal(plain, &opened); err != nil {
		return "", false
	}
	return opened.GetText(), true
}
