package history

import (
	"cmp"
	"container/heap"
	"slices"

	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// newestMessages holds the newest messages of one conversation, which may come in
// any order.
type newestMessages struct {
	limit int
	bytes int
	kept  []datedMessage // a heap, oldest first
}

type datedMessage struct {
	at, order uint64
	content   []byte // a HistorySyncMsg
}

func compareMessages(a, b datedMessage) int {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order))
}

func (n *newestMessages) Len() int           { return len(n.kept) }
func (n *newestMessages) Less(i, j int) bool { return compareMessages(n.kept[i], n.kept[j]) < 0 }
func (n *newestMessages) Swap(i, j int)      { n.kept[i], n.kept[j] = n.kept[j], n.kept[i] }

// Push is for the heap.
func (n *newestMessages) Push(message any) {
	n.kept = append(n.kept, message.(datedMessage)) //nolint:forcetypeassert // the heap has no others
}

// Pop is for the heap.
func (n *newestMessages) Pop() any {
	last := n.kept[len(n.kept)-1]
	n.kept[len(n.kept)-1] = datedMessage{}
	n.kept = n.kept[:len(n.kept)-1]
	return last
}

func (n *newestMessages) add(content []byte) {
	message := datedMessage{content: content}
	message.at, message.order = ageOf(content)
	heap.Push(n, message)
	n.bytes += len(content)
	for len(n.kept) > n.limit || n.bytes > maxChat {
		oldest := heap.Pop(n).(datedMessage) //nolint:forcetypeassert // the heap has no others
		n.bytes -= len(oldest.content)
	}
}

// ageOf reads the fields by which messages are ordered: time and order.
func ageOf(content []byte) (at, order uint64) {
	info, order := scanField(content, fieldInfo, fieldOrder)
	_, at = scanField(info, 0, fieldTimestamp)
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

// giveOn decodes the messages, oldest first, and passes them on in batches.
func (n *newestMessages) giveOn(head []byte, give func(*waHistorySync.Conversation) error) error {
	slices.SortStableFunc(n.kept, compareMessages)
	partial := proto.UnmarshalOptions{AllowPartial: true}
	for len(n.kept) > 0 {
		conversation := &waHistorySync.Conversation{}
		if err := partial.Unmarshal(head, conversation); err != nil {
			return err
		}
		size := 0
		for len(n.kept) > 0 && len(conversation.Messages) < maxBatch && size < maxBatchBytes {
			next := n.kept[0]
			n.kept[0] = datedMessage{}
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
