// What the programs of businesses write: templates, buttons, lists, forms, products, invoices.
// Phones show all of it as a text with a picture above and buttons below.

package wire

import (
	"cmp"
	"encoding/json"
	"strings"

	"go.mau.fi/whatsmeow/proto/waE2E"

	"github.com/recado-project/recado/internal/gateway"
)

const (
	// maxButtons bounds the buttons of a message, with the rows of its lists.
	maxButtons = 100
	// maxSlides bounds the cards that a message shows beside each other. Phones show ten.
	maxSlides = 30
)

// offer is what a message of a business shows.
type offer struct {
	title, body, footer string
	// head is what stands above the text: a picture, a video, a document, a place, a product; nil for
	// nothing.
	head    *waE2E.Message
	buttons []gateway.Button
	order   *gateway.Order
}

// text is all that is written in it, from top to bottom.
func (o *offer) text() string {
	var lines []string
	for _, line := range []string{o.title, o.body, o.footer} {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// offerOf reads a message of a business; nil for all others.
func offerOf(content *waE2E.Message) *offer {
	switch {
	case content == nil:
		return nil
	case content.TemplateMessage != nil:
		return templateOf(content.TemplateMessage)
	case content.HighlyStructuredMessage != nil:
		return structuredOf(content.HighlyStructuredMessage)
	case content.InteractiveMessage != nil:
		return interactiveOf(content.InteractiveMessage)
	case content.ButtonsMessage != nil:
		return buttonsOf(content.ButtonsMessage)
	case content.ListMessage != nil:
		return listOf(content.ListMessage)
	case content.ProductMessage != nil:
		return shownProduct(content.ProductMessage)
	case content.InvoiceMessage != nil:
		return &offer{body: content.InvoiceMessage.GetNote(), head: attachmentOf(content.InvoiceMessage)}
	default:
		return nil
	}
}

// shownButtons are the buttons below a message of a business.
func shownButtons(content *waE2E.Message) []gateway.Button {
	if shown := offerOf(content); shown != nil {
		return shown.buttons
	}
	return nil
}

// head puts one part of a message into a message of its own; nil for none. A part that is nil does
// not count.
func head(document *waE2E.DocumentMessage, image *waE2E.ImageMessage, video *waE2E.VideoMessage, place *waE2E.LocationMessage) *waE2E.Message {
	if document == nil && image == nil && video == nil && place == nil {
		return nil
	}
	return &waE2E.Message{DocumentMessage: document, ImageMessage: image, VideoMessage: video, LocationMessage: place}
}

func templateOf(template *waE2E.TemplateMessage) *offer {
	if inner := template.GetInteractiveMessageTemplate(); inner != nil {
		return interactiveOf(inner)
	}
	filled := template.GetHydratedTemplate()
	if filled == nil {
		filled = template.GetHydratedFourRowTemplate()
	}
	if filled != nil {
		shown := &offer{
			title: filled.GetHydratedTitleText(), body: filled.GetHydratedContentText(), footer: filled.GetHydratedFooterText(),
			head: head(filled.GetDocumentMessage(), filled.GetImageMessage(), filled.GetVideoMessage(), filled.GetLocationMessage()),
		}
		for _, button := range filled.GetHydratedButtons() {
			shown.add(filledButton(button))
		}
		return shown
	}
	// One that the client has to fill in, of which the parameters are all that there is.
	rows := template.GetFourRowTemplate()
	shown := &offer{
		title: structuredText(rows.GetHighlyStructuredMessage()), body: structuredText(rows.GetContent()), footer: structuredText(rows.GetFooter()),
		head: head(rows.GetDocumentMessage(), rows.GetImageMessage(), rows.GetVideoMessage(), rows.GetLocationMessage()),
	}
	for _, button := range rows.GetButtons() {
		switch {
		case button.GetQuickReplyButton() != nil:
			shown.add(gateway.Button{Type: gateway.ButtonReply, Text: structuredText(button.GetQuickReplyButton().GetDisplayText()), ID: button.GetQuickReplyButton().GetID()})
		case button.GetUrlButton() != nil:
			shown.add(gateway.Button{Type: gateway.ButtonURL, Text: structuredText(button.GetUrlButton().GetDisplayText()), URL: structuredText(button.GetUrlButton().GetURL())})
		case button.GetCallButton() != nil:
			shown.add(gateway.Button{Type: gateway.ButtonCall, Text: structuredText(button.GetCallButton().GetDisplayText()), PhoneNumber: structuredText(button.GetCallButton().GetPhoneNumber())})
		}
	}
	return shown
}

func filledButton(button *waE2E.HydratedTemplateButton) gateway.Button {
	switch {
	case button.GetUrlButton() != nil:
		return gateway.Button{Type: gateway.ButtonURL, Text: button.GetUrlButton().GetDisplayText(), URL: button.GetUrlButton().GetURL()}
	case button.GetCallButton() != nil:
		return gateway.Button{Type: gateway.ButtonCall, Text: button.GetCallButton().GetDisplayText(), PhoneNumber: button.GetCallButton().GetPhoneNumber()}
	default:
		return gateway.Button{Type: gateway.ButtonReply, Text: button.GetQuickReplyButton().GetDisplayText(), ID: button.GetQuickReplyButton().GetID()}
	}
}

// structuredOf reads a message of the older kind, which may have the filled-in template in it.
func structuredOf(message *waE2E.HighlyStructuredMessage) *offer {
	if filled := message.GetHydratedHsm(); filled != nil {
		return templateOf(filled)
	}
	return &offer{body: structuredText(message)}
}

// structuredText is what can be read of a text that the client has to fill in: its parameters.
func structuredText(message *waE2E.HighlyStructuredMessage) string {
	words := message.GetParams()
	if len(words) == 0 {
		for _, parameter := range message.GetLocalizableParams() {
			words = append(words, parameter.GetDefault())
		}
	}
	return cmp.Or(strings.Join(words, " "), message.GetElementName())
}

func interactiveOf(message *waE2E.InteractiveMessage) *offer {
	above := message.GetHeader()
	shown := &offer{
		title: strings.Join(strings.Fields(above.GetTitle()+" "+above.GetSubtitle()), " "),
		body:  message.GetBody().GetText(), footer: message.GetFooter().GetText(),
		head: head(above.GetDocumentMessage(), above.GetImageMessage(), above.GetVideoMessage(), above.GetLocationMessage()),
	}
	if product := above.GetProductMessage(); product != nil {
		shown.head = &waE2E.Message{ProductMessage: product}
	}
	for _, button := range message.GetNativeFlowMessage().GetButtons() {
		shown.addFlow(button.GetName(), button.GetButtonParamsJSON())
	}
	slides := message.GetCarouselMessage().GetCards()
	for _, slide := range slides[:min(len(slides), maxSlides)] {
		shown.addSlide(slide)
	}
	return shown
}

// addSlide adds a card of those that are shown beside each other, which is such a message again, but for
// cards of its own: phones show none.
func (o *offer) addSlide(slide *waE2E.InteractiveMessage) {
	one := interactiveOf(&waE2E.InteractiveMessage{
		Header: slide.GetHeader(), Body: slide.GetBody(), Footer: slide.GetFooter(),
		InteractiveMessage: &waE2E.InteractiveMessage_NativeFlowMessage_{NativeFlowMessage: slide.GetNativeFlowMessage()},
	})
	o.body = strings.TrimSpace(o.body + "\n" + one.text())
	for _, button := range one.buttons {
		o.add(button)
	}
	if o.head == nil {
		o.head = one.head
	}
}

func buttonsOf(message *waE2E.ButtonsMessage) *offer {
	shown := &offer{
		title: message.GetText(), body: message.GetContentText(), footer: message.GetFooterText(),
		head: head(message.GetDocumentMessage(), message.GetImageMessage(), message.GetVideoMessage(), message.GetLocationMessage()),
	}
	for _, button := range message.GetButtons() {
		if flow := button.GetNativeFlowInfo(); flow != nil {
			shown.addFlow(flow.GetName(), flow.GetParamsJSON())
			continue
		}
		shown.add(gateway.Button{Type: gateway.ButtonReply, Text: button.GetButtonText().GetDisplayText(), ID: button.GetButtonID()})
	}
	return shown
}

func listOf(message *waE2E.ListMessage) *offer {
	shown := &offer{title: message.GetTitle(), body: message.GetDescription(), footer: message.GetFooterText()}
	for _, section := range message.GetSections() {
		for _, row := range section.GetRows() {
			shown.add(gateway.Button{Type: gateway.ButtonOption, Text: row.GetTitle(), Description: row.GetDescription(), ID: row.GetRowID()})
		}
	}
	for _, section := range message.GetProductListInfo().GetProductSections() {
		for _, product := range section.GetProducts() {
			shown.add(gateway.Button{Type: gateway.ButtonOption, Text: section.GetTitle(), ID: product.GetProductID()})
		}
	}
	return shown
}

func shownProduct(message *waE2E.ProductMessage) *offer {
	shown := &offer{title: message.GetProduct().GetTitle(), body: message.GetBody(), footer: message.GetFooter()}
	image := message.GetProduct().GetProductImage()
	if catalogue := message.GetCatalog(); message.GetProduct() == nil && catalogue != nil {
		shown.title, shown.body, image = catalogue.GetTitle(), cmp.Or(shown.body, catalogue.GetDescription()), catalogue.GetCatalogImage()
	}
	if shown.body == "" {
		shown.body = message.GetProduct().GetDescription()
	}
	shown.head = head(nil, image, nil, nil)
	return shown
}

// productOf describes the product that a message shows; nil for none.
func productOf(content *waE2E.Message) *gateway.Product {
	message := content.GetProductMessage()
	if message == nil {
		message = content.GetInteractiveMessage().GetHeader().GetProductMessage()
	}
	product := message.GetProduct()
	if product == nil {
		return nil
	}
	return &gateway.Product{
		ID: gateway.CleanName(product.GetProductID()), Title: gateway.CleanName(product.GetTitle()),
		Description: gateway.CleanText(product.GetDescription(), gateway.MaxText), URL: webAddress(product.GetURL()),
		RetailerID: gateway.CleanName(product.GetRetailerID()), Currency: gateway.CleanName(product.GetCurrencyCode()),
		Price: max(0, cmp.Or(product.GetSalePriceAmount1000(), product.GetPriceAmount1000())),
		Owner: personOf(message.GetBusinessOwnerJID()),
	}
}

// attachmentOf is the file of an invoice, in a message of its own; nil if it has none.
func attachmentOf(invoice *waE2E.InvoiceMessage) *waE2E.Message {
	switch {
	case len(invoice.GetAttachmentMediaKey()) == 0:
		return nil
	case invoice.GetAttachmentType() == waE2E.InvoiceMessage_PDF:
		return &waE2E.Message{DocumentMessage: &waE2E.DocumentMessage{
			Mimetype: invoice.AttachmentMimetype, MediaKey: invoice.AttachmentMediaKey, DirectPath: invoice.AttachmentDirectPath,
			FileSHA256: invoice.AttachmentFileSHA256, FileEncSHA256: invoice.AttachmentFileEncSHA256, JPEGThumbnail: invoice.AttachmentJPEGThumbnail,
		}}
	default:
		return &waE2E.Message{ImageMessage: &waE2E.ImageMessage{
			Mimetype: invoice.AttachmentMimetype, MediaKey: invoice.AttachmentMediaKey, DirectPath: invoice.AttachmentDirectPath,
			FileSHA256: invoice.AttachmentFileSHA256, FileEncSHA256: invoice.AttachmentFileEncSHA256, JPEGThumbnail: invoice.AttachmentJPEGThumbnail,
		}}
	}
}

// add adds a button, cleaned, unless there are too many or nothing is known of it.
func (o *offer) add(button gateway.Button) {
	button.Text, button.ID = gateway.CleanName(button.Text), gateway.CleanName(button.ID)
	button.Description, button.Code = gateway.CleanText(button.Description, gateway.MaxText), gateway.CleanName(button.Code)
	button.URL, button.PhoneNumber = webAddress(button.URL), gateway.CleanName(button.PhoneNumber)
	if len(o.buttons) < maxButtons && button != (gateway.Button{Type: button.Type}) {
		o.buttons = append(o.buttons, button)
	}
}

// flowParameters is the JSON of a button that opens something. Whatever a program writes there that
// is not of these types is left out.
//
//nolint:tagliatelle // the names of the platform
type flowParameters struct {
	Text        loose `json:"display_text"`
	Title       loose `json:"title"`
	ID          loose `json:"id"`
	URL         loose `json:"url"`
	MerchantURL loose `json:"merchant_url"`
	PhoneNumber loose `json:"phone_number"`
	Code        loose `json:"copy_code"`
	FlowText    loose `json:"flow_cta"`
	Sections    []struct {
		Title loose `json:"title"`
		Rows  []struct {
			Title       loose `json:"title"`
			Header      loose `json:"header"`
			Description loose `json:"description"`
			ID          loose `json:"id"`
		} `json:"rows"`
	} `json:"sections"`
	Reference loose `json:"reference_id"`
	Currency  loose `json:"currency"`
	Total     money `json:"total_amount"`
	Order     struct {
		Items []struct {
			Name     loose       `json:"name"`
			Quantity looseNumber `json:"quantity"`
		} `json:"items"`
	} `json:"order"`
	PaymentSettings []struct {
		Key struct {
			Code loose `json:"code"`
			Key  loose `json:"key"`
		} `json:"pix_dynamic_code"`
		Static struct {
			Key loose `json:"key"`
		} `json:"pix_static_code"`
		Link struct {
			URI loose `json:"uri"`
		} `json:"payment_link"`
	} `json:"payment_settings"`
}

type money struct {
	Value  looseNumber `json:"value"`
	Offset looseNumber `json:"offset"`
}

// thousandths returns the amount in thousandths.
func (m money) thousandths() int64 {
	offset := max(1, int64(m.Offset))
	return max(0, int64(float64(m.Value)/float64(offset)*1000)) //nolint:mnd // thousandths
}

// loose is a text that may be anything else.
type loose string

// UnmarshalJSON takes a text or a number, and leaves out all else.
func (l *loose) UnmarshalJSON(data []byte) error {
	var text string
	var number json.Number
	switch {
	case json.Unmarshal(data, &text) == nil:
		*l = loose(text)
	case json.Unmarshal(data, &number) == nil:
		*l = loose(number)
	}
	return nil
}

// looseNumber is a number that may be anything else.
type looseNumber float64

// UnmarshalJSON takes a number, or a text that is one, and leaves out all else.
func (n *looseNumber) UnmarshalJSON(data []byte) error {
	var number json.Number
	if json.Unmarshal(data, &number) == nil {
		if value, err := number.Float64(); err == nil && isNumber(value) {
			*n = looseNumber(value)
		}
	}
	return nil
}

// addFlow adds a button that opens something, whose parameters are JSON. Of what can't be read, the
// name of the button stays.
func (o *offer) addFlow(name, parameters string) {
	var p flowParameters
	_ = json.Unmarshal([]byte(parameters), &p) // what was read before a mistake counts
	text := string(cmp.Or(p.Text, p.FlowText, p.Title))
	button := gateway.Button{Text: text, ID: string(p.ID), URL: string(cmp.Or(p.URL, p.MerchantURL)), PhoneNumber: string(p.PhoneNumber), Code: string(p.Code)}
	switch name {
	case "quick_reply":
		button.Type = gateway.ButtonReply
	case "cta_url", "open_webview":
		button.Type = gateway.ButtonURL
	case "cta_call", "voice_call":
		button.Type = gateway.ButtonCall
	case "cta_copy":
		button.Type, button.Code = gateway.ButtonCopy, cmp.Or(button.Code, button.ID)
	default:
		button.Type, button.ID = gateway.ButtonOther, cmp.Or(button.ID, name)
	}
	for _, section := range p.Sections {
		for _, row := range section.Rows {
			o.add(gateway.Button{Type: gateway.ButtonOption, Text: string(cmp.Or(row.Title, row.Header)), Description: string(row.Description), ID: string(row.ID)})
		}
	}
	for _, way := range p.PaymentSettings {
		button.Code = cmp.Or(button.Code, string(cmp.Or(way.Key.Code, way.Static.Key, way.Key.Key)))
		button.URL = cmp.Or(button.URL, string(way.Link.URI))
	}
	if len(p.Sections) == 0 {
		o.add(button)
	}
	if p.Reference != "" && o.order == nil {
		o.order = &gateway.Order{ID: gateway.CleanName(string(p.Reference)), Total: p.Total.thousandths(), Currency: gateway.CleanName(string(p.Currency))}
		for n, item := range p.Order.Items {
			if n == 0 {
				o.order.Title = gateway.CleanName(string(item.Name))
			}
			o.order.Items += int(min(max(0, item.Quantity), maxQuantity))
		}
	}
}

// maxQuantity bounds how often an order names an article.
const maxQuantity = 1_000_000
