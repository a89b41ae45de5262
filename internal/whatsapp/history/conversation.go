// The conversations of a history, one after another.

package history

import (
	"errors"

	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"google.golang.org/protobuf/encoding/protowire"
)

// ErrEnough is what a callback of Conversations returns to end the reading.
var ErrEnough = errors.New("history: enough of the history was read")

// Conversations calls give with the newest messages of every conversation, at
// most perChat, oldest first, in batches; each conversation that give gets has only the
// messages of the batch. It ends without an error when give returns ErrEnough.
func (p Packed) Conversations(perChat int, give func(*waHistorySync.Conversation) error) error {
	err := p.read(func(w *wireReader, number protowire.Number, kind protowire.Type) error {
		if number != fieldConversations || kind != protowire.BytesType {
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
	if errors.Is(err, ErrEnough) {
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
		limit := int64(maxField)
		if number == fieldMessages {
			limit = maxMessage
		}
		content, ok, err := w.field(kind, limit)
		switch {
		case err != nil:
			return nil, err
		case !ok:
		case number == fieldMessages && kind == protowire.BytesType:
			newest.add(content)
		case len(head)+len(content) <= maxField:
			head = appendField(head, number, kind, content)
		}
	}
	return head, nil
}
