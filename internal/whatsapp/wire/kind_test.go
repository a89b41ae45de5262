package wire

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// Every kind of content that the protocol has is shown as something, or is left out for a reason. A
// new version of the library can't bring one that nobody has thought about.
func TestEveryKindOfContentIsKnown(t *testing.T) {
	t.Parallel()
	message := (&waE2E.Message{}).ProtoReflect()
	for n := range message.Descriptor().Fields().Len() {
		field := message.Descriptor().Fields().Get(n)
		name := field.Name()
		places := 0
		if readers[name] != nil {
			places++
		}
		if silent[name] {
			places++
		}
		if unreadable[name] != "" {
			places++
		}
		if field.Message() != nil {
			part := message.NewField(field).Message().Interface()
			if _, wraps := part.(interface{ GetMessage() *waE2E.Message }); wraps {
				places++
			}
		}
		switch name {
		case "protocolMessage", "pinInChatMessage": // changes; see changeOf and protocolName
			places++
		}
		if places != 1 {
			t.Errorf("%s stands in %d tables, want one of readers, silent and unreadable, or a wrapping", name, places)
		}
	}
	fields := message.Descriptor().Fields()
	for _, table := range []map[protoreflect.Name]bool{silent, names(readers), names(unreadable)} {
		for name := range cases.Sorted(table) {
			if fields.ByName(name) == nil {
				t.Errorf("%s is no field of a message", name)
			}
		}
	}
}

func names[T any](table map[protoreflect.Name]T) map[protoreflect.Name]bool {
	all := map[protoreflect.Name]bool{}
	for name := range table {
		all[name] = true
	}
	return all
}

// An empty part of each kind, or one with nothing but itself in it, is read without harm.
func TestEmptyContentIsRead(t *testing.T) {
	t.Parallel()
	fields := (&waE2E.Message{}).ProtoReflect().Descriptor().Fields()
	for n := range fields.Len() {
		content := &waE2E.Message{}
		if field := fields.Get(n); field.Message() != nil {
			content.ProtoReflect().Set(field, content.ProtoReflect().NewField(field))
		}
		inner, once := open(content)
		detailsOf(inner, once, noOther)
		_, _ = kindOf(inner)
		amend(inner, &waE2E.Message{Conversation: new("x")})
	}
}

// What businesses write can be read: all texts, the buttons, the file above them.
func TestBusinessContent(t *testing.T) {
	t.Parallel()
	picture := &waE2E.ImageMessage{MediaKey: []byte{1}, DirectPath: new("/p"), Mimetype: new("image/jpeg")}
	reply := gateway.Button{Type: gateway.ButtonReply, Text: "Yes", ID: "1"}
	page := gateway.Button{Type: gateway.ButtonURL, Text: "Track", URL: "https://example.org/42"}
	call := gateway.Button{Type: gateway.ButtonCall, Text: "Call us", PhoneNumber: "+551130000000"}
	filled := &waE2E.TemplateMessage_HydratedFourRowTemplate{
		Title:               &waE2E.TemplateMessage_HydratedFourRowTemplate_HydratedTitleText{HydratedTitleText: "Order"},
		HydratedContentText: new("Your order 42 is on its way"), HydratedFooterText: new("The shop"),
		HydratedButtons: []*waE2E.HydratedTemplateButton{
			{HydratedButton: &waE2E.HydratedTemplateButton_QuickReplyButton{QuickReplyButton: &waE2E.HydratedTemplateButton_HydratedQuickReplyButton{DisplayText: new("Yes"), ID: new("1")}}},
			{HydratedButton: &waE2E.HydratedTemplateButton_UrlButton{UrlButton: &waE2E.HydratedTemplateButton_HydratedURLButton{DisplayText: new("Track"), URL: new("https://example.org/42")}}},
			{HydratedButton: &waE2E.HydratedTemplateButton_CallButton{CallButton: &waE2E.HydratedTemplateButton_HydratedCallButton{DisplayText: new("Call us"), PhoneNumber: new("+551130000000")}}},
		},
	}
	flow := func(parts ...string) *waE2E.InteractiveMessage_NativeFlowMessage {
		message := &waE2E.InteractiveMessage_NativeFlowMessage{}
		for n := 0; n < len(parts); n += 2 {
			message.Buttons = append(message.Buttons, &waE2E.InteractiveMessage_NativeFlowMessage_NativeFlowButton{Name: &parts[n], ButtonParamsJSON: &parts[n+1]})
		}
		return message
	}
	interactive := func(buttons *waE2E.InteractiveMessage_NativeFlowMessage) *waE2E.Message {
		return &waE2E.Message{InteractiveMessage: &waE2E.InteractiveMessage{
			Header: &waE2E.InteractiveMessage_Header{Title: new("Code")}, Body: &waE2E.InteractiveMessage_Body{Text: new("123456 is your code")},
			InteractiveMessage: &waE2E.InteractiveMessage_NativeFlowMessage_{NativeFlowMessage: buttons},
		}}
	}
	product := &waE2E.ProductMessage{
		Product: &waE2E.ProductMessage_ProductSnapshot{
			ProductID: new("47"), Title: new("Blue shirt"), Description: new("Cotton"), CurrencyCode: new("BRL"), PriceAmount1000: new(int64(79900)),
			URL: new("https://example.org/47"), ProductImage: picture,
		},
		BusinessOwnerJID: new("5511999990100@s.whatsapp.net"),
	}
	for name, c := range cases.Sorted(map[string]struct {
		content *waE2E.Message
		kind    gateway.MessageType
		text    string
		buttons []gateway.Button
		check   func(gateway.Details) bool
	}{
		"a template": {
			&waE2E.Message{TemplateMessage: &waE2E.TemplateMessage{HydratedTemplate: filled}}, gateway.TypeText,
			"Order\nYour order 42 is on its way\nThe shop",
			[]gateway.Button{reply, page, call},
			nil,
		},
		"a template in its other place": {
			&waE2E.Message{TemplateMessage: &waE2E.TemplateMessage{Format: &waE2E.TemplateMessage_HydratedFourRowTemplate_{HydratedFourRowTemplate: filled}}},
			gateway.TypeText, "Order\nYour order 42 is on its way\nThe shop",
			[]gateway.Button{reply, page, call},
			nil,
		},
		"a template with a picture": {
			&waE2E.Message{TemplateMessage: &waE2E.TemplateMessage{HydratedTemplate: &waE2E.TemplateMessage_HydratedFourRowTemplate{
				Title: &waE2E.TemplateMessage_HydratedFourRowTemplate_ImageMessage{ImageMessage: picture}, HydratedContentText: new("Look"),
			}}}, gateway.TypeImage, "Look", nil, func(d gateway.Details) bool { return d.Media != nil && d.Media.MimeType == "image/jpeg" },
		},
		"a structured one": {
			&waE2E.Message{HighlyStructuredMessage: &waE2E.HighlyStructuredMessage{HydratedHsm: &waE2E.TemplateMessage{HydratedTemplate: filled}}}, gateway.TypeText,
			"Order\nYour order 42 is on its way\nThe shop",
			[]gateway.Button{reply, page, call},
			nil,
		},
		"a structured one, not filled in": {
			&waE2E.Message{HighlyStructuredMessage: &waE2E.HighlyStructuredMessage{ElementName: new("code"), Params: []string{"123456"}}},
			gateway.TypeText, "123456", nil, nil,
		},
		"buttons": {
			&waE2E.Message{ButtonsMessage: &waE2E.ButtonsMessage{
				ContentText: new("Do you confirm?"), FooterText: new("Clinic"),
				Buttons: []*waE2E.ButtonsMessage_Button{{ButtonID: new("1"), ButtonText: &waE2E.ButtonsMessage_Button_ButtonText{DisplayText: new("Yes")}}},
			}}, gateway.TypeText, "Do you confirm?\nClinic", []gateway.Button{reply}, nil,
		},
		"a list": {
			&waE2E.Message{ListMessage: &waE2E.ListMessage{
				Title: new("Menu"), Description: new("Choose"), FooterText: new("Until ten"),
				Sections: []*waE2E.ListMessage_Section{{Rows: []*waE2E.ListMessage_Row{{Title: new("Pizza"), Description: new("with cheese"), RowID: new("p")}}}},
			}}, gateway.TypeText, "Menu\nChoose\nUntil ten",
			[]gateway.Button{{Type: gateway.ButtonOption, Text: "Pizza", Description: "with cheese", ID: "p"}},
			nil,
		},
		"a code to copy": {
			interactive(flow("cta_copy", `{"display_text":"Copy","copy_code":"123456"}`)), gateway.TypeText, "Code\n123456 is your code",
			[]gateway.Button{{Type: gateway.ButtonCopy, Text: "Copy", Code: "123456"}},
			nil,
		},
		"all kinds of buttons": {
			interactive(flow(
				"quick_reply", `{"display_text":"Yes","id":"1"}`, "cta_url", `{"display_text":"Track","url":"https://example.org/42"}`,
				"cta_call", `{"display_text":"Call us","phone_number":"+551130000000"}`, "flow", `{"flow_cta":"Fill in"}`,
				"single_select", `{"title":"Menu","sections":[{"rows":[{"title":"Pizza","id":3}]}]}`, "broken", `{"id":`,
			)), gateway.TypeText, "Code\n123456 is your code", []gateway.Button{
				reply, page, call,
				{Type: gateway.ButtonOther, Text: "Fill in", ID: "flow"},
				{Type: gateway.ButtonOption, Text: "Pizza", ID: "3"},
				{Type: gateway.ButtonOther, ID: "broken"},
			}, nil,
		},
		"a button with an address that can't be followed": {
			interactive(flow("cta_url", `{"display_text":"Run","url":"javascript:alert(1)"}`)), gateway.TypeText, "Code\n123456 is your code",
			[]gateway.Button{{Type: gateway.ButtonURL, Text: "Run"}},
			nil,
		},
		"an order to pay": {
			interactive(flow("review_and_pay", `{"reference_id":"A7","currency":"BRL","total_amount":{"value":4990,"offset":100},
				"order":{"items":[{"name":"Shirt","quantity":2},{"name":"Hat","quantity":1}]},
				"payment_settings":[{"type":"pix_dynamic_code","pix_dynamic_code":{"code":"0002012"}}]}`)),
			gateway.TypeText, "Code\n123456 is your code",
			[]gateway.Button{{Type: gateway.ButtonOther, ID: "review_and_pay", Code: "0002012"}},
			func(d gateway.Details) bool {
				return d.Order != nil && *d.Order == gateway.Order{ID: "A7", Title: "Shirt", Items: 3, Total: 49900, Currency: "BRL"}
			},
		},
		"cards side by side": {
			&waE2E.Message{InteractiveMessage: &waE2E.InteractiveMessage{
				Body: &waE2E.InteractiveMessage_Body{Text: new("New")},
				InteractiveMessage: &waE2E.InteractiveMessage_CarouselMessage_{CarouselMessage: &waE2E.InteractiveMessage_CarouselMessage{
					Cards: []*waE2E.InteractiveMessage{interactive(flow("quick_reply", `{"display_text":"Yes","id":"1"}`)).InteractiveMessage},
				}},
			}}, gateway.TypeText, "New\nCode\n123456 is your code", []gateway.Button{reply}, nil,
		},
		"a product": {
			&waE2E.Message{ProductMessage: product}, gateway.TypeProduct, "Blue shirt\nCotton", nil,
			func(d gateway.Details) bool {
				return d.Media != nil && d.Product != nil && d.Product.ID == "47" && d.Product.Price == 79900 && d.Product.Owner == "5511999990100@s.whatsapp.net"
			},
		},
		"a product above a text": {
			&waE2E.Message{InteractiveMessage: &waE2E.InteractiveMessage{
				Header: &waE2E.InteractiveMessage_Header{Media: &waE2E.InteractiveMessage_Header_ProductMessage{ProductMessage: product}},
			}}, gateway.TypeProduct, "Blue shirt\nCotton", nil, func(d gateway.Details) bool { return d.Product != nil },
		},
		"an invoice": {
			&waE2E.Message{InvoiceMessage: &waE2E.InvoiceMessage{
				Note: new("November"), AttachmentType: waE2E.InvoiceMessage_PDF.Enum(), AttachmentMimetype: new("application/pdf"), AttachmentMediaKey: []byte{1},
			}}, gateway.TypeDocument, "November", nil, func(d gateway.Details) bool { return d.Media != nil && d.Media.MimeType == "application/pdf" },
		},
		"a request for money": {
			&waE2E.Message{RequestPaymentMessage: &waE2E.RequestPaymentMessage{
				NoteMessage: &waE2E.Message{Conversation: new("for lunch")}, CurrencyCodeIso4217: new("BRL"), Amount1000: new(uint64(25000)),
			}}, gateway.TypePayment, "for lunch", nil, func(d gateway.Details) bool {
				return d.Payment != nil && *d.Payment == gateway.Payment{Kind: gateway.PaymentRequested, Amount: 25000, Currency: "BRL"}
			},
		},
		"a reminder to pay": {
			&waE2E.Message{PaymentReminderMessage: &waE2E.PaymentReminderMessage{
				Description: new("rent"), Amount: &waE2E.Money{Value: new(int64(150000)), Offset: new(uint32(100)), CurrencyCode: new("BRL")},
			}}, gateway.TypePayment, "rent", nil, func(d gateway.Details) bool {
				return d.Payment.Amount == 1_500_000 && d.Payment.Kind == gateway.PaymentReminder
			},
		},
		"a live location": {
			&waE2E.Message{LiveLocationMessage: &waE2E.LiveLocationMessage{DegreesLatitude: new(-23.5), Caption: new("there soon")}},
			gateway.TypeLocation, "there soon", nil, func(d gateway.Details) bool { return d.Location.Live },
		},
		"a place with a comment": {
			&waE2E.Message{LocationMessage: &waE2E.LocationMessage{Comment: new("at the door")}},
			gateway.TypeLocation, "at the door", nil, func(d gateway.Details) bool { return d.Location != nil && !d.Location.Live },
		},
		"the result of a poll": {
			&waE2E.Message{PollResultSnapshotMessage: &waE2E.PollResultSnapshotMessage{
				Name: new("Lunch?"), PollVotes: []*waE2E.PollResultSnapshotMessage_PollVote{{OptionName: new("Pizza"), OptionVoteCount: new(int64(3))}},
			}}, gateway.TypeText, "Lunch?\nPizza: 3", nil, nil,
		},
		"a comment": {
			&waE2E.Message{CommentMessage: &waE2E.CommentMessage{Message: &waE2E.Message{Conversation: new("nice")}}}, gateway.TypeText, "nice", nil, nil,
		},
		"a quoted product": {
			&waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: new("this one"), ContextInfo: &waE2E.ContextInfo{
				StanzaID: new("product_inquiry:47"), Participant: new("5511999990100@s.whatsapp.net"), QuotedMessage: &waE2E.Message{ProductMessage: product},
			}}}, gateway.TypeText, "this one", nil, func(d gateway.Details) bool {
				return d.Quoted != nil && d.Quoted.Type == gateway.TypeProduct && d.Quoted.Product.Title == "Blue shirt" &&
					d.Quoted.Sender.JID == "5511999990100@s.whatsapp.net" && strings.HasPrefix(d.Quoted.Text, "Blue shirt")
			},
		},
	}) {
		content, once := open(c.content)
		details := detailsOf(content, once, noOther)
		kind, text := kindOf(content)
		if kind != c.kind || text != c.text {
			t.Errorf("%s: it is read as %s %q, want %s %q", name, kind, text, c.kind, c.text)
		}
		if len(details.Buttons) != len(c.buttons) {
			t.Errorf("%s: the buttons are %+v, want %+v", name, details.Buttons, c.buttons)
		} else {
			for n := range c.buttons {
				if details.Buttons[n] != c.buttons[n] {
					t.Errorf("%s: button %d is %+v, want %+v", name, n, details.Buttons[n], c.buttons[n])
				}
			}
		}
		if c.check != nil && !c.check(details) {
			t.Errorf("%s: the details are %+v", name, details)
		}
		if details.Unsupported != "" {
			t.Errorf("%s: it is unsupported, as %s", name, details.Unsupported)
		}
	}
}

func noOther(types.JID) types.JID { return types.EmptyJID }

// Whatever somebody writes into a message of the largest size, reading it takes room in proportion.
//
//nolint:paralleltest // it counts what the process allocates
func TestReadingTakesRoomInProportion(t *testing.T) {
	const size, times = 1 << 20, 100
	slide := &waE2E.InteractiveMessage{Body: &waE2E.InteractiveMessage_Body{Text: new("a")}}
	nested := &waE2E.InteractiveMessage{Body: &waE2E.InteractiveMessage_Body{Text: new(strings.Repeat("a", size/2))}}
	for range 3000 {
		nested = carousel(nested)
	}
	card := func(text string) *waE2E.ContactMessage { return &waE2E.ContactMessage{Vcard: &text} }
	for name, message := range cases.Sorted(map[string]*waE2E.Message{
		"many slides":        {InteractiveMessage: carousel(slices.Repeat([]*waE2E.InteractiveMessage{slide}, size/7)...)},
		"slides in slides":   {InteractiveMessage: nested},
		"a folded card":      {ContactMessage: card("BEGIN:VCARD\nFN:a" + strings.Repeat("\n a", size/3))},
		"a card of no lines": {ContactMessage: card(strings.Repeat("\n ", size/2))},
		"a quoted card":      {ContactMessage: card("FN;ENCODING=QUOTED-PRINTABLE:a" + strings.Repeat("=\na", size/3))},
		"a card of numbers":  {ContactMessage: card(strings.Repeat("TEL:1\n", size/6))},
		"many cards":         {ContactsArrayMessage: &waE2E.ContactsArrayMessage{Contacts: slices.Repeat([]*waE2E.ContactMessage{card("TEL:1")}, size/8)}},
		"many buttons":       {InteractiveMessage: &waE2E.InteractiveMessage{InteractiveMessage: flows(strings.Repeat(`{"sections":[{"rows":[{}]}]}`, 2), size/60)}},
	}) {
		payload, err := encode(message)
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		read := mustDecode(t, payload)
		kindOf(read)
		eventOf(read)
		if _, err := (Encoder{}).Describe(t.Context(), payload); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > times*size {
			t.Errorf("%s: %d bytes for a message of %d", name, used, len(payload))
		}
	}
}

// carousel makes a message of slides.
func carousel(slides ...*waE2E.InteractiveMessage) *waE2E.InteractiveMessage {
	return &waE2E.InteractiveMessage{InteractiveMessage: &waE2E.InteractiveMessage_CarouselMessage_{
		CarouselMessage: &waE2E.InteractiveMessage_CarouselMessage{Cards: slides},
	}}
}

// flows makes buttons with the same parameters.
func flows(parameters string, count int) *waE2E.InteractiveMessage_NativeFlowMessage_ {
	button := &waE2E.InteractiveMessage_NativeFlowMessage_NativeFlowButton{Name: new("single_select"), ButtonParamsJSON: &parameters}
	return &waE2E.InteractiveMessage_NativeFlowMessage_{NativeFlowMessage: &waE2E.InteractiveMessage_NativeFlowMessage{
		Buttons: slices.Repeat([]*waE2E.InteractiveMessage_NativeFlowMessage_NativeFlowButton{button}, count),
	}}
}
