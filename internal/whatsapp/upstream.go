// What is taken from the inside of whatsmeow, because the library offers no other way. Nothing of
// it is promised, so a test for each of the three fails when the library changes; make bump runs
// them.

package whatsapp

import (
	"reflect"

	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"
	waLog "go.mau.fi/whatsmeow/util/log"
)

// sentField is the field of a client that has reserved room for 256 sent messages.
const sentField = "recentMessagesMap"

// slim takes that room from a new client: it is a third of what an idle instance needs. A client
// that sends gets it back little by little. The library has no setting for it; if it loses the
// field, nothing is lost here.
func slim(client *whatsmeow.Client) {
	sent := reflect.ValueOf(client).Elem().FieldByName(sentField)
	if sent.Kind() == reflect.Map {
		reflect.NewAt(sent.Type(), sent.Addr().UnsafePointer()).Elem().Set(reflect.MakeMap(sent.Type()))
	}
}

const (
	// receivingModule is the library's name of the part that shows every node which it has read
	// to its log.
	receivingModule = "Recv"
	// queueEndLine is what the library writes when the goroutine that handles the nodes of a
	// connection has ended.
	queueEndLine = "Closing handler queue loop"
)

// upstreamLog is the log of a client, and hears what the library tells its log alone.
type upstreamLog struct {
	log

	// nodeRead is told of every node that the platform has sent, before whatsmeow handles it: the
	// library passes on only what it understands.
	nodeRead func(node *waBinary.Node)
	// queueEnded is told that the goroutine which handles the nodes of a connection has ended.
	queueEnded func()
}

// Debugf drops a line, and passes on that a queue has ended.
func (l upstreamLog) Debugf(format string, _ ...any) {
	if format == queueEndLine {
		l.queueEnded()
	}
}

// Sub returns the same logger, or the one of what is read.
func (l upstreamLog) Sub(module string) waLog.Logger {
	if module == receivingModule {
		return receivingLog{l}
	}
	return l
}

// receivingLog is the log of what is read.
type receivingLog struct{ upstreamLog }

// Debugf passes on the node of a line that has one.
func (l receivingLog) Debugf(_ string, args ...any) {
	if len(args) != 1 {
		return
	}
	if node, ok := args[0].(*waBinary.Node); ok && node != nil {
		l.nodeRead(node)
	}
}
