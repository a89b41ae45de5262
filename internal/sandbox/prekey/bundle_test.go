package prekey

import (
	"testing"

	waBinary "go.mau.fi/whatsmeow/binary"
)

func FuzzParseBundle(f *testing.F) {
	f.Add(make([]byte, 4), make([]byte, 3), make([]byte, 32), make([]byte, 64))
	f.Add([]byte{1}, []byte{}, []byte{2}, []byte{3})
	f.Fuzz(func(t *testing.T, registration, id, key, signature []byte) {
		part := func(tag string, content []byte) waBinary.Node { return waBinary.Node{Tag: tag, Content: content} }
		keys := waBinary.Node{Tag: "keys", Content: []waBinary.Node{
			part("identity", key),
			{Tag: "skey", Content: []waBinary.Node{part("id", id), part("value", key), part("signature", signature)}},
			{Tag: "key", Content: []waBinary.Node{part("id", id), part("value", key)}},
		}}
		bundle, err := ParseBundle(registration, keys)
		if err == nil && (len(key) != 32 || bundle.PreKey == nil) {
			t.Errorf("accepted %+v", bundle)
		}
	})
}
