package noise

import (
	"bytes"
	"compress/zlib"
	"errors"
	"reflect"
	"strings"
	"testing"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/binary/token"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/testkit/cases"
)

// sample has every kind of value that a stanza can have.
func sample() waBinary.Node {
	return waBinary.Node{
		Tag: "iq",
		Attrs: waBinary.Attrs{
			"to": types.ServerJID, "type": "set", "id": "3EB0-12.7", "xmlns": "encrypt",
			"device": types.JID{User: "5511987654321", Device: 3, Server: types.DefaultUserServer},
			"lid":    types.JID{User: "100000012345678", Device: 7, Server: types.HiddenUserServer},
			"group":  types.NewJID("120363000000000000", types.GroupServer),
			"fb":     types.JID{User: "1", Device: 2, Server: types.MessengerServer},
			"other":  types.JID{User: "1", Device: 2, Integrator: 3, Server: types.InteropServer},
			"hex":    "ABCDEF0123", "words": "not a token: ã",
		},
		Content: []waBinary.Node{
			{Tag: "list", Content: []waBinary.Node{{Tag: "key", Attrs: waBinary.Attrs{"a": "b"}}}},
			{Tag: "short", Content: []byte("bytes")},
			{Tag: "middle", Content: bytes.Repeat([]byte("x"), 300)},
			{Tag: "long", Content: bytes.Repeat([]byte("y"), 1<<20)},
			{Tag: "empty"},
			{Tag: "many", Content: make300()},
		},
	}
}

func make300() []waBinary.Node {
	nodes := make([]waBinary.Node, 300)
	for i := range nodes {
		nodes[i] = waBinary.Node{Tag: "user"}
	}
	return nodes
}

func deflate(tb testing.TB, data []byte) []byte {
	tb.Helper()
	var buffer bytes.Buffer
	buffer.WriteByte(compressed)
	w := zlib.NewWriter(&buffer)
	if _, err := w.Write(data); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return buffer.Bytes()
}

func TestNodeRoundTrip(t *testing.T) {
	t.Parallel()
	want := sample()
	plain, err := encodeNode(want)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range cases.Sorted(map[string][]byte{"plain": plain, "compressed": deflate(t, plain[1:])}) {
		got, err := decodeNode(data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(*got, want) {
			t.Errorf("%s: the node has changed: %s", name, got.Tag)
		}
	}
}

func TestDecodeNodeRefuses(t *testing.T) {
	t.Parallel()
	deepAddress := append([]byte{0, token.List8, 1}, bytes.Repeat([]byte{token.JIDPair}, 1<<20)...)
	deepLists := append([]byte{0}, bytes.Repeat([]byte{token.List8, 2, 5, token.List8, 1}, 1<<18)...)
	wide := append([]byte{0, token.List8, 2, 5, token.List16, 0xff, 0xff}, bytes.Repeat([]byte{token.List8, 5, 5, 5, 5, 5, 5}, 0xffff)...)
	for name, data := range cases.Sorted(map[string][]byte{
		"nothing":                  {},
		"only flags":               {0},
		"an empty list":            {0, token.List8, 0},
		"no tag":                   {0, token.List8, 1, token.ListEmpty},
		"a list as tag":            {0, token.List8, 1, token.List8, 1, token.List8, 1, 5},
		"an address as tag":        {0, token.List8, 1, token.JIDPair, 5, 5},
		"a user that is a list":    {0, token.List8, 3, 5, 5, token.JIDPair, token.List8, 1, token.List8, 1, 5, 5},
		"a device without user":    {0, token.List8, 3, 5, 5, token.ADJID, 0, 1, token.ListEmpty},
		"packed, odd, empty":       {0, token.List8, 1, token.Nibble8, 0x80},
		"an unknown token":         {0, token.List8, 1, 240},
		"a claim of many nodes":    {0, token.List8, 2, 5, token.List16, 0xff, 0xff},
		"bytes that are not there": {0, token.List8, 2, 5, token.Binary32, 0xff, 0xff, 0xff, 0xff},
		"leftovers":                {0, token.List8, 1, 5, 5},
		"addresses without end":    deepAddress,
		"lists without end":        deepLists,
		"too many parts":           wide,
		"not zlib":                 {compressed, 1, 2, 3},
		"a zip bomb":               deflate(t, make([]byte, maxNode+1)),
	}) {
		if node, err := decodeNode(data); !errors.Is(err, errNode) {
			t.Errorf("%s: node %v, error %v; want errNode", name, node != nil, err)
		}
	}
}

func TestEncodeNodeRefuses(t *testing.T) {
	t.Parallel()
	_, err := encodeNode(waBinary.Node{Tag: "iq", Attrs: waBinary.Attrs{"t": 1.5}})
	if !errors.Is(err, errEncode) || !strings.Contains(err.Error(), "iq") {
		t.Errorf("an attribute of a type the wire has not: %v", err)
	}
}

func FuzzDecodeNode(f *testing.F) {
	small := sample()
	small.Content = []waBinary.Node{{Tag: "short", Content: []byte("bytes")}, {Tag: "many", Content: make300()}}
	plain, err := encodeNode(small)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(plain)
	f.Add(deflate(f, plain[1:]))
	f.Add([]byte{0, token.List8, 1, token.List8, 1, token.List8, 1, 5})
	f.Add([]byte{0, token.List8, 3, 5, 5, token.ADJID, 0, 1, token.ListEmpty})
	f.Fuzz(func(t *testing.T, data []byte) {
		node, err := decodeNode(data)
		if (node == nil) == (err == nil) {
			t.Fatalf("node %v with error %v", node, err)
		}
		if err != nil && !errors.Is(err, errNode) {
			t.Fatalf("an error of another kind: %v", err)
		}
	})
}
