package wire

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestDetailsOf(t *testing.T) {
	t.Parallel()
	alt := func(jid types.JID) types.JID {
		if jid.User == "200" {
			return types.NewJID("5511988887766", types.DefaultUserServer)
		}
		return types.EmptyJID
	}
	about := &waE2E.ContextInfo{
		MentionedJID: []string{"200@lid", "300@lid", "", "?"}, IsForwarded: new(true),
	}
	content, once := open(&waE2E.Message{EphemeralMessage: &waE2E.FutureProofMessage{Message: &waE2E.Message{
		ViewOnceMessageV2: &waE2E.FutureProofMessage{Message: &waE2E.Message{VideoMessage: &waE2E.VideoMessage{
			Mimetype: new("video/mp4"), Seconds: new(uint32(3)), Width: new(uint32(4)), Height: new(uint32(5)), ContextInfo: about,
		}}},
	}}})
	details := detailsOf(content, once, alt)
	if !details.ViewOnce || !details.Forwarded || details.Media.Length.Seconds() != 3 || details.Media.Height != 5 {
		t.Errorf("a video is %+v, %+v", details, details.Media)
	}
	if want := []gateway.Party{{JID: "5511988887766@s.whatsapp.net", LID: "200@lid"}, {LID: "300@lid"}}; !slices.Equal(details.Mentions, want) {
		t.Errorf("it mentions %+v", details.Mentions)
	}
	live := detailsOf(&waE2E.Message{LiveLocationMessage: &waE2E.LiveLocationMessage{DegreesLatitude: new(1.5)}}, false, alt)
	if live.Location == nil || live.Location.Latitude != 1.5 {
		t.Errorf("a live location is %+v", live)
	}
	cards := detailsOf(&waE2E.Message{ContactsArrayMessage: &waE2E.ContactsArrayMessage{Contacts: []*waE2E.ContactMessage{
		{DisplayName: new("Ana"), Vcard: new("BEGIN:VCARD\nEND:VCARD")}, {Vcard: new("FN:Bia")},
	}}}, false, alt)
	if len(cards.Contacts) != 2 || cards.Contacts[0].FullName != "Ana" || cards.Contacts[1].FullName != "Bia" {
		t.Errorf("cards are %+v", cards.Contacts)
	}
	if nothing := detailsOf(nil, false, alt); nothing.Media != nil || nothing.Unsupported != "" {
		t.Errorf("nothing is %+v", nothing)
	}
}

func TestParseVCard(t *testing.T) {
	t.Parallel()
	card := gateway.ContactCard{FullName: "Silva, Ana; \\o/\nLtda", PhoneNumber: "5511988887766", Organization: "A;B"}
	read := card
	card.Account = card.PhoneNumber
	read.Numbers = []gateway.CardNumber{{Number: "5511988887766", Label: "CELL", Writable: true}}
	if got := parseVCard(vcard(card)); !reflect.DeepEqual(got, read) {
		t.Errorf("what we write is read as %+v", got)
	}
	number := func(number, label string, writable bool) gateway.CardNumber {
		return gateway.CardNumber{Number: number, Label: label, Writable: writable}
	}
	for text, want := range cases.Sorted(map[string]gateway.ContactCard{
		"": {},
		"FN:Ana\r\nTEL;CELL:+55 11 98888": {
			FullName: "Ana", PhoneNumber: "551198888", Numbers: []gateway.CardNumber{number("551198888", "CELL", false)},
		},
		"item1.TEL:+1 (2)\nitem1.X-ABLabel:x\nitem2.TEL;type=CELL;waid=34:+3 4": {
			PhoneNumber: "34", Numbers: []gateway.CardNumber{number("12", "", false), number("34", "CELL", true)},
		},
		"TEL;waid=1:+1\nTEL;waid=2:+2\nORG:Acme;\nN:x;y": {
			FullName: "y x", PhoneNumber: "1", Organization: "Acme", Numbers: []gateway.CardNumber{number("1", "", true), number("2", "", true)},
		},
		"tel;WAID=\"7\":+7\nfn:Bia":                                   {FullName: "Bia", PhoneNumber: "7", Numbers: []gateway.CardNumber{number("7", "", true)}},
		"FN:Clínica Odontológica São\r\n  José":                       {FullName: "Clínica Odontológica São José"},
		"FN:Long\n\t name":                                            {FullName: "Long name"},
		"FN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:=4A=6F=C3=A3o":    {FullName: "João"},
		"FN;ENCODING=QUOTED-PRINTABLE;CHARSET=ISO-8859-1:Jo=E3o":      {FullName: "João"},
		"FN;ENCODING=QUOTED-PRINTABLE:=4A=\r\n=6F=C3=A3o\r\nORG:Acme": {FullName: "João", Organization: "Acme"},
		"N;ENCODING=QUOTED-PRINTABLE:Silva;Jo=C3=A3o;;Dr.;":           {FullName: "Dr. João Silva"},
		"EMAIL;TYPE=INTERNET:a@example.org\nADR;TYPE=HOME:;;Rua A\\, 1;São Paulo;SP;01000;Brasil": {
			Emails: []string{"a@example.org"}, Addresses: []string{"Rua A, 1, São Paulo, SP, 01000, Brasil"},
		},
		"TEL;TYPE=\"voice,work\";VALUE=uri:tel:+55-11-3000": {PhoneNumber: "55113000", Numbers: []gateway.CardNumber{number("55113000", "WORK", false)}},
	}) {
		if got := parseVCard(text); !reflect.DeepEqual(got, want) {
			t.Errorf("%q is %+v, want %+v", text, got, want)
		}
	}
}

func FuzzParseVCard(f *testing.F) {
	f.Add(vcard(gateway.ContactCard{FullName: "Ana", PhoneNumber: "55", Organization: "x"}))
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range []byte(parseVCard(text).PhoneNumber) {
			if c < '0' || c > '9' {
				t.Errorf("a number has %q", c)
			}
		}
	})
}

// What the programs of businesses write is cleaned and bounded, and a description of a link
// is no advertisement.
func TestCommerceIsCleaned(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100_000)
	nobody := func(types.JID) types.JID { return types.EmptyJID }
	order := detailsOf(&waE2E.Message{OrderMessage: &waE2E.OrderMessage{
		OrderID: new("a\x00\u202eb"), OrderTitle: &long, ItemCount: new(int32(-1)), TotalAmount1000: new(int64(-5)), TotalCurrencyCode: &long,
	}}, false, nobody).Order
	if order.ID != "ab" || len(order.Title) != gateway.MaxName || order.Items != 0 || order.Total != 0 || len(order.Currency) != gateway.MaxName {
		t.Errorf("the order is %+v", order)
	}
	for _, at := range []int64{-1, 0, math.MaxInt64} {
		invite := detailsOf(&waE2E.Message{GroupInviteMessage: &waE2E.GroupInviteMessage{
			GroupJID: new("5511@s.whatsapp.net"), InviteCode: new("\x00c"), InviteExpiration: &at,
		}}, false, nobody).Invite
		if invite.Group != "" || invite.Code != "c" || !invite.ExpiresAt.IsZero() {
			t.Errorf("the invitation is %+v", invite)
		}
	}
	selection := detailsOf(&waE2E.Message{InteractiveResponseMessage: &waE2E.InteractiveResponseMessage{
		InteractiveResponseMessage: &waE2E.InteractiveResponseMessage_NativeFlowResponseMessage_{
			NativeFlowResponseMessage: &waE2E.InteractiveResponseMessage_NativeFlowResponseMessage{Name: &long, ParamsJSON: &long},
		},
	}}, false, nobody).Selection
	if len(selection.ID) != gateway.MaxName || len(selection.Parameters) != maxParameters {
		t.Errorf("the selection has an id of %d and parameters of %d bytes", len(selection.ID), len(selection.Parameters))
	}
	ad := func(ad *waE2E.ContextInfo_ExternalAdReplyInfo) *gateway.Referral {
		return detailsOf(&waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{ContextInfo: &waE2E.ContextInfo{ExternalAdReply: ad}}}, false, nobody).Referral
	}
	if got := ad(&waE2E.ContextInfo_ExternalAdReplyInfo{Title: new("a link"), SourceURL: new("https://a.example")}); got != nil {
		t.Errorf("a link is the advertisement %+v", got)
	}
	got := ad(&waE2E.ContextInfo_ExternalAdReplyInfo{CtwaClid: &long, SourceURL: new("javascript:alert(1)"), Title: &long})
	if len(got.ClickID) != maxClickID || got.SourceURL != "" || len(got.Headline) != gateway.MaxName {
		t.Errorf("the advertisement is %+v", got)
	}
}
