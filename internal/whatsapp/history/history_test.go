package history

import (
	"bytes"
	"compress/zlib"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/proto/waWeb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/testkit/cases"
)

// packed makes a history of what it holds when it is unpacked.
func packed(tb testing.TB, plain []byte) Packed {
	tb.Helper()
	var buffer bytes.Buffer
	zip := zlib.NewWriter(&buffer)
	if _, err := zip.Write(plain); err != nil {
		tb.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		tb.Fatal(err)
	}
	return Packed{Size: int64(buffer.Len()), Open: func() (io.Reader, error) { return bytes.NewReader(buffer.Bytes()), nil }}
}

func oldMessage(id string, at uint64, text string) *waHistorySync.HistorySyncMsg {
	return &waHistorySync.HistorySyncMsg{MsgOrderID: &at, Message: &waWeb.WebMessageInfo{
		Key: &waCommon.MessageKey{ID: &id}, MessageTimestamp: new(at / 10), Message: &waE2E.Message{Conversation: &text},
	}}
}

func mustMarshal(tb testing.TB, message proto.Message) []byte {
	tb.Helper()
	plain, err := proto.Marshal(message)
	if err != nil {
		tb.Fatal(err)
	}
	return plain
}

// chatsOf reads the identifiers of the messages of each chat, and what the
// batches were.
func chatsOf(h Packed, perChat int) (chats map[string][]string, batches int, err error) {
	chats = map[string][]string{}
	err = h.Conversations(perChat, func(c *waHistorySync.Conversation) error {
		batches++
		for _, message := range c.GetMessages() {
			chats[c.GetID()] = append(chats[c.GetID()], message.GetMessage().GetKey().GetID())
		}
		return nil
	})
	return chats, batches, err
}

func TestHistoryKeepsTheNewestOfEachChat(t *testing.T) {
	t.Parallel()
	chat := &waHistorySync.Conversation{ID: new("1@lid"), TcToken: []byte("token")}
	// Not in order, several in one second, and one that is too big to be looked at.
	for _, at := range []uint64{31, 12, 77, 50, 51, 52, 99, 3} {
		chat.Messages = append(chat.Messages, oldMessage(string(rune('A'+at%26)), at, "text"))
	}
	chat.Messages = append(chat.Messages, oldMessage("big", 1000, strings.Repeat("x", maxMessage)))
	h := packed(t, mustMarshal(t, &waHistorySync.HistorySync{
		SyncType: waHistorySync.HistorySync_RECENT.Enum(),
		Conversations: []*waHistorySync.Conversation{
			chat, {ID: new("2@lid")}, {ID: new("3@lid"), Messages: []*waHistorySync.HistorySyncMsg{oldMessage("only", 5, "")}},
		},
	}))
	chats, batches, err := chatsOf(h, 4)
	if err != nil {
		t.Fatal(err)
	}
	letter := func(at uint64) string { return string(rune('A' + at%26)) }
	if want := []string{letter(51), letter(52), letter(77), letter(99)}; !slices.Equal(chats["1@lid"], want) {
		t.Errorf("the first chat has %v, want %v", chats["1@lid"], want)
	}
	if !slices.Equal(chats["3@lid"], []string{"only"}) || len(chats) != 2 || batches != 2 {
		t.Errorf("the chats are %v, in %d batches", chats, batches)
	}
}

func TestHistoryComesInBatches(t *testing.T) {
	t.Parallel()
	chat := &waHistorySync.Conversation{ID: new("1@lid")}
	for at := range uint64(3*maxBatch + 1) {
		chat.Messages = append(chat.Messages, oldMessage("id", at, ""))
	}
	h := packed(t, mustMarshal(t, &waHistorySync.HistorySync{
		SyncType: waHistorySync.HistorySync_RECENT.Enum(), Conversations: []*waHistorySync.Conversation{chat},
	}))
	chats, batches, err := chatsOf(h, 1000)
	if err != nil || batches != 4 || len(chats["1@lid"]) != 3*maxBatch+1 {
		t.Errorf("%d messages in %d batches (%v)", len(chats["1@lid"]), batches, err)
	}
	calls := 0
	err = h.Conversations(1000, func(*waHistorySync.Conversation) error { calls++; return ErrEnough })
	if err != nil || calls != 1 {
		t.Errorf("after enough there were %d calls (%v)", calls, err)
	}
	failure := errors.New("the disk is full")
	if err := h.Conversations(1000, func(*waHistorySync.Conversation) error { return failure }); !errors.Is(err, failure) {
		t.Errorf("a failure became %v", err)
	}
}

func TestHistoryFacts(t *testing.T) {
	t.Parallel()
	whole := &waHistorySync.HistorySync{
		SyncType: waHistorySync.HistorySync_INITIAL_BOOTSTRAP.Enum(), NctSalt: []byte("salt"), Progress: new(uint32(7)),
		Conversations: []*waHistorySync.Conversation{{ID: new("1@lid")}},
	}
	for range 2*sliceSize + 1 {
		whole.Pushnames = append(whole.Pushnames, &waHistorySync.Pushname{ID: new("1@lid"), Pushname: new("Ana")})
	}
	whole.PhoneNumberToLidMappings = []*waHistorySync.PhoneNumberToLIDMapping{{PnJID: new("1@s.whatsapp.net"), LidJID: new("1@lid")}}
	var names, pairs []int
	facts, err := packed(t, mustMarshal(t, whole)).Facts(
		func(some []*waHistorySync.Pushname) { names = append(names, len(some)) },
		func(some []*waHistorySync.PhoneNumberToLIDMapping) { pairs = append(pairs, len(some)) },
	)
	if err != nil || string(facts.GetNctSalt()) != "salt" || facts.GetProgress() != 7 || len(facts.GetConversations()) != 0 {
		t.Errorf("the facts are %v (%v)", facts, err)
	}
	if !slices.Equal(names, []int{sliceSize, sliceSize, 1}) || !slices.Equal(pairs, []int{1}) {
		t.Errorf("names came in %v, pairs in %v", names, pairs)
	}
}

func TestHistoryThatIsBroken(t *testing.T) {
	t.Parallel()
	whole := mustMarshal(t, &waHistorySync.HistorySync{
		SyncType: waHistorySync.HistorySync_RECENT.Enum(),
		Conversations: []*waHistorySync.Conversation{{
			ID: new("1@lid"), Messages: []*waHistorySync.HistorySyncMsg{oldMessage("id", 1, "text")},
		}},
	})
	// One field that is long, and packs to nearly nothing.
	bomb := protowire.AppendBytes(protowire.AppendTag(nil, fieldStatuses, protowire.BytesType), make([]byte, 2*small))
	for name, c := range cases.Sorted(map[string]struct {
		h    Packed
		want error
	}{
		"cut":     {packed(t, whole[:len(whole)-3]), ErrMalformed},
		"a group": {packed(t, append(slices.Clone(whole), 0x0b)), ErrMalformed},
		"a bomb":  {packed(t, bomb), ErrTooBig},
		"no zlib": {Packed{Size: 3, Open: func() (io.Reader, error) { return strings.NewReader("abc"), nil }}, zlib.ErrHeader},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := chatsOf(c.h, 10)
			if !errors.Is(err, c.want) {
				t.Errorf("said %v, want %v", err, c.want)
			}
		})
	}
}

// What the stream reads of a history is what is in it, and nothing makes it fail
// in another way than by saying so.
func FuzzHistory(f *testing.F) {
	f.Add(mustMarshal(f, &waHistorySync.HistorySync{
		SyncType: waHistorySync.HistorySync_RECENT.Enum(), NctSalt: []byte("salt"),
		Conversations: []*waHistorySync.Conversation{{
			ID: new("1@lid"), Messages: []*waHistorySync.HistorySyncMsg{oldMessage("a", 1, "text"), oldMessage("b", 2, "text")},
		}},
		Pushnames: []*waHistorySync.Pushname{{ID: new("1@lid"), Pushname: new("Ana")}},
	}), 1)
	f.Add([]byte{0x12, 0x00}, 50)
	f.Fuzz(func(t *testing.T, plain []byte, perChat int) {
		if len(plain) == 0 || perChat < 1 {
			return
		}
		h := packed(t, plain)
		h.Size = int64(len(plain))
		names := 0
		facts, factsErr := h.Facts(
			func(some []*waHistorySync.Pushname) { names += len(some) }, func([]*waHistorySync.PhoneNumberToLIDMapping) {})
		count := 0
		err := h.Conversations(perChat, func(c *waHistorySync.Conversation) error {
			count += len(c.GetMessages())
			return nil
		})
		var whole waHistorySync.HistorySync
		if proto.Unmarshal(plain, &whole) != nil || err != nil || factsErr != nil {
			return
		}
		want := 0
		for _, chat := range whole.GetConversations() {
			want += min(len(chat.GetMessages()), perChat)
		}
		if count != want || names != len(whole.GetPushnames()) || !bytes.Equal(facts.GetNctSalt(), whole.GetNctSalt()) {
			t.Errorf("%d messages and %d names, want %d and %d", count, names, want, len(whole.GetPushnames()))
		}
	})
}
