package account

import (
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/wire"
)

// PictureNotification builds the notification that the picture of an account or a
// group was changed or removed.
func PictureNotification(of, by types.JID, hash string, at int64) waBinary.Node {
	change := waBinary.Node{Tag: "set", Attrs: waBinary.Attrs{"jid": of, "id": hash, "author": by}}
	if hash == "" {
		change = waBinary.Node{Tag: "delete", Attrs: waBinary.Attrs{"jid": of, "author": by}}
	}
	return waBinary.Node{
		Tag:     "notification",
		Attrs:   waBinary.Attrs{"from": of, "type": "picture", "id": wire.NewID(), "t": at},
		Content: []waBinary.Node{change},
	}
}
