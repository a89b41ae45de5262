package baileys

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/libsignal/groups"
	"go.mau.fi/libsignal/keys/identity"
	"go.mau.fi/libsignal/keys/prekey"
	"go.mau.fi/libsignal/protocol"
	"go.mau.fi/libsignal/serialize"
	signalsession "go.mau.fi/libsignal/session"
	"go.mau.fi/libsignal/state/record"
	signaltests "go.mau.fi/libsignal/tests"
	"go.mau.fi/libsignal/util/keyhelper"
	"go.mau.fi/libsignal/util/optional"
	wastore "go.mau.fi/whatsmeow/store"

	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/whatsapp/sessionrecord"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// peer is a device with libsignal's own stores.
type peer struct {
	t          *testing.T
	address    *protocol.SignalAddress
	identity   *identity.KeyPair
	signed     *record.SignedPreKey
	preKeys    *signaltests.InMemoryPreKey
	sessions   *signaltests.InMemorySession
	senderKeys *signaltests.InMemorySenderKey
	builder    *signalsession.Builder
	cipher     *signalsession.Cipher
	other      *protocol.SignalAddress
}

func serializer() *serialize.Serializer {
	s := serialize.NewProtoBufSerializer()
	s.Session = sessionrecord.Format{}
	return s
}

// newPair makes two devices that can write to each other.
func newPair(t *testing.T) (alice, bob *peer) {
	t.Helper()
	made := func(name, other string) *peer {
		p := &peer{t: t, address: protocol.NewSignalAddress(name, 1), other: protocol.NewSignalAddress(other, 1)}
		var err error
		p.identity, err = keyhelper.GenerateIdentityKeyPair()
		check(t, err)
		p.signed, err = keyhelper.GenerateSignedPreKey(p.identity, 1, serializer().SignedPreKeyRecord)
		check(t, err)
		signed := signaltests.NewInMemorySignedPreKey()
		check(t, signed.StoreSignedPreKey(t.Context(), 1, p.signed))
		p.preKeys, p.sessions = signaltests.NewInMemoryPreKey(), signaltests.NewInMemorySession(serializer())
		p.senderKeys = signaltests.NewInMemorySenderKey()
		known := signaltests.NewInMemoryIdentityKey(p.identity, 7)
		p.builder = signalsession.NewBuilder(p.sessions, p.preKeys, signed, known, p.other, serializer())
		p.cipher = signalsession.NewCipher(p.builder, p.other)
		return p
	}
	return made("alice", "bob"), made("bob", "alice")
}

// store keeps a record, as a database would.
func (p *peer) store(encoded []byte) {
	p.t.Helper()
	session, err := record.NewSessionFromBytes(encoded, sessionrecord.Format{}, serializer().State)
	check(p.t, err)
	check(p.t, p.sessions.StoreSession(p.t.Context(), p.other, session))
}

// record reads what was kept.
func (p *peer) record() (encoded []byte, sessions *record.SessionStructure) {
	p.t.Helper()
	session, err := p.sessions.LoadSession(p.t.Context(), p.other)
	check(p.t, err)
	sessions, err = sessionrecord.Format{}.Deserialize(session.Serialize())
	check(p.t, err)
	return session.Serialize(), sessions
}

// meet begins a session with another device, by a prekey of it.
func (p *peer) meet(other *peer, id uint32) {
	p.t.Helper()
	pair, err := ecc.GenerateKeyPair()
	check(p.t, err)
	check(p.t, other.preKeys.StorePreKey(p.t.Context(), id, record.NewPreKey(id, pair, serializer().PreKeyRecord)))
	check(p.t, p.builder.ProcessBundle(p.t.Context(), prekey.NewBundle(9, 1, optional.NewOptionalUint32(id), 1, pair.PublicKey(),
		other.signed.KeyPair().PublicKey(), other.signed.Signature(), other.identity.PublicKey())))
}

func (p *peer) encrypt(text string) protocol.CiphertextMessage {
	p.t.Helper()
	message, err := p.cipher.Encrypt(p.t.Context(), []byte(text))
	check(p.t, err)
	return message
}

// decrypts fails the test unless a message is read.
func (p *peer) decrypts(message protocol.CiphertextMessage, want string) {
	p.t.Helper()
	var text []byte
	var err error
	if message.Type() == protocol.PREKEY_TYPE {
		var read *protocol.PreKeySignalMessage
		read, err = protocol.NewPreKeySignalMessageFromBytes(message.Serialize(), serializer().PreKeySignalMessage, serializer().SignalMessage)
		check(p.t, err)
		text, err = p.cipher.DecryptMessage(p.t.Context(), read)
	} else {
		var read *protocol.SignalMessage
		read, err = protocol.NewSignalMessageFromBytes(message.Serialize(), serializer().SignalMessage)
		check(p.t, err)
		text, err = p.cipher.Decrypt(p.t.Context(), read)
	}
	encoded, _ := p.record()
	p.store(encoded)
	if err != nil || string(text) != want {
		p.t.Errorf("%s reads %q (%v), want %q", p.address.Name(), text, err, want)
	}
}

// base64Of is bytes as Baileys' library for sessions writes them.
func base64Of(content []byte) string { return base64.StdEncoding.EncodeToString(content) }

type fields = map[string]any

// asBaileys writes a record of libsignal's as Baileys has it after it has missed some
// messages of the newest chain: it keeps the seeds of their keys. Sessions are closed one
// after the other, the current one is open.
func asBaileys(t *testing.T, sessions *record.SessionStructure, missed int) []byte {
	t.Helper()
	var entries []string
	all := append([]*record.StateStructure{sessions.SessionState}, sessions.PreviousStates...)
	for n := range all {
		state := all[len(all)-1-n] // the oldest comes first
		var chains []string
		chain := func(link *record.ChainStructure, kind, missed int) {
			counter, key, kept := int(link.ChainKey.Index)-1, link.ChainKey.Key, fields{}
			for range missed {
				counter++
				kept[strconv.Itoa(counter)] = base64Of(hmacOf(key, 1))
				key = hmacOf(key, 2)
			}
			encoded, err := json.Marshal(fields{"chainKey": fields{"counter": counter, "key": base64Of(key)}, "chainType": kind, "messageKeys": kept})
			check(t, err)
			chains = append(chains, fmt.Sprintf("%q:%s", base64Of(link.SenderRatchetKeyPublic), encoded))
		}
		remote := ""
		for n, link := range state.ReceiverChains {
			late := 0
			if state == sessions.SessionState && n == len(state.ReceiverChains)-1 {
				late = missed
			}
			chain(link, chainReceiving, late)
			remote = base64Of(link.SenderRatchetKeyPublic)
		}
		chain(state.SenderChain, chainSending, 0)
		closed := 1000 + n
		if state == sessions.SessionState {
			closed = -1
		}
		entry := fields{
			"registrationId": state.RemoteRegistrationID,
			"currentRatchet": fields{
				"ephemeralKeyPair": fields{
					"pubKey":  base64Of(state.SenderChain.SenderRatchetKeyPublic),
					"privKey": base64Of(state.SenderChain.SenderRatchetKeyPrivate),
				},
				"lastRemoteEphemeralKey": remote, "previousCounter": int32(state.PreviousCounter), "rootKey": base64Of(state.RootKey),
			},
			"indexInfo": fields{
				"baseKey": base64Of(state.SenderBaseKey), "closed": closed, "used": 2000 - n, "remoteIdentityKey": base64Of(state.RemoteIdentityPublic),
			},
			"_chains": json.RawMessage("{" + strings.Join(chains, ",") + "}"),
		}
		if pending := state.PendingPreKey; pending != nil {
			entry["pendingPreKey"] = fields{"signedKeyId": pending.SignedPreKeyID, "preKeyId": pending.PreKeyID.Value, "baseKey": base64Of(pending.BaseKey)}
		}
		encoded, err := json.Marshal(entry)
		check(t, err)
		entries = append(entries, fmt.Sprintf("%q:%s", base64Of(state.SenderBaseKey), encoded))
	}
	return []byte(`{"_sessions":{` + strings.Join(entries, ",") + `},"version":"v1"}`)
}

func hmacOf(key []byte, part byte) []byte {
	sum := hmac.New(sha256.New, key)
	sum.Write([]byte{part})
	return sum.Sum(nil)
}

// moves replaces the sessions of a peer by those that Baileys would have after it has
// missed messages.
func (p *peer) moves(missed int) {
	p.t.Helper()
	before, structure := p.record()
	own := p.identity.PublicKey().Serialize()
	read, err := readSession(asBaileys(p.t, structure, missed), own, structure.SessionState.LocalRegistrationID)
	check(p.t, err)
	if !bytes.Equal(read.identity[:], structure.SessionState.RemoteIdentityPublic[1:]) {
		p.t.Error("the other's identity is another one")
	}
	if missed == 0 {
		p.isSame(read.record, before)
	}
	p.store(read.record)
}

// isSame fails the test unless two records hold the same. libsignal counts back from zero
// where nothing was sent before, which no other library reads.
func (p *peer) isSame(got, want []byte) {
	p.t.Helper()
	var texts []string
	for _, one := range [][]byte{got, want} {
		read, err := sessionrecord.Format{}.Deserialize(one)
		check(p.t, err)
		for _, state := range append(read.PreviousStates, read.SessionState) {
			if state.PreviousCounter == math.MaxUint32 {
				state.PreviousCounter = 0
			}
		}
		texts = append(texts, string(encoded(p.t, read)))
	}
	if texts[0] != texts[1] {
		p.t.Errorf("the record became\n%s, was\n%s", texts[0], texts[1])
	}
}

// A session goes on where Baileys has left it: what comes next is read, and what comes
// late; answers are read on the other side.
func TestSessionGoesOn(t *testing.T) {
	t.Parallel()
	alice, bob := newPair(t)
	alice.meet(bob, 5)
	bob.decrypts(alice.encrypt("first"), "first")
	alice.decrypts(bob.encrypt("answer"), "answer")
	bob.decrypts(alice.encrypt("second"), "second")
	late := []protocol.CiphertextMessage{alice.encrypt("late 0"), alice.encrypt("late 1")}
	bob.moves(len(late))
	bob.decrypts(alice.encrypt("third"), "third")
	bob.decrypts(late[1], "late 1")
	bob.decrypts(late[0], "late 0")
	alice.decrypts(bob.encrypt("I have moved"), "I have moved")
	alice.moves(0)
	bob.moves(0)
	bob.decrypts(alice.encrypt("so have I"), "so have I")
	alice.decrypts(bob.encrypt("good"), "good")
}

// What was closed reads on, and only what is open writes.
func TestClosedSessions(t *testing.T) {
	t.Parallel()
	alice, bob := newPair(t)
	alice.meet(bob, 5)
	bob.decrypts(alice.encrypt("first"), "first")
	alice.decrypts(bob.encrypt("answer"), "answer")
	bob.meet(alice, 6) // Baileys does so although there is a session
	bob.moves(0)
	bob.decrypts(alice.encrypt("over the old one"), "over the old one")
	alice, bob = newPair(t)
	alice.meet(bob, 5)
	bob.decrypts(alice.encrypt("first"), "first")
	bob.meet(alice, 6)
	bob.moves(0)
	if message := bob.encrypt("over the new one"); message.Type() != protocol.PREKEY_TYPE {
		t.Error("a closed session was written over")
	} else {
		alice.decrypts(message, "over the new one")
	}
}

// If Baileys has closed every session, the last one is the current one.
func TestNoOpenSession(t *testing.T) {
	t.Parallel()
	alice, bob := newPair(t)
	for _, id := range []uint32{5, 6, 7} {
		alice.meet(bob, id)
		bob.decrypts(alice.encrypt("hello"), "hello")
	}
	before, structure := bob.record()
	if len(structure.PreviousStates) != 2 {
		t.Fatalf("there are %d old sessions", len(structure.PreviousStates))
	}
	closed := strings.Replace(string(asBaileys(t, structure, 0)), `"closed":-1`, `"closed":9999`, 1)
	read, err := readSession([]byte(closed), bob.identity.PublicKey().Serialize(), structure.SessionState.LocalRegistrationID)
	check(t, err)
	bob.isSame(read.record, before)
}

// A member's key of a group goes on, in every way in which versions of Baileys write it.
func TestSenderKeyGoesOn(t *testing.T) {
	t.Parallel()
	for name, write := range cases.Sorted(map[string]func(t *testing.T, states []fields) []byte{
		"as version 7 does":      inBuffer,
		"as version 6 does":      inList,
		"as older versions do":   inTexts,
		"with typed arrays":      inPlaces,
		"with several at a time": inBuffer,
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			alice, bob := newPair(t)
			group := protocol.NewSenderKeyName("120363000000000000@g.us", alice.address)
			send, receive := groups.NewGroupSessionBuilder(alice.senderKeys, serializer()), groups.NewGroupSessionBuilder(bob.senderKeys, serializer())
			distribution, err := send.Create(t.Context(), group)
			check(t, err)
			check(t, receive.Process(t.Context(), group, distribution))
			encrypt := func(text string) protocol.GroupCiphertextMessage {
				message, err := groups.NewGroupCipher(send, group, alice.senderKeys).Encrypt(t.Context(), []byte(text))
				check(t, err)
				return message
			}
			decrypts := func(message protocol.GroupCiphertextMessage, want string) {
				t.Helper()
				read, err := protocol.NewSenderKeyMessageFromBytes(message.SignedSerialize(), serializer().SenderKeyMessage)
				check(t, err)
				text, err := groups.NewGroupCipher(receive, group, bob.senderKeys).Decrypt(t.Context(), read)
				if err != nil || string(text) != want {
					t.Errorf("read %q (%v), want %q", text, err, want)
				}
			}
			late := encrypt("late")
			decrypts(encrypt("first"), "first")
			for _, p := range []*peer{alice, bob} {
				known, err := p.senderKeys.LoadSenderKey(t.Context(), group)
				check(t, err)
				states := senderKeyFields(t, known.Serialize())
				if strings.HasPrefix(name, "with several") {
					states = append([]fields{olderSenderKey(t)}, states...) // the newest comes last
				}
				written, err := readSenderKey(write(t, states))
				check(t, err)
				check(t, storeSenderKey(t, p, group, written))
			}
			decrypts(encrypt("second"), "second")
			decrypts(late, "late")
		})
	}
}

func storeSenderKey(t *testing.T, p *peer, name *protocol.SenderKeyName, written []byte) error {
	t.Helper()
	known, err := wastore.SignalProtobufSerializer.SenderKeyRecord.Deserialize(written)
	check(t, err)
	key, err := senderKeyOf(known)
	check(t, err)
	return p.senderKeys.StoreSenderKey(t.Context(), name, key)
}
