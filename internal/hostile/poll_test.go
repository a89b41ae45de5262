package hostile_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"testing"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/sandbox/content"
)

// forger sends votes and responses that no honest client sends.
type forger struct {
	*besieged

	t      *testing.T
	pollID string // or that of the calendar event
	secret []byte // of the poll
}

// forger answers a message that the customer has got. secretIn finds the secret with which answers
// are encrypted.
func (b *besieged) forger(t *testing.T, sent client.Sent, secretIn func(*waE2E.Message) []byte) *forger {
	t.Helper()
	b.Phones.AwaitMessage(t, customerNumber, sent.MessageID)
	kept, err := b.Server.Messages().Find(t.Context(), b.id, gateway.ParseMessageRef(sent.ID))
	if err != nil {
		t.Fatal(err)
	}
	var message waE2E.Message
	if err := proto.Unmarshal(kept.Payload, &message); err != nil {
		t.Fatal(err)
	}
	f := &forger{besieged: b, t: t, pollID: sent.MessageID, secret: secretIn(&message)}
	if len(f.secret) == 0 {
		t.Fatal("the message has no secret")
	}
	return f
}

// lid is the address of a phone in what votes are encrypted with.
func (f *forger) lid(number string) types.JID {
	f.t.Helper()
	jid, err := types.ParseJID(f.Phones.Get(f.t, number).LID)
	if err != nil {
		f.t.Fatal(err)
	}
	return jid
}

// ballot is that of somebody in the shop's poll.
func (f *forger) ballot(voter string) content.Ballot {
	f.t.Helper()
	return content.Ballot{Secret: f.secret, PollID: f.pollID, Author: f.lid(shopNumber), Voter: f.lid(voter)}
}

// vote has a phone send a vote in a poll, encrypted as the ballot says.
func (f *forger) vote(by, pollID string, ballot content.Ballot, choices ...string) {
	f.t.Helper()
	value, err := ballot.Seal(choices)
	if err != nil {
		f.t.Fatal(err)
	}
	f.Phones.SendRaw(f.t, by, shopNumber, mustMarshal(f.t, &waE2E.Message{PollUpdateMessage: &waE2E.PollUpdateMessage{
		PollCreationMessageKey: &waCommon.MessageKey{RemoteJID: new(f.lid(shopNumber).String()), FromMe: new(false), ID: &pollID}, Vote: value,
	}}), nil)
}

// votesIn are what the events say that people chose.
func votesIn(t *testing.T, events []client.Event) (votes [][]string) {
	t.Helper()
	for _, event := range events {
		if event.Type != client.TypeMessagePollVote {
			continue
		}
		var vote client.MessagePollVoteEvent
		if err := json.Unmarshal(event.Data, &vote); err != nil {
			t.Fatal(err)
		}
		votes = append(votes, vote.Options)
	}
	return votes
}

// Nobody votes in somebody else's name, without having the poll, or for more than it allows.
func TestForgedVotes(t *testing.T) {
	t.Parallel()
	b := besiege(t, "")
	sent, err := b.Client.SendPoll(t.Context(), b.id, client.Poll{To: customerNumber, Question: "What?", Options: []string{"a", "b"}})
	if err != nil {
		t.Fatal(err)
	}
	f := b.forger(t, sent, func(m *waE2E.Message) []byte { _, secret := content.PollOf(m); return secret })
	right, guessed := f.ballot(customerNumber), f.ballot(customerNumber)
	guessed.Secret = []byte("a guess")
	f.vote(customerNumber, f.pollID, f.ballot(stranger), "a") // in another name
	f.vote(stranger, f.pollID, f.ballot(stranger), "a")       // from another chat
	f.vote(customerNumber, f.pollID, guessed, "a")
	f.vote(customerNumber, "3EB0NOTHING", right, "a")
	f.vote(customerNumber, f.pollID, right, "a", "b") // the poll allows one
	b.Phones.SendRaw(t, customerNumber, shopNumber, mustMarshal(t, &waE2E.Message{PollUpdateMessage: &waE2E.PollUpdateMessage{
		PollCreationMessageKey: &waCommon.MessageKey{RemoteJID: new("\x00"), ID: &f.pollID}, Vote: &waE2E.PollEncValue{EncIV: []byte{1}, EncPayload: []byte{2}},
	}}), nil)
	if votes := votesIn(t, b.unharmed(t)); len(votes) > 0 {
		t.Errorf("forged votes are reported: %v", votes)
	}
	// Of a vote for an option that the poll does not have, the rest counts.
	f.vote(customerNumber, f.pollID, right, "b", "b", "z")
	if votes := votesIn(t, b.unharmed(t)); len(votes) != 1 || !slices.Equal(votes[0], []string{"b"}) {
		t.Errorf("reported are the votes %v", votes)
	}
	stands, err := b.Client.GetVotes(t.Context(), b.id, sent.ID)
	if err != nil || stands.Voters != 1 || stands.Options[0].Votes != 0 || stands.Options[1].Votes != 1 {
		t.Errorf("the poll stands at %+v (%v)", stands, err)
	}
}

// A poll with ten thousand options, some of them alike, and more answers than options is
// shown in part.
func TestHugePoll(t *testing.T) {
	t.Parallel()
	b := besiege(t, "")
	poll := &waE2E.PollCreationMessage{Name: new("huge"), SelectableOptionsCount: new(uint32(1 << 31))}
	for n := range 10_000 {
		poll.Options = append(poll.Options, &waE2E.PollCreationMessage_Option{OptionName: new(strconv.Itoa(n % 500))})
	}
	id := b.Phones.SendRaw(t, stranger, shopNumber, mustMarshal(t, &waE2E.Message{PollCreationMessage: poll}), nil)
	b.unharmed(t)
	votes, err := b.Client.GetVotes(t.Context(), b.id, id)
	if err != nil || len(votes.Options) != gateway.MaxListed || votes.MaxAnswers != 0 {
		t.Errorf("the poll has %d options, of which %d may be chosen (%v)", len(votes.Options), votes.MaxAnswers, err)
	}
}
