// Votes in polls. Only those who have the poll can read who voted for what.

package content

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"fmt"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/sandbox/refusal"
)

const (
	secretBytes = 32 // of a poll's secret, and of the key that is made of it
	votePurpose = "Poll Vote"
)

// Poll is what a poll offers.
type Poll struct {
	Options    []string `json:"options"`
	MaxAnswers int      `json:"maxAnswers"` // how many of them somebody may choose; 0: any number
}

// Vote is somebody's vote in a poll.
type Vote struct {
	From    string   `json:"from"`
	Options []string `json:"options"`
}

// Ballot is what the key of a vote is made of.
type Ballot struct {
	Secret        []byte // of the poll
	PollID        string
	Author, Voter types.JID // without devices
}

// cipher makes what encrypts the vote, and the data that it is bound to.
func (b Ballot) cipher() (gcm cipher.AEAD, bound []byte, err error) {
	info := b.PollID + b.Author.String() + b.Voter.String() + votePurpose
	key, err := hkdf.Key(sha256.New, b.Secret, nil, info, secretBytes)
	if err != nil {
		return nil, nil, fmt.Errorf("content: key of a vote: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, nil, fmt.Errorf("content: key of a vote: %w", err)
	}
	if gcm, err = cipher.NewGCM(block); err != nil {
		return nil, nil, fmt.Errorf("content: key of a vote: %w", err)
	}
	return gcm, []byte(b.PollID + "\x00" + b.Voter.String()), nil
}

// Seal encrypts a vote for options of the poll.
func (b Ballot) Seal(options []string) (*waE2E.PollEncValue, error) {
	vote := &waE2E.PollVoteMessage{}
	for _, option := range options {
		hash := sha256.Sum256([]byte(option))
		vote.SelectedOptions = append(vote.SelectedOptions, hash[:])
	}
	plain, err := proto.Marshal(vote)
	if err != nil {
		return nil, fmt.Errorf("content: write a vote: %w", err)
	}
	gcm, bound, err := b.cipher()
	if err != nil {
		return nil, err
	}
	iv := make([]byte, gcm.NonceSize())
	rand.Read(iv)
	return &waE2E.PollEncValue{EncPayload: gcm.Seal(nil, iv, plain, bound), EncIV: iv}, nil
}

// Open decrypts a vote, and returns which of the poll's options it names. ok is false if it
// was made for something else, or by somebody else.
func (b Ballot) Open(value *waE2E.PollEncValue, poll Poll) (options []string, ok bool) {
	gcm, bound, err := b.cipher()
	if err != nil || len(value.GetEncIV()) != gcm.NonceSize() {
		return nil, false
	}
	plain, err := gcm.Open(nil, value.GetEncIV(), value.GetEncPayload(), bound)
	if err != nil {
		return nil, false
	}
	var vote waE2E.PollVoteMessage
	if err := proto.Unmarshal(plain, &vote); err != nil {
		return nil, false
	}
	chosen := map[[sha256.Size]byte]bool{}
	for _, hash := range vote.GetSelectedOptions() {
		if len(hash) == sha256.Size {
			chosen[[sha256.Size]byte(hash)] = true
		}
	}
	options = []string{}
	for _, option := range poll.Options {
		if chosen[sha256.Sum256([]byte(option))] {
			options = append(options, option)
		}
	}
	return options, poll.MaxAnswers == 0 || len(options) <= poll.MaxAnswers
}

// PollOf returns what a poll offers, and its secret; nil if the message is none.
func PollOf(m *waE2E.Message) (poll *Poll, secret []byte) {
	inner, _ := ViewOnce(Unwrap(m))
	found := pollOf(inner)
	if found == nil {
		return nil, nil
	}
	poll = &Poll{Options: []string{}, MaxAnswers: int(found.GetSelectableOptionsCount())}
	for _, option := range found.GetOptions() {
		poll.Options = append(poll.Options, option.GetOptionName())
	}
	return poll, inner.GetMessageContextInfo().GetMessageSecret()
}

// CheckVote refuses options that the poll does not have, and too many of them.
func (p Poll) CheckVote(options []string) error {
	known := map[string]bool{}
	for _, option := range p.Options {
		known[option] = true
	}
	for _, option := range options {
		if !known[option] {
			return refusal.Invalidf("options", "must be options of the poll")
		}
	}
	if p.MaxAnswers > 0 && len(options) > p.MaxAnswers {
		return refusal.Invalidf("options", "are more than the poll allows")
	}
	return nil
}
