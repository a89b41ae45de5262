// What a history holds besides conversations.

package history

import (
	"fmt"

	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// Numbers of fields (WAWebProtobufsHistorySync.proto, WAWebProtobufsWeb.proto).
const (
	fieldConversations = 2
	fieldStatuses      = 3
	fieldNames         = 7
	fieldPairs         = 15

	fieldMessages = 2

	fieldInfo      = 1 // of HistorySyncMsg
	fieldOrder     = 2
	fieldTimestamp = 3 // of WebMessageInfo
)

// Facts reads what a history holds besides conversations: names and pairs of
// number and LID in slices, the rest as one message without them.
func (p Packed) Facts(
	names func([]*waHistorySync.Pushname), pairs func([]*waHistorySync.PhoneNumberToLIDMapping),
) (*waHistorySync.HistorySync, error) {
	var rest []byte
	nameSlice := slicer[waHistorySync.Pushname, *waHistorySync.Pushname]{give: names}
	pairSlice := slicer[waHistorySync.PhoneNumberToLIDMapping, *waHistorySync.PhoneNumberToLIDMapping]{give: pairs}
	err := p.read(func(w *wireReader, number protowire.Number, kind protowire.Type) error {
		if number == fieldConversations || number == fieldStatuses {
			return w.skip(kind)
		}
		content, ok, err := w.field(kind, maxField)
		switch {
		case err != nil || !ok:
			return err
		case number == fieldNames && kind == protowire.BytesType:
			return nameSlice.add(content)
		case number == fieldPairs && kind == protowire.BytesType:
			return pairSlice.add(content)
		case len(rest)+len(content) <= maxFields:
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
		return nil, fmt.Errorf("history: read history: %w", err)
	}
	return facts, nil
}

// slicer decodes messages and passes them on in slices.
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
	if s.waiting = append(s.waiting, message); len(s.waiting) == sliceSize {
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
