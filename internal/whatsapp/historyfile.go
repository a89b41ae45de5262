package whatsapp

import (
	"bufio"
	"cmp"
	"compress/zlib"
	"container/heap"
	"errors"
	"fmt"
	"io"
	"slices"

	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

const (
	// maxHistoryInflated is how many times its packed size a history may have, if it
	// is not small anyway; text has five to ten times.
	maxHistoryInflated, smallHistory = 64, 16 << 20
	// maxHistoryMessage bounds one message of a history: those with bigger
	// previews are passed over.
	maxHistoryMessage = 256 << 10
	// maxHistoryChat bounds what is held of one conversation.
	maxHistoryChat = 2 << 20
	// maxHistoryBatch bounds what is handed over at once, by messages and bytes.
	maxHistoryBatch, maxHistoryBatchBytes = 50, 1 << 20
	// maxHistoryField bounds the fields besides the conversations, and
	// maxHistoryFields all of them together.
	maxHistoryField, maxHistoryFields = 64 << 10, 1 << 20
	// historySlice is how many names, or pairs of number and LID, are written at
	// once.
	historySlice = 500
)

// errHistoryTooBig says that a history is left where it is.
var errHistoryTooBig = errors.New("whatsapp: the history is too big")

// Numbers of fields (WAWebProtobufsHistorySync.proto, WAWebProtobufsWeb.proto).
const (
	historyConversations = 2
	historyStatuses      = 3
	historyNames         = 7
	historyPairs         = 15

	conversationMessages = 2

	historyMessageInfo  = 1 // of HistorySyncMsg
	historyMessageOrder = 2
	infoTimestamp       = 3 // of WebMessageInfo
)

// history is a packed history, read as a stream: its size does not matter to
// memory.
type history struct {
	open func() (io.Reader, error) // from the start
	size int64                     // packed
}

// read calls field for every field of the history, which has to take it.
func (h history) read(field func(w *wireReader, number protowire.Number, kind protowire.Type) error) error {
	packed, err := h.open()
	if err != nil {
		return err
	}
	plain, err := zlib.NewReader(bufio.NewReader(packed))
	if err != nil {
		return fmt.Errorf("whatsapp: unpack history: %w", err)
	}
	defer func() { _ = plain.Close() }() // it was only read
	limited := &limitedReader{from: plain, left: max(maxHistoryInflated*h.size, smallHistory)}
	w := newWireReader(bufio.NewReaderSize(limited, 64<<10))
	for {
		number, kind, err := w.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = field(w, number, kind)
		}
		if err != nil {
			return fmt.Errorf("whatsapp: read history: %w", err)
		}
	}
}

// limitedReader fails after so many bytes: a small file can be packed that
// unpacks to any size.
type limitedReader struct {
	from io.Reader
	left int64
}

// Read reads from the reader behind.
func (l *limitedReader) Read(p []byte) (int, error) {
	n, err := l.from.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, errHistoryTooBig
	}
	return n, err
}

// facts reads what a history holds besides conversations: names and pairs of
// number and LID in slices, the rest as one message without them.
func (h history) facts(
	names func([]*waHistorySync.Pushname), pairs func([]*waHistorySync.PhoneNumberToLIDMapping),
) (*waHistorySync.HistorySync, error) {
	var rest []byte
	nameSlice := slicer[waHistorySync.Pushname, *waHistorySync.Pushname]{give: names}
	pairSlice := slicer[waHistorySync.PhoneNumberToLIDMapping, *waHistorySync.PhoneNumberToLIDMapping]{give: pairs}
	err := h.read(func(w *wireReader, number protowire.Number, kind protowire.Type) error {
		if number == historyConversations || number == historyStatuses {
			return w.skip(kind)
		}
		content, ok, err := w.field(kind, maxHistoryField)
		switch {
		case err != nil || !ok:
			return err
		case number == historyNames && kind == protowire.BytesType:
			return nameSlice.add(content)
		case number == historyPairs && kind == protowire.BytesType:
			return pairSlice.add(content)
		case len(rest)+len(content) <= maxHistoryFields:
			rest = appendField(rest, number, kind, content)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	nameSlice.flush()
	pairSlice.flush()
	facts := &waHistorySync.HistorySync{}
	if err := (proto.UnmarshalOptions{AllowPartial: true}).Unmarshal(rest, facts); err != nil {
		return nil, fmt.Errorf("whatsapp: read history: %w", err)
	}
	return facts, nil
}

// slicer decodes messages and gives them on in slices.
type slicer[T any, M interface {
	*T
	proto.Message
}] struct {
	give    func([]M)
	waiting []M
}

func (s *slicer[T, M]) add(content []byte) error {
	message := M(new(T))
	if err := (proto.UnmarshalOptions{AllowPartial: true}).Unmarshal(content, message); err != nil {
		return err
	}
	if s.waiting = append(s.waiting, message); len(s.waiting) == historySlice {
		s.flush()
	}
	return nil
}

func (s *slicer[T, M]) flush() {
	if len(s.waiting) > 0 {
		s.give(s.waiting)
		s.waiting = nil
	}
}

// errEnough ends the reading of a history.
var errEnough = errors.New("whatsapp: enough of the history was read")

// conversations calls give with the newest messages of every conversation, at
// most perChat, oldest first, in batches; the conversation has no messages but
// those. It ends with errEnough where give does.
func (h history) conversations(perChat int, give func(*waHistorySync.Conversation) error) error {
	err := h.read(func(w *wireReader, number protowire.Number, kind protowire.Type) error {
		if number != historyConversations || kind != protowire.BytesType {
			return w.skip(kind)
		}
		newest := newestMessages{limit: perChat}
		var head []byte
		if err := w.message(func(inner *wireReader) error {
			var err error
			head, err = readConversation(inner, &newest)
			return err
		}); err != nil {
			return err
		}
		return newest.giveOn(head, give)
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// readConversation adds the messages to newest and returns the rest.
func readConversation(w *wireReader, newest *newestMessages) (head []byte, err error) {
	for w.left > 0 {
		number, kind, err := w.next()
		if err != nil {
			return nil, cut(err)
		}
		limit := int64(maxHistoryField)
		if number == conversationMessages {
			limit = maxHistoryMessage
		}
		content, ok, err := w.field(kind, limit)
		switch {
		case err != nil:
			return nil, err
		case !ok:
		case number == conversationMessages && kind == protowire.BytesType:
			newest.add(content)
		case len(head)+len(content) <= maxHistoryField:
			head = appendField(head, number, kind, content)
		}
	}
	return head, nil
}

// newestMessages holds the newest messages of one conversation, which may come in
// any order.
type newestMessages struct {
	limit int
	bytes int
	kept  []historyMessage // a heap, oldest first
}

type historyMessage struct {
	at, order uint64
	content   []byte // a HistorySyncMsg
}

func compareMessages(a, b historyMessage) int {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order))
}

func (n *newestMessages) Len() int           { return len(n.kept) }
func (n *newestMessages) Less(i, j int) bool { return compareMessages(n.kept[i], n.kept[j]) < 0 }
func (n *newestMessages) Swap(i, j int)      { n.kept[i], n.kept[j] = n.kept[j], n.kept[i] }

// Push is for the heap.
func (n *newestMessages) Push(message any) {
	n.kept = append(n.kept, message.(historyMessage)) //nolint:forcetypeassert // the heap has no others
}

// Pop is for the heap.
func (n *newestMessages) Pop() any {
	last := n.kept[len(n.kept)-1]
	n.kept[len(n.kept)-1] = historyMessage{}
	n.kept = n.kept[:len(n.kept)-1]
	return last
}

func (n *newestMessages) add(content []byte) {
	message := historyMessage{content: content}
	message.at, message.order = messageAge(content)
	heap.Push(n, message)
	n.bytes += len(content)
	for len(n.kept) > n.limit || n.bytes > maxHistoryChat {
		oldest := heap.Pop(n).(historyMessage) //nolint:forcetypeassert // the heap has no others
		n.bytes -= len(oldest.content)
	}
}

// messageAge finds what tells which of two messages is the newer one.
func messageAge(content []byte) (at, order uint64) {
	info, order := scanField(content, historyMessageInfo, historyMessageOrder)
	_, at = scanField(info, 0, infoTimestamp)
	return at, order
}

// scanField returns the last of the fields with these numbers in a message.
func scanField(content []byte, bytesField, varintField protowire.Number) (found []byte, value uint64) {
	for len(content) > 0 {
		number, kind, n := protowire.ConsumeTag(content)
		if n < 0 {
			return found, value
		}
		content = content[n:]
		switch {
		case number == bytesField && kind == protowire.BytesType:
			found, n = protowire.ConsumeBytes(content)
		case number == varintField && kind == protowire.VarintType:
			value, n = protowire.ConsumeVarint(content)
		default:
			n = protowire.ConsumeFieldValue(number, kind, content)
		}
		if n < 0 {
			return nil, 0
		}
		content = content[n:]
	}
	return found, value
}

// giveOn decodes what is kept, oldest first, and gives it on in batches.
func (n *newestMessages) giveOn(head []byte, give func(*waHistorySync.Conversation) error) error {
	slices.SortStableFunc(n.kept, compareMessages)
	partial := proto.UnmarshalOptions{AllowPartial: true}
	for len(n.kept) > 0 {
		conversation := &waHistorySync.Conversation{}
		if err := partial.Unmarshal(head, conversation); err != nil {
			return err
		}
		size := 0
		for len(n.kept) > 0 && len(conversation.Messages) < maxHistoryBatch && size < maxHistoryBatchBytes {
			next := n.kept[0]
			n.kept[0] = historyMessage{}
			n.kept = n.kept[1:]
			message := &waHistorySync.HistorySyncMsg{}
			if err := partial.Unmarshal(next.content, message); err != nil {
				continue // one message that is no message
			}
			size += len(next.content)
			conversation.Messages = append(conversation.Messages, message)
		}
		if err := give(conversation); err != nil {
			return err
		}
	}
	return nil
}
