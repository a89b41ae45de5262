// Votes in polls. Only those who have the poll can read who voted for what.

package content

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

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

// Votes reads the votes that are kept with a poll, in the order of the voters.
func Votes(kept string) ([]Vote, error) {
	votes := map[string][]string{}
	if err := json.Unmarshal([]byte(kept), &votes); err != nil {
		return nil, fmt.Errorf("content: read votes: %w", err)
	}
	list := []Vote{}
	for _, from := range slices.Sorted(maps.Keys(votes)) {
		list = append(list, Vote{From: from, Options: votes[from]})
	}
	return list, nil
}

// WithVote adds somebody's vote to those that are kept with a poll, in the place of an earlier one.
// Without options, that one is taken back.
func WithVote(kept, from string, options []string) (string, error) {
	votes := map[string][]string{}
	if err := json.Unmarshal([]byte(kept), &votes); err != nil {
		return "", fmt.Errorf("content: read votes: %w", err)
	}
	votes[from] = options
	if len(options) == 0 {
		delete(votes, from)
	}
	encoded, err := json.Marshal(votes)
	if err != nil {
		return "", fmt.Errorf("content: write votes: %w", err)
	}
	return string(encoded), nil
}

// Ballot is what the key of a vote is made of, or of a response to a calendar event.
type Ballot struct {
	Secret        []byte // of the poll
	PollID        string
	Author, Voter types.JID // without devices
}

// cipher makes what encrypts the vote, and the data that it is bound to.
func (b Ballot) cipher(purpose string) (gcm cipher.AEAD, bound []byte, err error) {
	info := b.PollID + b.Author.String() + b.Voter.String() + purpose
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
	if purpose == editPurpose || purpose == reactionPurpose {
		return gcm, nil, nil
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
	payload, iv, err := b.seal(votePurpose, plain)
	if err != nil {
		return nil, err
	}
	return &waE2E.PollEncValue{EncPayload: payload, EncIV: iv}, nil
}

// seal encrypts something for a purpose.
func (b Ballot) seal(purpose string, plain []byte) (payload, iv []byte, err error) {
	gcm, bound, err := b.cipher(purpose)
	if err != nil {
		return nil, nil, err
	}
	iv = make([]byte, gcm.NonceSize())
	rand.Read(iv)
	return gcm.Seal(nil, iv, plain, bound), iv, nil
}

// open decrypts what was encrypted for a purpose.
func (b Ballot) open(purpose string, payload, iv []byte) (plain []byte, ok bool) {
	gcm, bound, err := b.cipher(purpose)
	if err != nil || len(iv) != gcm.NonceSize() {
		return nil, false
	}
	plain, err = gcm.Open(nil, iv, payload, bound)
	return plain, err == nil
}

// Open decrypts a vote, and returns which of the poll's options it names. ok is false if it
// was made for something else, or by somebody else.
func (b Ballot) Open(value *waE2E.PollEncValue, poll Poll) (options []string, ok bool) {
	plain, ok := b.open(votePurpose, value.GetEncPayload(), value.GetEncIV())
	if !ok {
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
