package wire_test

import (
	"bytes"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// The handle of a file lasts with the payload that points to it, also in a wrapping, and gets out
// of it with that message alone: neither in a forward, nor in a quote, nor to the platform.
func TestHandleStaysWithItsMessage(t *testing.T) {
	t.Parallel()
	encoder := wire.NewEncoder(nil)
	has := func(payload []byte) bool { return bytes.Contains(payload, []byte("4:the handle")) }
	upload := gateway.Upload{DirectPath: "/v/file", Handle: "4:the handle"}
	for name, content := range cases.Sorted(map[string]gateway.Content{
		"an image":                {Type: gateway.TypeImage, Media: &gateway.Media{Upload: upload}},
		"a document with caption": {Type: gateway.TypeDocument, Text: "a caption", Media: &gateway.Media{Upload: upload}},
	}) {
		payload, err := encoder.Encode(content)
		if err != nil {
			t.Fatal(err)
		}
		queued := content
		queued.Media = &gateway.Media{}
		later, err := encoder.Encode(queued)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // uploaded once more, it has the new handle alone
			if later, err = encoder.EncodeUploaded(later, upload); err != nil {
				t.Fatal(err)
			}
		}
		for _, kept := range [][]byte{payload, later} {
			message, err := wire.Decode(kept)
			if err != nil {
				t.Fatal(err)
			}
			if got := wire.TakeHandle(message); got != "4:the handle" || wire.TakeHandle(message) != "" {
				t.Errorf("%s: the handle is %q", name, got)
			}
			if len(message.ProtoReflect().GetUnknown()) > 0 {
				t.Errorf("%s: something of it goes to the platform", name)
			}
		}
		forwarded, err := encoder.EncodeForwarded(payload)
		if err != nil || has(forwarded) {
			t.Errorf("%s: it is forwarded with its handle (%v)", name, err)
		}
		quoting, err := encoder.Encode(gateway.Content{Type: gateway.TypeText, Text: "x", Quote: &gateway.Quote{PlatformID: "1", Payload: payload}})
		if err != nil || has(quoting) {
			t.Errorf("%s: it is quoted with its handle (%v)", name, err)
		}
	}
	// What others have added stays.
	other := protowire.AppendString(protowire.AppendTag(nil, 50_000, protowire.BytesType), "news")
	message, err := wire.Decode(other)
	if err != nil || wire.TakeHandle(message) != "" || !bytes.Equal(message.ProtoReflect().GetUnknown(), other) {
		t.Errorf("an unknown field became %q, %v", message.ProtoReflect().GetUnknown(), err)
	}
}

// Whom a status post is shown to lasts with its payload, and gets out of it with that post alone.
func TestAudienceStaysWithItsPost(t *testing.T) {
	t.Parallel()
	encoder := wire.NewEncoder(nil)
	people := []gateway.JID{"5511988880001@s.whatsapp.net", "2@lid"}
	payload, err := encoder.Encode(gateway.Content{Type: gateway.TypeText, Text: "open today", Look: &gateway.StatusLook{}, Audience: people})
	if err != nil {
		t.Fatal(err)
	}
	message, err := wire.Decode(payload)
	if err != nil {
		t.Fatal(err)
	}
	if got := wire.TakeAudience(message); !slices.Equal(got, people) || wire.TakeAudience(message) != nil || len(message.ProtoReflect().GetUnknown()) > 0 {
		t.Errorf("the audience is %v, and %q goes to the platform", got, message.ProtoReflect().GetUnknown())
	}
	has := func(payload []byte) bool { return bytes.Contains(payload, []byte("2@lid")) }
	if forwarded, err := encoder.EncodeForwarded(payload); err != nil || has(forwarded) {
		t.Errorf("it is forwarded with its audience (%v)", err)
	}
	quoting, err := encoder.Encode(gateway.Content{Type: gateway.TypeText, Text: "x", Quote: &gateway.Quote{PlatformID: "1", Payload: payload}})
	if err != nil || has(quoting) {
		t.Errorf("it is quoted with its audience (%v)", err)
	}
	uploaded := gateway.Upload{DirectPath: "/v/file"}
	queued, err := encoder.Encode(gateway.Content{Type: gateway.TypeImage, Media: &gateway.Media{}, Audience: people})
	if err != nil {
		t.Fatal(err)
	}
	if queued, err = encoder.EncodeUploaded(queued, uploaded); err != nil || !has(queued) {
		t.Errorf("it is uploaded without its audience (%v)", err)
	}
}
